//! Details of a run besides its measurement, for `check` and `--verbose`.

use std::path::{Path, PathBuf};

use super::run::Run;
use crate::RunSpec;
use crate::analyze::plateau_quality;
use crate::timeline::Timeline;

/// Observations of a run besides its measurement, for `taskscale check`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunDetails {
    /// The beginning of standard output, at most 4 KiB.
    pub output: Vec<u8>,
    /// When `done` was read, in seconds since exec.
    pub done_s: Option<f64>,
    /// Whether `done` was printed before `ready`.
    pub done_before_ready: bool,
    /// Whether a lack of CPU time made the plateau inconclusive.
    pub unobservable: bool,
    /// Whether `alive` was read so late that its time says nothing about the launch.
    pub unheard: bool,
    /// Number of times that threads waited during the plateau, if counted.
    pub switches: Option<u64>,
    /// Names of files left in the working folder, which is also `TMPDIR`.
    pub files_left: Vec<String>,
}

impl Run<'_> {
    pub(super) fn into_details(self) -> (Timeline, RunDetails) {
        let quality = plateau_quality(&self.timeline, self.spec);
        let details = RunDetails {
            output: self.stdout_head,
            done_s: self.timeline.done_s(),
            done_before_ready: self.timeline.state().program.done_first,
            unobservable: quality.unobservable(),
            unheard: quality.unheard,
            switches: self.switches.seen(),
            files_left: Vec::new(),
        };
        (self.timeline, details)
    }
}

/// The names in a folder.
pub(super) fn names_in(folder: &Path) -> Vec<String> {
    let children = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        children.map(|child| child.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Description of a run for `--verbose`.
pub(super) fn shown(spec: &RunSpec, group: Option<&PathBuf>) -> String {
    let variables = spec.env.iter().map(|(name, value)| format!("{name}={value} "));
    let group = group.map(|group| format!(" in {}", group.display())).unwrap_or_default();
    let cap = spec.bounds.memory_bytes.map(crate::units::bytes).unwrap_or_else(|| "without a bound".into());
    format!(
        "{}{}{group}; memory {cap}, time {} s",
        variables.collect::<String>(),
        spec.command.join(" "),
        spec.bounds.time.as_secs()
    )
}
