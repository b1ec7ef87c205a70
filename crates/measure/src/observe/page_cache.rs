//! Runs that start cold: the pages of a program's files are read anew.

use std::path::Path;

/// Drops a file's pages from memory where no process maps them.
pub(super) fn evict(path: &Path) {
    // A file that is gone, or that nobody may read, has no pages that a run could be charged for anew. Devices are
    // mapped too, and opening one may do something.
    if !path.is_file() {
        return;
    }
    if let Ok(file) = std::fs::File::open(path) {
        let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
    }
}
