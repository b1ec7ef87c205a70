//! From two campaigns to a [`Comparison`]: which cells stand against which, and what can be said of them.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{
    COMPARISON_SCHEMA, Cell, Change, Comparison, Difference, Figure, Metric, Origin, OutcomeChange, Unit,
    Verdict,
};
use crate::record::{
    Campaign, EntryFacts, Hold, MemorySource, Plateau, Sample, Status, Warning, last_attempts,
};
use crate::stats::{self, Interval, Point, Ratio};
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
const CHARGE_BATCH_PAGES: u64 = 64;
/// Times that differ by no more than this are the same: a wake-up that came late.
const SECONDS_STEP: f64 = 0.002;

/// One campaign of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The folder as it was named.
    pub folder: &'a str,
    pub campaign: &'a Campaign,
    pub samples: &'a [Sample],
    /// The one entry that is compared, in place of all.
    pub entry: Option<&'a str>,
}

/// What is compared, and when that is a failure.
#[derive(Debug, Clone)]
pub struct Settings {
    pub metrics: Vec<Metric>,
    /// Differences up to this share are none; by default 1 % of memory and 5 % of time.
    pub margin: Option<f64>,
    /// Above which share a regression is a failure.
    pub fail_above: Option<f64>,
}

/// Why two campaigns cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    #[error("the campaigns are of different workloads: {base} has {base_workload}, {new} has {new_workload}")]
    Workloads { base: String, base_workload: String, new: String, new_workload: String },
    #[error("{folder} has no entry `{entry}`{}", did_you_mean(nearest))]
    NoEntry { folder: String, entry: String, nearest: Option<String>, there: Vec<String> },
    #[error("no cell was measured in both {base} and {new}")]
    NothingInCommon { base: String, new: String },
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}

impl Comparison {
    /// Sets two campaigns side by side. Only the last attempt of each repetition of a cell counts.
    pub fn build(base: Input, new: Input, settings: &Settings) -> Result<Comparison, CompareError> {
        if base.campaign.plan.workload != new.campaign.plan.workload {
            return Err(CompareError::Workloads {
                base: base.folder.to_owned(),
                base_workload: base.campaign.plan.workload.clone(),
                new: new.folder.to_owned(),
                new_workload: new.campaign.plan.workload.clone(),
            });
        }
        let (base, new) = (Side::of(base), Side::of(new));
        base.check()?;
        new.check()?;
        let pairs = pairs(&base, &new);
        let mut out = Comparison {
            schema: COMPARISON_SCHEMA,
            workload: base.input.campaign.plan.workload.clone(),
            base: base.origin(),
            new: new.origin(),
            differences: differences(&base, &new, &pairs),
            metrics: settings.metrics.clone(),
            verdict_confidence: SHOWN_CONFIDENCE,
            cells: Vec::new(),
            outcomes: Vec::new(),
            only_base: only(&base, &new, pairs.iter().map(|(old, new)| (old, new))),
            only_new: only(&new, &base, pairs.iter().map(|(old, new)| (new, old))),
            fail_above: settings.fail_above,
            regressions: None,
        };
        let mut judged = Vec::new();
        for &metric in &settings.metrics {
            for (old, new_name) in &pairs {
                if metric.of_a_line() {
                    judged.extend(of_line(metric, &base, old, &new, new_name));
                    continue;
                }
                for tasks in base.tasks_of(old).intersection(&new.tasks_of(new_name)) {
                    judged.extend(of_cell(metric, &base, old, &new, new_name, *tasks));
                }
            }
        }
        for (old, new_name) in &pairs {
            out.outcomes.extend(outcomes(&base, old, &new, new_name));
        }
        if judged.is_empty() && out.outcomes.is_empty() {
            let (base, new) = (base.input.folder.to_owned(), new.input.folder.to_owned());
            return Err(CompareError::NothingInCommon { base, new });
        }
        (out.cells, out.verdict_confidence) = judge(&judged, settings);
        out.regressions = settings.fail_above.map(|_| {
            let worse = out.cells.iter().filter(|cell| cell.regression).count();
            let failing = out.outcomes.iter().filter(|outcome| outcome.change == Change::Fails).count();
            (worse + failing) as u64
        });
        Ok(out)
    }
}

