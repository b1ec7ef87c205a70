//! A comparison as plain data. Texts are as recorded: each format neutralizes them.

use serde::Serialize;
use strum::VariantArray;

use crate::metrics::MetricDef;
use crate::record::Timestamp;
use crate::stats::Interval;

/// Schema version of [`Comparison`] as JSON. Raised when a field changes its meaning, not when one is added.
pub const COMPARISON_SCHEMA: u32 = 3;

/// The verdict on one metric of one case.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::IntoStaticStr, strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Verdict {
    /// More seconds, beyond chance and beyond the margin.
    Slower,
    /// More bytes, beyond chance and beyond the margin.
    Larger,
    /// Fewer seconds.
    Faster,
    /// Fewer bytes.
    Smaller,
    /// The difference is within the margin.
    Same,
    /// Too few runs, or too much scatter, to decide.
    Unclear,
}

named!(Verdict);

impl Verdict {
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

/// The outcome of `--fail-above` for one metric of one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Decision {
    /// The upper bound of the ratio is below the threshold.
    Pass,
    /// The ratio is above the threshold, and its lower bound above 1.
    Fail,
    /// Neither.
    Undecided,
}

named!(Decision);

/// The comparison of two results folders, or of two entries.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    pub schema: u32,
    pub workload: String,
    pub base: ComparedResults,
    pub new: ComparedResults,
    /// Differences of machines, versions, programs and the way of measuring.
    pub differences: Vec<Difference>,
    pub metrics: Vec<&'static MetricDef>,
    /// The confidence of the interval that decides a verdict, above 0.95 if many are decided at once.
    pub verdict_confidence: f64,
    pub cells: Vec<Judged>,
    /// Cases whose status changed, or which failed on both sides.
    pub outcomes: Vec<OutcomeChange>,
    /// Cases that only BASE has, by name.
    pub only_base: Vec<String>,
    /// Cases that only NEW has, by name.
    pub only_new: Vec<String>,
    /// Those of `only_base` that were ok there.
    pub missing: Vec<String>,
    /// The share above which a case fails: 0.05 for 5%.
    pub fail_above: Option<f64>,
    /// Whether cases that only BASE has, and cases that are ok less often, pass.
    pub allow_missing: bool,
    /// With `--fail-above`: number of regressions, with the cases that NEW lacks.
    pub failures: Option<u64>,
    /// With `--fail-above`: what it could not decide, and why.
    pub undecided: Vec<Undecided>,
}

/// A case that `--fail-above` could not decide.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Undecided {
    /// `java/virtual-thread × 1M`, and its metric, if any.
    pub case: String,
    pub reason: String,
    /// Number of repetitions per side that would decide it.
    pub repetitions: Option<u32>,
    /// The command that measures a side with these repetitions.
    pub command: Option<String>,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedResults {
    /// The results folder, as the user named it.
    pub folder: String,
    pub created_at: Timestamp,
    pub repetitions: u32,
    /// Number of runs that count, and of those on a busy machine.
    pub runs: u64,
    pub busy_runs: u64,
    /// The entry that was selected, if any.
    pub entry: Option<String>,
}

/// One difference between the sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Whether the sides are comparable with `--across` only.
    pub across: bool,
    pub what: String,
    pub base: String,
    pub new: String,
}

/// One metric of one case on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    pub metric: &'static MetricDef,
    pub base_entry: String,
    pub new_entry: String,
    /// Absent where the metric covers all N.
    pub tasks: Option<u64>,
    pub base: JudgedSide,
    pub new: JudgedSide,
    /// NEW ÷ BASE.
    pub ratio: Option<f64>,
    /// Its 95% interval.
    pub ratio_interval: Option<Interval>,
    /// The interval that decides the verdict, with `verdict_confidence`.
    pub verdict_interval: Option<Interval>,
    /// Differences up to this share count as the same.
    pub margin: f64,
    pub verdict: Verdict,
    /// Why there is no verdict, if the cause is not noise.
    pub reason: Option<String>,
    /// With `--fail-above`: the share by which the metric may grow. Absent if the gate ignores it.
    pub threshold: Option<f64>,
    pub decision: Option<Decision>,
    /// Number of repetitions per side that would decide it, if it is undecided and 30 or fewer suffice.
    pub repetitions_needed: Option<u32>,
}

/// One side of a [`Judged`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct JudgedSide {
    /// Number of repetitions: last attempts that were ok. For a line, only repetitions that have all N.
    pub runs: u64,
    /// The geometric mean of the repetitions, or of their lines' slopes or fixed costs, in the metric's unit.
    pub value: Option<f64>,
}

/// A case with a failed run on either side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutcomeChange {
    pub base_entry: String,
    pub new_entry: String,
    /// Absent where the entry could not run at all.
    pub tasks: Option<u64>,
    pub change: Change,
    /// `5/5 ok`, or how its runs ended.
    pub base: String,
    pub new: String,
    /// The recorded reason of the side that failed.
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Some repetitions were ok, and now all fail: a regression.
    #[strum(serialize = "fails now")]
    Fails,
    /// Fewer repetitions are ok than before, but some are.
    #[strum(serialize = "ok less often")]
    OkLessOften,
    /// All failed, and now some are ok.
    #[strum(serialize = "works now")]
    Works,
    /// The same number fails as before, or fewer.
    #[strum(serialize = "still fails")]
    StillFails,
}

named!(Change);

impl Comparison {
    /// Number of each verdict, worst first, without zeros.
    pub fn counts(&self) -> Vec<(Verdict, usize)> {
        let count = |verdict: Verdict| self.cells.iter().filter(|cell| cell.verdict == verdict).count();
        let all = Verdict::VARIANTS.iter().map(|verdict| (*verdict, count(*verdict)));
        all.filter(|(_, count)| *count > 0).collect()
    }

    pub fn of_metric(&self, metric: &'static MetricDef) -> impl Iterator<Item = &Judged> {
        self.cells.iter().filter(move |cell| cell.metric == metric)
    }
}
