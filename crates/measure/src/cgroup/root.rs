//! Finds where taskscale can create cgroups on this machine, and cleans up after a killed taskscale.

use std::ffi::CString;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::group::{Group, GroupBounds};
use super::none::NoGroup;
use super::v1::GroupV1;
use super::v2::{GroupV2, enable_controllers};
use super::{join, kill_all, remove_folders};
use crate::MemorySource;
use crate::{MeasureError, at, procfs, systemd};

/// taskscale's own folder, in which each run gets a cgroup. Removed on drop.
pub struct GroupRoot {
    place: GroupHierarchy,
    runs: u64,
    /// Folders that this process created.
    made: Vec<PathBuf>,
    record: Option<PathBuf>,
    scratch: PathBuf,
    why_none: Vec<String>,
}

enum GroupHierarchy {
    V2(PathBuf),
    V1(GroupV1),
    None,
}

impl GroupRoot {
    /// Uses the best cgroups available: v2, v1, or none. First kills and removes what a killed taskscale left.
    /// Call it once per process: it may move the process into a cgroup of its own, next to those of the runs.
    pub fn find() -> GroupRoot {
        clean_up_after_the_dead();
        let mut home = GroupRoot::none();
        home.note(&format!("{}\n", here()));
        match std::env::var("TASKSCALE_CGROUP").as_deref() {
            // For comparing sources on one machine, and for tests.
            Ok("none") => home.why_none.push("TASKSCALE_CGROUP=none is set".into()),
            _ => {
                if !home.set_up_v2() {
                    home.set_up_v1();
                }
            }
        }
        match &home.place {
            GroupHierarchy::V2(base) => log::info!("cgroup v2 in {}", base.display()),
            GroupHierarchy::V1(parents) => log::info!("cgroup v1 in {}", parents.memory.display()),
            GroupHierarchy::None => log::info!("no cgroups: {}", home.why_none.join("; ")),
        }
        home
    }

    /// A root without cgroups: runs are measured from /proc only.
    pub fn none() -> GroupRoot {
        GroupRoot {
            place: GroupHierarchy::None,
            runs: 0,
            made: Vec::new(),
            record: None,
            scratch: scratch_folder(&base_name()),
            why_none: Vec::new(),
        }
    }

    /// Creates an empty working folder for one run, removed with this root at the latest.
    pub fn create_scratch(&mut self) -> Result<PathBuf, MeasureError> {
        let folder = self.scratch.join(format!("run-{}", self.runs));
        at("create", folder.clone(), own_folder(&self.scratch).and_then(|()| fs::create_dir_all(&folder)))?;
        Ok(folder)
    }

    /// The source of memory values.
    pub fn source(&self) -> MemorySource {
        match self.place {
            GroupHierarchy::V2(_) => MemorySource::CgroupV2,
            GroupHierarchy::V1(_) => MemorySource::CgroupV1,
            GroupHierarchy::None => MemorySource::Proc,
        }
    }

    /// Why there are no cgroups, one sentence for each attempt.
    pub fn why_none(&self) -> &[String] {
        &self.why_none
    }

    /// Creates the cgroup of one run, or its substitute from /proc.
    pub fn create_group(&mut self, bounds: GroupBounds) -> Result<Box<dyn Group>, MeasureError> {
        self.runs += 1;
        let name = format!("run-{}", self.runs);
        Ok(match &self.place {
            GroupHierarchy::V2(base) => {
                let folder = base.join(&name);
                Box::new(at("create the cgroup", folder.clone(), GroupV2::create(folder, bounds))?)
            }
            GroupHierarchy::V1(parents) => {
                let made = GroupV1::create(parents, &name, bounds);
                Box::new(at("create the cgroup", parents.memory.join(&name), made)?)
            }
            GroupHierarchy::None => Box::new(NoGroup::default()),
        })
    }

