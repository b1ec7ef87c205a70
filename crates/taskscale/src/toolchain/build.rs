//! Builds an entry from its lock file into the user's cache, once per version of its sources and toolchain.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::cache::{BUILDS, Cache, DIGEST_DIGITS, LOCK, SOURCE};
use super::digest::source_digest;
use super::error::{BuildError, at};
use super::find::{find, lookup};
use super::process::end_with_taskscale;
use super::program::program_digest;
use super::{Attend, Toolchain, environment, lock};
use crate::catalog::{Entry, Recipe, Runtime};

/// An entry that can be run.
#[derive(Debug, Clone)]
pub struct Built {
    /// The command without the arguments that taskscale appends.
    pub command: Vec<String>,
    /// SHA-256 over the runtime's folder, version and place.
    pub digest: String,
    /// SHA-256 over the files and commands of this entry alone.
    pub program_digest: String,
}

/// Builds `entry` for `workload` unless the cache has it, and returns the command that runs it. Stops building,
/// or waiting for another taskscale's build, soon after `attend.stop` returns true.
pub fn build(
    cache: &Cache,
    runtime: &Runtime,
    entry: &Entry,
    workload: &str,
    toolchain: &Toolchain,
    attend: &Attend,
) -> Result<Built, BuildError> {
    let recipe = &entry.workloads[workload];
    let digest = source_digest(runtime, toolchain)?;
    let program_digest = program_digest(runtime, entry, workload, toolchain)?;
    let place = cache.root().join(BUILDS).join(&runtime.name).join(&digest[..DIGEST_DIGITS]);
    let (maker, made_for) = maker(runtime, entry, workload);
    let out = place.join(&maker.name).join(made_for);
    let shared = place.join("shared");
    let places = [("{src}", &*runtime.folder), ("{out}", &*out), ("{shared}", &*shared)];

    let stamp = place.join(format!("{}.{made_for}.built", maker.name));
    let ready = || {
        let mut command = fill(&recipe.run, &places, toolchain.home.as_deref());
        let program = lookup(&entry.toolchain, &command[0])
            .ok_or_else(|| BuildError::NoResult(PathBuf::from(&command[0])))?;
        // It runs in another folder.
        let program = at("find", &program, std::path::absolute(&program))?;
        command[0] = program.to_string_lossy().into_owned();
        Ok(Built { command, digest: digest.clone(), program_digest: program_digest.clone() })
    };
    // A finished build needs no lock, even if another entry is being built in the same folder.
    if stamp.exists() {
        log::info!("{} is built: {}", entry.full_name, out.display());
        note_source(&place, runtime)?;
        return ready();
    }

    at("create", &place, fs::create_dir_all(&place))?;
    let Some(_lock) = lock::acquire(&place.join(LOCK), &entry.full_name, attend)? else {
        return Err(BuildError::Stopped(format!("waiting to build {}", entry.full_name)));
    };
    note_source(&place, runtime)?;
    // The other taskscale may have made this build.
    if stamp.exists() {
        return ready();
    }
    log::info!("building {} in {}", entry.full_name, out.display());
    let log = place.join(format!("{}.{made_for}.log", maker.name));
    if out.exists() {
        at("empty", &out, fs::remove_dir_all(&out))?;
    }
    at("create", &out, fs::create_dir_all(&out))?;
    at("create", &shared, fs::create_dir_all(&shared))?;
    at("create", &log, File::create(&log))?;
    let builder = builder(runtime, entry, recipe, toolchain);
    for command in &recipe.build {
        let command = fill(command, &places, builder.as_deref());
        run_build(&command, runtime, entry, builder.as_deref(), &log, attend.stop)?;
    }
    let built = ready()?;
    at("create", &stamp, fs::write(&stamp, ""))?;
    Ok(built)
}

/// The entry and workload under whose name a program is built: the first of its runtime with the same toolchain
/// and build commands. Twins differ only in how they are run, and are built once.
fn maker<'a>(runtime: &'a Runtime, entry: &'a Entry, workload: &'a str) -> (&'a Entry, &'a str) {
    let commands = &entry.workloads[workload].build;
    (runtime.entries.iter())
        .filter(|other| other.toolchain == entry.toolchain && !commands.is_empty())
        .flat_map(|other| other.workloads.iter().map(move |(workload, recipe)| (other, workload, recipe)))
        .find(|(_, _, recipe)| recipe.build == *commands)
        .map_or((entry, workload), |(other, workload, _)| (other, workload))
}

