//! Mapped pages that are not anonymous: files, shared memory, huge pages and devices. Each page counts once,
//! however many mappings, processes and offsets show it.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;

use rustix::param::page_size;

use super::pagemap::{Charges, PageSet, Pagemap};
use super::procfs::text;

/// `TMPFS_MAGIC` of linux/magic.h.
const TMPFS: rustix::fs::FsWord = 0x0102_1994;
/// The kernel's own tmpfs: memfds, SysV segments and anonymous shared memory.
const KERNEL_TMPFS: Device = (0, 1);
/// Page frames whose charges are looked up together.
const BATCH_FRAMES: usize = 1 << 16;

type Device = (u32, u32);

/// Sums over all processes that were added, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mapped {
    /// Pages of files that are not on tmpfs.
    pub file: u64,
    /// Pages of tmpfs, which the kernel charges as shared memory.
    pub tmpfs: u64,
    /// Part of it: files that no process maps as shared memory, such as programs, libraries and data.
    pub tmpfs_as_file: u64,
    /// Part of `tmpfs` that the run's cgroups are not charged for; `None` if this user cannot know.
    pub tmpfs_of_others: Option<u64>,
    pub huge: u64,
    /// Pages of devices and sockets that are not in the kernel's account of the group.
    pub device: u64,
}

/// One mapping of a process: a line of `/proc/PID/maps`, or the first line of a mapping in smaps.
#[derive(Debug, PartialEq, Eq)]
pub struct Mapping<'a> {
    /// The first address.
    pub start: u64,
    /// The address behind the last.
    pub end: u64,
    /// Reserved without access, as guard pages are.
    pub reserved: bool,
    /// Whether other processes see what this one writes.
    pub shared: bool,
    /// Where it begins in its file, in bytes.
    pub offset: u64,
    /// Major and minor number of the device of its file; 0 and 0 without a file.
    pub device: Device,
    /// 0 without a file.
    pub inode: u64,
    /// The path of its file, or another name such as `[heap]`. Only newlines are escaped, not even backslashes
    /// (seq_file_path in fs/proc/task_mmu.c).
    pub name: &'a [u8],
    huge: bool,
}

