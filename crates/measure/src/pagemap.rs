//! Which pages of a process are in memory, from `/proc/PID/pagemap` (Documentation/admin-guide/mm/pagemap.rst),
//! and which cgroup a page is charged to, from `/proc/kpagecgroup`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use rustix::param::page_size;

/// Bits of an entry of pagemap.
const PRESENT: u64 = 1 << 63;
const FILE_OR_SHARED: u64 = 1 << 61;
const EXCLUSIVE: u64 = 1 << 56;
const FRAME: u64 = (1 << 55) - 1;
/// Entries read at a time: a sparse mapping may have a terabyte of address space.
const CHUNK_PAGES: u64 = 1 << 16;
/// Frames at most this far apart are looked up with one read.
const NEAR: u64 = 64;

/// One entry of pagemap for a page in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagemapEntry {
    /// Its physical frame number; `None` if this user cannot see it.
    pub frame: Option<u64>,
    /// It belongs to a file, to shared memory or to a device: it is not anonymous.
    pub of_file: bool,
    /// This is the only mapping of it.
    pub exclusive: bool,
}

impl PagemapEntry {
    fn of(entry: u64) -> Option<PagemapEntry> {
        (entry & PRESENT != 0).then(|| PagemapEntry {
            frame: Some(entry & FRAME).filter(|frame| *frame != 0),
            of_file: entry & FILE_OR_SHARED != 0,
            exclusive: entry & EXCLUSIVE != 0,
        })
    }
}

/// `struct pm_scan_arg` of linux/fs.h.
#[repr(C)]
#[derive(Default)]
struct ScanArgument {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// `struct page_region` of linux/fs.h.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct PageRegion {
    start: u64,
    end: u64,
    categories: u64,
}

const PAGE_IS_FILE: u64 = 1 << 2;
const PAGE_IS_PRESENT: u64 = 1 << 3;
/// `_IOWR('f', 16, struct pm_scan_arg)`.
const PAGEMAP_SCAN: libc::c_ulong = 0xc060_6610;
const REGIONS: usize = 256;

pub struct Pagemap {
    file: File,
    /// Whether the kernel (since 6.7) lists the pages itself, which skips holes.
    scans: bool,
}

impl Pagemap {
    pub fn open(pid: u32) -> io::Result<Pagemap> {
        Ok(Pagemap { file: File::open(format!("/proc/{pid}/pagemap"))?, scans: true })
    }

    /// Calls `found` with the first address and the number of pages of each run of pages in memory that are not
    /// anonymous.
    pub fn file_pages(&mut self, start: u64, end: u64, mut found: impl FnMut(u64, u64)) -> io::Result<()> {
        let mut at = start;
        while self.scans && at < end {
            match self.scan(at, end, &mut found) {
                Ok(next) => at = next,
                Err(error) if matches!(error.raw_os_error(), Some(libc::ENOTTY | libc::EINVAL)) => {
                    self.scans = false;
                }
                Err(error) => return Err(error),
            }
        }
        if at < end {
            self.pages(at, end, |address, page| {
                if page.of_file {
                    found(address, 1);
                }
            })?;
        }
        Ok(())
    }

    /// One system call. Returns the address at which it stopped.
    fn scan(&self, start: u64, end: u64, found: &mut impl FnMut(u64, u64)) -> io::Result<u64> {
        let mut regions = [PageRegion::default(); REGIONS];
        let wanted = PAGE_IS_FILE | PAGE_IS_PRESENT;
        let mut argument = ScanArgument {
            size: size_of::<ScanArgument>() as u64,
            start,
            end,
            vec: regions.as_mut_ptr() as u64,
            vec_len: REGIONS as u64,
            category_mask: wanted,
            return_mask: wanted,
            ..ScanArgument::default()
        };
        // SAFETY: the kernel writes to `argument`, and at most `vec_len` regions to `regions`.
        let count = unsafe { libc::ioctl(self.file.as_raw_fd(), PAGEMAP_SCAN as _, &mut argument) };
        if count < 0 {
            return Err(io::Error::last_os_error());
        }
        for region in &regions[..(count as usize).min(REGIONS)] {
            found(region.start, (region.end - region.start) / page_size() as u64);
        }
        Ok(argument.walk_end.max(start + page_size() as u64))
    }

    /// Calls `found` with the address of each page in memory.
    pub fn pages(&self, start: u64, end: u64, mut found: impl FnMut(u64, PagemapEntry)) -> io::Result<()> {
        let page_bytes = page_size() as u64;
        let (mut page, end) = (start / page_bytes, end.div_ceil(page_bytes));
        let mut buffer = Vec::new();
        while page < end {
            let count = (end - page).min(CHUNK_PAGES);
            buffer.resize(count as usize * 8, 0);
            self.file.read_exact_at(&mut buffer, page * 8)?;
            for (index, entry) in buffer.chunks_exact(8).enumerate() {
                let entry = u64::from_ne_bytes(entry.try_into().unwrap_or_default());
                if let Some(found_page) = PagemapEntry::of(entry) {
                    found((page + index as u64) * page_bytes, found_page);
                }
            }
            page += count;
        }
        Ok(())
    }
}

