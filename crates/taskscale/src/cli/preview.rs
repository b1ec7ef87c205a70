//! What `taskscale run` would measure: the estimate of `--dry-run`, and the prompt of a bare `taskscale` on a terminal.

use std::collections::BTreeSet;
use std::env;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use serde_json::json;

use super::args::ReportFormat;
use super::failure::{CliResult, succeed_with};
use super::output::{columns, eprint_status, printable};
use super::output_dir::RESULTS;
use super::progress::time_left;
use crate::campaign::{CellEstimate, EstimateSource, RunPreview};
use crate::document::json;
use crate::units::{self, counted};

/// Prints the estimate.
pub(super) fn show(preview: &RunPreview, format: ReportFormat, folder: &Path) -> CliResult {
    if format == ReportFormat::Json {
        let ending = preview.ending.iter().map(|(place, met)| {
            let cell = &preview.estimate.cells[*place];
            json!({
                "entry": cell.entry, "part": cell.part, "tasks": cell.tasks, "limit": met.limit,
                "sure": met.sure, "reason": met.sentence,
            })
        });
        let text = json!({
            "folder": folder.display().to_string(),
            "plan": preview.plans.first(),
            "further_plans": &preview.plans[1..],
            "estimate": preview.estimate,
            "campaigns_known": preview.campaigns,
            "not_installed": preview.missing,
            "memory_cap_bytes": preview.cap_bytes,
            "will_end_at_a_limit": ending.collect::<Vec<_>>(),
        });
        return succeed_with(&json::pretty(&text));
    }
    if format != ReportFormat::Table {
        eprint_status("warning: --dry-run prints a table or, with --format json, JSON");
    }
    succeed_with(&printable(&shown(preview, folder)))
}

fn shown(preview: &RunPreview, folder: &Path) -> String {
    let estimate = &preview.estimate;
    let mut rows =
        vec![["entry", "workload", "N", "runs", "wait or work", "memory", "notes"].map(str::to_owned)];
    for cell in &estimate.cells {
        // On a new machine most values are guesses: `~` is explained once, below.
        let (mark, source) = match cell.source {
            EstimateSource::Measured => ("", "measured here"),
            EstimateSource::OtherCounts => ("", "measured here at other N"),
            EstimateSource::Kind => ("~", ""),
        };
        rows.push([
            cell.entry.clone(),
            cell.part.clone(),
            units::count(cell.tasks),
            cell.runs.to_string(),
            units::seconds(cell.hold_s),
            format!("{mark}{}", units::bytes(cell.footprint_bytes as u64)),
            source.to_owned(),
        ]);
    }
    let mut text = columns(&rows);
    text.push_str(&format!(
        "\n{} and {}, about {}. Memory of the largest run: about {}{}.\n",
        counted(estimate.runs, "run"),
        counted(estimate.warm_ups, "warm-up"),
        time_left(estimate.seconds),
        units::bytes(preview.largest_bytes()),
        preview.cap_bytes.map(|cap| format!(" (cap: {})", units::bytes(cap))).unwrap_or_default(),
    ));
    if estimate.done > 0 {
        text.push_str(&format!("Already in {}: {}.\n", folder.display(), counted(estimate.done, "run")));
    }
    let guesses = estimate.cells.iter().filter(|cell| cell.source == EstimateSource::Kind).count();
    let known = counted(preview.campaigns, "results folder");
    text.push_str(&format!(
        "Estimated from {known} of this machine in {RESULTS}/, without builds and repeated runs.\n"
    ));
    if guesses > 0 {
        text.push_str(&format!("~ {}: estimated from the kind alone.\n", counted(guesses, "case")));
    }
    text.push_str(&ends(preview));
    if !preview.missing.is_empty() {
        text.push_str(&format!("Not installed: {}.\n", preview.missing.join(", ")));
    }
    text.push_str("Nothing was started. Builds and versions of toolchains were not checked.\n");
    text.push_str(&format!("Results: {} (not created)\n", folder.display()));
    text
}

/// A line for each case that will hit a limit or the memory cap, and once how to raise each limit.
fn ends(preview: &RunPreview) -> String {
    let line = |(place, cell): (usize, &CellEstimate)| {
        let met = preview.ending.iter().find(|(ending, _)| *ending == place);
        let (status, why) = match (met, preview.above_cap(cell)) {
            (Some((_, met)), _) => (if met.sure { "limit" } else { "limit?" }, met.sentence.clone()),
            (None, Some(cap)) => {
                let (needs, cap) = (units::bytes(cell.footprint_bytes as u64), units::bytes(cap));
                ("killed-oom", format!("needs about {needs}, and the cap is {cap}"))
            }
            (None, None) => return None,
        };
        Some(format!("  {} × {}: {status}: {why}\n", cell.entry, units::count(cell.tasks)))
    };
    let lines: String = preview.estimate.cells.iter().enumerate().filter_map(line).collect();
    if lines.is_empty() {
        return String::new();
    }
    let remedies: BTreeSet<&String> =
        preview.ending.iter().filter_map(|(_, met)| met.remedy.as_ref()).collect();
    let remedies: String = remedies.into_iter().map(|remedy| format!("  {remedy}\n")).collect();
    format!("\nWill not reach N tasks:\n{lines}{remedies}\n")
}

/// Whether the user can answer: input and output are terminals, and this is not CI.
pub(super) fn can_answer() -> bool {
    let ci = env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    !ci && io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal()
}

/// Shows the plan and asks whether to start. End of input means no.
pub(super) fn whether_to_start(preview: &RunPreview) -> bool {
    let mut out = io::stderr().lock();
    let asked = printable(&question(preview));
    if out.write_all(asked.as_bytes()).and_then(|()| out.flush()).is_err() {
        return false;
    }
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    let yes = read.is_ok_and(|bytes| bytes > 0) && is_yes(&answer);
    if !yes {
        let said = "Nothing was started. `taskscale -h` lists all commands.\n";
        let _ = out.write_all(said.as_bytes());
    }
    yes
}

fn is_yes(answer: &str) -> bool {
    ["", "y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

fn question(preview: &RunPreview) -> String {
    let Some(plan) = preview.plans.first() else { return String::new() };
    let times = match plan.repetitions {
        1 => "once".to_owned(),
        repetitions => format!("{repetitions} times"),
    };
    let counts: Vec<String> = plan.tasks.iter().map(|tasks| units::count(*tasks)).collect();
    let mut text = format!(
        "taskscale measures {} at N = {}, {times} each.\n\n  {}, about {}, plus builds\n  \
         memory of the largest run: about {}\n",
        counted(plan.entries.len(), "entry"),
        counts.join(", "),
        counted(preview.estimate.runs, "run"),
        time_left(preview.estimate.seconds),
        units::bytes(preview.largest_bytes()),
    );
    if !preview.missing.is_empty() {
        let entries = counted(preview.missing.len(), "entry");
        text.push_str(&format!("  not installed: {entries} (`taskscale list --missing`)\n"));
    }
    if !preview.ending.is_empty() {
        let cases = counted(preview.ending.len(), "case");
        text.push_str(&format!("  {cases} will hit a limit of this machine (`taskscale run --dry-run`)\n"));
    }
    text.push_str(
        "\nQuick first table: `taskscale --quick`. To skip this question: `taskscale --yes`.\nStart? [Y/n] ",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_confirms() {
        assert!(["\n", "y\n", "Y\n", "yes\n", " Yes \n"].into_iter().all(is_yes));
        assert!(!["n\n", "no\n", "q\n", "yess\n", "taskscale --quick\n"].into_iter().any(is_yes));
    }
}