/// Records the runtime's folder, so that `taskscale clean` can check whether its sources still make this build.
fn note_source(place: &Path, runtime: &Runtime) -> Result<(), BuildError> {
    let path = place.join(SOURCE);
    let source = runtime.folder.as_os_str().as_bytes();
    if fs::read(&path).is_ok_and(|noted| noted == source) {
        return Ok(());
    }
    at("write", &path, fs::write(&path, source))
}

/// The folder of the toolchain that builds: the one that runs the program, or the default one if a requested
/// version lacks a program of the build or the program that locates toolchains, as a JRE lacks the compiler.
fn builder(runtime: &Runtime, entry: &Entry, recipe: &Recipe, toolchain: &Toolchain) -> Option<PathBuf> {
    let home = toolchain.home.clone()?;
    let programs = recipe.build.iter().filter_map(|command| command.first()?.strip_prefix("{home}/"));
    let mut programs = programs.chain(entry.toolchain.locate.iter().map(|locate| locate.program.as_str()));
    let lacks = entry.toolchain.pinned.is_some() && programs.any(|program| !home.join(program).is_file());
    let other = lacks.then(|| find(&runtime.toolchain).ok()).flatten();
    other.and_then(|other| other.home).or(Some(home))
}

/// A command with its placeholders filled in. `{home}` stays if there is none.
pub(super) fn fill(command: &[String], places: &[(&str, &Path)], home: Option<&Path>) -> Vec<String> {
    let places = places.iter().copied().chain(home.map(|home| ("{home}", home)));
    let filled = |argument: &String| {
        places
            .clone()
            .fold(argument.clone(), |text, (name, path)| text.replace(name, &path.to_string_lossy()))
    };
    command.iter().map(filled).collect()
}

pub(super) fn run_build(
    command: &[String],
    runtime: &Runtime,
    entry: &Entry,
    home: Option<&Path>,
    log: &Path,
    stop: &dyn Fn() -> bool,
) -> Result<(), BuildError> {
    let shown = command.join(" ");
    let program = lookup(&entry.toolchain, &command[0])
        .ok_or_else(|| BuildError::NoProgram { command: shown.clone(), program: command[0].clone() })?;
    let mut file = at("open", log, File::options().append(true).open(log))?;
    at("write", log, writeln!(file, "$ {shown}"))?;
    let errors = at("open", log, file.try_clone())?;
    log::info!("in {}: {shown}", runtime.folder.display());
    let mut build = Command::new(program);
    environment::give(&mut build, &entry.toolchain, home);
    // A build that outlives taskscale would write into the folder of the next one.
    end_with_taskscale(&mut build, Signal::KILL);
    let child = build
        .args(&command[1..])
        .current_dir(&runtime.folder)
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(errors)
        // A build starts processes of its own, which must end with it.
        .process_group(0)
        .spawn();
    let mut child = at("start", Path::new(&command[0]), child)?;
    let Some(status) = at("wait for", Path::new(&command[0]), wait(&mut child, stop))? else {
        return Err(BuildError::Stopped(shown));
    };
    if status.success() {
        return Ok(());
    }
    let (status, log, tail) = (status.to_string(), log.to_owned(), tail(log));
    Err(BuildError::Failed { command: shown, status, log, tail })
}

/// Waits for a build. `None` if `stop` ended it.
fn wait(child: &mut Child, stop: &dyn Fn() -> bool) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if stop() {
            // The leader was not reaped yet, so its number still means its group.
            let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// The last lines of a log, enough to see what went wrong.
fn tail(log: &Path) -> String {
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn twins_share_the_build_of_the_first_entry() {
        let catalog = Catalog::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtimes")).unwrap();
        let made_by = |name: &str, workload: &str| {
            let (runtime, entry) = catalog.entries().find(|(_, entry)| entry.full_name == name).expect(name);
            let (maker, made_for) = maker(runtime, entry, workload);
            format!("{} {made_for}", maker.name)
        };
        assert_eq!(made_by("java/virtual-thread", "sleep"), "virtual-thread sleep");
        assert_eq!(made_by("java/virtual-thread-heap-1g", "sleep"), "virtual-thread sleep");
        assert_ne!(made_by("java/virtual-thread", "park"), "virtual-thread sleep");
        assert_ne!(
            made_by("rust/tokio-spawn-jemalloc", "sleep"),
            "tokio-spawn sleep",
            "another allocator is linked"
        );
        assert_eq!(made_by("python/thread", "sleep"), "thread sleep", "nothing is built: nothing is shared");
    }
}
