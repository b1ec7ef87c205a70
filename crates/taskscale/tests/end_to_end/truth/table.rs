//! True values next to those that taskscale reports.

use std::fmt::Write;

use taskscale::record::{MemorySource, Sample};

use super::cases::{Expect, KIB, MIB, Truth, TruthCase, TruthMetric};

/// One metric of one case in one place.
pub struct TruthRow {
    pub source: MemorySource,
    pub case: &'static str,
    pub title: &'static str,
    /// The metric of the case, and the one in which it shows here.
    pub expected: TruthMetric,
    pub figure: TruthMetric,
    pub truth: Truth,
    pub true_bytes: u64,
    /// The measured difference from the reference, in bytes.
    pub said_bytes: Option<i64>,
    pub bound_bytes: u64,
    /// Whether this source is known not to see it.
    pub unseen: bool,
}

/// Every expectation of every case, in order.
pub fn rows(cases: &[TruthCase], samples: &[Sample], files_in_memory: bool) -> Vec<TruthRow> {
    let sample = |name: &str| samples.iter().find(|sample| sample.entry.strip_prefix("fake/") == Some(name));
    let mut rows = Vec::new();
    for case in cases {
        let (Some(one), Some(reference)) = (sample(case.name), sample(case.reference)) else { continue };
        rows.extend(case.expects.iter().map(|expect| row(case, expect, one, reference, files_in_memory)));
    }
    rows
}

fn row(
    case: &TruthCase,
    expect: &Expect,
    sample: &Sample,
    reference: &Sample,
    files_in_memory: bool,
) -> TruthRow {
    let source = sample.memory.source;
    let mut figure = expect.figure;
    // A file on tmpfs counts as shared memory.
    if case.name == "file" && files_in_memory {
        figure = match figure {
            TruthMetric::File => TruthMetric::Shmem,
            TruthMetric::Shmem => TruthMetric::File,
            other => other,
        };
    }
    let true_bytes = match expect.truth {
        // The cgroup's peak includes the page tables of touched memory.
        Truth::Exactly(bytes) if figure == TruthMetric::Peak && source != MemorySource::Proc => {
            bytes + bytes / 512
        }
        Truth::Exactly(bytes) | Truth::AtLeast(bytes) => bytes,
        Truth::AtLeastQueued => {
            sample.metrics.get("socket_queued").map_or(u64::MAX, |metric| metric.value as u64)
        }
    };
    TruthRow {
        source,
        case: case.name,
        title: case.title,
        expected: expect.figure,
        figure,
        truth: expect.truth,
        true_bytes,
        said_bytes: figure
            .of(sample)
            .zip(figure.of(reference))
            .map(|(here, there)| here as i64 - there as i64),
        bound_bytes: figure.bound(true_bytes, sample.processes.unwrap_or(1)),
        unseen: expect.unseen_by.contains(&source),
    }
}

impl TruthRow {
    pub fn holds(&self) -> bool {
        match (self.said_bytes, self.truth) {
            _ if self.unseen => true,
            (None, _) => false,
            (Some(said), Truth::Exactly(_)) => said.abs_diff(self.true_bytes as i64) <= self.bound_bytes,
            (Some(said), _) => said >= 0 && said as u64 >= self.true_bytes,
        }
    }

    fn error(&self) -> String {
        match self.said_bytes {
            _ if self.unseen => "unseen".into(),
            None => "unknown".into(),
            Some(said) => signed(said - self.true_bytes as i64),
        }
    }

    pub fn text(&self) -> String {
        let truth = match self.truth {
            Truth::Exactly(_) => size(self.true_bytes),
            _ => format!(">= {}", size(self.true_bytes)),
        };
        format!(
            "{:16} {:12} true {truth:>14}, said {:>14}, error {:>12}{}",
            self.case,
            self.figure.name(),
            self.said_bytes.map_or("nothing".into(), signed),
            self.error(),
            if self.holds() { "" } else { "  TOO FAR" }
        )
    }
}

pub fn size(bytes: u64) -> String {
    match bytes {
        0 => "0".into(),
        bytes if bytes.is_multiple_of(MIB) => format!("{} MiB", bytes / MIB),
        bytes if bytes.is_multiple_of(KIB) => format!("{} KiB", bytes / KIB),
        bytes if bytes >= 100 * KIB => format!("{:.1} KiB", bytes as f64 / KIB as f64),
        bytes => format!("{bytes} B"),
    }
}

fn signed(bytes: i64) -> String {
    let sign = match bytes {
        0 => "",
        bytes if bytes < 0 => "-",
        _ => "+",
    };
    format!("{sign}{}", size(bytes.unsigned_abs()))
}

/// The table of one place.
pub fn text(title: &str, samples: &[Sample], rows: &[TruthRow]) -> String {
    let source = samples.first().map_or("nothing", |sample| sample.memory.source.name());
    let mut text = format!("{title} ({source})\n");
    for row in rows {
        let _ = writeln!(text, "  {}", row.text());
    }
    text
}

const PREFACE: &str = "\
# Ground truth: all errors

<!-- Written by `TASKSCALE_BLESS=1 tests/vm/truth`: change end_to_end/truth, not this file. -->

A scripted program takes memory of a known size. Each value is the error of one run, measured minus true. Empty means exact, `unseen` means that the source cannot see it. [Ground truth](../methodology/ground-truth.md) explains the method, the bounds and the causes of these errors.

- \"At least\": the kernel adds what it needs itself, and the value is what it adds.
- In the VMs (cloud kernel of the distribution), all files are on tmpfs, where a file that is mapped shared counts as shared memory.
- Metrics that should be 0, and are 0 everywhere, are left out.

";

/// All places side by side, for people.
pub fn document(columns: &[(&str, &[TruthRow])]) -> String {
    let mut text = PREFACE.to_owned();
    let source = |rows: &[TruthRow]| rows.first().map_or("nothing", |row| row.source.name());
    let titles: Vec<_> = columns.iter().map(|(title, rows)| format!("{title} ({})", source(rows))).collect();
    let _ = writeln!(text, "| what the program takes | figure | true | {} |", titles.join(" | "));
    let _ = writeln!(text, "| --- | --- | ---: |{}", " ---: |".repeat(titles.len()));
    let longest = columns.iter().map(|(_, rows)| *rows).max_by_key(|rows| rows.len()).unwrap_or(&[]);
    let mut case = "";
    for row in longest {
        let everywhere: Vec<String> = columns
            .iter()
            .map(|(_, rows)| {
                let same = rows.iter().find(|other| other.case == row.case && other.expected == row.expected);
                same.map_or("not run".into(), TruthRow::error)
            })
            .collect();
        if matches!(row.truth, Truth::Exactly(0))
            && everywhere.iter().all(|error| error == "0" || error == "not run")
        {
            continue;
        }
        let title = if std::mem::replace(&mut case, row.case) == row.case { "" } else { row.title };
        let truth = match row.truth {
            Truth::Exactly(bytes) => size(bytes),
            Truth::AtLeast(bytes) => format!("at least {}", size(bytes)),
            Truth::AtLeastQueued => "at least what is queued".into(),
        };
        let _ = write!(text, "| {title} | {} | {truth} |", row.expected.name());
        for error in everywhere {
            let _ = write!(text, " {} |", if error == "0" { "" } else { &error });
        }
        text.push('\n');
    }
    text
}
