//! Figures in a document's sentences, against the campaigns that they are of.
//!
//! `2,643<!-- go/goroutine sleep 1M footprint --> MiB`: behind a number, unseen where the document is read, stands what it
//! is of: an entry, a workload, a number of tasks (none for a figure of a line) and a figure by its name in `--metric`, or
//! `published`, what the post of published/ says. `over` divides by another, `in` names a unit other than the figure's:
//! `12.2<!-- go/goroutine sleep 1M footprint over rust/tokio-join-all sleep 1M footprint -->`. It is the median of the
//! first campaign that has it, of those in the mark `<!-- figures of results/A results/B -->` above.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use regex_lite::Regex;
use serde_json::Value;
use taskscale::figures::{self, Of, Unit};
use taskscale::record;
use taskscale::report::{Report, Row};
use taskscale::units::{self, decimal};

use super::{WRITES, files, read, repository};

/// What a number is of.
#[derive(Debug, PartialEq)]
struct Term<'a> {
    entry: &'a str,
    workload: &'a str,
    tasks: Option<u64>,
    figure: &'a str,
}

#[derive(Debug, PartialEq)]
struct Mark<'a> {
    of: Term<'a>,
    over: Option<Term<'a>>,
    unit: Option<&'a str>,
}

impl<'a> Term<'a> {
    fn parse(text: &'a str) -> Option<Term<'a>> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (entry, workload, tasks, figure) = match *words {
            [entry, workload, figure] => (entry, workload, None, figure),
            [entry, workload, tasks, figure] => {
                (entry, workload, Some(units::parse_count(tasks).ok()?), figure)
            }
            _ => return None,
        };
        Some(Term { entry, workload, tasks, figure })
    }

    /// In bytes, seconds or what else the figure counts in.
    fn value(&self, campaign: &[Report]) -> Option<f64> {
        if self.figure == "published" {
            return published(self.entry, self.tasks?);
        }
        let figure =
            figures::named(self.figure).unwrap_or_else(|| panic!("there is no figure {}", self.figure));
        let plain = |report: &&Report| {
            report.workload == self.workload && report.params.is_empty() && report.cpus.is_none()
        };
        let report = campaign.iter().find(plain)?;
        match figure.of {
            Of::Slope => report.growth_of(self.entry)?.bytes_per_task,
            Of::Base => report.growth_of(self.entry)?.base_bytes,
            Of::Run => {
                let own = |row: &&Row| row.entry.name == self.entry && row.ok_runs > 0;
                let group = report.groups.iter().find(|group| Some(group.tasks) == self.tasks)?;
                group.rows.iter().find(own)?.spreads.median(figure)
            }
        }
    }

    /// What the unit of the figure itself, or the one that is named, divides by.
    fn divisor(&self, unit: Option<&str>) -> f64 {
        match unit {
            Some("GiB") => 1_073_741_824.0,
            Some("MB") => 1_000_000.0,
            Some("kB" | "µs") => 1_000.0,
            Some(unit) => panic!("{unit}: no unit is called so here"),
            None if self.figure == "published" => Unit::Bytes.shown().1,
            None => figures::named(self.figure).map_or(1.0, |figure| figure.unit.shown().1),
        }
    }
}

