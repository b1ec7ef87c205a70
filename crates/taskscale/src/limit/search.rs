//! The search for one entry: derives the next run from the runs so far. Pure.
//!
//! An interrupted search resumes by deriving the next run from its samples; the purpose of each follows from those
//! before it.

use std::f64::consts::LN_2;

use serde::Serialize;

use super::border::{LONGEST_STEP, Probe, Search, Side};
use super::confirm::{Edge, Stage, Tally, tally};
use super::prediction::{forecast_memory, forecast_tasks};
use super::proof::{Cause, Proof, Usual, judge, touched, usual};
use super::question::{Find, Question};
use super::rate;
use super::setting::Setting;
use crate::campaign::HoldKeeper;
use crate::catalog::Kind;
use crate::record::{Hold, Sample};
use crate::stats::Point;

/// How long all tasks are alive together at least, in seconds.
pub const HOLD: Hold = Hold::Chosen { plateau_s: 0.5 };
/// The first numbers of tasks: the base, and enough for a line.
const PILOT_TASKS: u64 = 10_000;
/// The same where each task takes a thread or process.
const PILOT_THREADS: u64 = 1_000;
/// No program takes a larger number of tasks.
const MOST_TASKS: u64 = u32::MAX as u64;
/// The messages in a second that a search begins with.
const FIRST_RATE: u64 = 1_000;
/// The rates that clients can be asked for, where the question does not say.
const RATES: (u64, u64) = (1, 10_000_000);
/// No program runs in less, in bytes.
const LEAST_MEMORY: u64 = 256 << 10;
/// The memories of the curve, in multiples of the least in which the tasks hold.
const CURVE: [f64; 6] = [1.05, 1.1, 1.25, 1.5, 2.0, 4.0];
/// A memory of the curve is not run where another within this share of it was.
const SAME_MEMORY: f64 = 0.02;

/// So many runs of a value may be void.
const MOST_VOIDS: usize = 2;

/// The purpose of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// For the line that the search starts with; of the least memory, the run with memory to spare; of a rate, the
    /// first.
    Pilot,
    Search,
    /// Confirms the value that the search found, as often as `--repetitions` asks.
    Confirm,
    /// A failed value with unlimited memory: checks whether memory is the cause.
    Control,
    /// Measures CPU time by memory.
    Curve,
}

impl Purpose {
    pub fn name(self) -> &'static str {
        match self {
            Purpose::Pilot => "pilot",
            Purpose::Search => "search",
            Purpose::Confirm => "confirm",
            Purpose::Control => "control",
            Purpose::Curve => "curve",
        }
    }
}

/// The next run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Order {
    pub purpose: Purpose,
    pub setting: Setting,
    /// Whether it is another attempt of the last run, whose wait was too short.
    pub again: bool,
}

/// The state of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// There are runs left to do.
    Unfinished,
    /// An answer is confirmed, and the failing value is near enough.
    Found,
    /// The runs of the search were not enough for that.
    Undecided,
    /// Nothing passes: not one task in the memory, or the tasks in no memory that this machine has.
    NothingHolds,
    /// No value fails that can be tried.
    EverythingHolds,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Unfinished => "unfinished",
            State::Found => "found",
            State::Undecided => "undecided",
            State::NothingHolds => "nothing-holds",
            State::EverythingHolds => "everything-holds",
        }
    }
}

/// A run, its purpose and its outcome.
#[derive(Debug, Clone)]
pub struct Seen<'a> {
    pub sample: &'a Sample,
    pub purpose: Purpose,
    pub proof: Proof,
}

/// The runs of one entry so far, and the state that they lead to.
#[derive(Debug)]
pub struct Followed<'a> {
    pub seen: Vec<Seen<'a>>,
    pub state: State,
    /// The confirmed value, the failed one, and values that passed beyond it.
    pub edge: Edge,
    /// The last candidate, and how many of its confirming runs passed.
    pub tried: Option<(u64, Tally)>,
    /// Runs that count towards `most_runs`.
    pub spent: usize,
    /// `None` if nothing remains to be run.
    pub next: Option<Order>,
}

