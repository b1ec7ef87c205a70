//! Checks whether a program of the catalog conforms. Each finding contains the observation and the fix.
//!
//! Reads manifests and folders (`manifest`, `lockfiles`, `files`), runs the program by the shape of its workload (`hold`,
//! `work`, on top of `runs`; `params`, `arguments`), compares its claims with the kernel's counts (`sanity`, `work`), and
//! builds it twice (`rebuild`). Must not know the command line, nor any workload by its name.

mod arguments;
// Until the check runs servers.
mod conformance;
mod files;
mod floor;
mod hold;
mod judge;
mod judge_work;
mod lockfiles;
mod made;
mod manifest;
mod params;
mod rebuild;
mod runs;
mod sanity;
mod serve;
mod work;

use std::collections::BTreeMap;

use serde::Serialize;
use strum::IntoStaticStr;

use crate::campaign::Prepared;
use crate::catalog::{Entry, Runtime, Shape, Workload, bytes_held};
use crate::hint::Hint;
use crate::record::Status;
use taskscale_measure::{LocalRunner, MeasureError};

pub use conformance::CaseCount;
pub use files::SourceFiles;
pub use rebuild::Rebuild;
pub use runs::Trial;
pub use serve::{Conformance, conform};

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Severity {
    /// Results would be wrong or not reproducible, or would disturb others.
    Error,
    /// It works, but reviewers will ask for it.
    Warning,
    /// Worth knowing; the entry needs no fix.
    Note,
}

impl Severity {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What is checked. Names are stable: scripts may use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum CheckRule {
    /// The lines on standard output.
    Protocol,
    /// The counts in these lines.
    Counts,
    /// Tasks wait as long as they must.
    Wait,
    /// All operations run between `ready` and `done`, with the right result.
    Work,
    /// Tasks and operations exist, by the kernel's counts.
    Made,
    /// What the kernel's counts cannot confirm.
    Unconfirmed,
    /// Exits in time, with the right code.
    Exit,
    /// Wrong arguments are refused.
    Arguments,
    /// The memory of a task.
    Memory,
    /// `kind` agrees with the kernel's counts.
    Kind,
    /// `parallel` agrees with the kernel's counts.
    Parallel,
    /// The program is idle while all tasks wait.
    Quiet,
    /// Leaves no files.
    Files,
    /// Leaves no processes.
    Processes,
    /// The build.
    Build,
    /// Dependencies are pinned.
    Pinned,
    /// The manifest and the files beside it.
    Manifest,
    /// A limit of the machine, not a fault of the program.
    Limit,
}

impl CheckRule {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    pub severity: Severity,
    pub rule: CheckRule,
    /// What was observed.
    pub what: String,
    /// How to fix it.
    pub fix: String,
}

/// Findings of one entry, each once.
#[derive(Debug, Default)]
pub struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, severity: Severity, rule: CheckRule, what: impl Into<String>, fix: impl Into<String>) {
        let finding = Finding { severity, rule, what: what.into(), fix: fix.into() };
        // The same fault at another N adds nothing.
        let is_same = |other: &Finding| other.rule == rule && essence(&other.what) == essence(&finding.what);
        if !self.0.iter().any(is_same) {
            self.0.push(finding);
        }
    }

    fn error(&mut self, rule: CheckRule, what: impl Into<String>, fix: impl Into<String>) {
        self.add(Severity::Error, rule, what, fix);
    }

    fn warning(&mut self, rule: CheckRule, what: impl Into<String>, fix: impl Into<String>) {
        self.add(Severity::Warning, rule, what, fix);
    }

    fn note(&mut self, rule: CheckRule, what: impl Into<String>, fix: impl Into<String>) {
        self.add(Severity::Note, rule, what, fix);
    }

    /// Something that cannot be confirmed from outside.
    fn unconfirmed(&mut self, what: impl Into<String>) {
        self.error(
            CheckRule::Unconfirmed,
            what,
            "explain in the manifest why it cannot be confirmed from outside: `workloads.NAME.unconfirmed = \"…\"`",
        );
    }

    /// A reason in the manifest turns unconfirmed findings into notes.
    fn explain(&mut self, why: Option<&str>) {
        let Some(why) = why else { return };
        let mut open = self.0.iter_mut().filter(|found| found.rule == CheckRule::Unconfirmed).peekable();
        if open.peek().is_none() {
            self.warning(
                CheckRule::Unconfirmed,
                "`unconfirmed` in the manifest is not needed: everything was confirmed",
                "remove it",
            );
            return;
        }
        for found in open {
            found.severity = Severity::Note;
            found.fix = format!("none needed; the manifest explains it: {why}");
        }
    }

    fn take(&mut self, others: Findings) {
        for Finding { severity, rule, what, fix } in others.0 {
            self.add(severity, rule, what, fix);
        }
    }

    /// The same findings, prefixed with these words.
    fn with(self, words: &str) -> Findings {
        let said = |finding: Finding| Finding { what: format!("{words}, {}", finding.what), ..finding };
        Findings(self.0.into_iter().map(said).collect())
    }

    /// Whether any of them blames the program for a time.
    fn blame_time(&self) -> bool {
        let of_time = [CheckRule::Wait, CheckRule::Exit, CheckRule::Counts, CheckRule::Kind];
        self.0.iter().any(|found| found.severity != Severity::Note && of_time.contains(&found.rule))
    }

    /// Worst first.
    pub fn sorted(mut self) -> Vec<Finding> {
        self.0.sort();
        self.0
    }
}

