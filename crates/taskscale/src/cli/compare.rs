//! `taskscale compare`: the regression gate.

use std::path::Path;

use anyhow::{Context, Result};

use super::args::CompareArgs;
use super::failure::{CliResult, Failure, OrUsage, exit_code};
use super::output::{eprint_status, for_standard_output, print_result};
use super::output_dir::{existing_folder, load_results};
use super::pages::for_people;
use crate::catalog::Shape;
use crate::compare::{self, CompareError, CompareSettings, ComparedMetric, Comparison, Decision, Input};
use crate::document::{Format, joined};
use crate::explain::{self, Explanation};
use crate::metrics;
use crate::record::{Campaign, Loaded, Sample, Series};
use crate::report::ExportTarget;
use crate::units;

/// The exit status of an undecided gate.
const UNDECIDED: u8 = 3;

pub fn run(args: &CompareArgs) -> CliResult {
    let fail_above = args.fail_above.as_deref().map(units::parse_share).transpose();
    let fail_above = fail_above.context("--fail-above").or_usage()?;
    let folders = [&args.base, args.new.as_ref().unwrap_or(&args.base)];
    for folder in folders {
        existing_folder(folder).or_usage()?;
    }
    let base = load_results(&args.base).or_usage()?;
    // Two entries of one folder.
    let other = (folders[0] != folders[1]).then(|| load_results(folders[1])).transpose().or_usage()?;
    let new = other.as_ref().unwrap_or(&base);
    let names = folders.map(|folder| folder.display().to_string());
    let has = |asked: &&ComparedMetric| base.campaign.plans().any(|plan| asked.figure.is_of(plan.shape));
    if let Some(asked) = args.metric.iter().find(|asked| !has(asked)) {
        let name = asked.figure.name;
        return Err(Failure::usage(format!("--metric {name}: no workload of {} has it", names[0])));
    }
    let (parts, missing) = compare_parts(args, &names, &base, new, fail_above).or_usage()?;
    let moved = if args.explain { Some(parts_that_moved(args).or_usage()?) } else { None };
    print_result(&compare::render(&parts, args.format, for_standard_output()))?;
    let gone = fail_above.is_some() && !args.allow_missing && !missing.is_empty();
    let names_of_gone = joined(missing.iter().map(ToString::to_string), ", ");
    let gone = gone.then(|| format!("fail: measured in BASE, missing in NEW: {names_of_gone}"));
    if let Some(gone) = gone.as_ref().filter(|_| matches!(args.format, Format::Table | Format::Markdown)) {
        print_result(&format!("\n{gone}\n"))?;
    }
    if let Some(moved) = moved {
        print_result(&format!("\n{moved}"))?;
    }
    for part in &missing {
        eprint_status(&format!("only in {}: {part}", names[0]));
    }
    for regression in parts.iter().flat_map(compare::regressions) {
        eprint_status(&format!("regression: {regression}"));
    }
    for undecided in parts.iter().flat_map(|part| &part.undecided) {
        eprint_status(&format!("undecided: {}", compare::undecided(undecided)));
    }
    parts.iter().filter_map(compare::gate).chain(gone.clone()).for_each(|gate| eprint_status(&gate));
    let ended = |decision| parts.iter().any(|part| part.gate() == Some(decision));
    let failed = gone.is_some() || ended(Decision::Fail);
    Ok(if !failed && ended(Decision::Undecided) { UNDECIDED } else { exit_code(failed) })
}

/// The comparison of each series that both have, and the series that only BASE has.
fn compare_parts(
    args: &CompareArgs,
    names: &[String; 2],
    base: &Loaded,
    new: &Loaded,
    fail_above: Option<f64>,
) -> Result<(Vec<Comparison>, Vec<Series>), CompareError> {
    let parts = |of: &Loaded| -> Vec<(Campaign, Vec<Sample>)> {
        let parts = of.campaign.parts(&of.samples).into_iter();
        parts.map(|(part, samples)| (part, samples.into_iter().cloned().collect())).collect()
    };
    let (old, now) = (parts(base), parts(new));
    let counterpart =
        |part: &Campaign| now.iter().find(|(other, _)| other.plan.series() == part.plan.series());
    let series = old.iter().filter(|(part, _)| counterpart(part).is_some()).count();
    let &CompareArgs { allow_missing, across, .. } = args;
    let (mut comparisons, mut missing) = (Vec::new(), Vec::new());
    for (position, (campaign, samples)) in old.iter().enumerate() {
        // With one series each, the error names both.
        let alone = (old.len() == 1 && now.len() == 1).then(|| &now[position]);
        let Some((other, other_samples)) = counterpart(campaign).or(alone) else {
            missing.push(campaign.plan.series());
            continue;
        };
        let metrics = metrics(&args.metric, campaign.plan.shape);
        let settings = CompareSettings { series, metrics, fail_above, allow_missing, across };
        let input = |folder, campaign, samples, entry| Input { folder, campaign, samples, entry };
        let base = input(&names[0], campaign, samples, args.base_entry.as_deref());
        let new = input(&names[1], other, other_samples, args.new_entry.as_deref());
        comparisons.push(Comparison::build(base, new, &settings)?);
    }
    if comparisons.is_empty() {
        let all = |parts: &[(Campaign, Vec<Sample>)]| {
            joined(parts.iter().map(|(part, _)| part.plan.series().to_string()), " and ")
        };
        let [base, new] = names.clone();
        return Err(CompareError::Workloads { base, base_workload: all(&old), new, new_workload: all(&now) });
    }
    Ok((comparisons, missing))
}

/// The parts of a task's memory that changed, by the sheets of both folders.
fn parts_that_moved(args: &CompareArgs) -> Result<String> {
    let sheets = |folder: &Path| -> Result<Vec<Explanation>> {
        let shown = folder.display();
        let sheets = explain::load(folder).with_context(|| format!("cannot read the sheets of {shown}"))?;
        sheets.with_context(|| format!("--explain: no sheets in {shown} (`taskscale explain -o` makes them)"))
    };
    let (base, new) = (sheets(&args.base)?, sheets(args.new.as_ref().unwrap_or(&args.base))?);
    let named = args.base_entry.as_deref().zip(args.new_entry.as_deref());
    let target = ExportTarget::Report(args.format);
    let text = for_people(target, for_standard_output(), || explain::moved(&base, &new, named));
    text.context("--explain: for tables and Markdown alone")
}

/// The metrics to compare for a shape: the default ones, and those asked for, each once.
fn metrics(asked: &[ComparedMetric], shape: Shape) -> Vec<ComparedMetric> {
    let mut metrics: Vec<ComparedMetric> =
        metrics::compared(shape).iter().copied().map(ComparedMetric::from).collect();
    for metric in asked.iter().filter(|metric| metric.figure.is_of(shape)) {
        match metrics.iter_mut().find(|known| known.figure == metric.figure) {
            Some(known) => *known = *metric,
            None => metrics.push(*metric),
        }
    }
    metrics
}
