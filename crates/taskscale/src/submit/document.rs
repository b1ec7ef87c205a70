//! The documents on submitted results: the text of a pull request, and the check of a repository.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;
use strum::{EnumMessage, VariantArray};

use super::badges::Badge;
use super::machine::class;
use super::verify::{Verification, VerifiedCase};
use super::{SubmissionRule, Violation};
use crate::document::{Column, Document, DocumentRow, Emphasis, Table, TableCell, first_few, joined};
use crate::metrics::{BYTES_PER_TASK, LAUNCH, MetricDef, per_task, time_text};
use crate::record::{Campaign, Sample, Warning, last_attempts};
use crate::report::document::spread_cell;
use crate::report::{Report, Row, RowGroup};
use crate::units;

/// The text of a pull request: what was measured where, the results at the most tasks, what was checked and removed.
/// `folder`: the results folder in the repository.
pub fn pull_request(
    campaign: &Campaign,
    samples: &[Sample],
    folder: &Path,
    anonymized: &[String],
    outliers: &[String],
) -> Document {
    let reports = Report::of_parts(campaign, samples);
    let workloads: BTreeSet<&str> = campaign.plans().map(|plan| plan.workload.as_str()).collect();
    let mut document = Document::new(format!("{} on {}", joined(workloads, ", "), class(&campaign.machine)));
    let facts = facts(campaign, samples, &reports, folder);
    document.table(two_columns("What was measured", ["what", "value"], facts));
    for report in &reports {
        // The most tasks at which anything was ok.
        let ok = |group: &&RowGroup| group.rows.iter().any(|row| row.ok_runs > 0);
        if let Some(group) = report.groups.iter().rev().find(ok) {
            document.table(found(report, group));
        }
    }
    // The checksum is made after the other rules pass.
    let is_checked =
        |rule: &&SubmissionRule| ![SubmissionRule::Origin, SubmissionRule::Checksum].contains(rule);
    let rules = SubmissionRule::VARIANTS.iter().filter(is_checked);
    let rules =
        rules.map(|rule| (rule.name(), rule.get_documentation().unwrap_or_default().to_owned())).collect();
    document.table(two_columns("What was checked", ["check", "passed"], rules));
    if let Some(unusual) = unusual(outliers) {
        document.text(format!("Unusual: {unusual}."), Emphasis::Plain);
    }
    document.text(format!("Removed: {}.", anonymized.join("; ")), Emphasis::Plain);
    let again = format!("To check again: taskscale submit --check {} --new", folder.display());
    document.text(again, Emphasis::Plain);
    document
}

fn two_columns(heading: &str, [name, value]: [&'static str; 2], rows: Vec<(&str, String)>) -> Table {
    let row = |(name, value)| DocumentRow::of(vec![TableCell::plain(name), TableCell::plain(value)]);
    Table::of(vec![Column::words(name), Column::prose(value)], heading, rows.into_iter().map(row))
}

fn facts(
    campaign: &Campaign,
    samples: &[Sample],
    reports: &[Report],
    folder: &Path,
) -> Vec<(&'static str, String)> {
    let machine = &campaign.machine;
    let counting = last_attempts(samples);
    let busy = counting.iter().filter(|sample| sample.warnings.contains(&Warning::MachineBusy)).count();
    let sources: BTreeSet<&str> =
        reports.iter().flat_map(|report| &report.memory_sources).map(|count| count.source.name()).collect();
    let versions = reports.iter().flat_map(|report| &report.versions);
    let versions: BTreeSet<String> =
        versions.map(|version| format!("{}: {}", version.runtime, version.version)).collect();
    let missing = reports.iter().flat_map(|report| &report.unavailable);
    let missing: BTreeSet<&str> = missing.map(|missing| missing.entry.name.as_str()).collect();
    let memory = units::bytes(machine.memory_bytes);
    let mut facts = vec![
        ("folder", folder.display().to_string()),
        ("machine", format!("{}, CPUs: {}, {memory}", machine.cpu, machine.cpus)),
        ("system", format!("{}, Linux {} {}", machine.os, machine.kernel, machine.architecture)),
        ("memory source", joined(sources, ", ")),
        ("taskscale", format!("{}, {}", campaign.taskscale, campaign.created_at.date())),
        ("runs", format!("{}, {busy} of them on a busy machine", counting.len())),
        ("versions", joined(versions, "; ")),
    ];
    facts.extend((!missing.is_empty()).then(|| ("not installed", joined(missing, ", "))));
    facts
}

fn found(report: &Report, group: &RowGroup) -> Table {
    let headline = report.headline();
    let columns = vec![
        Column::words("entry"),
        Column::words("kind"),
        Column::figures(headline.heading),
        Column::words("runs"),
    ];
    let heading = format!(
        "{}, N = {}, repetitions: {}",
        report.series(),
        units::count(group.tasks),
        report.repetitions
    );
    Table::of(columns, heading, group.rows.iter().map(|row| line(row, headline)))
}

fn line(row: &Row, headline: &MetricDef) -> DocumentRow {
    DocumentRow::of(vec![
        TableCell::name(&row.entry.name),
        TableCell::plain(row.entry.kind.name()),
        spread_cell(headline, row.headline, Emphasis::Plain),
        TableCell::plain(row.status.clone()),
    ])
}

/// One results folder of a repository, with its broken rules.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CheckedFolder {
    pub folder: String,
    /// The badge. `None` if the results could not be read.
    #[serde(rename = "mark")]
    pub badge: Option<Badge>,
    pub runs: usize,
    pub findings: Vec<Violation>,
    /// Cases whose footprint differs by more than 20% from that of other results.
    pub outliers: Vec<String>,
}

