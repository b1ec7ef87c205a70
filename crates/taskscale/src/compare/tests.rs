//! Comparisons of campaigns made by hand and of campaigns made of seeded noise.

use strum::VariantArray;

use super::*;
use crate::catalog::Kind;
use crate::document::{acts, width};
use crate::metrics::{self, MetricDef};
use crate::record::{Campaign, Sample, Status};
use crate::report::fixture::{HOSTILE, campaign, facts, fell, json_shape, sample};

const SMALL: [u64; 3] = [1, 10_000, 100_000];

/// A campaign of five repetitions. `footprint` gives bytes by entry, tasks and repetition.
pub(super) fn measured(
    entries: &[&str],
    mut footprint: impl FnMut(&str, u64, u32) -> f64,
) -> (Campaign, Vec<Sample>) {
    let mut campaign = campaign(entries.iter().map(|name| facts(name, Kind::Stackless)).collect());
    campaign.plan.tasks = SMALL.to_vec();
    campaign.plan.repetitions = 5;
    let mut samples = Vec::new();
    for repetition in 1..=5 {
        for tasks in SMALL {
            for entry in entries {
                let mut run = sample(entry, tasks, repetition, 2_000_000, 400);
                let bytes = footprint(entry, tasks, repetition) as u64;
                if let Some(plateau) = &mut run.memory.plateau {
                    plateau.footprint_bytes = bytes;
                }
                samples.push(run);
            }
        }
    }
    (campaign, samples)
}

