//! Cgroups of the program's own, inside the one that it was started in.

use std::fs;
use std::io;
use std::path::PathBuf;

/// Two levels: code that looks only at the first misses processes in the second.
const INNER: &str = "inner/deeper";

/// Moves this process into a cgroup inside each cgroup of its run. Does nothing if the run has none, to leave
/// other cgroups alone.
pub fn enter() -> io::Result<()> {
    for group in own_groups() {
        let inner = group.join(INNER);
        fs::create_dir_all(&inner)?;
        fs::write(inner.join("cgroup.procs"), "0")?;
    }
    Ok(())
}

/// Number of cgroups of its own that this process is in.
pub fn entered() -> usize {
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    text.lines().filter(|line| line.ends_with(INNER)).count()
}

/// Folders of the cgroups that taskscale made for this run, recognized by name, in all hierarchies.
fn own_groups() -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let folders = text.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let name = path.rsplit('/').next()?;
        let folder = PathBuf::from(format!("/sys/fs/cgroup/{controllers}/{path}"));
        (name.starts_with("run-") && folder.join("cgroup.procs").exists()).then_some(folder)
    });
    folders.collect()
}