/// Follows a search through the samples of one entry, in the order in which they were taken.
pub fn follow<'a>(question: &Question, kind: Kind, samples: &'a [Sample]) -> Followed<'a> {
    let mut seen: Vec<Seen> = Vec::new();
    let mut holds = HoldKeeper::new(HOLD);
    let mut next = decide(question, kind, &seen, &holds);
    for sample in samples {
        holds.learn(sample);
        let purpose = purpose_of(question, next.1, sample);
        seen.push(Seen { sample, purpose, proof: Proof::Unsettled });
        // What is known by now may shed another light on what was before.
        let proofs: Vec<Proof> = seen
            .iter()
            .map(|run| {
                let proof = judge(question, run.sample, usual_of(question, &seen, run.sample.tasks));
                if proof == Proof::Unsettled && holds.next_hold_s(run.sample).is_none() {
                    let why = "no wait was long enough for all tasks to be alive at once";
                    return Proof::Fails(Cause::Other, why.to_owned());
                }
                proof
            })
            .collect();
        seen.iter_mut().zip(proofs).for_each(|(run, proof)| run.proof = proof);
        settle_voids(question, &mut seen);
        next = decide(question, kind, &seen, &holds);
    }
    let probes = probes(question, &seen);
    let edge = search(question).edge(&probes, question.repetitions as usize);
    let last = || probes.iter().rev().find(|probe| probe.confirms).map(|probe| probe.value);
    let tried = edge.confirmed.or_else(last).map(|value| (value, tally(&probes, value)));
    let spent = spent(&seen);
    Followed { state: next.0, edge, tried, spent, next: next.1, seen }
}

/// What a run was for: what was asked for then, unless other repetitions or another precision were asked for.
fn purpose_of(question: &Question, order: Option<Order>, sample: &Sample) -> Purpose {
    match (order, question.find) {
        (Some(order), find) if order.setting == find.setting_of(sample) => order.purpose,
        (_, Find::MostTasks { memory_bytes }) if cap_of(sample) != memory_bytes => Purpose::Control,
        _ => Purpose::Search,
    }
}

/// The runs that found where the edge is, and those that said that it is elsewhere.
fn spent(seen: &[Seen]) -> usize {
    let counts = |run: &&Seen| match run.purpose {
        Purpose::Pilot | Purpose::Search => true,
        Purpose::Confirm | Purpose::Curve => run.proof.cause().is_some(),
        Purpose::Control => false,
    };
    seen.iter().filter(counts).count()
}

/// A run that does not count is taken again, but not for ever.
fn settle_voids(question: &Question, seen: &mut [Seen]) {
    let is_void = |run: &Seen, of: &Seen| {
        matches!(run.proof, Proof::Void(..))
            && question.find.setting_of(run.sample) == question.find.setting_of(of.sample)
    };
    let settled: Vec<bool> = (0..seen.len())
        .map(|i| {
            let before = seen[..i].iter().filter(|run| is_void(run, &seen[i])).count();
            is_void(&seen[i], &seen[i]) && before >= MOST_VOIDS
        })
        .collect();
    for (run, settled) in seen.iter_mut().zip(settled) {
        if let (true, Proof::Void(cause, why)) = (settled, &run.proof) {
            run.proof = Proof::Fails(*cause, format!("{why}, {} times", MOST_VOIDS + 1));
        }
    }
}

/// Time and CPU time of `tasks` with unlimited memory, from pilot and control runs.
pub fn usual_of(question: &Question, seen: &[Seen], tasks: u64) -> Usual {
    if let Find::HighestRate { .. } = question.find {
        // Messages that come late are what is looked at: none is cut off for that before any run may.
        return Usual { allowance_s: question.time_cap_s, cpu_s: 0.0 };
    }
    let spare = seen.iter().filter(|run| match question.find {
        Find::MostTasks { .. } => matches!(run.purpose, Purpose::Pilot | Purpose::Control),
        _ => cap_of(run.sample) == question.room_bytes,
    });
    usual(question, spare.map(|run| run.sample), tasks)
}

fn search(question: &Question) -> Search {
    // Half of it is the margin of the answer.
    let precision = question.precision / 2.0;
    match question.find {
        Find::MostTasks { .. } => {
            let bounds = (question.least_tasks, MOST_TASKS);
            Search { passes: Side::Below, bounds, precision, radix: 10.0, blind: LONGEST_STEP }
        }
        Find::LeastMemory { .. } => {
            let bounds = (LEAST_MEMORY, question.room_bytes);
            Search { passes: Side::Above, bounds, precision, radix: 2.0, blind: LONGEST_STEP }
        }
        Find::HighestRate { .. } => {
            let bounds = question.rates.unwrap_or(RATES);
            // By doubling and no further, as a server far behind takes long to end.
            Search { passes: Side::Below, bounds, precision, radix: 10.0, blind: LN_2 }
        }
    }
}

