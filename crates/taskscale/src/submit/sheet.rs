//! The sheets on submitted results: the text of a pull request, and the check of a repository.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use super::machine::class;
use super::marks::Mark;
use super::{Finding, Rule};
use crate::figures::Figure;
use crate::record::{Campaign, Sample, Warning, last_attempts};
use crate::report::{Group, Report, Row};
use crate::sheet::{Column, Field, Section, Sheet, SheetRow, Table, Tone};
use crate::units;

/// The text of a pull request: what was measured where, the results at the most tasks, what was checked and removed.
/// `folder`: the results folder in the repository.
pub fn pull_request(
    campaign: &Campaign,
    samples: &[Sample],
    folder: &Path,
    stripped: &[String],
    outliers: &[String],
) -> Sheet {
    let reports = Report::of_parts(campaign, samples);
    let workloads: BTreeSet<&str> = campaign.plans().map(|plan| plan.workload.as_str()).collect();
    let workloads = workloads.into_iter().collect::<Vec<_>>().join(", ");
    let mut sheet = Sheet::new(format!("{workloads} on {}", class(&campaign.machine)));
    let mut facts = Table::new(vec![Column::words("what"), Column::prose("value")]);
    let rows = self::facts(campaign, samples, &reports, folder).into_iter();
    facts.section("What was measured").rows =
        rows.map(|(what, is)| SheetRow::of(vec![Field::plain(what), Field::plain(is)])).collect();
    sheet.table(facts);
    for report in &reports {
        // The most tasks at which anything was ok.
        let ok = |group: &&Group| group.rows.iter().any(|row| row.ok_runs > 0);
        if let Some(group) = report.groups.iter().rev().find(ok) {
            sheet.table(found(report, group));
        }
    }
    let mut checks = Table::new(vec![Column::words("check"), Column::prose("passed")]);
    checks.section("What was checked").rows = Rule::ALL
        .into_iter()
        // The checksum is made after the other rules pass.
        .filter(|rule| ![Rule::Origin, Rule::Seal].contains(rule))
        .map(|rule| SheetRow::of(vec![Field::plain(rule.name()), Field::plain(rule.about())]))
        .collect();
    sheet.table(checks);
    if let Some(unusual) = unusual(outliers) {
        sheet.text(format!("Unusual: {unusual}."), Tone::Plain);
    }
    sheet.text(format!("Removed: {}.", stripped.join("; ")), Tone::Plain);
    let again = format!("To check again: taskscale submit --check {} --new", folder.display());
    sheet.text(again, Tone::Plain);
    sheet
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
    let versions: BTreeSet<String> = reports
        .iter()
        .flat_map(|report| &report.versions)
        .map(|version| format!("{}: {}", version.runtime, version.version))
        .collect();
    let missing: BTreeSet<&str> = reports
        .iter()
        .flat_map(|report| &report.unavailable)
        .map(|missing| missing.entry.name.as_str())
        .collect();
    let joined = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<_>>().join(", ");
    let mut facts = vec![
        ("folder", folder.display().to_string()),
        (
            "machine",
            format!("{}, CPUs: {}, {}", machine.cpu, machine.cpus, units::bytes(machine.memory_bytes)),
        ),
        ("system", format!("{}, Linux {} {}", machine.os, machine.kernel, machine.architecture)),
        ("memory source", joined(sources)),
        ("taskscale", format!("{}, {}", campaign.taskscale, campaign.created_at.date())),
        ("runs", format!("{}, {busy} of them on a busy machine", counting.len())),
        ("versions", versions.into_iter().collect::<Vec<_>>().join("; ")),
    ];
    facts.extend((!missing.is_empty()).then(|| ("not installed", joined(missing))));
    facts
}

fn found(report: &Report, group: &Group) -> Table {
    let headline = report.headline();
    let mut table = Table::new(vec![
        Column::words("entry"),
        Column::words("kind"),
        Column::figures(headline.heading),
        Column::words("runs"),
    ]);
    let heading =
        format!("{}, N = {}, repetitions: {}", report.part(), units::count(group.tasks), report.repetitions);
    table.section(heading).rows = group.rows.iter().map(|row| line(row, headline)).collect();
    table
}

fn line(row: &Row, headline: &Figure) -> SheetRow {
    let figure = match row.headline {
        Some(spread) => {
            let mark = spread.relative_mad().map(|mad| format!("±{}%", units::decimal(mad * 100.0, 1)));
            Field::Marked(headline.show(spread.median), Tone::Plain, mark)
        }
        None => Field::figure(None, Tone::Quiet),
    };
    SheetRow::of(vec![
        Field::Name(row.entry.name.clone(), Tone::Plain),
        Field::plain(row.entry.kind.name()),
        figure,
        Field::plain(row.status.clone()),
    ])
}

/// One results folder of a repository, with its broken rules.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Checked {
    pub folder: String,
    /// The badge; absent if the results could not be read.
    pub mark: Option<Mark>,
    pub runs: usize,
    pub findings: Vec<Finding>,
    /// Cases whose footprint differs by more than 20% from that of other results.
    pub outliers: Vec<String>,
}

/// Number of outliers that are named.
const OUTLIERS: usize = 5;

/// The outliers in words, if any.
fn unusual(outliers: &[String]) -> Option<String> {
    let named = outliers.iter().take(OUTLIERS).cloned().collect::<Vec<_>>().join("; ");
    let more = outliers.len().saturating_sub(OUTLIERS);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    (!outliers.is_empty())
        .then(|| format!("memory differs by more than 20% from other results: {named}{more}"))
}

/// The sheet of all results of a repository.
pub fn checked(all: &[Checked]) -> Sheet {
    let refused = all.iter().filter(|one| !one.findings.is_empty()).count();
    let mut sheet = Sheet::new(format!("results: {}, refused: {refused}", all.len()));
    let mut table = Table::new(vec![
        Column::words("results"),
        Column::words("badge"),
        Column::figures("runs"),
        Column::words(""),
    ]);
    let section: &mut Section = table.section("results");
    for one in all {
        let (verdict, tone) =
            if one.findings.is_empty() { ("passed", Tone::Good) } else { ("refused", Tone::Bad) };
        let row = SheetRow::of(vec![
            Field::plain(one.folder.clone()),
            Field::quiet(one.mark.map_or("", Mark::name)),
            Field::plain(one.runs.to_string()),
            Field::Text(verdict.to_owned(), tone),
        ]);
        let row = one.findings.iter().fold(row, |row, finding| {
            let text = format!("{}. Fix: {}", finding.what, finding.rule.fix());
            row.remark(finding.rule.name(), text, Tone::Bad)
        });
        section.rows.push(match unusual(&one.outliers) {
            Some(text) => row.remark("unusual", text, Tone::Quiet),
            None => row,
        });
    }
    sheet.table(table);
    sheet
}