impl<'a> Mark<'a> {
    fn parse(text: &'a str) -> Option<Mark<'a>> {
        let (terms, unit) =
            text.split_once(" in ").map_or((text, None), |(terms, unit)| (terms, Some(unit.trim())));
        let (of, over) = terms.split_once(" over ").map_or((terms, None), |(of, over)| (of, Some(over)));
        let over = match over {
            Some(over) => Some(Term::parse(over)?),
            None => None,
        };
        Some(Mark { of: Term::parse(of)?, over, unit })
    }

    fn value(&self, campaign: &[Report]) -> Option<f64> {
        let of = self.of.value(campaign)?;
        let Some(over) = &self.over else { return Some(of / self.of.divisor(self.unit)) };
        let ratio = of / over.value(campaign)?;
        Some(match self.unit {
            None => ratio,
            Some("%") => ratio * 100.0,
            Some("+%") => (ratio - 1.0) * 100.0,
            Some(unit) => panic!("{unit}: a ratio is plain, in %, or in +%: by how much it is more"),
        })
    }
}

/// Bytes that the post says, of the row that the entry stands for.
fn published(entry: &str, tasks: u64) -> Option<f64> {
    let json = |path: &str| serde_json::from_str::<Value>(&read(path)).expect("JSON");
    let entries = json("published/2024-take2.entries.json");
    let (row, _) = entries["entries"].as_object()?.iter().find(|(_, name)| *name == entry)?;
    let table = json("published/2024-take2.json");
    let own = |line: &&Value| line["runtime"] == row.as_str() && line["tasks"] == tasks;
    let line = table["rows"].as_array()?.iter().find(own)?.clone();
    Some(line["memory_mib"].as_f64()? * Unit::Bytes.shown().1)
}

/// As `shown` is written: with as many digits after the point.
fn like(shown: &str, value: f64) -> String {
    let decimals = shown.split_once('.').map_or(0, |(_, after)| after.len());
    let sign = if shown.starts_with('+') && value > 0.0 { "+" } else { "" };
    format!("{sign}{}", decimal(value, decimals))
}

/// Whether `shown` is the value rounded: to its digits after the point, or, of a whole number with two digits or more
/// before the zeros at its end, to these.
fn is_rounded(shown: &str, value: f64) -> bool {
    if like(shown, value) == shown {
        return true;
    }
    let digits: String = shown.chars().filter(char::is_ascii_digit).collect();
    let before = digits.trim_end_matches('0').len();
    let step = 10_f64.powi(i32::try_from(digits.len() - before).expect("a short number"));
    !shown.contains('.') && before >= 2 && like(shown, (value / step).round() * step) == shown
}

/// The document with each marked number as its campaign has it; the numbers that were not so; and how many were looked at.
fn corrected(text: &str, campaigns: &mut impl FnMut(&str) -> Vec<Report>) -> (String, Vec<String>, usize) {
    let mark =
        Regex::new(r"([+-]?[\d,]*\.?\d+)<!-- ([^>]*) -->|<!-- figures of ([^>]*) -->").expect("a pattern");
    let (mut written, mut faults, mut end, mut seen) = (String::new(), Vec::new(), 0, 0);
    let mut looked: Vec<Vec<Report>> = Vec::new();
    for found in mark.captures_iter(text) {
        if let Some(folders) = found.get(3) {
            looked = folders.as_str().split_whitespace().map(&mut *campaigns).collect();
            continue;
        }
        let (shown, of) = (found.get(1).expect("a number"), found.get(2).expect("a mark"));
        seen += 1;
        let mark = Mark::parse(of.as_str()).unwrap_or_else(|| panic!("{}: what is that of?", of.as_str()));
        let value = looked.iter().find_map(|campaign| mark.value(campaign));
        written.push_str(&text[end..shown.start()]);
        end = shown.end();
        match value {
            Some(value) if is_rounded(shown.as_str(), value) => written.push_str(shown.as_str()),
            Some(value) => {
                let due = like(shown.as_str(), value);
                faults.push(format!("{}: {} stands where {due} was measured", of.as_str(), shown.as_str()));
                written.push_str(&due);
            }
            None => {
                faults.push(format!("{}: no campaign that is named above it has that", of.as_str()));
                written.push_str(shown.as_str());
            }
        }
    }
    written.push_str(&text[end..]);
    (written, faults, seen)
}

fn campaign(folder: &str) -> Vec<Report> {
    let loaded = record::load(&repository().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    Report::of_parts(&loaded.campaign, &loaded.samples)
}

#[test]
fn every_marked_figure_is_what_its_campaign_has() {
    let bless = std::env::var_os("TASKSCALE_BLESS").is_some();
    let mut known: BTreeMap<String, Vec<Report>> = BTreeMap::new();
    let mut of = |folder: &str| known.entry(folder.to_owned()).or_insert_with(|| campaign(folder)).clone();
    let _alone = WRITES.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut wrong, mut all) = (Vec::new(), 0);
    for path in files(&[".md"]) {
        let text = read(&path);
        let (written, faults, seen) = corrected(&text, &mut of);
        all += seen;
        if bless && written != text {
            std::fs::write(repository().join(&path), &written).expect("a document");
            // What is not to be had stays wrong.
            wrong.extend(corrected(&written, &mut of).1.into_iter().map(|fault| format!("{path}: {fault}")));
        } else {
            wrong.extend(faults.into_iter().map(|fault| format!("{path}: {fault}")));
        }
    }
    assert!(
        wrong.is_empty(),
        "TASKSCALE_BLESS=1 writes them anew; then read the sentences:\n{}",
        wrong.join("\n")
    );
    assert!(all > 50, "only {all} figures are marked");
}

/// A checker that lets all pass would prove nothing.
#[test]
fn a_number_that_is_not_its_campaigns_is_found() {
    let mut of = |folder: &str| campaign(folder);
    let head = "<!-- figures of results/2026-11-23-rooms-2 results/2026-11-22-posts -->";
    let mut of_text = |text: &str| {
        let (written, faults, seen) = corrected(&format!("{head}{text}"), &mut of);
        (written.trim_start_matches(head).to_owned(), faults.len(), seen)
    };
    let mut same = |text: &str| assert_eq!(of_text(text), (text.to_owned(), 0, 1));
    same("2,652.5<!-- go/goroutine sleep 1M footprint --> MiB");
    same("2,650<!-- go/goroutine sleep 1M footprint --> MiB");
    same("2.59<!-- go/goroutine sleep 1M footprint in GiB --> GiB");
    same("2,779<!-- go/goroutine sleep bytes-per-task -->");
    same("2.78<!-- go/goroutine sleep bytes-per-task in kB -->");
    same("2,585.6<!-- go/goroutine sleep 1M published -->");
    same("12.2<!-- go/goroutine sleep 1M footprint over rust/tokio-join-all sleep 1M footprint -->");
    same("+2<!-- go/goroutine sleep 1M rss-peak over go/goroutine sleep 1M published in +% --> %");
    let mut of = |folder: &str| campaign(folder);
    let wrong = format!(
        "{head}2,643<!-- go/goroutine sleep 1M footprint --> and 1<!-- no/one sleep 1M footprint -->"
    );
    let (written, faults, seen) = corrected(&wrong, &mut of);
    assert!(written.contains("2,652<!--") && written.contains("and 1<!--"), "{written}");
    assert_eq!((faults.len(), seen), (2, 2), "{faults:?}");
}