impl Mapping<'_> {
    /// Parses `start-end perms offset major:minor inode   name`.
    pub fn parse(line: &[u8]) -> Option<Mapping<'_>> {
        let mut fields = line.splitn(6, |byte| *byte == b' ');
        let mut next = || std::str::from_utf8(fields.next()?).ok();
        let hexadecimal = |text: &str| u64::from_str_radix(text, 16).ok();
        let (start, end) = next()?.split_once('-')?;
        let (perms, offset) = (next()?, next()?);
        let (major, minor) = next()?.split_once(':')?;
        let inode = next()?.parse().ok()?;
        Some(Mapping {
            start: hexadecimal(start)?,
            end: hexadecimal(end)?,
            reserved: perms.starts_with("---"),
            shared: perms.ends_with('s'),
            offset: hexadecimal(offset)?,
            device: (u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?),
            inode,
            name: fields.next().unwrap_or_default().trim_ascii_start(),
            huge: false,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MappingKind {
    File,
    Tmpfs,
    Device,
}

/// A file. Each IPC namespace numbers SysV segments separately.
#[derive(Debug, PartialEq, Eq, Hash)]
struct FileKey {
    device: Device,
    inode: u64,
    segment_of: Option<String>,
}

#[derive(Debug, Default)]
struct Pages {
    set: PageSet,
    shared: bool,
    tmpfs: bool,
}

/// Collects the mapped pages of processes.
#[derive(Default)]
pub struct MappedPages {
    charges: Option<Charges>,
    has_group: bool,
    /// Whether each known device is a tmpfs.
    devices: HashMap<Device, bool>,
    /// Mount namespaces whose mounts are in `devices`.
    namespaces: BTreeSet<String>,
    files: HashMap<FileKey, Pages>,
    /// Frames of tmpfs whose charges are still to be looked up.
    frames: Vec<u64>,
    of_others: u64,
    huge_files: HashMap<FileKey, PageSet>,
    huge_pages: u64,
    device_frames: PageSet,
    device_pages: u64,
}

impl MappedPages {
    /// `groups`: inode numbers of the folders of the run's cgroups; empty without cgroups.
    pub fn new(groups: BTreeSet<u64>) -> MappedPages {
        MappedPages {
            has_group: !groups.is_empty(),
            charges: Charges::open(groups),
            devices: HashMap::from([(KERNEL_TMPFS, true)]),
            ..MappedPages::default()
        }
    }

    /// Adds the mappings of a process. `has_huge`: its rollup shows huge pages, whose mappings smaps lists.
    pub fn add(&mut self, pid: u32, has_huge: bool) -> io::Result<()> {
        let maps = fs::read(format!("/proc/{pid}/{}", if has_huge { "smaps" } else { "maps" }))?;
        let mappings = parse(&maps);
        if mappings.is_empty() {
            return Ok(());
        }
        let mut pagemap = Pagemap::open(pid)?;
        // Mappings that follow each other are walked in one go: a library is four or five of them.
        for run in mappings.chunk_by(|one, next| one.end == next.start && !one.huge && !next.huge) {
            if run[0].huge {
                self.add_huge(pid, &pagemap, &run[0])?;
                continue;
            }
            let kinds: Vec<MappingKind> = run.iter().map(|mapping| self.kind(pid, mapping)).collect();
            let mut found = Vec::new();
            let end = run.last().map_or(0, |last| last.end);
            pagemap.file_pages(run[0].start, end, |address, pages| found.push((address, pages)))?;
            for (address, pages) in found {
                let end = address + pages * page_size() as u64;
                for (mapping, kind) in run.iter().zip(&kinds) {
                    let (from, to) = (address.max(mapping.start), end.min(mapping.end));
                    if from < to {
                        self.add_pages(pid, &pagemap, mapping, *kind, from, to)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn add_pages(
        &mut self,
        pid: u32,
        pagemap: &Pagemap,
        mapping: &Mapping,
        kind: MappingKind,
        from: u64,
        to: u64,
    ) -> io::Result<()> {
        let page_bytes = page_size() as u64;
        let (first, count) =
            ((mapping.offset + (from - mapping.start)) / page_bytes, (to - from) / page_bytes);
        if kind == MappingKind::Device {
            return self.add_device(pagemap, mapping, from, to);
        }
        let file = self.files.entry(key(pid, mapping)).or_default();
        file.shared |= mapping.shared;
        file.tmpfs = kind == MappingKind::Tmpfs;
        if !file.tmpfs || self.charges.is_none() {
            file.set.insert_range(first, count);
            return Ok(());
        }
        let new: BTreeSet<u64> = (0..count)
            .filter(|page| file.set.insert(first + page))
            .map(|page| from + page * page_bytes)
            .collect();
        if let (Some(from), Some(last)) = (new.first(), new.last()) {
            pagemap.pages(*from, last + page_bytes, |address, page| {
                self.frames.extend(page.frame.filter(|_| new.contains(&address)));
            })?;
        }
        if self.frames.len() >= BATCH_FRAMES {
            self.look_up();
        }
        Ok(())
    }

    /// Adds huge pages. The kernel marks pages that only one process maps. Shared ones, of a file or after
    /// fork, are identified by their offset.
    fn add_huge(&mut self, pid: u32, pagemap: &Pagemap, mapping: &Mapping) -> io::Result<()> {
        let mut shared = Vec::new();
        pagemap.pages(mapping.start, mapping.end, |address, page| match page.exclusive {
            true => self.huge_pages += 1,
            false => shared.push((mapping.offset + (address - mapping.start)) / page_size() as u64),
        })?;
        let file = self.huge_files.entry(key(pid, mapping)).or_default();
        self.huge_pages += shared.into_iter().filter(|page| file.insert(*page)).count() as u64;
        Ok(())
    }

    /// Adds device pages that the cgroup is not charged for, such as rings of packet sockets. Rings of io_uring
    /// and BPF maps are already in the kernel's account of the cgroup.
    fn add_device(&mut self, pagemap: &Pagemap, mapping: &Mapping, from: u64, to: u64) -> io::Result<()> {
        let accounted = self.has_group && is_accounted(mapping.name);
        let MappedPages { charges, device_frames, device_pages, .. } = self;
        pagemap.pages(from, to, |_, page| {
            *device_pages += u64::from(match (page.frame, &charges) {
                (Some(frame), Some(charges)) => device_frames.insert(frame) && !charges.is_own(frame),
                (Some(frame), None) => device_frames.insert(frame) && !accounted,
                (None, _) => !accounted,
            });
        })
    }

    fn look_up(&mut self) {
        if let Some(charges) = &self.charges {
            self.of_others += charges.of_others(&mut self.frames);
        }
        self.frames.clear();
    }

    fn kind(&mut self, pid: u32, mapping: &Mapping) -> MappingKind {
        if is_device(pid, mapping.name) {
            return MappingKind::Device;
        }
        // Only a file system without a block device (major 0) can be a tmpfs. The vdso is on none.
        let may_be_tmpfs = mapping.device.0 == 0 && mapping.device.1 != 0;
        match may_be_tmpfs && self.is_tmpfs(pid, mapping.device) {
            true => MappingKind::Tmpfs,
            false => MappingKind::File,
        }
    }

    /// Whether a device is a tmpfs: known already, or by the mounts of the process's namespace.
    fn is_tmpfs(&mut self, pid: u32, device: Device) -> bool {
        if let Some(known) = self.devices.get(&device) {
            return *known;
        }
        let namespace = fs::read_link(format!("/proc/{pid}/ns/mnt")).unwrap_or_default();
        if self.namespaces.insert(namespace.to_string_lossy().into_owned()) {
            self.devices.extend(devices(&text(format!("/proc/{pid}/mountinfo")).unwrap_or_default()));
        }
        self.devices.get(&device).copied().unwrap_or_else(|| self.is_unmounted_tmpfs(pid, device))
    }

    /// Whether a device without a listed mount is a tmpfs. Only root can find out.
    fn is_unmounted_tmpfs(&mut self, pid: u32, device: Device) -> bool {
        let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
        let is_tmpfs = parse(&maps).iter().filter(|mapping| mapping.device == device).any(|mapping| {
            let place = format!("/proc/{pid}/map_files/{:x}-{:x}", mapping.start, mapping.end);
            rustix::fs::statfs(place).is_ok_and(|stat| stat.f_type == TMPFS)
        });
        self.devices.insert(device, is_tmpfs);
        is_tmpfs
    }

    pub fn sum(mut self) -> Mapped {
        self.look_up();
        let bytes = |pages: u64| pages * page_size() as u64;
        let of = |wanted: &dyn Fn(&Pages) -> bool| {
            bytes(self.files.values().filter(|file| wanted(file)).map(|file| file.set.count()).sum())
        };
        Mapped {
            file: of(&|file| !file.tmpfs),
            tmpfs: of(&|file| file.tmpfs),
            tmpfs_as_file: of(&|file| file.tmpfs && !file.shared),
            tmpfs_of_others: self.charges.as_ref().map(|_| bytes(self.of_others)),
            huge: bytes(self.huge_pages),
            device: bytes(self.device_pages),
        }
    }
}

fn key(pid: u32, mapping: &Mapping) -> FileKey {
    // Each IPC namespace numbers its segments separately.
    let is_segment = mapping.device == KERNEL_TMPFS && mapping.name.starts_with(b"/SYSV");
    let namespace = || fs::read_link(format!("/proc/{pid}/ns/ipc")).unwrap_or_default();
    FileKey {
        device: mapping.device,
        inode: mapping.inode,
        segment_of: is_segment.then(|| namespace().to_string_lossy().into_owned()),
    }
}

/// Whether the mapping is of a socket, an anonymous inode of the kernel, or a character device in /dev.
fn is_device(pid: u32, name: &[u8]) -> bool {
    let special = || {
        let place = format!("/proc/{pid}/root{}", String::from_utf8_lossy(name));
        name.starts_with(b"/dev/") && fs::metadata(place).is_ok_and(|data| data.file_type().is_char_device())
    };
    name.starts_with(b"socket:") || name.starts_with(b"anon_inode:") || special()
}

/// Whether the kernel charges the cgroup for what such a descriptor maps. It accounts perf buffers per user.
fn is_accounted(name: &[u8]) -> bool {
    name.starts_with(b"anon_inode:") && !name.starts_with(b"anon_inode:[perf_event]")
}

/// The mappings in maps or smaps that may have pages other than anonymous ones. File names need not be UTF-8.
fn parse(maps: &[u8]) -> Vec<Mapping<'_>> {
    let mut mappings: Vec<Mapping> = Vec::new();
    // Whether the lines that follow belong to the last of `mappings`.
    let mut kept = false;
    for line in maps.split(|byte| *byte == b'\n') {
        if let Some(flags) = line.strip_prefix(b"VmFlags:") {
            let huge = flags.split(|byte| *byte == b' ').any(|flag| flag == b"ht");
            if let Some(last) = mappings.last_mut().filter(|_| kept) {
                last.huge = huge;
            }
        } else if let Some(mapping) = Mapping::parse(line) {
            kept = mapping.inode != 0 || mapping.device != (0, 0) || mapping.name == b"[vdso]";
            if kept {
                mappings.push(mapping);
            }
        }
    }
    mappings
}

/// The devices of a mountinfo, and whether each is a tmpfs.
fn devices(mountinfo: &str) -> impl Iterator<Item = (Device, bool)> {
    mountinfo.lines().filter_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let (major, minor) = before.split(' ').nth(2)?.split_once(':')?;
        let is_tmpfs = match after.split(' ').next()? {
            "tmpfs" | "devtmpfs" => true,
            // A rootfs may be a ramfs instead.
            "rootfs" => rustix::fs::statfs("/").is_ok_and(|stat| stat.f_type == TMPFS),
            _ => false,
        };
        Some(((major.parse().ok()?, minor.parse().ok()?), is_tmpfs))
    })
}

/// The files that a process has mapped.
pub fn mapped_paths(pid: u32) -> BTreeSet<PathBuf> {
    let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    maps.split(|byte| *byte == b'\n').filter_map(mapped_path).collect()
}

/// The path of a mapped file, from a line of `maps`.
fn mapped_path(line: &[u8]) -> Option<PathBuf> {
    let mapping = Mapping::parse(line).filter(|of| of.inode != 0 && of.name.starts_with(b"/"))?;
    let mut path = mapping.name.to_vec();
    while let Some(start) = path.windows(4).position(|part| part == br"\012") {
        path.splice(start..start + 4, [b'\n']);
    }
    Some(PathBuf::from(OsString::from_vec(path)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn mappings_without_a_file_are_left_out() {
        let maps = b"7f00-7f01 r-xp 00001000 fe:01 42                         /lib/\xff name\n\
                     7f01-7f02 rw-p 00000000 00:00 0 \n\
                     7f02-7f03 rw-s 00000000 00:01 0                          /SYSV00000000 (deleted)\n\
                     7f03-7f04 r-xp 00000000 00:00 0                          [vdso]\n\
                     7f04-7f05 rw-p 00000000 00:00 0                          [stack]\n";
        let mappings = parse(maps);
        let names: Vec<&[u8]> = mappings.iter().map(|mapping| mapping.name).collect();
        assert_eq!(names, [b"/lib/\xff name".as_slice(), b"/SYSV00000000 (deleted)", b"[vdso]"]);
        let library = &mappings[0];
        assert_eq!((library.start, library.end, library.offset), (0x7f00, 0x7f01, 0x1000));
        assert_eq!((library.device, library.inode, library.shared), ((0xfe, 1), 42, false));
        assert!(mappings[1].shared);
        assert!(parse(b"Rss: 4 kB\n\ngarbage").is_empty());
    }

    #[test]
    fn huge_pages_are_recognized_by_flags() {
        let smaps =
            b"7f00-7f01 rw-p 00000000 00:0f 9 /anon_hugepage (deleted)\nRss: 0 kB\nVmFlags: rd wr ht \n\
                      7f01-7f02 rw-p 00000000 00:00 0 \nVmFlags: rd ht \n\
                      7f02-7f03 r--p 00000000 fe:00 7 /lib/x\nVmFlags: rd mr \n";
        let huge: Vec<bool> = parse(smaps).iter().map(|mapping| mapping.huge).collect();
        assert_eq!(huge, [true, false]);
    }

    #[test]
    fn tmpfs_is_recognized_by_its_mount() {
        let mountinfo =
            "30 25 0:26 / /tmp rw - tmpfs tmpfs rw\n31 25 254:1 / / rw shared:1 - ext4 /dev/x rw\n";
        let found: Vec<_> = devices(mountinfo).collect();
        assert_eq!(found, [((0, 26), true), ((254, 1), false)]);
    }

    #[test]
    fn shared_segments_are_keyed_by_ipc_namespace() {
        let line = b"1000-2000 rw-s 00000000 00:01 0 /SYSV00000000 (deleted)";
        let segment = key(std::process::id(), &Mapping::parse(line).unwrap());
        assert!(segment.segment_of.is_some_and(|namespace| namespace.starts_with("ipc:")));
        let memfd = key(std::process::id(), &Mapping::parse(b"1000-2000 rw-s 0 00:01 0 /memfd:x").unwrap());
        assert_eq!(memfd.segment_of, None);
    }

    #[test]
    fn mapped_file_paths_are_parsed() {
        let line = b"55d0-55d2 r-xp 00002000 fe:00 1311                       /usr/bin/my cat";
        assert_eq!(mapped_path(line), Some("/usr/bin/my cat".into()));
        assert_eq!(mapped_path(b"7ffc-7ffd rw-p 00000000 00:00 0                          [stack]"), None);
        assert_eq!(mapped_path(b"7f00-7f01 rw-p 00000000 00:00 0 "), None);
        assert_eq!(mapped_path(b""), None);
        assert_eq!(mapped_path(br"1-2 r-xp 0 fe:00 7 /a\012b\134"), Some("/a\nb\\134".into()));
        let no_text = mapped_path(b"1-2 r-xp 0 fe:00 7 /\xff").unwrap();
        assert_eq!(no_text.as_os_str().as_bytes(), b"/\xff");
        assert!(mapped_paths(std::process::id()).contains(&std::env::current_exe().unwrap()));
    }

    #[test]
    fn the_pages_of_this_process_count_once() {
        let sum = |times| {
            let mut pages = MappedPages::new(BTreeSet::new());
            for _ in 0..times {
                pages.add(std::process::id(), false).unwrap();
            }
            pages.sum()
        };
        let (once, twice) = (sum(1), sum(2));
        assert!(once.file > 0 && once.tmpfs_of_others.is_none());
        // Other tests run in this process, and may touch pages that were not in memory yet.
        assert!(twice.file < once.file + once.file / 2, "{once:?} {twice:?}");
    }
}
