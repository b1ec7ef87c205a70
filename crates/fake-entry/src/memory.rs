//! Memory of an exact size: mapped directly, never through the allocator, and every page touched.
//!
//! Sizes are rounded up to whole pages. The kernel adds page tables: 8 bytes per page, in whole
//! pages, about 0.2 %.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::Path;
use std::ptr;

use crate::args::MemoryOptions;

pub fn page_size() -> usize {
    // SAFETY: asks for a constant.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

fn whole_pages(bytes: u64) -> io::Result<usize> {
    let rounded = bytes.checked_next_multiple_of(page_size() as u64);
    rounded
        .and_then(|bytes| usize::try_from(bytes).ok())
        .ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))
}

/// A mapping; given back when dropped.
pub struct Region {
    start: *mut u8,
    bytes: usize,
}

impl Region {
    /// Private anonymous memory, written to on every page, never huge pages.
    pub fn anon(bytes: u64) -> io::Result<Region> {
        let region = Region::map(bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, None)?;
        region.write_each_page();
        Ok(region)
    }

    /// Shared anonymous memory, which the kernel counts as shmem.
    fn shmem(bytes: u64) -> io::Result<Region> {
        let region = Region::map(bytes, libc::MAP_SHARED | libc::MAP_ANONYMOUS, None)?;
        region.write_each_page();
        Ok(region)
    }

    /// The first `bytes` of a file, mapped read-only and read on every page.
    fn file(path: &Path, bytes: u64) -> io::Result<Region> {
        let file = File::open(path)?;
        if file.metadata()?.len() < bytes {
            return Err(io::Error::other("smaller than --file-bytes"));
        }
        let region = Region::map(bytes, libc::MAP_SHARED, Some(&file))?;
        for offset in (0..region.bytes).step_by(page_size()) {
            // SAFETY: inside the mapping, and inside the file or its last page.
            unsafe { ptr::read_volatile(region.start.add(offset)) };
        }
        Ok(region)
    }

    /// Maps without touching. Of a shared anonymous page also `processes.rs` makes use.
    pub fn map(bytes: u64, flags: libc::c_int, file: Option<&File>) -> io::Result<Region> {
        let bytes = whole_pages(bytes)?;
        if bytes == 0 {
            return Ok(Region { start: ptr::null_mut(), bytes });
        }
        let protection = match file {
            None => libc::PROT_READ | libc::PROT_WRITE,
            Some(_) => libc::PROT_READ,
        };
        let fd = file.map_or(-1, AsRawFd::as_raw_fd);
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, fd, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // Fails on a kernel built without huge pages, where there is nothing to switch off.
        // SAFETY: the mapping just made.
        unsafe { libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE) };
        Ok(Region { start: start.cast(), bytes })
    }

    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// Writes something other than zero, so that no two kernels can disagree on what is kept.
    fn write_each_page(&self) {
        for offset in (0..self.bytes).step_by(page_size()) {
            // SAFETY: inside a writable mapping that is ours alone.
            unsafe { ptr::write_volatile(self.start.add(offset), 1) };
        }
    }

    /// Keeps the addresses, returns the pages.
    fn give_back(&self) -> io::Result<()> {
        // SAFETY: the mapping is private, anonymous, and nothing refers to what it holds.
        let result = unsafe { libc::madvise(self.start.cast(), self.bytes, libc::MADV_DONTNEED) };
        if self.bytes > 0 && result != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // SAFETY: mapped by `map`, unmapped once.
            unsafe { libc::munmap(self.start.cast(), self.bytes) };
        }
    }
}

/// Maps every page of this program and its libraries. Left to page faults, the kernel maps some pages around each, and
/// how many depends on where the text came to lie: by 150 KiB from run to run, where sizes here are to be exact.
pub fn map_own_files() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    for (start, end) in maps.lines().filter_map(mapped_file) {
        // Before Linux 5.14 there is no such advice, and what is mapped then varies.
        // SAFETY: asks the kernel to map what is mapped already, for reading: no byte changes.
        unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_POPULATE_READ) };
    }
}

/// Where a file is mapped for reading: `start-end access offset device inode path`.
fn mapped_file(line: &str) -> Option<(usize, usize)> {
    let mut fields = line.split_ascii_whitespace();
    let (range, access, inode) = (fields.next()?, fields.next()?, fields.nth(2)?);
    if inode == "0" || !access.starts_with('r') {
        return None;
    }
    let (start, end) = range.split_once('-')?;
    Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
}

/// What is held from before `alive` until the process ends.
pub struct HeldMemory {
    _regions: Vec<Region>,
    _memfd: Option<File>,
}

/// Takes and returns what is to be returned first, so that the peak of the launch is the largest
/// of `--give-back-bytes` and everything held, not their sum.
pub fn hold(memory: &MemoryOptions) -> io::Result<HeldMemory> {
    let given_back = Region::anon(memory.give_back)?;
    given_back.give_back()?;
    let mut regions = vec![given_back, Region::anon(memory.anon)?, Region::shmem(memory.shmem)?];
    if let Some((path, bytes)) = &memory.file {
        let named = |error| io::Error::other(format!("{}: {error}", path.display()));
        regions.push(Region::file(path, *bytes).map_err(named)?);
    }
    let memfd = match memory.memfd {
        0 => None,
        bytes => Some(memfd(bytes)?),
    };
    Ok(HeldMemory { _regions: regions, _memfd: memfd })
}

/// Pages of shmem that no mapping shows: only the control group sees them.
fn memfd(bytes: u64) -> io::Result<File> {
    static PART: [u8; 16 * 1024] = [1; 16 * 1024];
    // SAFETY: a literal that ends in a zero byte.
    let fd = unsafe { libc::memfd_create(c"fake-entry".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a descriptor just made, owned by nobody else.
    let mut file = unsafe { File::from_raw_fd(fd) };
    let mut left = whole_pages(bytes)?;
    while left > 0 {
        let part = left.min(PART.len());
        file.write_all(&PART[..part])?;
        left -= part;
    }
    Ok(file)
}

/// Takes memory until killed. Returns only when that did not happen, with what it was told.
pub fn until_killed(most: u64) -> String {
    const STEP: u64 = 16 << 20;
    let mut held = Vec::new();
    let mut total = 0;
    while total < most {
        let step = STEP.min(most - total);
        match Region::anon(step) {
            Ok(region) => held.push(region),
            Err(error) => return format!("cannot allocate memory after {total} bytes: {error}"),
        }
        total += step;
    }
    format!("not killed after {total} bytes (--oom-max)")
}
