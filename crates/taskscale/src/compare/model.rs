//! What a comparison says: plain data. Texts are kept as recorded; each format neutralises them.

use serde::Serialize;

use crate::figures::Figure;
use crate::record::Timestamp;
use crate::stats::Interval;

/// Version of the shape of [`Comparison`] as JSON. Raised when a field changes its meaning; added fields do not raise it.
pub const COMPARISON_SCHEMA: u32 = 3;

/// What can be said of one metric of one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// More seconds, beyond doubt and beyond the margin.
    Slower,
    /// More bytes, likewise.
    Larger,
    /// Fewer seconds.
    Faster,
    /// Fewer bytes.
    Smaller,
    /// The difference is within the margin.
    Same,
    /// The runs are too few or too unlike each other to tell.
    Unclear,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Slower => "slower",
            Verdict::Larger => "larger",
            Verdict::Faster => "faster",
            Verdict::Smaller => "smaller",
            Verdict::Same => "same",
            Verdict::Unclear => "unclear",
        }
    }

    pub fn worse(self) -> bool {
        matches!(self, Verdict::Slower | Verdict::Larger)
    }

    pub fn better(self) -> bool {
        matches!(self, Verdict::Faster | Verdict::Smaller)
    }

    pub fn is_change(self) -> bool {
        self.worse() || self.better()
    }
}

/// What a gate makes of one metric of one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// The upper bound of the ratio is below the threshold.
    Pass,
    /// The ratio is above the threshold, and its lower bound above 1.
    Fail,
    /// Neither.
    Undecided,
}

impl Decision {
    pub fn name(self) -> &'static str {
        match self {
            Decision::Pass => "pass",
            Decision::Fail => "fail",
            Decision::Undecided => "undecided",
        }
    }
}

/// Two campaigns, or two entries, side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    pub schema: u32,
    pub workload: String,
    pub base: Origin,
    pub new: Origin,
    /// What is not the same about machines, versions, programs and the way of measuring.
    pub differences: Vec<Difference>,
    pub metrics: Vec<&'static Figure>,
    /// The confidence of the interval that decides a verdict; higher than 0.95 where many are decided at once.
    pub verdict_confidence: f64,
    pub cells: Vec<Judged>,
    /// Cells that ended otherwise than before, or did not end well in either.
    pub outcomes: Vec<OutcomeChange>,
    /// Cells that only BASE has, by name.
    pub only_base: Vec<String>,
    /// Cells that only NEW has, by name.
    pub only_new: Vec<String>,
    /// Those of `only_base` that were ok there: NEW has nothing to show for them.
    pub missing: Vec<String>,
    /// Above which share a case fails, as a number: 0.05 for 5%.
    pub fail_above: Option<f64>,
    /// Whether cases that only BASE has, and those that are ok less often, do not fail.
    pub allow_missing: bool,
    /// Of a gate: how many metrics of cases and outcomes fail, with the cases that NEW lacks.
    pub failures: Option<u64>,
    /// Of a gate: what it could not decide, and why.
    pub undecided: Vec<Undecided>,
}

/// What a gate could not decide.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Undecided {
    /// `java/virtual-thread × 1M`, and the metric where it is of one.
    pub case: String,
    pub reason: String,
    /// How many repetitions of each side would decide it.
    pub repetitions: Option<u32>,
    /// The command that measures a side with as many.
    pub command: Option<String>,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Origin {
    /// The campaign's folder as it was named.
    pub folder: String,
    pub created_at: Timestamp,
    pub repetitions: u32,
    /// Runs that count, and those of them during which other work kept the machine busy.
    pub runs: u64,
    pub busy_runs: u64,
    /// The entry that was chosen, where one was.
    pub entry: Option<String>,
}

/// One thing that is not the same on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Whether the sides are comparable with `--across` only.
    pub across: bool,
    pub what: String,
    pub base: String,
    pub new: String,
}

/// One metric of one cell on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    pub metric: &'static Figure,
    pub base_entry: String,
    pub new_entry: String,
    /// Absent where the metric is of all numbers of tasks.
    pub tasks: Option<u64>,
    pub base: JudgedSide,
    pub new: JudgedSide,
    /// New over base.
    pub ratio: Option<f64>,
    /// 95 % interval.
    pub ratio_interval: Option<Interval>,
    /// The interval that decides the verdict, with `verdict_confidence`.
    pub verdict_interval: Option<Interval>,
    /// Differences up to this share are none.
    pub margin: f64,
    pub verdict: Verdict,
    /// Why nothing can be said, where there is more to it than noise.
    pub reason: Option<String>,
    /// Of a gate: the share that it may grow by. Absent where the gate does not ask for it.
    pub threshold: Option<f64>,
    pub decision: Option<Decision>,
    /// How many repetitions of each side would decide it, where it is undecided and 30 or fewer would.
    pub repetitions_needed: Option<u32>,
}

/// One side of a [`Judged`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct JudgedSide {
    /// Repetitions that feed it: the last attempts that were ok; for a line, those that have all numbers of tasks.
    pub runs: u64,
    /// The geometric mean of the repetitions, or of the slopes or bases of their lines; bytes or seconds.
    pub value: Option<f64>,
}

/// A cell of which some run did not end well, on either side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutcomeChange {
    pub base_entry: String,
    pub new_entry: String,
    /// Absent where the entry could not run at all.
    pub tasks: Option<u64>,
    pub change: Change,
    /// `5/5 ok`, or what became of it.
    pub base: String,
    pub new: String,
    /// Why, as recorded, of the side that fell short.
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Some repetition was ok, and now none is: a regression.
    Fails,
    /// Fewer repetitions are ok than before, but some are.
    OkLessOften,
    /// None was ok, and now some are.
    Works,
    /// As many fail as before, or fewer.
    StillFails,
}

impl Change {
    pub fn name(self) -> &'static str {
        match self {
            Change::Fails => "fails now",
            Change::OkLessOften => "ok less often",
            Change::Works => "works now",
            Change::StillFails => "fell short before as well",
        }
    }
}

impl Comparison {
    /// How often each verdict was given, the worst first; those that were not given are left out.
    pub fn counts(&self) -> Vec<(Verdict, usize)> {
        let all = [
            Verdict::Slower,
            Verdict::Larger,
            Verdict::Faster,
            Verdict::Smaller,
            Verdict::Same,
            Verdict::Unclear,
        ];
        all.into_iter()
            .map(|verdict| (verdict, self.cells.iter().filter(|cell| cell.verdict == verdict).count()))
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    pub fn of_metric(&self, metric: &'static Figure) -> impl Iterator<Item = &Judged> {
        self.cells.iter().filter(move |cell| cell.metric == metric)
    }
}

impl Judged {
    /// `rust/tokio-spawn`, or `rust/tokio-spawn → go/goroutine`.
    pub fn entries(&self) -> String {
        entries(&self.base_entry, &self.new_entry)
    }
}

impl OutcomeChange {
    pub fn entries(&self) -> String {
        entries(&self.base_entry, &self.new_entry)
    }
}

fn entries(base: &str, new: &str) -> String {
    if base == new { base.to_owned() } else { format!("{base} → {new}") }
}