pub(super) fn settings(metrics: &[&'static MetricDef], fail_above: Option<f64>) -> CompareSettings {
    let metrics = metrics.iter().copied().map(ComparedMetric::from).collect();
    CompareSettings { series: 1, metrics, fail_above, allow_missing: false, across: false }
}

pub(super) fn usual() -> CompareSettings {
    settings(&[&metrics::FOOTPRINT, &metrics::BYTES_PER_TASK], Some(0.05))
}

pub(super) fn input<'a>(folder: &'a str, side: &'a (Campaign, Vec<Sample>)) -> Input<'a> {
    Input { folder, campaign: &side.0, samples: &side.1, entry: None }
}

pub(super) fn compared(
    base: &(Campaign, Vec<Sample>),
    new: &(Campaign, Vec<Sample>),
    settings: &CompareSettings,
) -> Comparison {
    Comparison::build(input("base", base), input("new", new), settings).unwrap()
}

/// A standard normal value: Box & Muller (1958).
pub(super) fn normal(rng: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

/// The noise of the footprints of two entries as it was measured (benches/compare): one whose memory repeats to the
/// page, and one whose heap grows in steps and whose tasks are laid out by chance.
fn noisy(rng: &mut fastrand::Rng, entry: &str, tasks: u64, per_task: f64) -> f64 {
    let n = tasks as f64;
    if entry == "rust/tokio-spawn" {
        return 3_026_944.0 + per_task * n + if rng.f64() < 0.3 { 4096.0 } else { 0.0 };
    }
    let step = if rng.bool() { 86_016.0 } else { 0.0 };
    let wild = if rng.f64() < 0.05 { 0.05 * rng.f64() } else { 0.0 };
    2_306_048.0 + step + per_task * n * (1.0 + 0.006 * normal(rng) + wild)
}

fn noisy_campaign(rng: &mut fastrand::Rng, more: f64) -> (Campaign, Vec<Sample>) {
    measured(&["rust/tokio-spawn", "go/goroutine"], |entry, tasks, _| {
        let per_task = if entry == "rust/tokio-spawn" { 457.0 } else { 2_760.0 };
        noisy(rng, entry, tasks, per_task * (1.0 + more))
    })
}

#[test]
fn equal_noisy_results_rarely_raise_alarms() {
    let mut rng = fastrand::Rng::with_seed(20);
    let pairs = 100;
    let mut alarms = 0;
    for _ in 0..pairs {
        let (base, new) = (noisy_campaign(&mut rng, 0.0), noisy_campaign(&mut rng, 0.0));
        let comparison = compared(&base, &new, &usual());
        let told = comparison.cells.iter().filter(|cell| cell.verdict.worse() || cell.verdict.better());
        alarms += usize::from(told.count() > 0);
        assert_eq!(comparison.failures, Some(0), "{comparison:?}");
    }
    // The intervals promise at most one pair in twenty, and the margin lets through far fewer.
    assert!(alarms <= 1, "{alarms} of {pairs} pairs raised an alarm");
}

/// Noise far above any margin, as of times on a busy machine: only the intervals prevent alarms.
#[test]
fn noise_raises_alarms_in_about_5_percent_of_pairs() {
    let mut rng = fastrand::Rng::with_seed(9);
    let pairs = 200;
    let mut alarms = 0;
    for _ in 0..pairs {
        let mut side = || {
            let mut side = noisy_campaign(&mut rng, 0.0);
            for run in &mut side.1 {
                run.time.launch_s = Some(1e-6 * run.tasks as f64 * (0.3 * normal(&mut rng)).exp());
            }
            side
        };
        let comparison = compared(&side(), &side(), &settings(&[&metrics::LAUNCH], None));
        alarms +=
            usize::from(comparison.cells.iter().any(|cell| cell.verdict.worse() || cell.verdict.better()));
    }
    // Ten are expected. The chance of more than eighteen is below 1%.
    assert!(alarms <= 18, "{alarms} of {pairs} pairs raised an alarm");
}

#[test]
fn five_percent_increase_usually_fails_the_gate() {
    let mut rng = fastrand::Rng::with_seed(5);
    let pairs = 50;
    let mut found = std::collections::BTreeMap::new();
    for _ in 0..pairs {
        let (base, new) = (noisy_campaign(&mut rng, 0.0), noisy_campaign(&mut rng, 0.05));
        let comparison = compared(&base, &new, &settings(&[&metrics::BYTES_PER_TASK], Some(0.03)));
        for cell in &comparison.cells {
            let fails = cell.decision == Some(Decision::Fail);
            *found.entry(cell.new_entry.clone()).or_insert(0) += i32::from(fails);
            assert!(!cell.verdict.better() && cell.decision != Some(Decision::Pass), "{cell:?}");
        }
    }
    assert_eq!(found["rust/tokio-spawn"], pairs);
    // One run in twenty is disturbed by up to 5%: with one, more repetitions are needed.
    assert!(found["go/goroutine"] >= 35, "{found:?}");
}

#[test]
fn fewer_than_three_repetitions_are_undecided() {
    let (mut campaign, samples) = measured(&["go/goroutine"], |_, tasks, _| 1e6 + 400.0 * tasks as f64);
    let more = measured(&["go/goroutine"], |_, tasks, _| 2e6 + 800.0 * tasks as f64);
    for repetitions in [1, 2] {
        campaign.plan.repetitions = repetitions;
        let few = samples.iter().filter(|sample| sample.repetition <= repetitions).cloned().collect();
        let comparison = compared(&(campaign.clone(), few), &more, &usual());
        assert_eq!(comparison.counts(), [(Verdict::Unclear, 2)]);
        assert_eq!((comparison.failures, comparison.judged()), (Some(0), 0));
        let reason = comparison.cells[0].reason.as_deref().unwrap();
        assert!(reason.contains("3 per side"), "{reason}");
        // Twice the footprint, but too few repetitions to decide: this must not pass.
        assert_eq!(comparison.gate(), Some(Decision::Undecided));
        assert_eq!(comparison.undecided.len(), 2, "{:?}", comparison.undecided);
        let first = undecided(&comparison.undecided[0]);
        let needs = "; needs 3 repetitions: taskscale run go/goroutine -n 1,10k,100k -r 3";
        assert!(first.starts_with("go/goroutine × 100k, footprint: ") && first.ends_with(needs), "{first}");
        let said = "undecided: no regression above 5% found in 2 comparisons, 2 not decided";
        assert_eq!(gate(&comparison).as_deref(), Some(said));
    }
}

/// The outcome of a gate of 5%, the regressions, and what is undecided.
pub(super) fn gated(
    base: &(Campaign, Vec<Sample>),
    new: &(Campaign, Vec<Sample>),
    metrics: &[&'static MetricDef],
    allow_missing: bool,
) -> (Decision, Vec<String>, Vec<String>) {
    let settings = CompareSettings { allow_missing, ..settings(metrics, Some(0.05)) };
    let comparison = compared(base, new, &settings);
    assert_eq!(comparison.failures, Some(regressions(&comparison).len() as u64));
    let undecided = comparison.undecided.iter().map(undecided).collect();
    (comparison.gate().unwrap(), regressions(&comparison), undecided)
}

pub(super) fn steady(entries: &[&str]) -> (Campaign, Vec<Sample>) {
    measured(entries, |_, tasks, _| 1e6 + 400.0 * tasks as f64)
}

pub(super) const USUAL: [&MetricDef; 2] = [&metrics::FOOTPRINT, &metrics::BYTES_PER_TASK];

#[test]
fn newly_failing_runs_fail_the_gate() {
    let (base, mut new) = (steady(&["go/goroutine"]), steady(&["go/goroutine"]));
    for run in new.1.iter_mut().filter(|run| run.tasks == 10_000 && run.repetition > 3) {
        *run = fell(run.clone(), Status::Crashed, "ended by SIGSEGV");
    }
    let (gate, closed, _) = gated(&base, &new, &USUAL, false);
    assert_eq!(gate, Decision::Fail);
    assert_eq!(closed, ["go/goroutine × 10k: 5/5 ok → 3/5 ok, crashed: ended by SIGSEGV"]);
    assert_eq!(gated(&base, &new, &USUAL, true).0, Decision::Pass);
    // Four of five crashed: the last one is too few to compare, even with `allow_missing`.
    for run in new.1.iter_mut().filter(|run| run.tasks == 100_000 && run.repetition > 1) {
        *run = fell(run.clone(), Status::Crashed, "ended by SIGSEGV");
    }
    assert_eq!(gated(&base, &new, &USUAL, false).0, Decision::Fail);
    let (gate, _, undecided) = gated(&base, &new, &USUAL, true);
    assert_eq!(gate, Decision::Undecided);
    let needs =
        "a verdict needs 3 per side; needs 3 repetitions: taskscale run go/goroutine -n 1,10k,100k -r 3";
    assert_eq!(undecided[0], format!("go/goroutine × 100k, footprint: only 1 repetition: {needs}"));
    // The reverse is not a regression.
    assert_eq!(gated(&new, &base, &USUAL, true).1, [] as [String; 0]);
}

#[test]
fn cases_missing_from_new_fail_the_gate() {
    let names = ["go/goroutine", "rust/thread"];
    let (base, mut new) = (steady(&names), steady(&names));
    // Interrupted after its first case.
    new.1.retain(|run| &*run.entry == "go/goroutine" && run.tasks == 1);
    let (gate, closed, _) = gated(&base, &new, &USUAL, false);
    assert_eq!((gate, closed.len()), (Decision::Fail, 5), "{closed:?}");
    assert_eq!(closed[0], "go/goroutine × 10k (planned, but not measured): measured in BASE, missing in NEW");
    assert_eq!(gated(&base, &new, &USUAL, true).0, Decision::Pass);
    // Never planned.
    let less = steady(&names[..1]);
    let (gate, closed, _) = gated(&base, &less, &USUAL, false);
    assert_eq!(gate, Decision::Fail);
    assert_eq!(closed, ["rust/thread: measured in BASE, missing in NEW"]);
    // A case that was never ok cannot be missing.
    let mut fallen = steady(&names);
    for run in fallen.1.iter_mut().filter(|run| &*run.entry == "rust/thread" && run.tasks == 100_000) {
        *run = fell(run.clone(), Status::Limit, "vm.max_map_count");
    }
    let mut without = fallen.clone();
    without.1.retain(|run| &*run.entry == "go/goroutine" || run.tasks < 100_000);
    assert_eq!(gated(&fallen, &without, &USUAL, false).0, Decision::Pass);
    // Additional cases in NEW do not matter.
    assert_eq!(gated(&less, &base, &USUAL, false).0, Decision::Pass);
    // BASE was interrupted.
    let (gate, _, undecided) = gated(&new, &base, &USUAL, false);
    assert_eq!((gate, undecided.len()), (Decision::Undecided, 5));
    assert_eq!(undecided[0], "go/goroutine × 10k: planned in BASE, but not measured");
    // The toolchain disappeared in the middle of it.
    for facts in new.0.entries.iter_mut().filter(|facts| facts.name == "go/goroutine") {
        facts.unavailable = Some("go is not installed".into());
    }
    assert_eq!(gated(&base, &new, &USUAL, false).1.len(), 5);
}

/// As with a garbage-collected heap: twice the footprint at 10k makes memory nonlinear.
#[test]
fn nonlinear_memory_is_compared_by_footprint() {
    let side = |at_10k: f64| {
        measured(&["java/virtual-thread"], move |_, tasks, _| {
            (1e6 + 400.0 * tasks as f64) * if tasks == 10_000 { at_10k } else { 1.0 }
        })
    };
    let cells = |base: f64, new: f64| {
        let comparison = compared(&side(base), &side(new), &usual());
        let cells = comparison.cells.iter().map(|cell| {
            let name = if cell.tasks.is_none() { "slope".to_owned() } else { words::place(cell) };
            (name, cell.decision, cell.reason.clone().unwrap_or_default())
        });
        (comparison.gate().unwrap(), cells.collect::<Vec<_>>())
    };
    let at = |tasks: &str| format!("java/virtual-thread × {tasks}");
    // Nonlinear on both sides: the footprint at the largest N replaces the slope.
    let (gate, found) = cells(2.0, 2.0);
    let both = "BASE is not linear (100% off at 10k); compared by the footprint at 100k".to_owned();
    assert_eq!(found, [(at("100k"), Some(Decision::Pass), String::new()), ("slope".to_owned(), None, both)]);
    assert_eq!(gate, Decision::Pass);
    // Nonlinear only in NEW: the growth is found at its own N.
    let (gate, found) = cells(1.0, 2.0);
    let one = "NEW is not linear (100% off at 10k), the other side is; compared by the footprint at each N";
    assert_eq!(found[1], ("slope".to_owned(), None, one.to_owned()));
    assert_eq!(found[2].0, at("1"));
    assert_eq!((found[3].0.clone(), found[3].1, gate), (at("10k"), Some(Decision::Fail), Decision::Fail));
}

#[test]
fn gate_fails_only_above_its_threshold() {
    let side = |per_task: f64| {
        measured(&["go/goroutine"], |_, tasks, repetition| {
            2e6 + per_task * tasks as f64 * (1.0 + 0.0005 * f64::from(repetition))
        })
    };
    let regressions = |more: f64, fail_above: f64| {
        let settings = settings(&[&metrics::BYTES_PER_TASK], Some(fail_above));
        let comparison = compared(&side(1_000.0), &side(1_000.0 * (1.0 + more)), &settings);
        (comparison.cells[0].verdict, comparison.failures)
    };
    assert_eq!(regressions(0.06, 0.05), (Verdict::Larger, Some(1)));
    // A certain change, but below the threshold.
    assert_eq!(regressions(0.04, 0.05), (Verdict::Larger, Some(0)));
    // Less is never a regression.
    assert_eq!(regressions(-0.2, 0.0), (Verdict::Smaller, Some(0)));
    // A threshold below the usual margin is the margin.
    assert_eq!(regressions(0.008, 0.05), (Verdict::Same, Some(0)));
    assert_eq!(regressions(0.008, 0.004), (Verdict::Larger, Some(1)));
}

#[test]
fn growth_of_a_few_pages_is_not_a_change() {
    let side = |more: f64| {
        measured(&["go/goroutine"], move |_, tasks, repetition| {
            1e6 + more + 400.0 * tasks as f64 + 4096.0 * f64::from(repetition)
        })
    };
    let comparison = compared(&side(0.0), &side(40_960.0), &settings(&[&metrics::FOOTPRINT], Some(0.0)));
    assert_eq!(comparison.counts(), [(Verdict::Same, 1)], "{comparison:?}");
}

#[test]
fn incomparable_results_are_refused() {
    let side = |entry: &str| measured(&[entry], |_, tasks, _| 1e6 + 400.0 * tasks as f64);
    let (base, new) = (side("go/goroutine"), side("rust/thread"));
    let refused = |base: Input, new: Input| Comparison::build(base, new, &usual()).unwrap_err().to_string();
    assert_eq!(refused(input("a", &base), input("b", &new)), "no case in common: a and b");
    let named = |side, entry| Input { entry: Some(entry), ..input("a", side) };
    assert_eq!(
        refused(named(&base, "go/goroutin"), named(&base, "go/goroutine")),
        "no entry `go/goroutin` in a; did you mean `go/goroutine`?"
    );
    let mut other = side("go/goroutine");
    other.0.plan.workload = "spawn".into();
    assert_eq!(
        refused(input("a", &base), input("b", &other)),
        "different workloads: a has sleep, b has spawn"
    );
}

/// A comparison with one of each possible result.
fn everything() -> Comparison {
    let names =
        ["go/goroutine", "rust/thread", "rust/tokio-spawn", "rust/gone", "java/virtual-thread", HOSTILE];
    let run = |per_task: f64| {
        move |entry: &str, tasks: u64, repetition: u32| {
            let wild = if entry == HOSTILE { 0.2 } else { 0.001 };
            2e6 + per_task * tasks as f64 * (1.0 + wild * f64::from(repetition))
        }
    };
    let (mut old, mut before) = measured(&names, run(400.0));
    let (mut new, mut after) = measured(&names[..3], run(440.0));
    let more = measured(&names[4..], run(400.0));
    new.entries.extend(more.0.entries);
    after.extend(more.1);
    new.entries.push(facts("zig/thread", Kind::Thread));
    after.push(sample("zig/thread", 1, 1, 1_000_000, 0));
    for run in &mut after {
        if (&*run.entry == "rust/thread" && run.tasks == 100_000)
            || (&*run.entry == "go/goroutine" && run.tasks == 10_000 && run.repetition == 2)
        {
            *run = fell(
                run.clone(),
                Status::TimedOut,
                "ended after 120 s: @you <b>tasks</b> were still starting",
            );
        }
        run.time.launch_s = run.time.launch_s.map(|launch| launch * 0.7);
    }
    for run in &mut before {
        if &*run.entry == "rust/tokio-spawn" && run.tasks == 1 {
            *run = fell(run.clone(), Status::Crashed, "ended by SIGSEGV");
        }
    }
    after.retain(|run| &*run.entry != "java/virtual-thread");
    for facts in new.entries.iter_mut().filter(|facts| facts.name == "java/virtual-thread") {
        facts.unavailable = Some("the build failed: `javac` ended with 1".into());
    }
    old.machine.memory_bytes = 4_192_000_000;
    new.entries[0].version = Some("go 1.1\u{1b}[2J | <b>".into());
    new.entries[2].digest = Some("0123456789abcdef".into());
    let (old, new) = ((old, before), (new, after));
    compared(
        &old,
        &new,
        &settings(&[&metrics::FOOTPRINT, &metrics::BYTES_PER_TASK, &metrics::LAUNCH], Some(0.05)),
    )
}

#[test]
fn every_format_shows_the_comparison_escaped() {
    let comparison = everything();
    assert_eq!(comparison.failures, Some(regressions(&comparison).len() as u64));
    for &format in Format::VARIANTS {
        let text = render(std::slice::from_ref(&comparison), format, RenderOptions::default());
        assert!(text.ends_with('\n'));
        assert!(!text.chars().any(|c| acts(c) && c != '\n'), "{text:?}");
        match format {
            Format::Table | Format::Csv => {
                insta::assert_snapshot!(format!("everything-{}", <&str>::from(format)), text)
            }
            Format::Json => insta::assert_snapshot!("everything-json", json_shape(&text)),
            _ => assert!(!text.contains("<b>") && !text.contains(" @you"), "{text}"),
        }
    }
    insta::assert_snapshot!("everything-regressions", regressions(&comparison).join("\n").replace(acts, "?"));
    let narrow = RenderOptions { width: 60, ..RenderOptions::default() };
    let narrow = render(std::slice::from_ref(&comparison), Format::Table, narrow);
    assert!(narrow.lines().all(|line| width(line) <= 60), "{narrow}");
}

#[test]
fn different_conditions_and_programs_are_named() {
    let side = measured(&["go/goroutine", "rust/thread"], |_, tasks, _| 1e6 + 400.0 * tasks as f64);
    let (mut old, mut new) = (side.clone(), side);
    let conditions = |memory_cap_bytes, time_cap_s| {
        Some(crate::record::Conditions {
            memory_cap_bytes: Some(memory_cap_bytes),
            time_cap_s,
            ..Default::default()
        })
    };
    (old.0.conditions, new.0.conditions) = (conditions(300 << 20, None), conditions(210 << 20, Some(90.0)));
    for (campaign, digest) in [(&mut old.0, "1"), (&mut new.0, "2")] {
        campaign.entries[0].program_digest = Some(digest.into());
        // Another program in the same folder has changed.
        campaign.entries[1].digest = Some(digest.into());
        campaign.entries[1].program_digest = Some("3".into());
    }
    let named: Vec<String> = compared(&old, &new, &settings(&[&metrics::FOOTPRINT], None))
        .differences
        .into_iter()
        .map(|found| format!("{}: {}, {}", found.what, found.base, found.new))
        .collect();
    assert_eq!(
        named,
        ["memory cap: 300 MiB, 210 MiB", "timeout: automatic, 1 m 30 s", "sources of go/goroutine: 1, 2",]
    );
    new.0.conditions = conditions(2 << 20, None);
    let refused = Comparison::build(input("base", &old), input("new", &new), &settings(&[], None));
    assert!(matches!(refused, Err(CompareError::Across { .. })));
    // Nearly the same cap.
    new.0.conditions = conditions((300 << 20) + 4096, None);
    let compared = compared(&old, &new, &settings(&[&metrics::FOOTPRINT], None));
    assert!(compared.differences.iter().all(|found| found.what.starts_with("sources")));
}

#[test]
fn results_compared_with_themselves_are_equal() {
    let side = measured(&["go/goroutine"], |_, tasks, _| 1e6 + 400.0 * tasks as f64);
    let all: Vec<_> = metrics::ALL.into_iter().filter(|figure| !figure.optional).collect();
    let comparison = compared(&side, &side, &settings(&all, Some(0.0)));
    assert!(comparison.differences.is_empty() && comparison.outcomes.is_empty());
    assert!(comparison.cells.iter().all(|cell| !cell.verdict.worse() && !cell.verdict.better()));
}
