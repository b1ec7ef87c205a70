//! Cold starts: evicts a program's files from the page cache, so that its run reads them again.

use std::path::Path;

/// Evicts the pages of a file that no process maps.
pub(super) fn evict(path: &Path) {
    // Skip missing files, and devices, which programs also map: opening one may have an effect.
    if !path.is_file() {
        return;
    }
    if let Ok(file) = std::fs::File::open(path) {
        let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
    }
}