/// One campaign, its counting samples by entry and number of tasks.
struct Side<'a> {
    input: Input<'a>,
    cells: BTreeMap<&'a str, BTreeMap<u64, Vec<&'a Sample>>>,
}

impl<'a> Side<'a> {
    fn of(input: Input<'a>) -> Side<'a> {
        let mut cells: BTreeMap<&str, BTreeMap<u64, Vec<&Sample>>> = BTreeMap::new();
        for sample in last_attempts(input.samples) {
            if sample.workload == input.campaign.plan.workload
                && input.entry.is_none_or(|e| e == sample.entry)
            {
                cells.entry(&sample.entry).or_default().entry(sample.tasks).or_default().push(sample);
            }
        }
        Side { input, cells }
    }

    fn check(&self) -> Result<(), CompareError> {
        let Some(entry) = self.input.entry else { return Ok(()) };
        let there: Vec<String> = self.names().map(str::to_owned).collect();
        if there.iter().any(|name| name == entry) {
            return Ok(());
        }
        let distance = |name: &&String| strsim::damerau_levenshtein(name, entry);
        let nearest = there.iter().min_by_key(distance).filter(|name| distance(name) <= 1 + entry.len() / 3);
        Err(CompareError::NoEntry {
            folder: self.input.folder.to_owned(),
            entry: entry.to_owned(),
            nearest: nearest.cloned(),
            there,
        })
    }

    /// All entries of the campaign, in the catalogue's order.
    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.input.campaign.entries.iter().map(|facts| facts.name.as_str())
    }

    fn facts(&self, entry: &str) -> Option<&'a EntryFacts> {
        self.input.campaign.entries.iter().find(|facts| facts.name == entry)
    }

    fn tasks_of(&self, entry: &str) -> BTreeSet<u64> {
        self.cells.get(entry).into_iter().flat_map(|by_tasks| by_tasks.keys().copied()).collect()
    }

    fn cell(&self, entry: &str, tasks: u64) -> &[&'a Sample] {
        self.cells.get(entry).and_then(|by_tasks| by_tasks.get(&tasks)).map_or(&[], Vec::as_slice)
    }

    fn ok(&self, entry: &str, tasks: u64) -> Vec<&'a Sample> {
        self.cell(entry, tasks).iter().copied().filter(|sample| sample.status == Status::Ok).collect()
    }

    fn origin(&self) -> Origin {
        let runs = || self.cells.values().flat_map(BTreeMap::values).flatten();
        Origin {
            runs: runs().count() as u64,
            busy_runs: runs().filter(|run| run.warnings.contains(&Warning::MachineBusy)).count() as u64,
            folder: self.input.folder.to_owned(),
            created_at: self.input.campaign.created_at,
            repetitions: self.input.campaign.plan.repetitions,
            entry: self.input.entry.map(str::to_owned),
        }
    }
}

/// The entries that stand against each other: the two that were chosen, or those of the same name.
fn pairs(base: &Side, new: &Side) -> Vec<(String, String)> {
    match (base.input.entry, new.input.entry) {
        (Some(old), Some(new)) => vec![(old.to_owned(), new.to_owned())],
        _ => {
            let there: BTreeSet<&str> = new.names().collect();
            let common = base.names().filter(|name| there.contains(name));
            common.map(|name| (name.to_owned(), name.to_owned())).collect()
        }
    }
}

/// What one side has and the other has not, by name: `rust/thread`, or `rust/thread × 1M`. Each of `pairs` is the
/// side's own entry and its counterpart.
fn only<'p>(
    side: &Side,
    other: &Side,
    pairs: impl Iterator<Item = (&'p String, &'p String)> + Clone,
) -> Vec<String> {
    let mut names = Vec::new();
    for name in side.names().filter(|name| side.input.entry.is_none_or(|entry| entry == *name)) {
        let tasks = side.tasks_of(name);
        let Some((_, counterpart)) = pairs.clone().find(|(own, _)| *own == name) else {
            if !tasks.is_empty() {
                names.push(name.to_owned());
            }
            continue;
        };
        if other.facts(counterpart).is_some_and(|facts| facts.unavailable.is_some()) {
            // An entry that cannot run is told of as an outcome.
            continue;
        }
        for n in tasks.difference(&other.tasks_of(counterpart)) {
            let planned = other.input.campaign.plan.tasks.contains(n);
            let why = if planned { " (planned, but not measured there)" } else { "" };
            names.push(format!("{name} × {}{why}", units::count(*n)));
        }
    }
    names
}