fn cap_of(sample: &Sample) -> u64 {
    sample.memory.cap_bytes.unwrap_or(0)
}

/// The probes that the runs were, each with the forecast that was then known.
fn probes(question: &Question, seen: &[Seen]) -> Vec<Probe> {
    let mut probes: Vec<Probe> = Vec::new();
    for (position, run) in seen.iter().enumerate() {
        let settled = matches!(run.proof, Proof::Holds | Proof::Fails(..));
        if !settled || run.purpose == Purpose::Control {
            continue;
        }
        let so_far = &seen[..=position];
        let value = question.find.value_of(run.sample);
        let forecast = match question.find {
            Find::MostTasks { memory_bytes } => most_tasks(so_far, memory_bytes),
            Find::LeastMemory { .. } => least_memory(so_far),
            Find::HighestRate { .. } => rate::forecast(so_far),
        };
        let confirms = matches!(run.purpose, Purpose::Confirm | Purpose::Curve);
        probes.push(Probe { value, passed: run.proof == Proof::Holds, confirms, forecast });
    }
    probes
}

/// By the line through what runs needed: their peak, where that was below the cap; where it was not, the kernel took
/// back what it could, and what is left is the charge at the plateau. Neither with page cache that nobody maps.
fn most_tasks(seen: &[Seen], cap_bytes: u64) -> Option<super::border::Prediction> {
    let runs = || seen.iter().filter(|run| run.purpose != Purpose::Control);
    // Where what ends it is not memory, memory foretells nothing; a program that counts its failures does.
    let nearest = runs().filter(|run| run.proof.cause().is_some()).min_by_key(|run| run.sample.tasks);
    if let Some(nearest) = nearest.filter(|run| run.proof.cause() != Some(Cause::Memory)) {
        match (nearest.proof.cause(), nearest.sample.failed) {
            (Some(Cause::SystemLimit | Cause::OwnHeap), Some(failed)) if failed < nearest.sample.tasks => {
                let value = (nearest.sample.tasks - failed) as f64;
                return Some(super::border::Prediction { value, doubt: 0.0 });
            }
            (Some(Cause::OwnHeap), _) => {}
            _ => return None,
        }
    }
    let needs: Vec<Point> = runs()
        .filter(|run| run.proof == Proof::Holds)
        .filter_map(|run| Some(Point { tasks: run.sample.tasks, y: need(run.sample)? }))
        .collect();
    // A program whose own heap is full never comes to the cap: it ends where it ended before.
    let own = runs()
        .filter(|run| run.proof.cause() == Some(Cause::OwnHeap))
        .filter_map(|run| run.sample.memory.peak_bytes)
        .min();
    let end = own.map_or(cap_bytes, |own| own.min(cap_bytes));
    forecast_tasks(&needs, end as f64)
}

/// Least memory that the run would need, in bytes: without the page cache that the kernel can reclaim.
pub(super) fn need(sample: &Sample) -> Option<f64> {
    // Of work nothing is read while its tasks are there: the most at any time is what it needs.
    if sample.work.is_some() {
        return sample.memory.peak_bytes.map(|bytes| bytes as f64);
    }
    let plateau = sample.memory.plateau.as_ref()?;
    // The charge has what nobody maps; the footprint has the pages of files that are charged to others.
    let charge = plateau.group_bytes.unwrap_or(plateau.footprint_bytes);
    let cache = charge.saturating_sub(plateau.footprint_bytes);
    let peak = sample.memory.peak_bytes.filter(|_| !touched(sample));
    Some(peak.map_or(charge, |peak| peak.max(charge)).saturating_sub(cache) as f64)
}

fn least_memory(seen: &[Seen]) -> Option<super::border::Prediction> {
    let holds = seen.iter().filter(|run| run.proof == Proof::Holds).map(|run| run.sample);
    let tightest = holds.min_by_key(|sample| cap_of(sample))?;
    let file_bytes = tightest.memory.plateau.as_ref().map_or(0, |plateau| plateau.file_bytes);
    forecast_memory(need(tightest)?, file_bytes as f64, touched(tightest))
}

