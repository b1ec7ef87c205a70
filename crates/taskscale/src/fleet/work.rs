//! The work of a job on its node: claims its target, measures, and publishes complete results.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::folder::{Claim, digests};
use super::{Fleet, FleetError, FleetResult, PublishedTarget, Target, at};
use crate::record::{self, Status, Timestamp};
use crate::report::Report;
use crate::toolchain::end_with_taskscale;
use crate::units;

/// The interval at which the end of the campaign is checked, on this machine only.
const TICK: Duration = Duration::from_millis(100);
/// The interval at which the shared folder is checked for a job that has taken over.
const POLL_INTERVAL: Duration = Duration::from_secs(10);
/// Attempts at a campaign that ends early: its folder may have been full or unavailable.
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_secs(10);
/// Wrong usage, such as a campaign of another version: another attempt does not help.
const USAGE: i32 = 2;

/// How a job ended.
#[derive(Debug)]
pub enum WorkOutcome {
    Published(PublishedTarget),
    /// Results have been published before.
    Nothing(PublishedTarget),
    /// Stopped by a signal: samples are kept, and measuring can resume.
    Interrupted,
    /// Measuring could not start as requested. The reason was printed.
    Refused,
}

/// The job and its node.
#[derive(Debug, Clone)]
pub struct NodeContext {
    pub job: String,
    pub node: String,
    /// The path of this taskscale.
    pub program: PathBuf,
    /// Arguments of `taskscale run` on this machine, besides those of the plan.
    pub arguments: Vec<String>,
}

/// Measures a target on this node. `interrupted` returns whether a signal has come.
pub fn work(
    fleet: &Fleet,
    target: &Target,
    context: &NodeContext,
    interrupted: &dyn Fn() -> bool,
) -> FleetResult<WorkOutcome> {
    if let Some(before) = fleet.published(target)? {
        return Ok(WorkOutcome::Nothing(before));
    }
    let own = fleet.claim(target, &context.job, &context.node)?;
    let folder = fleet.target_folder(target).join(&context.node);
    for try_ in 1.. {
        let end = measure(fleet, target, context, &own, &folder, interrupted)?;
        if interrupted() {
            return Ok(WorkOutcome::Interrupted);
        }
        // In later attempts the cause is an unavailable folder.
        if end.code() == Some(USAGE) && try_ == 1 {
            return Ok(WorkOutcome::Refused);
        }
        match published(target, &own, &folder) {
            Ok(published) => {
                return Ok(match fleet.publish(target, &own, &published)? {
                    true => WorkOutcome::Published(published),
                    false => WorkOutcome::Nothing(fleet.published(target)?.unwrap_or(published)),
                });
            }
            Err(error) if try_ == TRIES => return Err(error),
            // The reason was printed. The next attempt resumes the results.
            Err(_) => wait(PAUSE * try_, interrupted),
        }
    }
    Ok(WorkOutcome::Interrupted)
}

fn wait(time: Duration, interrupted: &dyn Fn() -> bool) {
    let deadline = Instant::now() + time;
    while Instant::now() < deadline && !interrupted() {
        thread::sleep(TICK);
    }
}

/// Runs or resumes the campaign until it ends, a signal comes, or another job takes over.
fn measure(
    fleet: &Fleet,
    target: &Target,
    context: &NodeContext,
    own: &Claim,
    folder: &Path,
    interrupted: &dyn Fn() -> bool,
) -> FleetResult<ExitStatus> {
    let mut command = Command::new(&context.program);
    for place in fleet.catalogs() {
        command.arg("--catalog").arg(fleet.folder.join(place));
    }
    command.arg("run").args(&fleet.arguments).args(&context.arguments);
    command.arg("--output").arg(folder);
    end_with_taskscale(&mut command, Signal::TERM);
    let mut child = at("start", &context.program, command.spawn())?;
    let mut looked = Instant::now();
    let mut told = false;
    loop {
        if let Some(status) = at("wait for", &context.program, child.try_wait())? {
            return Ok(status);
        }
        if interrupted() && !std::mem::replace(&mut told, true) {
            at("stop", &context.program, stop(&child))?;
        }
        if looked.elapsed() >= POLL_INTERVAL {
            looked = Instant::now();
            // Other errors are ignored: the folder may be unavailable for a moment.
            if let Err(error @ FleetError::Superseded { .. }) = fleet.check_claim(target, own) {
                at("stop", &context.program, stop(&child))?;
                at("wait for", &context.program, child.wait())?;
                return Err(error);
            }
        }
        thread::sleep(TICK);
    }
}

fn stop(child: &Child) -> io::Result<()> {
    // The child was not waited for, so its PID is not reused.
    Ok(kill_process(Pid::from_child(child), Signal::TERM)?)
}

/// The results to publish of a campaign. Fails if the campaign is incomplete.
fn published(target: &Target, own: &Claim, folder: &Path) -> FleetResult<PublishedTarget> {
    let incomplete = |what: String| FleetError::Incomplete { target: target.name.clone(), what };
    let loaded = record::load(folder).map_err(|error| incomplete(error.to_string()))?;
    if let Some(line) = loaded.rejected.first() {
        return Err(incomplete(format!("line {} of its samples: {}", line.number, line.why)));
    }
    let reports = Report::of_parts(&loaded.campaign, &loaded.samples);
    let missing: u64 = reports.iter().map(|report| report.unmeasured_runs).sum();
    if missing > 0 {
        return Err(incomplete(format!("{} missing", units::counted(missing, "run"))));
    }
    let rows = || reports.iter().flat_map(Report::rows);
    let good_cells = rows().filter(|row| row.status == Status::Ok.name()).count() as u64;
    let (runs, cells) = (loaded.samples.len() as u64, rows().count() as u64);
    let (at, digests) = (Timestamp::now(), digests(folder)?);
    let Claim { epoch, job, node, .. } = own.clone();
    Ok(PublishedTarget { at, epoch, job, folder: node.clone(), node, runs, good_cells, cells, digests })
}