/// Which cgroup each page is charged to. Only root can read this.
pub struct Charges {
    file: File,
    /// Inode numbers of the folders of the run's groups.
    own: BTreeSet<u64>,
}

impl Charges {
    /// `None` if this user cannot read it, or if the run has no cgroup.
    pub fn open(own: BTreeSet<u64>) -> Option<Charges> {
        let file = File::open("/proc/kpagecgroup").ok().filter(|_| !own.is_empty())?;
        Some(Charges { file, own })
    }

    /// Whether the run's groups are charged for a page.
    pub fn is_own(&self, frame: u64) -> bool {
        self.of_others(&mut [frame]) == 0
    }

    /// How many of these pages the run's groups are not charged for. Sorts them.
    pub fn of_others(&self, frames: &mut [u64]) -> u64 {
        frames.sort_unstable();
        let mut others = 0;
        let mut buffer = Vec::new();
        for near in frames.chunk_by(|one, next| next - one <= NEAR) {
            let (first, last) = (near[0], near[near.len() - 1]);
            buffer.resize((last - first + 1) as usize * 8, 0);
            let read = self.file.read_exact_at(&mut buffer, first * 8).is_ok();
            let is_own = |frame: u64| {
                let at = (frame - first) as usize * 8;
                let inode = buffer[at..at + 8].try_into().map(u64::from_ne_bytes);
                read && inode.is_ok_and(|inode| self.own.contains(&inode))
            };
            others += near.iter().filter(|frame| !is_own(**frame)).count() as u64;
        }
        others
    }
}

/// A set of page numbers, of any size and however sparse.
#[derive(Debug, Default)]
pub struct PageSet {
    blocks: std::collections::HashMap<u64, Box<[u64; WORDS]>>,
    count: u64,
}

const WORDS: usize = 8;
const BLOCK_PAGES: u64 = WORDS as u64 * 64;

impl PageSet {
    /// How many pages it has.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Inserts a page. Returns whether it is new.
    pub fn insert(&mut self, page: u64) -> bool {
        self.insert_range(page, 1) > 0
    }

    /// Inserts consecutive pages. Returns how many of them are new.
    pub fn insert_range(&mut self, first: u64, pages: u64) -> u64 {
        let before = self.count;
        let (mut page, end) = (first, first.saturating_add(pages));
        while page < end {
            let block = self.blocks.entry(page / BLOCK_PAGES).or_default();
            let block_end = end.min((page / BLOCK_PAGES + 1) * BLOCK_PAGES);
            while page < block_end {
                let (bit, word) = (page % 64, &mut block[(page % BLOCK_PAGES / 64) as usize]);
                let bits = (block_end - page).min(64 - bit);
                let mask = (u64::MAX >> (64 - bits)) << bit;
                self.count += u64::from((mask & !*word).count_ones());
                *word |= mask;
                page += bits;
            }
        }
        self.count - before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_counted_once_however_it_is_inserted() {
        let mut set = PageSet::default();
        assert_eq!(set.insert_range(60, 1_000), 1_000);
        assert_eq!(set.insert_range(0, 100), 60);
        assert_eq!(set.insert_range(1_059, 2), 1);
        assert!(!set.insert(512) && set.insert(1 << 52));
        assert_eq!(set.count(), 1_062);
    }

    #[test]
    fn pagemap_entries_are_decoded() {
        assert_eq!(PagemapEntry::of(0x7), None);
        let page = PagemapEntry::of(PRESENT | EXCLUSIVE | 5).unwrap();
        assert_eq!((page.frame, page.of_file, page.exclusive), (Some(5), false, true));
        assert_eq!(
            PagemapEntry::of(PRESENT | FILE_OR_SHARED),
            Some(PagemapEntry { frame: None, of_file: true, exclusive: false })
        );
    }

    /// The kernel's own list and the entries agree on a sparse mapping.
    #[test]
    fn both_interfaces_find_the_same_pages() {
        let page_bytes = page_size() as u64;
        let length = 4_000 * page_bytes;
        // SAFETY: a new mapping, written within its bounds, that lives as long as the process.
        let start = unsafe {
            let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let start = libc::mmap(std::ptr::null_mut(), length as usize, access, flags, -1, 0);
            assert_ne!(start, libc::MAP_FAILED);
            for page in (0..4_000).step_by(7).chain(100..200) {
                start.cast::<u8>().add(page * page_size()).write_volatile(1);
            }
            start as u64
        };
        let found = |scans| {
            let mut pagemap = Pagemap { scans, ..Pagemap::open(std::process::id()).unwrap() };
            let mut set = PageSet::default();
            pagemap
                .file_pages(start, start + length, |address, pages| {
                    set.insert_range(address / page_bytes, pages);
                })
                .unwrap();
            set.count()
        };
        let written = (0..4_000).filter(|page| page % 7 == 0 || (100..200).contains(page)).count() as u64;
        assert_eq!((found(true), found(false)), (written, written));
    }
}
