//! Checks the numbers of documents against the results that they come from.
//!
//! A file of docs/facts/ names a document and the results folders where its numbers are looked up, in that
//! order. Each fact is the text around a number, with `{}` in its place, and the value: an entry, a workload, a
//! number of tasks (none for a metric of the fit) and a metric by its name in `--metric`, or `published`, the
//! value of a blog post in published/. `over` divides by another value, `in` names another unit than the
//! metric's own:
//! `"and {} times as much" = "go/goroutine sleep 1M footprint over rust/tokio-join-all sleep 1M footprint"`.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use regex_lite::Regex;
use serde::Deserialize;
use serde_json::Value;
use taskscale::metrics::{self, MetricScope};
use taskscale::record;
use taskscale::report::{Report, Row};
use taskscale::units::{self, decimal};

use super::{WRITES, files, read, repository};

/// A file of docs/facts/.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    document: String,
    results: Vec<String>,
    facts: BTreeMap<String, String>,
}

/// The value that a number shows.
#[derive(Debug, PartialEq)]
struct Term<'a> {
    entry: &'a str,
    workload: &'a str,
    tasks: Option<u64>,
    figure: &'a str,
}

#[derive(Debug, PartialEq)]
struct Quotient<'a> {
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

    /// The value in the metric's base unit, such as bytes or seconds.
    fn value(&self, campaign: &[Report]) -> Option<f64> {
        if self.figure == "published" {
            return published(self.entry, self.tasks?);
        }
        let figure =
            metrics::named(self.figure).unwrap_or_else(|| panic!("there is no figure {}", self.figure));
        let plain = |report: &&Report| {
            report.workload == self.workload && report.params.is_empty() && report.cpus.is_none()
        };
        let report = campaign.iter().find(plain)?;
        match figure.of {
            MetricScope::Slope => report.growth_of(self.entry)?.bytes_per_task,
            MetricScope::Base => report.growth_of(self.entry)?.base_bytes,
            MetricScope::Run => {
                let own = |row: &&Row| row.entry.name == self.entry && row.ok_runs > 0;
                let group = report.groups.iter().find(|group| Some(group.tasks) == self.tasks)?;
                group.rows.iter().find(own)?.spreads.median(figure)
            }
        }
    }

    /// The divisor of the named unit, or of the metric's own unit.
    fn divisor(&self, unit: Option<&str>) -> f64 {
        match unit {
            Some("GiB") => 1_073_741_824.0,
            Some("MB") => 1_000_000.0,
            Some("kB" | "µs") => 1_000.0,
            Some(unit) => panic!("{unit}: no unit is called so here"),
            None if self.figure == "published" => metrics::FOOTPRINT.shown_unit().1,
            None => metrics::named(self.figure).map_or(1.0, |figure| figure.shown_unit().1),
        }
    }
}

