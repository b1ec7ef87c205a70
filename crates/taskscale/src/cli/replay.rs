//! `taskscale replay`: the verdict that today's rules give on a kept run.

use serde::Serialize;

use super::args::{Global, ReplayArgs};
use super::failure::{CliResult, OrUsage, succeed_with};
use super::output::printable;
use crate::units;
use taskscale_measure::{Measurement, RunSpec, analyze, read_trace};

/// One line of `--json`.
#[derive(Serialize)]
struct ReplayedRun<'a> {
    file: String,
    command: &'a [String],
    tasks: u64,
    hold_s: f64,
    #[serde(flatten)]
    measurement: &'a Measurement,
}

pub fn run(args: &ReplayArgs, global: &Global) -> CliResult {
    let mut text = String::new();
    for path in &args.files {
        let (spec, timeline) = read_trace(path).or_usage()?;
        let measurement = analyze(&timeline, &spec);
        let file = path.display().to_string();
        text.push_str(&match global.json {
            true => {
                let (command, tasks, hold_s) = (spec.command.as_slice(), spec.tasks, spec.scenario.hold_s());
                let replayed = ReplayedRun { file, command, tasks, hold_s, measurement: &measurement };
                serde_json::to_string(&replayed)? + "\n"
            }
            false => printable(&summary(&file, &spec, &measurement)),
        });
    }
    succeed_with(&text)
}

/// `FILE: STATUS: REASON`, and the values of the run.
fn summary(file: &str, spec: &RunSpec, measured: &Measurement) -> String {
    let reason = measured.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let warnings: String =
        measured.warnings.iter().map(|warning| format!("  {}\n", warning.text())).collect();
    let (tasks, values) = (units::tasks(spec.tasks), values(measured));
    format!("{file}: {}{reason}\n  {tasks}, {values}\n{warnings}", measured.status)
}

/// The main values of a run.
pub(super) fn values(measured: &Measurement) -> String {
    let memory = &measured.memory;
    let size = |bytes: Option<u64>| bytes.map_or("unknown".to_owned(), units::bytes);
    let time = |seconds: Option<f64>| seconds.map_or("unknown".to_owned(), units::seconds);
    let plateau = size(memory.plateau.as_ref().map(|plateau| plateau.footprint_bytes));
    let (of, peak, rss) = (memory.source.peak_of(), size(memory.peak_bytes), size(memory.rss_peak_bytes));
    let (launch, wall) = (time(measured.time.launch_s), time(measured.time.wall_s));
    let cpu = time(measured.cpu.total_s());
    format!("memory {plateau}, peak {of} {peak}, peak RSS {rss}, CPU {cpu}, launch {launch}, wall {wall}")
}
