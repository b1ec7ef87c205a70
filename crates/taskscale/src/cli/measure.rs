//! `taskscale measure`: any program, without a manifest.

use std::process::ExitCode;

use super::args::{Global, MeasureArgs};
use super::failure::{Failure, OrUsage, catch_signals, exit_code};
use super::measure_options::{MeasureOptions, validate};
use super::output_dir::{FolderPurpose, OutputDir};
use super::replay::values;
use super::session::Session;
use super::terminal::for_standard_output;
use crate::record::{Loaded, Sample, Status, last_attempts};
use crate::report::{self, Report};
use crate::units;

pub fn run(args: &MeasureArgs, global: &Global) -> Result<ExitCode, Failure> {
    let options = validate(args).or_usage()?;
    let output = OutputDir::checked(args.results.output.as_deref(), FolderPurpose::Campaign).or_usage()?;
    let prepared = std::slice::from_ref(&options.prepared);
    let plans = vec![options.plan.clone()];
    output.check_kept(&plans, &options.resume).or_usage()?;

    let interrupt = catch_signals()?;
    let mut session = Session::begin(&output.path, global, &interrupt)?;
    session.runner.traces = args.results.trace.clone();
    let results = session.measure(plans, prepared, &output, &options.resume)?;
    let samples = session.show(results, args.results.format, |results| more(&options, results))?;
    Ok(exit_code(last_attempts(&samples).iter().any(|sample| {
        // The user named this program: not being able to start it is a failure.
        sample.status.fell_short() || sample.status == Status::Unavailable
    })))
}

/// Text below the table: a chart, or for a single number of tasks the peaks, with or without a plateau.
fn more(options: &MeasureOptions, Loaded { campaign, samples, .. }: &Loaded) -> String {
    let report = Report::build(campaign, samples);
    let chart = report::chart(&report, for_standard_output());
    if !chart.is_empty() {
        return format!("\n{chart}");
    }
    let mut text = String::new();
    for row in report.rows() {
        let size =
            |bytes: Option<f64>| bytes.map_or("unknown".to_owned(), |bytes| units::bytes(bytes as u64));
        if row.footprint_bytes.is_some() {
            text.push_str(&format!(
                "\nPeak {} {}, peak RSS {}, {} at the plateau.\n",
                row.memory_sources.last().copied().unwrap_or_default().peak_of(),
                size(row.peak_bytes),
                size(row.rss_peak_bytes),
                row.threads
                    .map_or("unknown threads".to_owned(), |n| units::counted(n.round() as u64, "thread"))
            ));
        }
    }
    let lacks_plateau =
        |sample: &&Sample| sample.memory.plateau.is_none() && sample.memory.peak_bytes.is_some();
    if let Some(sample) = last_attempts(samples).into_iter().find(lacks_plateau) {
        text.push_str(&format!("\nNo plateau. The first such run: {}.\n", values(sample)));
    }
    if !options.takes_tasks {
        text.push_str(
            "\nMeasured as it is. To learn the cost per task, use {tasks} in the command, or --connect.\n",
        );
    }
    text
}