/// A metric of a cell before its verdict: the confidence depends on how many there are.
struct Judged {
    cell: Cell,
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
fn judge(judged: &[Judged], settings: &Settings) -> (Vec<Cell>, f64) {
    let at_once = judged.iter().filter(|judged| judged.ratio.is_some()).count();
    let mut beyond_doubt = 0;
    loop {
        let confidence = 1.0 - FALSE_ALARMS / at_once.saturating_sub(beyond_doubt).max(1) as f64;
        let cells: Vec<Cell> = judged.iter().map(|judged| judged.judge(settings, confidence)).collect();
        let changed = cells.iter().filter(|cell| cell.verdict.worse() || cell.verdict.better()).count();
        // With less confidence asked for, none is taken back: it ends.
        if changed <= beyond_doubt {
            return (cells, confidence);
        }
        beyond_doubt = changed;
    }
}

impl Judged {
    fn judge(&self, settings: &Settings, confidence: f64) -> Cell {
        let Judged { cell, ratio, repetitions, step } = self;
        let (mut cell, repetitions) = (cell.clone(), *repetitions);
        let of_unit = if cell.metric.unit() == Unit::Seconds { SECONDS_MARGIN } else { BYTES_MARGIN };
        // Whoever fails above 0.5 % does not take 1 % for nothing.
        let margin = settings.margin.unwrap_or_else(|| settings.fail_above.unwrap_or(of_unit).min(of_unit));
        let smallest = cell.base.value.filter(|value| *value > 0.0).map_or(0.0, |value| step / value);
        cell.margin = margin.max(smallest);
        let Some(ratio) = ratio else { return cell };
        cell.ratio = Some(ratio.value);
        cell.ratio_interval = ratio.interval(SHOWN_CONFIDENCE);
        if repetitions < LEAST_REPETITIONS {
            let runs = if repetitions == 1 {
                "1 repetition".to_owned()
            } else {
                format!("{repetitions} repetitions")
            };
            cell.reason = Some(format!("{runs}: a verdict takes {LEAST_REPETITIONS} on each side"));
            return cell;
        }
        cell.verdict_interval = ratio.interval(confidence);
        let (Some(shown), Some(deciding)) = (cell.ratio_interval, cell.verdict_interval) else { return cell };
        cell.verdict = verdict(cell.metric, shown, deciding, cell.margin);
        cell.regression =
            cell.verdict.worse() && settings.fail_above.is_some_and(|above| ratio.value > 1.0 + above);
        cell
    }
}

/// Worse or better only where the deciding interval lies wholly beyond the margin; the same only where the 95 %
/// interval lies wholly within it, which is an equivalence test (Schuirmann, D. J. (1987). A comparison of the two
/// one-sided tests procedure and the power approach. J. Pharmacokinet. Biopharm. 15, 657-680).
fn verdict(metric: Metric, shown: Interval, deciding: Interval, margin: f64) -> Verdict {
    let (least, most) = (1.0 / (1.0 + margin), 1.0 + margin);
    let time = metric.unit() == Unit::Seconds;
    if deciding.low > most {
        if time { Verdict::Slower } else { Verdict::Larger }
    } else if deciding.high < least {
        if time { Verdict::Faster } else { Verdict::Smaller }
    } else if least <= shown.low && shown.high <= most {
        Verdict::Same
    } else {
        Verdict::Unclear
    }
}

/// One figure of one run.
fn figure(metric: Metric, sample: &Sample) -> Option<f64> {
    let plateau = |of: fn(&Plateau) -> u64| sample.memory.plateau.as_ref().map(|plateau| of(plateau) as f64);
    match metric {
        Metric::Footprint | Metric::BytesPerTask | Metric::Base => plateau(|plateau| plateau.footprint_bytes),
        Metric::Kernel => plateau(|plateau| plateau.kernel_bytes),
        Metric::Anon => plateau(|plateau| plateau.anon_bytes),
        Metric::Peak => sample.memory.peak_bytes.map(|bytes| bytes as f64),
        Metric::Rss => sample.memory.rss_peak_bytes.map(|bytes| bytes as f64),
        Metric::Launch => sample.time.launch_s,
        Metric::Drain => sample.time.drain_s,
        Metric::Wall => sample.time.wall_s,
        Metric::Cpu => sample.cpu.total_s(),
    }
}

/// What speaks against comparing these runs by this metric.
fn incomparable(metric: Metric, base: &[&Sample], new: &[&Sample]) -> Option<String> {
    let sources = |samples: &[&Sample]| -> BTreeSet<MemorySource> {
        samples.iter().map(|sample| sample.memory.source).collect()
    };
    let (of_base, of_new) = (sources(base), sources(new));
    // The resident peak of a process is the kernel's own in every case.
    if metric.unit() != Unit::Seconds && metric != Metric::Rss && (of_base.len() > 1 || of_base != of_new) {
        let names = |sources: BTreeSet<MemorySource>| {
            sources.into_iter().map(MemorySource::name).collect::<Vec<_>>().join(" and ")
        };
        return Some(format!("memory by {} there and by {} here", names(of_base), names(of_new)));
    }
    let holds = |samples: &[&Sample]| -> BTreeSet<String> {
        samples.iter().map(|sample| format!("{} s", sample.hold_s)).collect()
    };
    let (of_base, of_new) = (holds(base), holds(new));
    if metric == Metric::Wall && (of_base.len() > 1 || of_base != of_new) {
        let list = |holds: BTreeSet<String>| holds.into_iter().collect::<Vec<_>>().join(" and ");
        return Some(format!("tasks waited {} there and {} here", list(of_base), list(of_new)));
    }
    None
}

fn of_cell(metric: Metric, base: &Side, old: &str, new: &Side, name: &str, tasks: u64) -> Option<Judged> {
    let (before, after) = (base.ok(old, tasks), new.ok(name, tasks));
    if before.is_empty() || after.is_empty() {
        return None;
    }
    let readings = |samples: &[&Sample]| -> Vec<f64> {
        samples.iter().filter_map(|sample| figure(metric, sample)).filter(|value| value.is_finite()).collect()
    };
    let (of_base, of_new) = (readings(&before), readings(&after));
    let side = |readings: &[f64]| Figure { runs: readings.len() as u64, value: stats::median(readings) };
    let mut judged = Judged {
        cell: blank(metric, old, name, Some(tasks), side(&of_base), side(&of_new)),
        ratio: None,
        repetitions: of_base.len().min(of_new.len()),
        step: step(metric, base, new),
    };
    judged.cell.reason = incomparable(metric, &before, &after);
    if judged.cell.reason.is_none() {
        judged.ratio = stats::ratio_of_medians(&of_base, &of_new);
        if judged.ratio.is_none() {
            judged.cell.reason = Some("no figure above zero on both sides".to_owned());
        }
    }
    Some(judged)
}

/// The slope or the base of the line through the numbers of tasks that are ok on both sides: through others, the two
/// lines would differ by where they were drawn.
fn of_line(metric: Metric, base: &Side, old: &str, new: &Side, name: &str) -> Option<Judged> {
    let common: Vec<u64> = base
        .tasks_of(old)
        .intersection(&new.tasks_of(name))
        .copied()
        .filter(|&tasks| !base.ok(old, tasks).is_empty() && !new.ok(name, tasks).is_empty())
        .collect();
    let largest = *common.last()?;
    let runs = |side: &Side<'_>, entry: &str| -> Vec<Sample> {
        common.iter().flat_map(|&tasks| side.ok(entry, tasks)).cloned().collect()
    };
    let (before, after) = (runs(base, old), runs(new, name));
    let points = |samples: &[Sample]| -> Vec<Point> {
        let point = |sample: &Sample| Some(Point { tasks: sample.tasks, y: figure(metric, sample)? });
        samples.iter().filter_map(point).collect()
    };
    let (of_base, of_new) = (points(&before), points(&after));
    let side = |points: &[Point]| {
        let value =
            stats::line(points).map(|line| if metric == Metric::Base { line.base } else { line.slope });
        Figure { runs: points.len() as u64, value }
    };
    let fewest = |samples: &[Sample]| {
        let of = |tasks: &u64| samples.iter().filter(|sample| sample.tasks == *tasks).count();
        common.iter().map(of).min().unwrap_or(0)
    };
    let step = step(metric, base, new);
    let mut judged = Judged {
        cell: blank(metric, old, name, None, side(&of_base), side(&of_new)),
        ratio: None,
        repetitions: fewest(&before).min(fewest(&after)),
        step: if metric == Metric::BytesPerTask { step / largest as f64 } else { step },
    };
    judged.cell.reason = if common.len() < 2 {
        Some("fewer than two numbers of tasks are ok on both sides: there is no line".to_owned())
    } else {
        incomparable(metric, &before.iter().collect::<Vec<_>>(), &after.iter().collect::<Vec<_>>())
    };
    if judged.cell.reason.is_none() {
        judged.ratio = match metric {
            Metric::Base => stats::ratio_of_bases(&of_base, &of_new),
            _ => stats::ratio_of_slopes(&of_base, &of_new),
        };
        if judged.ratio.is_none() {
            judged.cell.reason = Some("the footprint does not grow with the number of tasks".to_owned());
        }
    }
    Some(judged)
}