impl<'a> Quotient<'a> {
    fn parse(text: &'a str) -> Option<Quotient<'a>> {
        let (terms, unit) =
            text.split_once(" in ").map_or((text, None), |(terms, unit)| (terms, Some(unit.trim())));
        let (of, over) = terms.split_once(" over ").map_or((terms, None), |(of, over)| (of, Some(over)));
        let over = match over {
            Some(over) => Some(Term::parse(over)?),
            None => None,
        };
        Some(Quotient { of: Term::parse(of)?, over, unit })
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

/// Bytes in a blog post, in the row of the entry.
fn published(entry: &str, tasks: u64) -> Option<f64> {
    ["2024-take2", "2023"].into_iter().find_map(|post| published_by(post, entry, tasks))
}

fn published_by(post: &str, entry: &str, tasks: u64) -> Option<f64> {
    let json = |path: String| serde_json::from_str::<Value>(&read(&path)).expect("JSON");
    let entries = json(format!("published/{post}.entries.json"));
    let (row, _) = entries["entries"].as_object()?.iter().find(|(_, name)| *name == entry)?;
    let table = json(format!("published/{post}.json"));
    let own = |line: &&Value| line["runtime"] == row.as_str() && line["tasks"] == tasks;
    let line = table["rows"].as_array()?.iter().find(own)?.clone();
    Some(line["memory_mib"].as_f64()? * metrics::FOOTPRINT.shown_unit().1)
}

/// The value with the number of decimals of `shown`.
fn like(shown: &str, value: f64) -> String {
    let decimals = shown.split_once('.').map_or(0, |(_, after)| after.len());
    let sign = if shown.starts_with('+') && value > 0.0 { "+" } else { "" };
    format!("{sign}{}", decimal(value, decimals))
}

/// Whether `shown` is the rounded value: to its decimals, or, if it is a whole number with at least two digits
/// before its trailing zeros, to those digits.
fn is_rounded(shown: &str, value: f64) -> bool {
    if like(shown, value) == shown {
        return true;
    }
    let digits: String = shown.chars().filter(char::is_ascii_digit).collect();
    let before = digits.trim_end_matches('0').len();
    let step = 10_f64.powi(i32::try_from(digits.len() - before).expect("a short number"));
    !shown.contains('.') && before >= 2 && like(shown, (value / step).round() * step) == shown
}

/// The document with each number as in its results, and what was wrong.
fn corrected(text: &str, facts: &Facts, results: &[Vec<Report>]) -> (String, Vec<String>) {
    let (mut written, mut faults) = (text.to_owned(), Vec::new());
    for (around, of) in &facts.facts {
        let (before, after) = around.split_once("{}").unwrap_or_else(|| panic!("{around}: {{}} is missing"));
        let quotient = Quotient::parse(of).unwrap_or_else(|| panic!("{of}: not ENTRY WORKLOAD N METRIC"));
        let pattern =
            format!(r"{}([+-]?[\d,]*\.?\d+){}", regex_lite::escape(before), regex_lite::escape(after));
        let pattern = Regex::new(&pattern).expect("a pattern");
        let found: Vec<_> = pattern.captures_iter(&written).filter_map(|found| found.get(1)).collect();
        let [number] = found[..] else {
            faults.push(format!("{around:?} is there {} times", found.len()));
            continue;
        };
        let shown = number.as_str();
        match results.iter().find_map(|reports| quotient.value(reports)) {
            Some(value) if is_rounded(shown, value) => {}
            Some(value) => {
                let due = like(shown, value);
                faults.push(format!("{around:?}: {shown} is written, {due} was measured ({of})"));
                let place = number.range();
                written.replace_range(place, &due);
            }
            None => faults.push(format!("{around:?}: no results of its file have {of}")),
        }
    }
    (written, faults)
}

fn reports(folder: &str) -> Vec<Report> {
    let loaded = record::load(&repository().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    Report::of_parts(&loaded.campaign, &loaded.samples)
}

#[test]
fn facts_match_their_results() {
    let bless = std::env::var_os("TASKSCALE_BLESS").is_some();
    let mut known: BTreeMap<String, Vec<Report>> = BTreeMap::new();
    let _alone = WRITES.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut wrong, mut all) = (Vec::new(), 0);
    let named = files(&[".toml"]).into_iter().filter(|path| path.starts_with("docs/facts/"));
    for path in named {
        let facts: Facts = toml::from_str(&read(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        all += facts.facts.len();
        let results: Vec<Vec<Report>> = facts
            .results
            .iter()
            .map(|folder| known.entry(folder.clone()).or_insert_with(|| reports(folder)).clone())
            .collect();
        let text = read(&facts.document);
        let (written, mut faults) = corrected(&text, &facts, &results);
        if bless && written != text {
            std::fs::write(repository().join(&facts.document), &written).expect("a document");
            // Numbers that the results lack stay wrong.
            faults = corrected(&written, &facts, &results).1;
        }
        wrong.extend(faults.into_iter().map(|fault| format!("{path}: {fault}")));
    }
    assert!(
        wrong.is_empty(),
        "TASKSCALE_BLESS=1 writes them anew; then read the sentences:\n{}",
        wrong.join("\n")
    );
    assert!(all > 50, "only {all} facts");
}

/// A checker that accepts everything would prove nothing.
#[test]
fn wrong_facts_are_detected() {
    let results = ["results/2026-11-23-rooms-2", "results/2026-11-22-posts"].map(reports);
    let of = |text: &str, around: &str, is: &str| {
        let facts = Facts {
            document: String::new(),
            results: Vec::new(),
            facts: BTreeMap::from([(around.to_owned(), is.to_owned())]),
        };
        let (written, faults) = corrected(text, &facts, &results);
        (written, faults.len())
    };
    let go = "go/goroutine sleep 1M footprint";
    let ratio = format!("{go} over rust/tokio-join-all sleep 1M footprint");
    let more = "go/goroutine sleep 1M rss-peak over go/goroutine sleep 1M published in +%";
    for (text, around, is) in [
        ("Go takes 2,652.5 MiB.", "takes {} MiB", go),
        ("Go takes 2,650 MiB.", "takes {} MiB", go),
        ("Go takes 2.59 GiB.", "takes {} GiB", &format!("{go} in GiB")),
        ("a goroutine of 2,779 bytes", "of {} bytes", "go/goroutine sleep bytes-per-task"),
        ("2,585.6 by the post", "{} by", "go/goroutine sleep 1M published"),
        ("12.2 times", "{} times", &ratio),
        ("+2% more", "{}% more", more),
    ] {
        assert_eq!(of(text, around, is), (text.to_owned(), 0));
    }
    assert_eq!(of("takes 2,643 MiB", "takes {} MiB", go), ("takes 2,652 MiB".to_owned(), 1));
    for (text, is) in [("takes 1 MiB", "no/one sleep 1M footprint"), ("1 MiB, takes 1", go)] {
        assert_eq!(of(text, "takes {} MiB", is), (text.to_owned(), 1));
    }
    assert_eq!(of("takes 2,652 MiB, takes 2,652 MiB", "takes {} MiB", go).1, 1, "which of two?");
}