/// The observation without numbers of tasks and values.
fn essence(what: &str) -> String {
    let said =
        what.strip_prefix("with ").and_then(|rest| rest.split_once(": ")).map_or(what, |(_, said)| said);
    said.chars().filter(|char| !char.is_ascii_digit() && !['.', ','].contains(char)).collect()
}

/// A checked program: of one entry and workload.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CheckedProgram {
    pub entry: String,
    pub workload: String,
    pub findings: Vec<Finding>,
    /// The runs whose counts were checked.
    pub trials: Vec<Trial>,
    /// Growth of the footprint over N, in bytes, where it is measurable.
    pub bytes_per_task: Option<f64>,
    /// CPU time per operation, in nanoseconds, where it is measurable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ns_per_op: Option<f64>,
}

impl CheckedProgram {
    /// Findings about manifest and sources are reported once, for the first program of an entry.
    pub fn leave_out_what_is_said_of(&mut self, other: &CheckedProgram) {
        let of_entry = [CheckRule::Manifest, CheckRule::Pinned, CheckRule::Files];
        self.findings
            .retain(|finding| !of_entry.contains(&finding.rule) || !other.findings.contains(finding));
    }
}

/// The program to check.
pub struct CheckSubject<'a> {
    pub runtime: &'a Runtime,
    pub entry: &'a Entry,
    pub workload: &'a Workload,
    pub prepared: &'a Prepared,
}

/// Why a check stopped early.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error("interrupted")]
    Interrupted,
    #[error(transparent)]
    Measure(#[from] MeasureError),
    #[error("cannot {what} {path}: {error}")]
    Io { what: &'static str, path: std::path::PathBuf, error: std::io::Error },
}

impl Hint for CheckError {
    fn hint(&self) -> Option<String> {
        match self {
            CheckError::Interrupted => None,
            CheckError::Measure(error) => error.hint(),
            CheckError::Io { error, .. } => error.hint(),
        }
    }
}

/// Checks one program of an entry. `sources` are the files of the runtime's folder before the build; `memory_bytes` is the
/// memory cap of a run.
pub fn check(
    subject: &CheckSubject,
    sources: &SourceFiles,
    runner: &mut LocalRunner,
    memory_bytes: Option<u64>,
    rebuild: Option<&mut Rebuild>,
) -> Result<CheckedProgram, CheckError> {
    let mut findings = Findings::default();
    manifest::look(subject, &mut findings);
    lockfiles::look(subject, &mut findings);
    let mut checked = CheckedProgram {
        entry: subject.entry.full_name.clone(),
        workload: subject.workload.name.clone(),
        ..CheckedProgram::default()
    };
    match &subject.prepared.command {
        Ok(command) => {
            let mut runs = runs::Runs::new(runner, subject, command, memory_bytes)?;
            match subject.workload.shape {
                Shape::Hold => {
                    runs.hold_all()?;
                    let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get());
                    let held = bytes_held(subject.workload, &BTreeMap::new()).unwrap_or(0);
                    let claims = sanity::Claims { entry: subject.entry, held, cpus };
                    checked.bytes_per_task = sanity::look(&claims, &runs.trials, &mut runs.findings);
                    runs.look_whether_tasks_are_made()?;
                    if runs.passed() {
                        runs.look_whether_tasks_wake()?;
                    }
                }
                Shape::Serve => runs.serve_all()?,
                Shape::Work => checked.cpu_ns_per_op = runs.work_all()?,
            }
            params::look(&mut runs)?;
            arguments::look(&mut runs)?;
            runs.look_at_what_is_left();
            checked.trials = runs.trials;
            findings.take(runs.findings);
        }
        Err(why) => findings.error(
            CheckRule::Build,
            format!("build failed: {}", why.reason()),
            "run the failed command by hand in the runtime's folder; `{out}` and `{shared}` are folders of your choice",
        ),
    }
    if let Some(rebuild) = rebuild.filter(|_| subject.prepared.command.is_ok()) {
        rebuild.look(subject, &mut findings)?;
    }
    sources.look(&subject.runtime.folder, &mut findings);
    if checked.trials.iter().any(|trial| trial.status == Status::Ok) {
        let recipe = subject.entry.workloads.get(&subject.workload.name);
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
