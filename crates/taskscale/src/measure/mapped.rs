//! The files that processes have mapped: each page of them is in memory once, however many processes map it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader};

use super::procfs::{kib_field, text};

/// Mapped pages of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MappedFiles {
    /// Each page counted once, however many processes map it: for each file and offset the largest resident size that
    /// any process shows. Exact where the processes map the same parts, as workers forked from one parent do, and all
    /// of them were walked.
    pub bytes: u64,
    /// What programs and libraries that lie on tmpfs add to `Pss_Shmem`: the kernel counts every page of tmpfs as
    /// shared memory, where for us a program's text is a file, wherever it lies.
    pub pss_on_tmpfs: u64,
}

/// Walks every mapping of the processes: takes four times as long as `rollup`, so at the plateau only, and only where
/// needed. Of a large family `FAMILY_LOOKED_AT` are walked, from its first to its last, and what the others add to
/// `Pss_Shmem` is taken to be as much. `None` where it `is_over` before all were read.
pub fn mapped_files(pids: &[u32], is_over: &dyn Fn() -> bool) -> Option<MappedFiles> {
    let tmpfs = tmpfs_devices(&text("/proc/self/mountinfo").unwrap_or_default());
    let mut files = FileSum { tmpfs, ..FileSum::default() };
    let walked = spread(pids, FAMILY_LOOKED_AT);
    for pid in &walked {
        if is_over() {
            return None;
        }
        // A process that ends now shows no more lines.
        let Ok(file) = fs::File::open(format!("/proc/{pid}/smaps")) else { continue };
        let _ = files.add(BufReader::new(file));
    }
    let mut sum = files.sum();
    if pids.len() > walked.len() {
        sum.pss_on_tmpfs = (sum.pss_on_tmpfs as f64 * pids.len() as f64 / walked.len() as f64) as u64;
    }
    Some(sum)
}

/// Of so many processes not all have files of their own: each takes 0.2 ms to walk.
const FAMILY_LOOKED_AT: usize = 1_000;

/// At most so many of them, at equal distances, the first and the last among them.
fn spread(all: &[u32], most: usize) -> Vec<u32> {
    match all.len() <= most {
        true => all.to_vec(),
        false => (0..most).map(|index| all[index * (all.len() - 1) / (most - 1)]).collect(),
    }
}

impl MappedFiles {
    pub fn at_least(self, bytes: u64) -> MappedFiles {
        MappedFiles { bytes: self.bytes.max(bytes), ..self }
    }
}

#[derive(Default)]
struct FileSum {
    /// Device numbers as smaps writes them.
    tmpfs: Vec<String>,
    /// The largest resident size of each file and offset.
    largest: BTreeMap<String, u64>,
    pss_on_tmpfs: u64,
}

impl FileSum {
    fn add(&mut self, smaps: impl BufRead) -> io::Result<()> {
        // The file that is mapped, if it is one, and whether it lies on tmpfs.
        let mut mapping: Option<(String, bool)> = None;
        let (mut rss, mut pss) = (0, 0);
        for line in smaps.split(b'\n') {
            let line = line?;
            // Names of files need not be text, and are not looked at.
            let line = String::from_utf8_lossy(&line);
            if let Some(value) = kib_field(&line, "Rss") {
                rss = value;
            } else if let Some(value) = kib_field(&line, "Pss") {
                pss = value;
            } else if let Some(anonymous) = kib_field(&line, "Anonymous") {
                if let Some((file, on_tmpfs)) = mapping.take() {
                    let place = self.largest.entry(file).or_default();
                    *place = (*place).max(rss.saturating_sub(anonymous));
                    self.pss_on_tmpfs += if on_tmpfs { pss.saturating_sub(anonymous) } else { 0 };
                }
            } else if line.as_bytes().first().is_some_and(u8::is_ascii_hexdigit) && !line.contains(" kB") {
                mapping = self.mapped_file(&line);
            }
        }
        Ok(())
    }