    fn set_up_v2(&mut self) -> bool {
        let Some(mount) = mounts().into_iter().find(|mount| mount.kind == "cgroup2") else {
            self.why_none.push("no cgroup v2 file system is mounted".into());
            return false;
        };
        let controllers = fs::read_to_string(mount.folder.join("cgroup.controllers")).unwrap_or_default();
        if !controllers.split_whitespace().any(|name| name == "memory") {
            self.why_none.push("cgroup v2 is mounted without its memory controller".into());
            return false;
        }
        let own = own_folders("");
        let Some(first) = own.first() else {
            self.why_none.push("this process is in no cgroup of version 2".into());
            return false;
        };
        if self.set_up_in_own_group(first) {
            return true;
        }
        match systemd::move_into_scope(|| own_group("")) {
            Ok(()) => {
                if own_folders("").first().is_some_and(|scope| self.set_up_in_own_group(scope)) {
                    return true;
                }
                self.why_none.push("systemd made a scope, but did not delegate it to this user".into());
            }
            Err(why) => self.why_none.push(why),
        }
        // Finally, try this cgroup and those above it: root can always use one of them.
        for folder in &own {
            match self.set_up_below(folder) {
                Ok(()) => return true,
                Err(error) => {
                    self.why_none.push(format!("cannot make a cgroup in {}: {error}", folder.display()))
                }
            }
        }
        false
    }

    /// Uses the cgroup that this process is in, if it may have children: it is the root, or this process is
    /// alone in it and can move into a leaf (the "no internal processes" rule).
    fn set_up_in_own_group(&mut self, own: &Path) -> bool {
        let is_root = !own.join("cgroup.events").exists();
        if is_root {
            return self.set_up_below(own).is_ok();
        }
        let me = std::process::id().to_string();
        let alone = fs::read_to_string(own.join("cgroup.procs")).is_ok_and(|pids| pids.trim() == me);
        if !alone {
            return false;
        }
        let leaf = own.join(format!("{}-self", base_name()));
        if fs::create_dir(&leaf).is_err() {
            return false;
        }
        if fs::write(leaf.join("cgroup.procs"), "0").is_ok() && self.set_up_below(own).is_ok() {
            // The leaf stays: this process remains in it until its end, and systemd removes it with the scope.
            return true;
        }
        let _ = fs::write(own.join("cgroup.procs"), "0");
        let _ = fs::remove_dir(&leaf);
        false
    }

    fn set_up_below(&mut self, parent: &Path) -> io::Result<()> {
        enable_controllers(parent)?;
        let base = self.make_in(parent)?;
        let usable = enable_controllers(&base).and_then(|()| can_join(&base));
        if let Err(error) = usable {
            self.made.pop();
            let _ = fs::remove_dir(&base);
            return Err(error);
        }
        self.place = GroupHierarchy::V2(base);
        Ok(())
    }

    fn set_up_v1(&mut self) {
        let folder_of = |controller| own_folders(controller).into_iter().next();
        let Some(memory) = folder_of("memory") else {
            self.why_none.push("no cgroup v1 memory hierarchy is mounted".into());
            return;
        };
        match self.make_in(&memory) {
            Ok(memory) => {
                let mut optional = |controller| folder_of(controller).and_then(|p| self.make_in(&p).ok());
                let parents = GroupV1 { memory, cpuacct: optional("cpuacct"), pids: optional("pids") };
                self.place = GroupHierarchy::V1(parents);
            }
            Err(error) => {
                self.why_none.push(format!("cannot make a cgroup (v1) in {}: {error}", memory.display()));
            }
        }
    }

    /// Creates our folder in a cgroup. Recorded first, so that a kill in between leaves no unknown folder.
    fn make_in(&mut self, parent: &Path) -> io::Result<PathBuf> {
        let folder = parent.join(base_name());
        self.made.push(folder.clone());
        self.note(&format!("{}\n", folder.display()));
        fs::create_dir(&folder).inspect_err(|_| {
            self.made.pop();
        })?;
        Ok(folder)
    }

    /// Records a folder of ours, so that the next taskscale can clean up if this one is killed. Appended in one
    /// write, so that the record is always complete. Even without folders, it covers the scratch folder.
    fn note(&mut self, line: &str) {
        let path = state_folder().join(base_name());
        let append = || OpenOptions::new().append(true).create(true).open(&path)?.write_all(line.as_bytes());
        let noted = || own_folder(&state_folder()).is_ok() && append().is_ok();
        // Try twice: another taskscale that exits may remove the empty folder in between. Not worth failing
        // for: without the record, only a killed taskscale's empty folders stay behind.
        if noted() || noted() {
            self.record = Some(path);
        }
    }
}