/// Number of outliers that are named.
const OUTLIERS: usize = 5;

/// The outliers in words, if any.
fn unusual(outliers: &[String]) -> Option<String> {
    let named = first_few(outliers, OUTLIERS, "; ", String::clone);
    (!named.is_empty()).then(|| format!("memory differs by more than 20% from other results: {named}"))
}

/// The document of all results of a repository.
pub fn checked(all: &[CheckedFolder]) -> Document {
    let refused = all.iter().filter(|one| !one.findings.is_empty()).count();
    let mut document = Document::new(format!("results: {}, refused: {refused}", all.len()));
    let columns =
        vec![Column::words("results"), Column::words("badge"), Column::figures("runs"), Column::words("")];
    let rows = all.iter().map(|one| {
        let (verdict, emphasis) =
            if one.findings.is_empty() { ("passed", Emphasis::Good) } else { ("refused", Emphasis::Bad) };
        let row = DocumentRow::of(vec![
            TableCell::plain(one.folder.clone()),
            TableCell::quiet(one.badge.map_or("", Badge::name)),
            TableCell::plain(one.runs.to_string()),
            TableCell::Text(verdict.to_owned(), emphasis),
        ]);
        let row = one.findings.iter().fold(row, |row, finding| {
            let text = format!("{}. Fix: {}", finding.what, finding.fix);
            row.note(finding.rule.name(), text, Emphasis::Bad)
        });
        match unusual(&one.outliers) {
            Some(text) => row.note("unusual", text, Emphasis::Quiet),
            None => row,
        }
    });
    document.table(Table::of(columns, "results", rows));
    document
}

/// The verdict on submitted results, case by case.
pub fn verified(verification: &Verification) -> Document {
    let (agree, measured) = verification.agreement();
    let verdict = if verification.is_verified() { "verified" } else { "not verified" };
    let mut document = Document::new(format!("{agree} of {measured} cases agree: {verdict}"));
    let mut columns = Vec::from(["entry", "workload"].map(Column::words));
    columns.extend(["N", BYTES_PER_TASK.heading, "again", LAUNCH.heading, "again"].map(Column::figures));
    columns.extend(["status", ""].map(Column::words));
    document.table(Table::of(columns, "cases", verification.cases.iter().map(verified_row)));
    document.notes =
        vec!["B/task may differ by 10%, or growth by 64 KiB. Times are not compared.".to_owned()];
    document
}

fn verified_row(case: &VerifiedCase) -> DocumentRow {
    let again = case.measured.as_ref();
    let bytes = |of: Option<f64>| TableCell::figure(of.map(per_task), Emphasis::Plain);
    let seconds = |of: Option<f64>| TableCell::figure(of.map(time_text), Emphasis::Quiet);
    let status = match again {
        Some(again) if again.status != case.submitted.status => {
            format!("{}, again {}", case.submitted.status, again.status)
        }
        _ => case.submitted.status.clone(),
    };
    let verdict = match (again, case.agrees) {
        (None, _) => TableCell::quiet("not available here"),
        (_, true) => TableCell::Text("agrees".to_owned(), Emphasis::Good),
        (_, false) => TableCell::Text("differs".to_owned(), Emphasis::Bad),
    };
    DocumentRow::of(vec![
        TableCell::name(&case.entry),
        TableCell::quiet(&case.workload),
        TableCell::plain(units::count(case.tasks)),
        bytes(case.submitted.bytes_per_task),
        bytes(again.and_then(|again| again.bytes_per_task)),
        seconds(case.submitted.launch_s),
        seconds(again.and_then(|again| again.launch_s)),
        TableCell::plain(status),
        verdict,
    ])
}
