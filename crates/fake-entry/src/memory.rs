//! Memory of an exact size: mapped directly, never through the allocator, and every page touched.
//!
//! Sizes are rounded up to whole pages. The kernel adds page tables: 8 bytes per page, in whole
//! pages, about 0.2 %.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::ptr;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};
use rustix::param::page_size;

use crate::args::Options;

fn whole_pages(bytes: u64) -> Result<usize, Errno> {
    let rounded = bytes.checked_next_multiple_of(page_size() as u64);
    rounded.and_then(|bytes| usize::try_from(bytes).ok()).ok_or(Errno::NOMEM)
}

/// A mapping; given back when dropped.
pub struct Region {
    pub start: *mut u8,
    bytes: usize,
}

impl Region {
    /// Private anonymous memory, written to on every page, never huge pages.
    pub fn anon(bytes: u64) -> io::Result<Region> {
        Region::map(bytes, MapFlags::PRIVATE, None)?.written()
    }

    /// The first `bytes` of a file, mapped read-only and read on every page.
    fn file(path: &Path, bytes: u64) -> io::Result<Region> {
        let file = File::open(path)?;
        if file.metadata()?.len() < bytes {
            return Err(io::Error::other("smaller than --file-bytes"));
        }
        let region = Region::map(bytes, MapFlags::SHARED, Some(&file))?;
        for offset in (0..region.bytes).step_by(page_size()) {
            // SAFETY: inside the mapping, and inside the file or its last page.
            unsafe { ptr::read_volatile(region.start.add(offset)) };
        }
        Ok(region)
    }

    /// Maps without touching. `processes.rs` uses it for a shared anonymous page.
    pub fn map(bytes: u64, flags: MapFlags, file: Option<&File>) -> io::Result<Region> {
        let bytes = whole_pages(bytes)?;
        if bytes == 0 {
            return Ok(Region { start: ptr::null_mut(), bytes });
        }
        // SAFETY: a new mapping at an address of the kernel's choice. The advice fails on a kernel built without huge pages,
        // where there is nothing to switch off.
        let start = unsafe {
            let start = match file {
                None => mmap_anonymous(ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, flags)?,
                Some(file) => mmap(ptr::null_mut(), bytes, ProtFlags::READ, flags, file, 0)?,
            };
            let _ = madvise(start, bytes, Advice::LinuxNoHugepage);
            start
        };
        Ok(Region { start: start.cast(), bytes })
    }

    /// Writes a nonzero byte to every page, so that every kernel keeps the page.
    fn written(self) -> io::Result<Region> {
        for offset in (0..self.bytes).step_by(page_size()) {
            // SAFETY: inside a writable mapping that is ours alone.
            unsafe { ptr::write_volatile(self.start.add(offset), 1) };
        }
        Ok(self)
    }

    /// Keeps the addresses, returns the pages.
    fn give_back(&self) -> Result<(), Errno> {
        // SAFETY: the mapping is private, anonymous, and nothing refers to what it holds.
        unsafe { madvise(self.start.cast(), self.bytes, Advice::LinuxDontNeed) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: mapped by `map`, unmapped once. Fails for an empty region, which is fine.
        let _ = unsafe { munmap(self.start.cast(), self.bytes) };
    }
}

/// Maps every page of this program and its libraries. On a page fault the kernel also maps neighboring pages,
/// whose number depends on the load address: it varies by 150 KiB from run to run, and sizes here must be
/// exact.
pub fn map_own_files() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    for (start, end) in maps.lines().filter_map(mapped_file) {
        // Before Linux 5.14 there is no such advice, and what is mapped then varies.
        // SAFETY: asks the kernel to map what is mapped already, for reading: no byte changes.
        let _ =
            unsafe { madvise(ptr::without_provenance_mut(start), end - start, Advice::LinuxPopulateRead) };
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

/// Takes the memory that stays until the process ends. Memory that is to be given back is taken first, so that
/// the peak of the launch is the larger of `--give-back-bytes` and everything else, not their sum.
pub fn hold(options: &Options) -> io::Result<(Vec<Region>, Option<File>)> {
    let given_back = Region::anon(options.give_back_bytes)?;
    given_back.give_back()?;
    let anon = Region::anon(options.anon_bytes)?;
    // The kernel counts shared anonymous memory as shmem.
    let shmem = Region::map(options.shmem_bytes, MapFlags::SHARED, None)?.written()?;
    let mut regions = vec![given_back, anon, shmem];
    if let Some(path) = &options.file {
        let named = |error| io::Error::other(format!("{}: {error}", path.display()));
        regions.push(Region::file(path, options.file_bytes).map_err(named)?);
    }
    Ok((regions, memfd(options.memfd_bytes)?))
}

/// Shared memory that is not mapped: only the cgroup counts it.
fn memfd(bytes: u64) -> io::Result<Option<File>> {
    static PART: [u8; 16 * 1024] = [1; 16 * 1024];
    let mut left = whole_pages(bytes)?;
    if left == 0 {
        return Ok(None);
    }
    let mut file = File::from(memfd_create("fake-entry", MemfdFlags::CLOEXEC)?);
    while left > 0 {
        let part = left.min(PART.len());
        file.write_all(&PART[..part])?;
        left -= part;
    }
    Ok(Some(file))
}

/// Takes memory until killed. Returns only if that did not happen, with the reason.
pub fn until_killed(options: &Options) -> String {
    const STEP: u64 = 16 << 20;
    let most = options.oom_max.unwrap_or(8 << 30);
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
