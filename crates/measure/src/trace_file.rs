//! A timeline in a file of JSON lines. The first has the settings of the run and the facts about the machine
//! that the verdict needs, and each further line is one event.
//!
//! Environment variables are left out, because some are secrets.

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::RunSpec;
use super::event::{RunEvent, TimedEvent};
use super::regular_file::open_regular;
use super::timeline::{Host, Timeline, forgets_usage};
use crate::Timestamp;

/// Version of the format. Raised when a field or an event changes its meaning.
pub const TRACE_VERSION: u32 = 1;
/// Maximum size of a trace in bytes, more than any run writes.
const MAX_BYTES: u64 = 16 << 20;

/// The first line.
#[derive(Serialize, Deserialize)]
struct TraceHead {
    taskscale_trace: u32,
    started_at: Timestamp,
    spec: RunSpec,
    host: Host,
}

/// Why a file cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    #[error("cannot read {path}: {error}")]
    Io { path: PathBuf, error: io::Error },
    #[error("cannot read {path}: more than {} MiB, which no trace has", MAX_BYTES >> 20)]
    TooLarge { path: PathBuf },
    #[error("not a trace: {path} (its first line has no \"taskscale_trace\")")]
    NotATrace { path: PathBuf },
    #[error("cannot read {path}: trace version {version} (this taskscale reads version {TRACE_VERSION})")]
    Version { path: PathBuf, version: u64 },
    #[error("cannot read {path}: line {line}: {error}")]
    Line { path: PathBuf, line: usize, error: serde_json::Error },
    #[error("cannot read {path}: it is cut off (its last line is not the account of the run)")]
    CutOff { path: PathBuf },
    #[error("cannot read {path}: its {event:?} event is missing, so times are unknown")]
    Lacks { path: PathBuf, event: &'static str },
}

/// Writes the trace of a run into a new file. Fails if the file exists.
pub fn write_trace(path: &Path, spec: &RunSpec, timeline: &Timeline) -> io::Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(path)?;
    let mut out = BufWriter::new(file);
    let head = TraceHead {
        taskscale_trace: TRACE_VERSION,
        started_at: timeline.started_at,
        spec: spec.clone(),
        host: timeline.host.clone(),
    };
    let mut put = |line: String| writeln!(out, "{line}");
    put(serde_json::to_string(&head)?)?;
    let mut usage = timeline.usage().points().iter().peekable();
    // All remaining samples were taken after the last event that discards samples, so write them after it. A
    // sample has the time at which its round began, which may be earlier: before the event, it would be
    // discarded when the trace is read.
    let kept_from = timeline.events().iter().rposition(|event| forgets_usage(&event.event));
    for (index, event) in timeline.events().iter().enumerate() {
        while let Some(point) =
            usage.next_if(|point| kept_from.is_none_or(|at| index > at) && point.sample.at_ns <= event.at_ns)
        {
            let point = TimedEvent { at_ns: point.sample.at_ns, event: RunEvent::Usage(*point) };
            put(serde_json::to_string(&point)?)?;
        }
        put(serde_json::to_string(event)?)?;
    }
    out.flush()
}

/// Reads a trace: the settings of the run, and its timeline.
pub fn read_trace(path: &Path) -> Result<(RunSpec, Timeline), TraceError> {
    let path_of = || path.to_owned();
    let io = |error| TraceError::Io { path: path_of(), error };
    let file = open_regular(path).map_err(io)?;
    if file.metadata().map_err(io)?.len() > MAX_BYTES {
        return Err(TraceError::TooLarge { path: path_of() });
    }
    // A file may grow while it is read.
    let mut lines = BufReader::new(file.take(MAX_BYTES)).lines();
    let first = lines.next().unwrap_or(Ok(String::new())).map_err(io)?;
    let version = serde_json::from_str(&first)
        .ok()
        .and_then(|head: serde_json::Value| head.get("taskscale_trace")?.as_u64())
        .ok_or_else(|| TraceError::NotATrace { path: path_of() })?;
    if version != u64::from(TRACE_VERSION) {
        return Err(TraceError::Version { path: path_of(), version });
    }
    let wrong = |line: usize| move |error| TraceError::Line { path: path.to_owned(), line, error };
    let TraceHead { started_at, spec, host, .. } = serde_json::from_str(&first).map_err(wrong(1))?;
    let mut timeline = Timeline::new(started_at, host);
    for (index, line) in lines.enumerate() {
        let line = line.map_err(io)?;
        // An editor may have left an empty line.
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str::<TimedEvent>(&line) {
            Ok(event) => timeline.push(event.at_ns, event.event),
            Err(error) if error.is_eof() => return Err(TraceError::CutOff { path: path_of() }),
            Err(error) => return Err(wrong(index + 2)(error)),
        }
    }
    let Some(TimedEvent { event: RunEvent::Account(_), .. }) = timeline.events().last() else {
        return Err(TraceError::CutOff { path: path_of() });
    };
    let state = timeline.state();
    let lacks = |event| Err(TraceError::Lacks { path: path_of(), event });
    // All times count from it. Only a run whose program could not be started has none.
    if state.exec_ns.is_none() && state.last_read.is_some() {
        return lacks("exec");
    }
    // Only a run whose launcher was lost has none.
    if state.end.is_none() && state.kill.is_none() {
        return lacks("ended");
    }
    Ok((spec, timeline))
}