impl Drop for GroupRoot {
    fn drop(&mut self) {
        let removed = remove_folders(&self.made);
        let _ = fs::remove_dir_all(&self.scratch);
        // If a folder could not be removed, the record stays and the next taskscale tries again.
        if let Some(record) = self.record.as_ref().filter(|_| removed.is_ok()) {
            let _ = fs::remove_file(record);
            // Fails unless the folder is empty.
            let _ = fs::remove_dir(state_folder());
        }
    }
}

/// The boot and PID namespace of this process, within which its pid is valid. In a folder shared by containers,
/// processes of another namespace clean up after their own.
fn here() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", boot.trim(), namespace.display())
}

/// Kills the processes and removes the cgroups of every taskscale of this user that is no longer alive.
fn clean_up_after_the_dead() {
    // Records in a folder of another user could name anything.
    let folder = state_folder();
    if !is_ours(&folder) {
        return;
    }
    for note in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = note.file_name().to_string_lossy().into_owned();
        if !is_base_name_of_the_dead(&name) {
            continue;
        }
        let text = fs::read_to_string(note.path()).unwrap_or_default();
        if text.lines().next() != Some(&*here()) {
            continue;
        }
        let mut removed = Ok(());
        for folder in text.lines().map(PathBuf::from) {
            // The record could have been tampered with: remove only folders of its name.
            if folder.file_name().is_some_and(|last| last.to_string_lossy() == name) {
                let folder = [folder];
                kill_all(&folder);
                removed = removed.and(remove_folders(&folder));
            }
        }
        let _ = fs::remove_dir_all(scratch_folder(&name));
        if removed.is_ok() {
            let _ = fs::remove_file(note.path());
        }
    }
}

/// The folder that contains the working folders of one taskscale's runs.
fn scratch_folder(base_name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("{base_name}-scratch"))
}

/// The name of this process's cgroups: pid and start time, which no two processes share.
fn base_name() -> String {
    let pid = std::process::id();
    format!("taskscale-{pid}-{}", procfs::start_ticks(pid).unwrap_or(0))
}

fn is_base_name_of_the_dead(name: &str) -> bool {
    let Some((pid, start)) = name.strip_prefix("taskscale-").and_then(|rest| rest.split_once('-')) else {
        return false;
    };
    let (Ok(pid), Ok(start)) = (pid.parse::<u32>(), start.parse::<u64>()) else { return false };
    procfs::start_ticks(pid) != Some(start)
}

/// The folder for records of running taskscales: gone after a reboot, like the cgroups.
fn state_folder() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_dir()) {
        Some(runtime) => runtime.join("taskscale"),
        None => std::env::temp_dir().join(format!("taskscale-{user}")),
    }
}

/// Creates a folder that only this user may write to. Accepts an existing one of that kind: in a shared folder
/// such as /tmp, another user may have created it first.
fn own_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Err(_) if !is_ours(folder) => {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "it exists, and other users can write to it"))
        }
        _ => Ok(()),
    }
}

/// Whether this is a folder (not a link) that belongs to this user and that others cannot write to.
fn is_ours(folder: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(folder)
        .is_ok_and(|meta| meta.is_dir() && meta.uid() == user && meta.permissions().mode() & 0o022 == 0)
}

/// Checks that a process of ours can join a cgroup below `base`. Creating it is not enough: the kernel also
/// requires write access to the nearest common ancestor.
fn can_join(base: &Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStringExt;
    use std::os::unix::process::CommandExt;
    let probe = base.join("probe");
    fs::create_dir(&probe)?;
    let procs = CString::new(probe.join("cgroup.procs").into_os_string().into_vec())?;
    let mut command = Command::new("/proc/self/exe");
    // SAFETY: between fork and exec, only system calls.
    unsafe {
        command.pre_exec(move || {
            join(&procs)?;
            // Joining was the test: exit before any exec.
            libc::_exit(0)
        });
    }
    let joined = command.spawn().and_then(|mut child| child.wait());
    remove_folders(&[probe])?;
    joined.map(|_| ())
}

struct Mount {
    kind: String,
    /// The part of the hierarchy that is mounted here: not `/` in some containers.
    root: String,
    folder: PathBuf,
    options: String,
}

impl Mount {
    fn has(&self, controller: &str) -> bool {
        self.options.split(',').any(|option| option == controller)
    }