/// Where a search stands after some runs, and the run that is next.
fn decide(question: &Question, kind: Kind, seen: &[Seen], holds: &HoldKeeper) -> (State, Option<Order>) {
    if let Some(last) = seen.last()
        && last.proof == Proof::Unsettled
        && holds.next_hold_s(last.sample).is_some()
    {
        let setting = question.find.setting_of(last.sample);
        return (State::Unfinished, Some(Order { purpose: last.purpose, setting, again: true }));
    }
    let order = |purpose, value| {
        (State::Unfinished, Some(Order { purpose, setting: question.setting(value), again: false }))
    };
    let probes = probes(question, seen);
    if let Some(pilot) = pilot(question, kind, &probes) {
        return order(Purpose::Pilot, pilot);
    }
    let (search, times) = (search(question), question.repetitions as usize);
    if let Some(tasks) = control(question, seen, search.ends(&probes).1) {
        let setting = Setting { cap_bytes: question.room_bytes, ..question.setting(tasks) };
        return (State::Unfinished, Some(Order { purpose: Purpose::Control, setting, again: false }));
    }
    let state = match search.stage(&probes, times, spent(seen) < question.most_runs as usize) {
        Stage::Search(value) => return order(Purpose::Search, value),
        Stage::Confirm(value) => return order(Purpose::Confirm, value),
        Stage::Found => State::Found,
        Stage::Undecided => State::Undecided,
        Stage::NothingPasses => State::NothingHolds,
        Stage::EverythingPasses => State::EverythingHolds,
    };
    let least = search.edge(&probes, times).confirmed;
    match (question.find, curve(question, &probes, least)) {
        (Find::LeastMemory { .. }, Some(cap_bytes)) => order(Purpose::Curve, cap_bytes),
        _ => (state, None),
    }
}

/// The first values, whatever is foreseen.
fn pilot(question: &Question, kind: Kind, probes: &[Probe]) -> Option<u64> {
    match (question.find, probes) {
        (Find::MostTasks { .. }, []) => Some(question.least_tasks),
        (Find::MostTasks { .. }, [one]) if one.passed => Some(match kind {
            Kind::Thread | Kind::Process => PILOT_THREADS,
            _ => PILOT_TASKS,
        }),
        (Find::LeastMemory { .. }, []) => Some(question.room_bytes),
        (Find::HighestRate { .. }, []) => {
            let (least, most) = question.rates.unwrap_or(RATES);
            Some(FIRST_RATE.max(least).min(most))
        }
        _ => None,
    }
}

/// The tasks to run with memory to spare, where what failed does not say itself whether memory was the reason. At once,
/// not at the end: how long such a run takes also says how long others may.
fn control(question: &Question, seen: &[Seen], failing: Option<u64>) -> Option<u64> {
    let failing = failing?;
    let Find::MostTasks { memory_bytes } = question.find else { return None };
    let open = cause_at(seen, failing)?.is_memory().is_none() && question.room_bytes > memory_bytes;
    (open && controlled(seen, failing).is_none()).then_some(failing)
}

/// Whether `tasks` pass with unlimited memory, by control runs with at least as many tasks that passed, or at most as
/// many that failed.
pub fn controlled(seen: &[Seen], tasks: u64) -> Option<bool> {
    let controls = || seen.iter().filter(|run| run.purpose == Purpose::Control);
    if controls().any(|run| run.proof == Proof::Holds && run.sample.tasks >= tasks) {
        return Some(true);
    }
    controls().any(|run| run.proof.cause().is_some() && run.sample.tasks <= tasks).then_some(false)
}

/// Why the run of a value failed: the last that did.
fn cause_at(seen: &[Seen], tasks: u64) -> Option<Cause> {
    let runs = seen.iter().rev().filter(|run| run.purpose != Purpose::Control && run.sample.tasks == tasks);
    runs.filter_map(|run| run.proof.cause()).next()
}

/// The next memory of the curve: each is run as often as the answer.
fn curve(question: &Question, probes: &[Probe], least: Option<u64>) -> Option<u64> {
    let least = least? as f64;
    let times = |value: u64| probes.iter().filter(|probe| probe.value == value).count();
    // Runs are summed up with those of the very same memory: of the one near by that has most of them already.
    let near = |wanted: f64| {
        let values = probes.iter().map(|probe| probe.value);
        let page = 64 << 10;
        values
            .filter(|value| (*value as f64 / wanted - 1.0).abs() <= SAME_MEMORY)
            .max_by_key(|value| times(*value))
            .unwrap_or((wanted as u64).div_ceil(page) * page)
    };
    CURVE
        .into_iter()
        .map(|times| least * times)
        .filter(|wanted| *wanted < question.room_bytes as f64 * (1.0 - SAME_MEMORY))
        .map(near)
        .chain([question.room_bytes])
        .find(|value| times(*value) < question.repetitions as usize)
}

#[cfg(test)]
#[path = "search_tests.rs"]
pub(super) mod tests;