    /// From `address perms offset dev inode path`. Shared memory is no file: neither what shows as one on no device
    /// (00:01), nor what is mapped shared on tmpfs, as `shm_open` and /dev/shm have it.
    fn mapped_file(&self, line: &str) -> Option<(String, bool)> {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (perms, offset) = (fields.next()?, fields.next()?);
        let (device, inode) = (fields.next()?, fields.next()?);
        let on_tmpfs = self.tmpfs.iter().any(|tmpfs| tmpfs == device);
        let is_memory = inode == "0"
            || (on_tmpfs && perms.ends_with('s'))
            || ["/dev/zero (deleted)", "/memfd:", "/SYSV"].iter().any(|name| line.contains(name));
        (!is_memory).then(|| (format!("{device} {inode} {offset}"), on_tmpfs))
    }

    fn sum(self) -> MappedFiles {
        MappedFiles { bytes: self.largest.values().sum(), pss_on_tmpfs: self.pss_on_tmpfs }
    }
}

/// The devices of all tmpfs, of which mountinfo writes the numbers in decimal and smaps in hexadecimal digits.
fn tmpfs_devices(mountinfo: &str) -> Vec<String> {
    let device = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let kind = after.split(' ').next()?;
        let (major, minor) = before.split(' ').nth(2)?.split_once(':')?;
        let is_tmpfs = ["tmpfs", "devtmpfs", "rootfs"].contains(&kind);
        is_tmpfs.then_some(format!("{:02x}:{:02x}", major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    };
    mountinfo.lines().filter_map(device).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_mapped_by_two_processes_count_once_and_shared_memory_is_no_file() {
        let process = "7f00-7f01 r-xp 00001000 fe:01 42 /lib/libc.so\nRss: 100 kB\nPss: 52 kB\nAnonymous: 4 kB\n\
                       7f02-7f03 rw-s 00000000 00:01 77 /dev/zero (deleted)\nRss: 50 kB\nPss: 25 kB\nAnonymous: 0 kB\n\
                       7f04-7f05 rw-p 00000000 00:00 0 \nRss: 30 kB\nPss: 30 kB\nAnonymous: 30 kB\n";
        let mut files = FileSum::default();
        for _ in 0..2 {
            files.add(process.as_bytes()).unwrap();
        }
        assert_eq!(files.sum(), MappedFiles { bytes: 96 << 10, pss_on_tmpfs: 0 });
    }

    #[test]
    fn a_large_family_is_looked_at_from_its_first_to_its_last() {
        let all: Vec<u32> = (0..12_000).collect();
        let some = spread(&all, 1_000);
        assert_eq!((some.len(), some[0], some[999]), (1_000, 0, 11_999));
        assert!(some.windows(2).all(|pair| (12..=13).contains(&(pair[1] - pair[0]))));
        assert_eq!(spread(&all[..1_000], 1_000), all[..1_000]);
    }

    #[test]
    fn on_tmpfs_a_program_is_a_file_and_what_is_mapped_shared_is_memory() {
        let process = "7f00-7f01 r-xp 00000000 00:1a 42 /tmp/program\nRss: 100 kB\nPss: 60 kB\nAnonymous: 8 kB\n\
                       7f02-7f03 rw-s 00000000 00:1a 77 /tmp/hsperfdata\nRss: 50 kB\nPss: 50 kB\nAnonymous: 0 kB\n";
        let tmpfs =
            tmpfs_devices("30 25 0:26 / /tmp rw - tmpfs tmpfs rw\n31 25 254:1 / / rw - ext4 /dev/x rw\n");
        let mut files = FileSum { tmpfs, ..FileSum::default() };
        files.add(process.as_bytes()).unwrap();
        assert_eq!(files.sum(), MappedFiles { bytes: 92 << 10, pss_on_tmpfs: 52 << 10 });
    }

    #[test]
    fn a_file_whose_name_is_no_text_counts() {
        let process =
            b"7f00-7f01 r-xp 00001000 fe:01 42 /lib/\xff\nRss: 100 kB\nPss: 52 kB\nAnonymous: 4 kB\n";
        let mut files = FileSum::default();
        files.add(process.as_slice()).unwrap();
        assert_eq!(files.sum().bytes, 96 << 10);
    }
}
