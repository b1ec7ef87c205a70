//! The estimate of `taskscale run --dry-run`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::args::ReportFormat;
use super::failure::{Failure, succeed_with};
use super::messages::eprint_status;
use super::output_dir::RESULTS;
use super::progress::time_left;
use super::terminal::{columns, printable};
use crate::campaign::{CellEstimate, EstimateSource, RunPreview};
use crate::document::json;
use crate::units::{self, counted};

/// Prints the estimate.
pub(super) fn show(preview: &RunPreview, format: ReportFormat, folder: &Path) -> Result<ExitCode, Failure> {
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
    let line = |cell: &CellEstimate, status: &str, why: &str| {
        format!("  {} × {}: {status}: {why}\n", cell.entry, units::count(cell.tasks))
    };
    let mut lines: BTreeMap<usize, String> = BTreeMap::new();
    for (place, met) in &preview.ending {
        let status = if met.sure { "limit" } else { "limit?" };
        lines.insert(*place, line(&preview.estimate.cells[*place], status, &met.sentence));
    }
    for (place, cell) in preview.estimate.cells.iter().enumerate() {
        if let Some(cap) = preview.above_cap(cell) {
            let (needs, cap) = (units::bytes(cell.footprint_bytes as u64), units::bytes(cap));
            let why = format!("needs about {needs}, and the cap is {cap}");
            lines.entry(place).or_insert_with(|| line(cell, "killed-oom", &why));
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let remedies: BTreeSet<&String> =
        preview.ending.iter().filter_map(|(_, met)| met.remedy.as_ref()).collect();
    let remedies: String = remedies.into_iter().map(|remedy| format!("  {remedy}\n")).collect();
    format!("\nWill not reach N tasks:\n{}{remedies}\n", lines.into_values().collect::<String>())
}
