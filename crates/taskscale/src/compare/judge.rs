//! What can be said of one metric of one cell: its ratio, and a verdict that many cells at once leave standing.

use std::collections::BTreeSet;

use super::model::{Judged, JudgedSide, Verdict};
use super::side::{Settings, Side};
use crate::figures::{self, Better, Figure, Of, Unit};
use crate::record::{MemorySource, Sample, Warning};
use crate::report::growth::feeds_line;
use crate::stats::{self, Fit, Interval, Line, Point, Ratio};
use crate::units;

/// What a reader may take for a fact: the usual 95 %.
const SHOWN_CONFIDENCE: f64 = 0.95;

/// How often, at the most, a comparison of two equal campaigns raises any alarm at all. All its cells are judged at
/// once, so they share this: Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian
/// Journal of Statistics 6(2), 65-70. Where runs differ by less than the margin, as footprints do, far fewer come
/// through (benches/README.md).
const FALSE_ALARMS: f64 = 0.05;

/// With fewer there is no verdict: two repetitions leave a t quantile with one degree of freedom, and would be
/// decided by chance where memory comes in whole pages.
const LEAST_REPETITIONS: usize = 3;

/// Memory that differs by a share up to this is the same, unless told otherwise.
const BYTES_MARGIN: f64 = 0.01;
/// Times, likewise: between two campaigns the machine's clock speed, its neighbours and its caches move more than
/// between the repetitions of one, and no interval made of repetitions knows of that (Kalibera, T. & Jones, R.
/// (2013). Rigorous benchmarking in reasonable time. ISMM '13: repeat at the highest level that varies).
const SECONDS_MARGIN: f64 = 0.05;

/// Memory that differs by no more than this is the same: a heap that begins a few pages later.
const BYTES_STEP: f64 = (64 << 10) as f64;
/// Pages that each CPU takes in advance for a control group: `MEMCG_CHARGE_BATCH` of its memory controller.
/// A peak differs by as much from run to run.
const CHARGE_BATCH_PAGES: f64 = 64.0;
/// Times that differ by no more than this are the same: a wake-up that came late.
const SECONDS_STEP: f64 = 0.002;

/// A metric of a cell before its verdict: the confidence depends on how many there are.
pub(super) struct Pending {
    cell: Judged,
    ratio: Option<Ratio>,
    /// Fewest repetitions of either side.
    repetitions: usize,
    /// A difference up to this, in the metric's unit, is none.
    step: f64,
}

/// Gives every verdict, and the confidence that decided them.
///
/// Each of k cells gets a k-th of the false alarms that are allowed; once some have changed beyond doubt, the rest share
/// them among themselves, until no more change. That is Holm's procedure, in rounds.
pub(super) fn judge(pending: &[Pending], settings: &Settings) -> (Vec<Judged>, f64) {
    let at_once = pending.iter().filter(|pending| pending.ratio.is_some()).count();
    let mut beyond_doubt = 0;
    loop {
        let confidence = 1.0 - FALSE_ALARMS / at_once.saturating_sub(beyond_doubt).max(1) as f64;
        let cells: Vec<Judged> = pending.iter().map(|pending| pending.judge(settings, confidence)).collect();
        let changed = cells.iter().filter(|cell| cell.verdict.is_change()).count();
        // With less confidence asked for, none is taken back: it ends.
        if changed <= beyond_doubt {
            return (cells, confidence);
        }
        beyond_doubt = changed;
    }
}

impl Pending {
    fn judge(&self, settings: &Settings, confidence: f64) -> Judged {
        let Pending { cell, ratio, repetitions, step } = self;
        let (mut cell, repetitions) = (cell.clone(), *repetitions);
        let of_unit = if cell.metric.unit.is_time() { SECONDS_MARGIN } else { BYTES_MARGIN };
        // Whoever fails above 0.5 % does not take 1 % for nothing.
        let margin = settings.margin.unwrap_or_else(|| settings.fail_above.unwrap_or(of_unit).min(of_unit));
        let smallest = cell.base.value.filter(|value| *value > 0.0).map_or(0.0, |value| step / value);
        cell.margin = margin.max(smallest);
        let Some(ratio) = ratio else { return cell };
        cell.ratio = Some(ratio.value);
        cell.ratio_interval = ratio.interval(SHOWN_CONFIDENCE);
        if repetitions < LEAST_REPETITIONS {
            let runs = units::counted(repetitions, "repetition");
            cell.reason = Some(format!("{runs}: a verdict takes {LEAST_REPETITIONS} on each side"));
            return cell;
        }
        cell.verdict_interval = ratio.interval(confidence);
        let (Some(shown), Some(deciding)) = (cell.ratio_interval, cell.verdict_interval) else {
            cell.reason = Some("some of its resamples are not above zero: there is no interval".to_owned());
            return cell;
        };
        cell.verdict = verdict(cell.metric, shown, deciding, cell.margin);
        let worsened = match cell.metric.better {
            Better::Less => ratio.value,
            Better::More => 1.0 / ratio.value,
        };
        cell.regression =
            cell.verdict.worse() && settings.fail_above.is_some_and(|above| worsened > 1.0 + above);
        cell
    }
}

