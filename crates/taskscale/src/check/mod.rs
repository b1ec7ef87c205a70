//! Checks whether a program of the catalog conforms. Each finding contains the observation and the fix.
//!
//! Reads manifests and folders (`manifest`, `lockfiles`, `files`), runs the program by its workload's shape
//! (`hold`, `work`, `serve`, then `params` and `arguments`, on top of `runs`), compares its claims with the
//! kernel's counts (`sanity`, `made`, `work`), tests servers' answers (`conformance`), and builds it twice
//! (`rebuild`). Must not know the command line, nor any workload by its name.

mod arguments;
mod conformance;
mod error;
mod files;
mod findings;
mod floor;
mod hold;
mod judge;
mod judge_work;
mod lockfiles;
mod manifest;
mod params;
mod rebuild;
mod runs;
mod sanity;
mod serve;
mod task_existence;
mod work;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::campaign::Prepared;
use crate::catalog::{Program, Shape, bytes_held};
use crate::record::Status;
use taskscale_measure::LocalRunner;

pub use conformance::CaseCount;
pub use error::{CheckError, CheckResult};
pub use files::SourceFiles;
pub use findings::{CheckRule, Finding, Findings, Severity};
pub use rebuild::Rebuild;
pub use runs::Trial;
pub use serve::{Conformance, conform};

/// The result of checking one entry's program for one workload.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CheckedProgram {
    pub entry: String,
    pub workload: String,
    pub findings: Vec<Finding>,
    /// The runs whose counts were checked.
    pub trials: Vec<Trial>,
    /// Footprint growth per task, in bytes, if measurable.
    pub bytes_per_task: Option<f64>,
    /// CPU time per operation, in nanoseconds, if measurable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ns_per_op: Option<f64>,
}

impl CheckedProgram {
    /// Findings about manifest and sources are reported once, for the first program of an entry.
    pub fn remove_repeated(&mut self, other: &CheckedProgram) {
        let of_entry = [CheckRule::Manifest, CheckRule::Pinned, CheckRule::Files];
        self.findings
            .retain(|finding| !of_entry.contains(&finding.rule) || !other.findings.contains(finding));
    }
}

/// Checks one program of an entry. `sources` are the files of the runtime's folder before the build.
/// `memory_bytes` is the memory cap of a run.
pub fn check(
    program: &Program,
    prepared: &Prepared,
    sources: &SourceFiles,
    runner: &mut LocalRunner,
    memory_bytes: Option<u64>,
    rebuild: Option<&mut Rebuild>,
) -> CheckResult<CheckedProgram> {
    let mut findings = Findings::default();
    manifest::check(program, &mut findings);
    lockfiles::check(program, &mut findings);
    let mut checked = CheckedProgram {
        entry: program.entry.full_name.clone(),
        workload: program.workload.name.clone(),
        ..CheckedProgram::default()
    };
    match &prepared.command {
        Ok(command) => {
            let mut runs = runs::Runs::new(runner, program, prepared, command, memory_bytes)?;
            match program.workload.shape {
                Shape::Hold => {
                    runs.check_all_counts()?;
                    let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get());
                    let held_bytes = bytes_held(program.workload, &BTreeMap::new()).unwrap_or(0);
                    checked.bytes_per_task =
                        sanity::check(program.entry, held_bytes, cpus, &runs.trials, &mut runs.findings);
                    runs.check_tasks_are_created()?;
                    if runs.passed() {
                        runs.check_tasks_wake()?;
                    }
                }
                Shape::Serve => runs.serve_all()?,
                Shape::Work => checked.cpu_ns_per_op = runs.work_all()?,
            }
            params::check(&mut runs)?;
            arguments::check(&mut runs)?;
            runs.check_leftovers();
            if !runs.trials.iter().any(|trial| trial.status == Status::Ok) {
                // Limits of the machine and too short waits are not the program's fault, but confirm nothing.
                let fix = "mend what is found above, or check on another machine";
                runs.unconfirmed("nothing is confirmed, as no run was ok", fix);
            }
            checked.trials = runs.trials;
            findings.take(runs.findings);
        }
        Err(why) => findings.error(
            CheckRule::Build,
            format!("build failed: {}", why.reason()),
            "run the failed command by hand in the runtime's folder; `{out}` and `{shared}` are folders of your choice",
        ),
    }
    if let Some(rebuild) = rebuild.filter(|_| prepared.command.is_ok()) {
        rebuild.check(program, &mut findings)?;
    }
    sources.check(&program.runtime.folder, &mut findings);
    if checked.trials.iter().any(|trial| trial.status == Status::Ok) {
        let recipe = program.entry.workloads.get(&program.workload.name);
        findings.explain(recipe.and_then(|recipe| recipe.unconfirmed.as_deref()));
    }
    checked.findings = findings.sorted();
    Ok(checked)
}

/// Whether findings fail a check: errors do, and with `strict` also warnings.
pub fn fails(findings: &[Finding], strict: bool) -> bool {
    let worst = if strict { Severity::Warning } else { Severity::Error };
    findings.iter().any(|finding| finding.severity <= worst)
}
