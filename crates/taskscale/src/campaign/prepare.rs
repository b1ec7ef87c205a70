//! Finds the toolchains of the chosen entries and builds their programs, before anything is measured.

use std::collections::BTreeMap;
use std::iter;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use super::black_box::BlackBoxTemplate;
use crate::catalog::{DottedVersion, Entry, Library, Program, ToolchainSpec, Workload};
use crate::record::{Campaign, EntryFacts};
use crate::toolchain::{self, Attend, BuildError, Built, Cache, Toolchain, ToolchainError, pin_library};

/// An entry with its toolchain and build.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub facts: EntryFacts,
    /// The command to run, without the arguments that taskscale appends, or why there is none.
    pub command: Result<Vec<String>, NotReady>,
    /// What its tasks do. `None` for a black-box program.
    pub workload: Option<Workload>,
    /// For a black-box program.
    pub black_box: Option<BlackBoxTemplate>,
}

impl Prepared {
    /// Display name: the entry's, with the workload's unless it is the default one.
    pub fn label(&self) -> String {
        match &self.workload {
            Some(workload) if !workload.default => format!("{} {}", self.facts.name, workload.name),
            _ => self.facts.name.clone(),
        }
    }

    /// Entry and workload, by name.
    pub fn name<'a>(&'a self, campaign: &'a Campaign) -> (&'a str, &'a str) {
        (&self.facts.name, self.facts.workload.as_deref().unwrap_or(&campaign.plan.workload))
    }
}

/// Why an entry cannot run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotReady {
    /// The toolchain, or a program that the build calls, is missing or too old.
    NoToolchain(String),
    /// The toolchain was found, but the build failed.
    BuildFailed(String),
}

impl NotReady {
    pub fn reason(&self) -> &str {
        match self {
            NotReady::NoToolchain(reason) | NotReady::BuildFailed(reason) => reason,
        }
    }
}

/// Finds each toolchain once and builds all programs: several runtimes in parallel, the programs of one in turn. Calls
/// `before` before each build. Returns early, with fewer programs, soon after `attend.stop` is set.
pub fn prepare(
    cache: &Cache,
    programs: &[Program],
    attend: &Attend,
    mut before: impl FnMut(&Program),
) -> Vec<Prepared> {
    let mut runtimes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, program) in programs.iter().enumerate() {
        runtimes.entry(&program.runtime.name).or_default().push(index);
    }
    let queue = Mutex::new(runtimes.into_values());
    let builders = thread::available_parallelism().map_or(1, usize::from);
    let stopped = AtomicBool::new(false);
    let mut prepared: Vec<Option<Prepared>> = programs.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        for tell in iter::repeat_n(tell, builders) {
            let (queue, stopped) = (&queue, &stopped);
            scope.spawn(move || {
                while let Some(of_runtime) = queue.lock().ok().and_then(|mut queue| queue.next()) {
                    prepare_runtime(cache, programs, &of_runtime, stopped, &tell);
                }
            });
        }
        // Only this thread calls the caller's functions, as they write to one terminal.
        loop {
            match told.recv_timeout(STOP_INTERVAL) {
                Ok(BuildMessage::Begun(index)) => before(&programs[index]),
                Ok(BuildMessage::Waiting(line)) => (attend.waiting)(&line),
                Ok(BuildMessage::Ready(index, ready)) => prepared[index] = Some(*ready),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if (attend.stop)() {
                stopped.store(true, Ordering::Relaxed);
            }
        }
    });
    prepared.into_iter().flatten().collect()
}

/// Messages from the threads that build to the one that shows progress.
enum BuildMessage {
    Begun(usize),
    Waiting(String),
    Ready(usize, Box<Prepared>),
}

/// How often `attend.stop` is checked.
const STOP_INTERVAL: Duration = Duration::from_millis(20);

