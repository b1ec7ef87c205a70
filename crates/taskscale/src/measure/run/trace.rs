//! What is told of a run beside its measurement: to `check`, and to those who ask for `--verbose`.

use std::path::{Path, PathBuf};

use super::{Run, seconds};
use crate::measure::RunSpec;

/// What was seen of a run beside its measurement: for `taskscale check`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// The beginning of standard output, at most 4 KiB.
    pub output: Vec<u8>,
    /// The end of standard error, at most 4 KiB.
    pub errors: Vec<u8>,
    /// When `done` was heard, in seconds since exec.
    pub done_s: Option<f64>,
    /// For lack of CPUs nothing can be said of its plateau.
    pub untold: bool,
    /// How often threads waited during the plateau, where that was counted.
    pub switches: Option<u64>,
    /// Names of what was left in the working folder, which `TMPDIR` names as well.
    pub files_left: Vec<String>,
}

impl Run<'_> {
    pub(super) fn trace(&mut self) -> Trace {
        let done_s = self.exec_ns.zip(self.done_ns).map(|(exec, done)| seconds(exec, done));
        Trace {
            output: std::mem::take(&mut self.stdout_head),
            errors: std::mem::take(&mut self.launched.stderr_tail),
            done_s,
            untold: self.untold,
            switches: self.switches.seen(),
            files_left: Vec::new(),
        }
    }
}

/// What lies in a folder, by name.
pub(super) fn names_in(folder: &Path) -> Vec<String> {
    let children = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        children.map(|child| child.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A run as `--verbose` tells of it.
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