    fn folder_of(&self, group: &str) -> PathBuf {
        let root = self.root.trim_end_matches('/');
        let below = |rest: &&str| rest.is_empty() || rest.starts_with('/');
        let inside = group.strip_prefix(root).filter(below).unwrap_or(group);
        self.folder.join(inside.trim_start_matches('/'))
    }
}

fn mounts() -> Vec<Mount> {
    let text = fs::read("/proc/self/mountinfo").unwrap_or_default();
    // The path of an unrelated mount may be invalid UTF-8.
    let lines = text.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    lines.filter_map(parse_mount).filter(|mount| mount.kind.starts_with("cgroup")).collect()
}

/// One line of mountinfo: `id parent dev root folder options [fields…] - kind source super-options` (proc(5)).
fn parse_mount(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(3);
    let (root, folder) = (before.next()?, before.next()?);
    let mut after = after.split(' ');
    let (kind, _source, options) = (after.next()?, after.next()?, after.next()?);
    Some(Mount {
        kind: kind.into(),
        root: procfs::unescaped(root),
        folder: PathBuf::from(procfs::unescaped(folder)),
        options: options.into(),
    })
}

/// The folders of the groups that this process is in, innermost first, in the hierarchy of a v1 controller, or of v2
/// where `controller` is empty.
pub(crate) fn own_folders(controller: &str) -> Vec<PathBuf> {
    let kind = if controller.is_empty() { "cgroup2" } else { "cgroup" };
    let mount = mounts()
        .into_iter()
        .find(|mount| mount.kind == kind && (controller.is_empty() || mount.has(controller)));
    let (Some(mount), Some(group)) = (mount, own_group(controller)) else { return Vec::new() };
    let own = mount.folder_of(&group);
    own.ancestors().take_while(|folder| folder.starts_with(&mount.folder)).map(Path::to_owned).collect()
}

/// This process's group in the hierarchy of a v1 controller, or of v2 where `controller` is empty.
fn own_group(controller: &str) -> Option<String> {
    let text = fs::read_to_string("/proc/self/cgroup").ok()?;
    text.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, fields.next()?);
        controllers.split(',').any(|name| name == controller).then(|| group.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mountinfo_is_parsed() {
        let line = "36 25 0:30 / /sys/fs/cgroup/memory rw,nosuid shared:15 - cgroup cgroup rw,memory";
        let mount = parse_mount(line).unwrap();
        assert!(mount.has("memory") && !mount.has("mem"));
        assert_eq!(mount.folder_of("/a/b"), PathBuf::from("/sys/fs/cgroup/memory/a/b"));
        assert_eq!(mount.folder_of("/"), PathBuf::from("/sys/fs/cgroup/memory/"));
    }

    #[test]
    fn the_mounted_root_of_a_container_is_removed_from_paths() {
        let line = "36 25 0:30 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory";
        let mount = parse_mount(line).unwrap();
        assert_eq!(mount.folder_of("/docker/abc/x"), PathBuf::from("/sys/fs/cgroup/memory/x"));
    }

    #[test]
    fn escapes_of_mountinfo_are_decoded() {
        // Cgroup "a b" in a folder whose name contains a tab, a newline and a backslash.
        let line = r"36 25 0:30 /a\040b /c\011d\012e\134040 ro - cgroup2 cgroup2 rw";
        let mount = parse_mount(line).unwrap();
        assert_eq!(mount.folder_of("/a b/x"), PathBuf::from("/c\td\ne\\040/x"));
        assert_eq!(mount.folder_of("/a bc"), PathBuf::from("/c\td\ne\\040/a bc"));
    }

    #[test]
    fn folders_writable_by_others_are_not_used() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join("state");
        own_folder(&folder).unwrap();
        own_folder(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(own_folder(&folder).is_err() && !is_ours(&folder));
        let link = temporary.path().join("link");
        std::os::unix::fs::symlink(temporary.path(), &link).unwrap();
        assert!(own_folder(&link).is_err());
    }

    #[test]
    fn only_cgroups_of_ended_processes_are_removed() {
        assert!(!is_base_name_of_the_dead(&base_name()));
        assert!(is_base_name_of_the_dead("taskscale-1-18446744073709551615"));
        assert!(!is_base_name_of_the_dead("taskscale-x-1"));
        assert!(!is_base_name_of_the_dead("something"));
    }
}