/// Prepares the programs of one runtime, in order. Errors of `send` are ignored: only a panic ends the receiver
/// first.
fn prepare_runtime(
    cache: &Cache,
    programs: &[Program],
    of_runtime: &[usize],
    stopped: &AtomicBool,
    tell: &Sender<BuildMessage>,
) {
    let stop = || stopped.load(Ordering::Relaxed);
    let waiting = |line: &str| {
        let _ = tell.send(BuildMessage::Waiting(line.to_owned()));
    };
    let attend = Attend { stop: &stop, waiting: &waiting };
    let mut toolchains: BTreeMap<&ToolchainSpec, Result<Toolchain, ToolchainError>> = BTreeMap::new();
    for &index in of_runtime {
        if stop() {
            return;
        }
        let _ = tell.send(BuildMessage::Begun(index));
        let spec = &programs[index].entry.toolchain;
        let toolchain = toolchains.entry(spec).or_insert_with(|| toolchain::find(spec));
        let ready = prepare_one(cache, &programs[index], toolchain, &attend);
        let _ = tell.send(BuildMessage::Ready(index, Box::new(ready)));
    }
}

fn prepare_one(
    cache: &Cache,
    program: &Program,
    toolchain: &Result<Toolchain, ToolchainError>,
    attend: &Attend,
) -> Prepared {
    // An older toolchain may need an older form of the program.
    let version = toolchain.as_ref().ok().and_then(|found| DottedVersion::first_in(&found.version));
    let entry = program.entry.in_form_for(&program.workload.name, version.as_ref());
    let program = &Program { entry: &entry, ..*program };
    let Program { runtime, entry, workload } = *program;
    let mut facts = EntryFacts::of(runtime, entry, &workload.name);
    let command = match toolchain {
        Err(unavailable) => Err(NotReady::NoToolchain(unavailable.to_string())),
        Ok(toolchain) => {
            facts.version = Some(receipt(toolchain, entry));
            match build(cache, program, toolchain, attend, &mut facts) {
                Ok(built) => {
                    facts.digest = Some(built.digest);
                    facts.program_digest = Some(built.program_digest);
                    Ok(built.command)
                }
                // Debian's Node.js comes without npm.
                Err(error @ BuildError::NoProgram { .. }) => {
                    Err(NotReady::NoToolchain(format!("{error}: install it")))
                }
                Err(error @ BuildError::TooOld { .. }) => Err(NotReady::NoToolchain(error.to_string())),
                Err(error) => Err(NotReady::BuildFailed(error.to_string())),
            }
        }
    };
    facts.unavailable = command.as_ref().err().map(|why| why.reason().to_owned());
    Prepared { facts, command, workload: Some((*workload).clone()), black_box: None }
}

/// Builds a program in the requested versions, and records them in `facts`. Fails if the toolchain is too old.
fn build(
    cache: &Cache,
    program: &Program,
    toolchain: &Toolchain,
    attend: &Attend,
    facts: &mut EntryFacts,
) -> Result<Built, BuildError> {
    let Program { runtime, entry, workload } = *program;
    let found = DottedVersion::first_in(&toolchain.version);
    let minimum = entry.workloads[&workload.name].minimum.as_ref();
    if let Some(minimum) = minimum.filter(|minimum| found.as_ref().is_none_or(|found| found < *minimum)) {
        return Err(BuildError::TooOld {
            title: entry.toolchain.title.clone(),
            found: toolchain.version.clone(),
            workload: workload.name.clone(),
            minimum: minimum.to_string(),
        });
    }
    if entry.versions.contains_key(runtime.versioned_name()) {
        let version = found.map(|version| version.to_string());
        facts.versions.extend(version.map(|version| (runtime.versioned_name().to_owned(), version)));
    }
    let Some(pinned) = pin_library(cache, runtime, entry, toolchain, attend)? else {
        return toolchain::build(cache, runtime, entry, &workload.name, toolchain, attend);
    };
    facts.versions.insert(pinned.library.name.clone(), pinned.library.version.clone());
    let entry = Entry { library: Some(pinned.library), ..entry.clone() };
    facts.version = Some(receipt(toolchain, &entry));
    toolchain::build(cache, &pinned.runtime, &entry, &workload.name, toolchain, attend)
}

/// The version string of an entry: that of the toolchain, and of the library if the entry is about one or its
/// version was requested.
pub fn receipt(toolchain: &Toolchain, entry: &Entry) -> String {
    let is_named =
        |library: &&Library| library.workloads.is_empty() || entry.versions.contains_key(&library.name);
    match entry.library.as_ref().filter(is_named) {
        Some(library) => format!("{}; {} {}", toolchain.version, library.name, library.version),
        None => toolchain.version.clone(),
    }
}
