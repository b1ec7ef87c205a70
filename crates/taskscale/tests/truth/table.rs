//! What is true beside what taskscale says.

use std::fmt::Write;

use taskscale::record::{MemorySource, Sample};

use super::cases::{Case, Expect, Figure, KIB, MIB, Truth};

/// One figure of one case in one place.
pub struct Row {
    pub case: &'static str,
    pub title: &'static str,
    pub figure: Figure,
    pub truth: Truth,
    pub true_bytes: u64,
    /// The difference from the reference.
    pub said_bytes: Option<i64>,
    pub bound_bytes: u64,
    /// This source cannot see it, and is known not to.
    pub unseen: bool,
}

/// Every expectation of every case, in order.
pub fn rows(cases: &[Case], samples: &[Sample], files_in_memory: bool) -> Vec<Row> {
    let sample = |name: &str| samples.iter().find(|sample| sample.entry.strip_prefix("fake/") == Some(name));
    let mut rows = Vec::new();
    for case in cases {
        let (Some(one), Some(reference)) = (sample(case.name), sample(case.reference)) else { continue };
        rows.extend(case.expects.iter().map(|expect| row(case, expect, one, reference, files_in_memory)));
    }
    rows
}

fn row(case: &Case, expect: &Expect, sample: &Sample, reference: &Sample, files_in_memory: bool) -> Row {
    let source = sample.memory.source;
    let mut figure = expect.figure;
    // A file on tmpfs is memory, and is counted as such.
    if case.name == "file" && files_in_memory {
        figure = match figure {
            Figure::File => Figure::Shmem,
            Figure::Shmem => Figure::File,
            other => other,
        };
    }
    let true_bytes = match expect.truth {
        // The group's peak includes the page tables of what was touched.
        Truth::Exactly(bytes) if figure == Figure::Peak && source != MemorySource::Proc => {
            bytes + bytes / 512
        }
        Truth::Exactly(bytes) | Truth::AtLeast(bytes) => bytes,
        Truth::AtLeastQueued => {
            sample.metrics.get("socket_queued").map_or(u64::MAX, |metric| metric.value as u64)
        }
    };
    Row {
        case: case.name,
        title: case.title,
        figure,
        truth: expect.truth,
        true_bytes,
        said_bytes: figure
            .of(sample)
            .zip(figure.of(reference))
            .map(|(here, there)| here as i64 - there as i64),
        bound_bytes: figure.bound(true_bytes),
        unseen: expect.unseen_by.contains(&source),
    }
}

impl Row {
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
pub fn text(title: &str, samples: &[Sample], rows: &[Row]) -> String {
    let source = samples.first().map_or("nothing", |sample| sample.memory.source.name());
    let mut text = format!("{title} ({source})\n");
    for row in rows {
        let _ = writeln!(text, "  {}", row.text());
    }
    text
}