/// Worse or better only where the deciding interval lies wholly beyond the margin; the same only where the 95 %
/// interval lies wholly within it, which is an equivalence test (Schuirmann, D. J. (1987). A comparison of the two
/// one-sided tests procedure and the power approach. J. Pharmacokinet. Biopharm. 15, 657-680).
fn verdict(metric: &'static Figure, shown: Interval, deciding: Interval, margin: f64) -> Verdict {
    let (least, most) = (1.0 / (1.0 + margin), 1.0 + margin);
    let (worse, better) = match metric.unit.is_time() {
        true => (Verdict::Slower, Verdict::Faster),
        false => (Verdict::Larger, Verdict::Smaller),
    };
    let (more, fewer) = match metric.better {
        Better::Less => (worse, better),
        Better::More => (better, worse),
    };
    if deciding.low > most {
        more
    } else if deciding.high < least {
        fewer
    } else if least <= shown.low && shown.high <= most {
        Verdict::Same
    } else {
        Verdict::Unclear
    }
}

/// What speaks against comparing these runs by this metric.
fn incomparable(metric: &'static Figure, base: &[&Sample], new: &[&Sample]) -> Option<String> {
    let sources = |samples: &[&Sample]| -> BTreeSet<MemorySource> {
        samples.iter().map(|sample| sample.memory.source).collect()
    };
    let (of_base, of_new) = (sources(base), sources(new));
    if metric.by_source && (of_base.len() > 1 || of_base != of_new) {
        let names = |sources: BTreeSet<MemorySource>| {
            sources.into_iter().map(MemorySource::name).collect::<Vec<_>>().join(" and ")
        };
        return Some(format!("memory by {} there and by {} here", names(of_base), names(of_new)));
    }
    // Other work slows both sides, but never both alike: no interval made of repetitions knows of it.
    let busy = |samples: &[&Sample]| {
        2 * samples.iter().filter(|sample| sample.warnings.contains(&Warning::MachineBusy)).count()
            > samples.len()
    };
    if metric.unit.is_time() && (busy(base) || busy(new)) {
        let side = if busy(base) { "BASE" } else { "NEW" };
        return Some(format!("other work kept the machine busy during most runs of {side}"));
    }
    let holds = |samples: &[&Sample]| -> BTreeSet<String> {
        samples.iter().map(|sample| format!("{} s", sample.hold_s)).collect()
    };
    let (of_base, of_new) = (holds(base), holds(new));
    if metric == &figures::WALL && (of_base.len() > 1 || of_base != of_new) {
        let list = |holds: BTreeSet<String>| holds.into_iter().collect::<Vec<_>>().join(" and ");
        return Some(format!("tasks waited {} there and {} here", list(of_base), list(of_new)));
    }
    None
}

pub(super) fn of_cell(
    metric: &'static Figure,
    base: &Side,
    old: &str,
    new: &Side,
    name: &str,
    tasks: u64,
) -> Option<Pending> {
    let (before, after) = (base.ok(old, tasks), new.ok(name, tasks));
    if before.is_empty() || after.is_empty() {
        return None;
    }
    let readings = |samples: &[&Sample]| -> Vec<f64> {
        metric.values(samples).into_iter().filter(|value| value.is_finite()).collect()
    };
    let (of_base, of_new) = (readings(&before), readings(&after));
    let side = |readings: &[f64]| JudgedSide { runs: readings.len() as u64, value: stats::median(readings) };
    let mut pending = Pending {
        cell: blank(metric, old, name, Some(tasks), side(&of_base), side(&of_new)),
        ratio: None,
        repetitions: of_base.len().min(of_new.len()),
        step: step(metric, base, new),
    };
    pending.cell.reason = incomparable(metric, &before, &after);
    if pending.cell.reason.is_none() {
        pending.ratio = stats::ratio_of_medians(&of_base, &of_new);
        if pending.ratio.is_none() {
            pending.cell.reason = Some("no figure above zero on both sides".to_owned());
        }
    }
    Some(pending)
}