fn step(metric: Metric, base: &Side, new: &Side) -> f64 {
    let batch = |side: &Side| {
        let machine = &side.input.campaign.machine;
        (CHARGE_BATCH_PAGES * machine.page_bytes * machine.cpus) as f64
    };
    match metric.unit() {
        Unit::Seconds => SECONDS_STEP,
        _ if metric == Metric::Peak => BYTES_STEP.max(batch(base)).max(batch(new)),
        _ => BYTES_STEP,
    }
}

fn blank(metric: Metric, old: &str, name: &str, tasks: Option<u64>, base: Figure, new: Figure) -> Cell {
    Cell {
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

/// How an entry's cells ended, where not all ended well on both sides.
fn outcomes(base: &Side, old: &str, new: &Side, name: &str) -> Vec<OutcomeChange> {
    let outcome = |tasks, change, base: String, new: String, reason: Option<&String>| OutcomeChange {
        base_entry: old.to_owned(),
        new_entry: name.to_owned(),
        tasks,
        change,
        base,
        new,
        reason: reason.cloned(),
    };
    let unavailable = |side: &Side, entry: &str| {
        side.facts(entry)
            .and_then(|facts| facts.unavailable.clone())
            .filter(|_| side.tasks_of(entry).is_empty())
    };
    let (gone_before, gone_now) = (unavailable(base, old), unavailable(new, name));
    let measured = |side: &Side, entry: &str| {
        let ok = side.tasks_of(entry).into_iter().map(|tasks| side.ok(entry, tasks).len()).sum::<usize>();
        format!("{ok} runs ok")
    };
    match (&gone_before, &gone_now) {
        (None, Some(reason)) if !base.tasks_of(old).is_empty() => {
            let was = measured(base, old);
            return vec![outcome(None, Change::Fails, was, "unavailable".to_owned(), Some(reason))];
        }
        (Some(reason), None) if !new.tasks_of(name).is_empty() => {
            let now = measured(new, name);
            return vec![outcome(None, Change::Works, "unavailable".to_owned(), now, Some(reason))];
        }
        _ => {}
    }
    let mut changes = Vec::new();
    for &tasks in base.tasks_of(old).intersection(&new.tasks_of(name)) {
        let (before, after) = (base.cell(old, tasks), new.cell(name, tasks));
        let (ok_before, ok_after) = (base.ok(old, tasks).len(), new.ok(name, tasks).len());
        if ok_before == before.len() && ok_after == after.len() {
            continue;
        }
        let share = |ok: usize, all: usize| ok as f64 / all as f64;
        let change = match (ok_before, ok_after) {
            (0, 0) => Change::StillFails,
            (_, 0) => Change::Fails,
            (0, _) => Change::Works,
            _ if share(ok_after, after.len()) < share(ok_before, before.len()) => Change::OkLessOften,
            _ => Change::StillFails,
        };
        let fell = |runs: &[&Sample]| {
            runs.iter().find(|run| run.status != Status::Ok).and_then(|run| run.reason.clone())
        };
        let reason = fell(after).or_else(|| fell(before));
        changes.push(outcome(Some(tasks), change, how(before), how(after), reason.as_ref()));
    }
    changes
}

/// `5/5 ok`, `3/5 ok, partial`, `timed-out`.
fn how(runs: &[&Sample]) -> String {
    let ok = runs.iter().filter(|run| run.status == Status::Ok).count();
    let others: BTreeSet<Status> =
        runs.iter().map(|run| run.status).filter(|status| *status != Status::Ok).collect();
    let others: Vec<&str> = others.into_iter().map(Status::name).collect();
    match ok {
        0 => others.join(" + "),
        _ if others.is_empty() => format!("{ok}/{} ok", runs.len()),
        _ => format!("{ok}/{} ok, {}", runs.len(), others.join(" + ")),
    }
}

/// Everything that is not the same, but for the figures: machines first, then how was measured, then programs.
fn differences(base: &Side, new: &Side, pairs: &[(String, String)]) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut differ = |what: &str, base: String, new: String| {
        if base != new {
            found.push(Difference { what: what.to_owned(), base, new });
        }
    };
    let (old, now) = (base.input.campaign, new.input.campaign);
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let (before, after) = (&old.machine, &now.machine);
    differ("machine", before.hostname.clone(), after.hostname.clone());
    differ("processor", before.cpu.clone(), after.cpu.clone());
    differ("CPUs", before.cpus.to_string(), after.cpus.to_string());
    differ("architecture", before.architecture.clone(), after.architecture.clone());
    differ("memory", units::bytes(before.memory_bytes), units::bytes(after.memory_bytes));
    differ("swap", units::bytes(before.swap_bytes), units::bytes(after.swap_bytes));
    differ("page", units::bytes(before.page_bytes), units::bytes(after.page_bytes));
    differ("kernel", before.kernel.clone(), after.kernel.clone());
    differ("system", before.os.clone(), after.os.clone());
    differ(
        "transparent huge pages",
        known(&before.transparent_huge_pages),
        known(&after.transparent_huge_pages),
    );
    differ("CPU governor", known(&before.cpu_governor), known(&after.cpu_governor));
    differ("taskscale", old.taskscale.clone(), now.taskscale.clone());
    let hold = |hold| match hold {
        Hold::Chosen { plateau_s } => format!("chosen, {plateau_s} s of plateau"),
        Hold::Fixed { seconds } => format!("{seconds} s flat"),
    };
    differ("hold", hold(old.plan.hold), hold(now.plan.hold));
    differ("repetitions", old.plan.repetitions.to_string(), now.plan.repetitions.to_string());
    let mut versions: Vec<(String, String, String)> = Vec::new();
    let mut programs = Vec::new();
    for (old, name) in pairs.iter().filter(|(old, name)| old == name) {
        let (Some(before), Some(after)) = (base.facts(old), new.facts(name)) else { continue };
        let version = |facts: &EntryFacts| known(&facts.version);
        // The same toolchain is told of once.
        let change = (after.runtime_title.clone(), version(before), version(after));
        if before.version != after.version {
            if !versions.contains(&change) {
                versions.push(change);
            }
        } else if before.digest != after.digest || before.env != after.env || before.run != after.run {
            programs.push((old, short(&before.digest), short(&after.digest)));
        }
    }
    for (title, old, now) in versions {
        differ(&title, old, now);
    }
    for (entry, old, now) in programs {
        differ(&format!("sources of {entry}"), old, now);
    }
    found
}

/// The first characters of a digest, as they are in the names of builds.
fn short(digest: &Option<String>) -> String {
    digest.as_ref().map_or_else(|| "unknown".to_owned(), |digest| digest.chars().take(12).collect())
}
