//! Memory mappings of a run's processes by class, from /proc/PID/smaps. Parsing is pure, reading is separate.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};

use taskscale_measure::Mapping;

/// The use of a mapping, as far as the kernel shows it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum MappingClass {
    /// The brk heap, `[heap]`.
    Heap,
    /// The stack of a process's first thread.
    MainStack,
    /// The stack of another thread: exactly one stack pointer is in it.
    ThreadStack,
    /// Private, without a file or name, at a multiple of 64 MiB: malloc's heap for threads, or Go's heap.
    Arena,
    /// Private, without a file or name; by its size in bytes.
    Anonymous(u64),
    /// Private, with the name that the program gave it (PR_SET_VMA_ANON_NAME).
    Named(String),
    /// Shared memory.
    Shared,
    /// A mapped file, including private copies of changed pages.
    File,
}

/// Mappings of one class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MappedMemory {
    pub mappings: u64,
    /// Resident and swapped bytes, those of shared pages divided by the processes that share them (Pss + SwapPss).
    pub bytes: u64,
}

/// All mappings of some processes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mappings {
    pub classes: BTreeMap<MappingClass, MappedMemory>,
    /// Paths of mapped files.
    pub files: BTreeSet<String>,
    /// Where mappings without a file begin, and their resident bytes.
    pub starts: BTreeMap<u64, u64>,
}

impl Mappings {
    /// Reads the mappings of these processes. Those that have ended meanwhile are ignored.
    pub fn of(pids: &[u32]) -> io::Result<Mappings> {
        let mut all = Mappings::default();
        for pid in pids {
            let stacks = stack_pointers(*pid);
            let smaps = File::open(format!("/proc/{pid}/smaps"));
            match smaps.and_then(|file| all.add(BufReader::new(file), &stacks)) {
                // It has ended, or is about to.
                Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH)) => {}
                read => read?,
            }
        }
        Ok(all)
    }

    /// Resident bytes of mappings without a file that begin between two addresses.
    pub fn resident_between(&self, low: u64, high: u64) -> f64 {
        self.starts.range(low..high).map(|(_, bytes)| *bytes as f64).sum()
    }

    /// Resident bytes of the mappings of some classes.
    pub fn resident_of(&self, wanted: impl Fn(&MappingClass) -> bool) -> f64 {
        let wanted = self.classes.iter().filter(|(class, _)| wanted(class));
        wanted.map(|(_, memory)| memory.bytes as f64).sum()
    }

    /// Adds the mappings of one process, which has threads with these stack pointers.
    fn add(&mut self, smaps: impl BufRead, stacks: &BTreeSet<u64>) -> io::Result<()> {
        let (mut class, mut start) = (None, None);
        // End of the last mapping if it was an arena, or else 0.
        let mut arena_end = 0;
        for line in smaps.split(b'\n') {
            // File names may be invalid UTF-8.
            let line = String::from_utf8_lossy(&line?).into_owned();
            if let Some(mapping) = Mapping::parse(line.as_bytes()) {
                if mapping.name.starts_with(b"/") {
                    let path = String::from_utf8_lossy(mapping.name);
                    self.files.insert(path.trim_end_matches(" (deleted)").to_owned());
                }
                let of_mapping = class_of(&mapping, stacks, arena_end);
                arena_end = if of_mapping == MappingClass::Arena { mapping.end } else { 0 };
                self.classes.entry(of_mapping.clone()).or_default().mappings += 1;
                start = (mapping.inode == 0).then_some(mapping.start);
                class = Some(of_mapping);
                continue;
            }
            let value = ["Pss:", "SwapPss:"].iter().find_map(|name| line.strip_prefix(name));
            let kib = value.and_then(|value| value.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
            if let Some((class, kib)) = class.as_ref().zip(kib) {
                self.classes.entry(class.clone()).or_default().bytes += kib * 1024;
                if let Some(start) = start {
                    *self.starts.entry(start).or_default() += kib * 1024;
                }
            }
        }
        Ok(())
    }
}

/// glibc aligns the heaps of threads to this (HEAP_MAX_SIZE in malloc/arena.c).
const ARENA_BYTES: u64 = 64 << 20;

/// Most waiting threads use only this many bytes at the end of their stack.
const STACK_END_BYTES: u64 = 64 << 10;