/// The slope or the base of the line through the numbers of tasks that are ok on both sides: through others, the two
/// lines would differ by where they were drawn.
pub(super) fn of_line(
    metric: &'static Figure,
    base: &Side,
    old: &str,
    new: &Side,
    name: &str,
) -> Option<Pending> {
    let common: Vec<u64> = base
        .tasks_of(old)
        .intersection(&new.tasks_of(name))
        .copied()
        .filter(|&tasks| !base.ok(old, tasks).is_empty() && !new.ok(name, tasks).is_empty())
        .collect();
    let largest = *common.last()?;
    let runs = |side: &Side<'_>, entry: &str| -> Vec<Sample> {
        let ok = common.iter().flat_map(|&tasks| side.ok(entry, tasks));
        ok.filter(|sample| feeds_line(sample)).cloned().collect()
    };
    let (before, after) = (runs(base, old), runs(new, name));
    let points = |samples: &[Sample]| -> Vec<Point> {
        let point = |sample: &Sample| Some(Point { tasks: sample.tasks, y: metric.read(sample)? });
        samples.iter().filter_map(point).collect()
    };
    let (of_base, of_new) = (points(&before), points(&after));
    let (base_fit, new_fit) = (stats::fit(&of_base), stats::fit(&of_new));
    let side = |points: &[Point], fit: &Option<Fit>| {
        let of = |line: Line| if metric.of == Of::Base { line.base } else { line.slope };
        JudgedSide { runs: points.len() as u64, value: fit.as_ref().map(|fit| of(fit.line)) }
    };
    let fewest = |samples: &[Sample]| {
        let of = |tasks: &u64| samples.iter().filter(|sample| sample.tasks == *tasks).count();
        common.iter().map(of).min().unwrap_or(0)
    };
    let step = step(metric, base, new);
    let mut pending = Pending {
        cell: blank(metric, old, name, None, side(&of_base, &base_fit), side(&of_new, &new_fit)),
        ratio: None,
        repetitions: fewest(&before).min(fewest(&after)),
        step: if metric == &figures::BYTES_PER_TASK { step / largest as f64 } else { step },
    };
    let bent =
        || [("BASE", &base_fit), ("NEW", &new_fit)].into_iter().find_map(|(side, fit)| no_line(side, fit));
    pending.cell.reason = if common.len() < 2 {
        Some("fewer than two numbers of tasks are ok on both sides: there is no line".to_owned())
    } else {
        incomparable(metric, &before.iter().collect::<Vec<_>>(), &after.iter().collect::<Vec<_>>())
            .or_else(bent)
    };
    if pending.cell.reason.is_none() {
        pending.ratio = match metric.of {
            Of::Base => stats::ratio_of_bases(&of_base, &of_new),
            _ => stats::ratio_of_slopes(&of_base, &of_new),
        };
        if pending.ratio.is_none() {
            pending.cell.reason = Some("the footprint does not grow with the number of tasks".to_owned());
        }
    }
    Some(pending)
}

/// Why the slope of a side says nothing: its largest N could stay as they are while a smaller one doubles.
fn no_line(side: &str, fit: &Option<Fit>) -> Option<String> {
    let fit = fit.as_ref().filter(|fit| fit.straight() == Some(false))?;
    let worst = fit.worst?;
    let off = worst
        .off()
        .map_or("below zero".to_owned(), |off| format!("{} % off", units::decimal((off * 100.0).abs(), 0)));
    let at = units::count(worst.tasks);
    Some(format!("no line: that of {side} is {off} at {at}; compare the footprints"))
}

fn step(metric: &'static Figure, base: &Side, new: &Side) -> f64 {
    let batch = |side: &Side| {
        let machine = &side.input.campaign.machine;
        CHARGE_BATCH_PAGES * machine.page_bytes as f64 * machine.cpus as f64
    };
    match metric.unit {
        Unit::Seconds => SECONDS_STEP,
        // Of very many operations the difference is of seconds.
        Unit::Nanoseconds | Unit::Microseconds | Unit::PerSecond => 0.0,
        _ if metric == &figures::PEAK => BYTES_STEP.max(batch(base)).max(batch(new)),
        _ => BYTES_STEP,
    }
}

fn blank(
    metric: &'static Figure,
    old: &str,
    name: &str,
    tasks: Option<u64>,
    base: JudgedSide,
    new: JudgedSide,
) -> Judged {
    Judged {
        metric,
        base_entry: old.to_owned(),
        new_entry: name.to_owned(),
        tasks,
        base,
        new,
        ratio: None,
        ratio_interval: None,
        verdict_interval: None,
        margin: 0.0,
        verdict: Verdict::Unclear,
        reason: None,
        regression: false,
    }
}
