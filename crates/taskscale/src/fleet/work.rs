//! The work of a job on its node: claims its target, measures, and publishes complete results.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};

use super::folder::{Claim, digests};
use super::{Fleet, FleetError, FleetResult, PublishedTarget, Target, at};
use crate::record::{self, Status, Timestamp};
use crate::report::Report;
use crate::units;

/// How often the end of the campaign is looked for. On this machine alone.
const TICK: Duration = Duration::from_millis(100);
/// How often the shared folder is asked whether another job has taken over.
const LOOKED_EVERY: Duration = Duration::from_secs(10);
/// A campaign that broke off is gone on with so many times: its folder may have been full, or away.
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_secs(10);
/// Wrong usage, such as a campaign of another version: no second try mends that.
const USAGE: i32 = 2;

/// How a job ended.
#[derive(Debug)]
pub enum WorkOutcome {
    Published(PublishedTarget),
    /// Results have been published before.
    Nothing(PublishedTarget),
    /// Stopped by a signal: samples are kept, and measuring can resume.
    Interrupted,
    /// Measuring could not start as requested; the reason was printed.
    Refused,
}

/// The job and its place.
#[derive(Debug, Clone)]
pub struct NodeContext {
    pub job: String,
    pub node: String,
    /// This taskscale.
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
        // Later it was the folder that could not be used.
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
            // It has said why. What is there is kept, and gone on with.
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

/// Runs the campaign, or goes on with it, until it ends or is to end.
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
    // SAFETY: a plain system call between fork and exec. It ends with this job, however that ends.
    unsafe {
        command.pre_exec(|| {
            let _ = set_parent_process_death_signal(Some(Signal::TERM));
            Ok(())
        });
    }
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
        if looked.elapsed() >= LOOKED_EVERY {
            looked = Instant::now();
            // A folder that is away for a moment says nothing of others.
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
    // The child was not waited for: its number is still its own.
    Ok(kill_process(Pid::from_child(child), Signal::TERM)?)
}

/// What is to be published of a campaign, which must be complete.
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
    Ok(PublishedTarget {
        at: Timestamp::now(),
        epoch: own.epoch,
        job: own.job.clone(),
        node: own.node.clone(),
        folder: own.node.clone(),
        runs: loaded.samples.len() as u64,
        good_cells: rows().filter(|row| row.status == Status::Ok.name()).count() as u64,
        cells: rows().count() as u64,
        digests: digests(folder)?,
    })
}
