//! Facts of results: machine, plan and way of measuring.

use super::footnotes;
use super::model::Report;
use super::phrases::{counts, processor, runs_in_time};
use crate::catalog::Shape;
use crate::document::joined;
use crate::units;

/// Name and value of a fact; `None` if unknown or not applicable.
pub type Fact = (&'static str, Option<String>);

/// Facts that may distinguish results from others.
pub fn facts(report: &Report) -> Vec<Fact> {
    let machine = &report.machine;
    let sources = joined(report.memory_sources.iter().map(|count| count.source.name()), ", ");
    vec![
        ("results", Some(report.campaign.clone())),
        ("measured", Some(format!("{} {} UTC", report.created_at.date(), report.created_at.time_of_day()))),
        ("measured by", report.by.map(|by| by.name().to_owned())),
        ("host", Some(machine.hostname.clone())),
        ("CPU", Some(processor(machine))),
        ("memory", Some(units::bytes(machine.memory_bytes))),
        ("swap", Some(units::bytes(machine.swap_bytes))),
        ("OS", Some(machine.os.clone())),
        ("kernel", Some(format!("Linux {} {}", machine.kernel, machine.architecture))),
        ("huge pages", machine.transparent_huge_pages.clone()),
        ("CPU governor", machine.cpu_governor.clone()),
        ("memory by", (!sources.is_empty()).then_some(sources)),
        ("taskscale", Some(report.taskscale.clone())),
        ("workload", Some(report.series().to_string())),
        ("wait", (report.shape != Shape::Work).then(|| report.hold.to_string())),
        ("repetitions", Some(report.repetitions.to_string())),
        ("warnings", (!machine.warnings.is_empty()).then(|| machine.warnings.join("; "))),
    ]
}

/// How results were measured: facts, plan and limits, then the command that was run and one that repeats it.
pub fn account(report: &Report) -> (Vec<(&'static str, String)>, [Vec<String>; 2]) {
    let of_heading = ["results", "wait", "warnings", "repetitions"];
    let known = facts(report).into_iter().filter(|(name, _)| !of_heading.contains(name));
    let mut all: Vec<(&'static str, String)> =
        known.filter_map(|(name, value)| Some((name, value?))).collect();
    let limit = |(name, value): (&String, &u64)| format!("{name} = {}", units::grouped(*value));
    all.extend([
        ("scenario", footnotes::scenario(report)),
        ("plan", plan(report)),
        ("seed", report.seed.to_string()),
        ("plan digest", report.plan_digest.chars().take(12).collect()),
        ("limits", joined(report.machine.limits.iter().map(limit), "; ")),
    ]);
    all.retain(|(_, value)| !value.is_empty());
    (all, [report.command.clone(), repeat(report)])
}

/// `1, 10k, 1M tasks, 3 repetitions; 183 runs in 1 h 02 m`.
fn plan(report: &Report) -> String {
    let missing = match report.unmeasured_runs {
        0 => String::new(),
        runs => format!("; {} not measured yet", units::counted(runs, "run")),
    };
    let repetitions = units::counted(report.repetitions, "repetition");
    let runs = runs_in_time([report].into_iter());
    format!("{} tasks, {repetitions}; {runs}{missing}", counts(&report.tasks))
}

/// The command that repeats a run: with its seed, without the output folder, which exists by now, and without
/// the path of the program. `measure` has no seed. The measured command follows `--`.
fn repeat(report: &Report) -> Vec<String> {
    let end = report.command.iter().position(|word| word == "--").unwrap_or(report.command.len());
    let (own, measured) = report.command.split_at(end);
    let mut words = own.iter();
    let program = words.next().map(|word| word.rsplit('/').next().unwrap_or(word).to_owned());
    let mut kept: Vec<String> = program.into_iter().collect();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" | "--output" | "--seed" => drop(words.next()),
            word if ["-o", "--output=", "--seed="].iter().any(|option| word.starts_with(option)) => {}
            word => kept.push(word.to_owned()),
        }
    }
    if !own.iter().any(|word| word == "measure") {
        kept.extend(["--seed".to_owned(), report.seed.to_string()]);
    }
    kept.extend_from_slice(measured);
    kept
}