/// The class of a mapping. `arena_end`: the end of a preceding arena, as an arena may consist of several mappings.
fn class_of(mapping: &Mapping, stacks: &BTreeSet<u64>, arena_end: u64) -> MappingClass {
    let in_arena = mapping.start.is_multiple_of(ARENA_BYTES) || mapping.start == arena_end;
    // A stack may start at such an address too, but it is in use near its end.
    let in_arena =
        in_arena && stacks.range(mapping.end.saturating_sub(STACK_END_BYTES)..mapping.end).count() != 1;
    match mapping.name {
        b"[heap]" => MappingClass::Heap,
        b"[stack]" => MappingClass::MainStack,
        _ if mapping.shared || mapping.name.starts_with(b"[anon_shmem") => MappingClass::Shared,
        // Before thread stacks: arenas contain goroutine stacks.
        b"" if mapping.inode == 0 && in_arena && !mapping.reserved => MappingClass::Arena,
        // Exactly one: a heap contains the stacks of several goroutines.
        name if !name.starts_with(b"[anon:") && stacks.range(mapping.start..mapping.end).count() == 1 => {
            MappingClass::ThreadStack
        }
        name => match name.strip_prefix(b"[anon:") {
            Some(given) => MappingClass::Named(general(String::from_utf8_lossy(given).trim_end_matches(']'))),
            None if mapping.inode == 0 && name.is_empty() => {
                MappingClass::Anonymous(mapping.end - mapping.start)
            }
            None => MappingClass::File,
        },
    }
}

/// A name without its trailing number, so that mappings numbered by thread share a class.
fn general(name: &str) -> String {
    name.trim().trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches([' ', ':', '-']).to_owned()
}

/// Stack pointers of a process's threads. Those of running threads are unknown.
fn stack_pointers(pid: u32) -> BTreeSet<u64> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let pointer = |text: String| {
        let word = text.split_whitespace().rev().nth(1)?;
        u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()
    };
    threads.filter_map(|thread| pointer(fs::read_to_string(thread.path().join("syscall")).ok()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
5581c0000000-5581c0021000 rw-p 00000000 00:00 0                          [heap]
Size:                132 kB
Pss:                  40 kB
Pss_Dirty:            40 kB
SwapPss:               4 kB
7f0000002000-7f0000803000 rw-p 00000000 00:00 0
Pss:                   8 kB
7f0000900000-7f0001101000 rw-p 00000000 00:00 0
Pss:                  12 kB
7f0004000000-7f0004021000 rw-p 00000000 00:00 0
Pss:                  20 kB
7f0004021000-7f0004022000 rw-p 00000000 00:00 0
Pss:                   4 kB
7f0004022000-7f0008000000 ---p 00000000 00:00 0
Pss:                   0 kB
7f0008000000-7f0008001000 ---p 00000000 00:00 0
Pss:                   0 kB
7f0008001000-7f0008802000 rw-p 00000000 00:00 0
Pss:                  36 kB
7f0001200000-7f0001400000 rw-p 00000000 00:00 0                          [anon: Go: heap]
Pss:                2048 kB
7f0001500000-7f0001502000 rw-p 00000000 00:00 0                          [anon:worker 17]
Pss:                   4 kB
7f0001600000-7f0001700000 r-xp 00000000 fe:01 1234                       /usr/lib/libjvm.so
Pss:                 100 kB
7f0001800000-7f0001900000 rw-s 00000000 00:01 77                         /dev/zero (deleted)
Pss:                  16 kB
7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]
Pss:                  20 kB
";

    #[test]
    fn mappings_are_classified_by_smaps_and_stack_pointers() {
        let mut all = Mappings::default();
        all.add(SMAPS.as_bytes(), &BTreeSet::from([0x7f00_0090_1000])).unwrap();
        let bytes = |class| all.classes.get(&class).map(|memory| (memory.mappings, memory.bytes / 1024));
        assert_eq!(bytes(MappingClass::Heap), Some((1, 44)));
        assert_eq!(bytes(MappingClass::ThreadStack), Some((1, 12)), "by its stack pointer");
        assert_eq!(bytes(MappingClass::Arena), Some((2, 24)), "one that is split");
        assert_eq!(bytes(MappingClass::Anonymous(0x801000)), Some((2, 44)), "behind an arena's reserve");
        assert_eq!(bytes(MappingClass::Named("Go: heap".into())), Some((1, 2048)));
        assert_eq!(bytes(MappingClass::Named("worker".into())), Some((1, 4)));
        assert_eq!(bytes(MappingClass::Shared), Some((1, 16)));
        assert_eq!(bytes(MappingClass::File), Some((1, 100)));
        assert_eq!(bytes(MappingClass::MainStack), Some((1, 20)));
        assert_eq!(all.resident_between(0x7f00_0000_0000, 0x7f00_0120_0000), 20.0 * 1024.0);
        assert!(all.files.contains("/usr/lib/libjvm.so"), "{:?}", all.files);
    }

    #[test]
    fn stack_pointer_separates_thread_stack_from_arena() {
        let class = |pointer: u64| {
            let mapping = Mapping::parse(b"7f0004000000-7f0004800000 rw-p 00000000 00:00 0 ").unwrap();
            class_of(&mapping, &BTreeSet::from([pointer]), 0)
        };
        assert_eq!(class(0x7f00_047f_fe00), MappingClass::ThreadStack);
        assert_eq!(class(0x7f00_0400_8000), MappingClass::Arena, "that of a goroutine");
    }

    #[test]
    fn own_mappings_have_a_stack_and_files() {
        let own = Mappings::of(&[std::process::id()]).unwrap();
        assert!(own.classes.contains_key(&MappingClass::MainStack) && !own.files.is_empty(), "{own:?}");
    }
}
