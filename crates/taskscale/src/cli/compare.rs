//! `taskscale compare`: the regression gate.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use super::args::{Compare, CompareFormat};
use super::report::for_standard_output;
use super::run::warn_of_rejected;
use super::{Failure, OrUsage, print_result, say_aside};
use crate::figures::Figure;
use crate::record::{self, Loaded};
use crate::report::Format;
use crate::report::compare::{self, CompareError, Comparison, Gate, Input, Settings};
use crate::units;

pub fn run(args: &Compare) -> Result<ExitCode, Failure> {
    let settings = validate(args).or_usage()?;
    let base = load(&args.base).or_usage()?;
    // Within one campaign both sides are the same samples, of two entries.
    let other = args.new.as_deref().filter(|new| *new != args.base).map(load).transpose().or_usage()?;
    let new = other.as_ref().unwrap_or(&base);
    let names = [&args.base, args.new.as_ref().unwrap_or(&args.base)].map(|path| path.display().to_string());
    let comparison = Comparison::build(
        input(&names[0], &base, args.base_entry.as_deref()),
        input(&names[1], new, args.new_entry.as_deref()),
        &settings,
    )
    .or_usage()?;
    print_result(&compare::render(&comparison, format(args.format), for_standard_output()))?;
    for regression in compare::regressions(&comparison) {
        say_aside(&format!("regression: {regression}"));
    }
    // What has no answer is an error, and is said as one.
    if let Some(gate) = compare::gate(&comparison).filter(|_| comparison.gate() != Some(Gate::Undecided)) {
        say_aside(&gate);
    }
    match comparison.gate() {
        None | Some(Gate::Open) => Ok(ExitCode::SUCCESS),
        Some(Gate::Closed) => Ok(ExitCode::FAILURE),
        Some(Gate::Undecided) => {
            let (judged, of) = (comparison.judged(), comparison.cells.len());
            Err(CompareError::NotJudged { cells: comparison.unjudged, judged, of }).or_usage()
        }
    }
}

fn format(format: CompareFormat) -> Format {
    match format {
        CompareFormat::Table => Format::Table,
        CompareFormat::Markdown => Format::Markdown,
        CompareFormat::Json => Format::Json,
        CompareFormat::Csv => Format::Csv,
    }
}

fn validate(args: &Compare) -> anyhow::Result<Settings> {
    let share = |text: &Option<String>, option: &'static str| {
        text.as_deref().map(units::parse_share).transpose().context(option)
    };
    let mut metrics: Vec<&'static Figure> = Vec::new();
    for metric in &args.metric {
        if !metrics.contains(metric) {
            metrics.push(metric);
        }
    }
    Ok(Settings {
        metrics,
        margin: share(&args.margin, "--margin")?,
        fail_above: share(&args.fail_above, "--fail-above")?,
        allow_missing: args.allow_missing,
    })
}

fn load(folder: &Path) -> Result<Loaded, record::StoreError> {
    let loaded = record::load(folder)?;
    warn_of_rejected(folder, &loaded.rejected, "left out");
    Ok(loaded)
}

fn input<'a>(folder: &'a str, loaded: &'a Loaded, entry: Option<&'a str>) -> Input<'a> {
    Input { folder, campaign: &loaded.campaign, samples: &loaded.samples, entry }
}
