//! Runs that are too different to be compared.

use std::collections::BTreeSet;

use super::tests::{USUAL, compared, gated, measured, settings, steady};
use super::*;
use crate::metrics::{self, MetricDef};
use crate::record::{Campaign, Load, MemorySource, Sample, Status, Warning, Work};
use crate::report::fixture::fell;

/// A connection allocates what it works with at its first message, so the two values mean different things.
#[test]
fn memory_before_and_after_the_first_message_is_not_compared() {
    let of = |first_message: bool| {
        let (campaign, mut samples) = steady(&["go/goroutine"]);
        for sample in &mut samples {
            sample.load = Some(Box::new(Load { first_message, ..Load::default() }));
        }
        (campaign, samples)
    };
    let reasons = |base: bool, new: bool| -> BTreeSet<String> {
        let comparison = compared(&of(base), &of(new), &settings(&[&metrics::FOOTPRINT], None));
        let cells = comparison.of_metric(&metrics::FOOTPRINT);
        cells.filter_map(|cell| cell.reason.clone()).collect()
    };
    assert_eq!(reasons(true, true), BTreeSet::new());
    assert!(reasons(false, true).iter().all(|reason| reason.contains("first messages")));
    assert_eq!(reasons(false, true).len(), 1);
}

#[test]
fn undecidable_cases_leave_the_gate_undecided() {
    let base = steady(&["go/goroutine"]);
    let undecided = |new: &(Campaign, Vec<Sample>), metrics: &[&'static MetricDef], said: &str| {
        let (gate, closed, undecided) = gated(&base, new, metrics, true);
        assert_eq!((gate, closed), (Decision::Undecided, vec![]), "{undecided:?}");
        assert!(undecided.iter().any(|cell| cell.contains(said)), "{said}: {undecided:?}");
    };
    let changed = |change: fn(&mut Sample)| {
        let mut new = steady(&["go/goroutine"]);
        new.1.iter_mut().for_each(change);
        new
    };
    let elsewhere = changed(|run| run.memory.source = MemorySource::Proc);
    undecided(&elsewhere, &USUAL, "cgroup-v2 in BASE, proc in NEW");
    let busy = changed(|run| run.warnings = vec![Warning::MachineBusy]);
    undecided(&busy, &[&metrics::LAUNCH], "on a busy machine");
    undecided(&busy, &[&metrics::FOOTPRINT, &metrics::LAUNCH], "on a busy machine");
    let timeless = changed(|run| run.time.launch_s = None);
    undecided(&timeless, &[&metrics::FOOTPRINT, &metrics::LAUNCH], "no value on one side");
    let starved = changed(|run| run.warnings = vec![Warning::CpuStarved]);
    undecided(&starved, &[&metrics::LAUNCH], "most runs of NEW were short of CPU");
    undecided(&changed(|run| run.hold_s = 9.0), &[&metrics::WALL], "3 s in BASE, 9 s in NEW");
    let ticks = changed(|run| {
        run.hold_s = 9.0;
        run.measurement.histograms.insert("late_us".to_owned(), vec![1]);
    });
    undecided(&ticks, &[&metrics::CPU], "3 s in BASE, 9 s in NEW");
    // The repetitions that are left are not all.
    let chosen = changed(|run| {
        if run.repetition < 3 {
            run.time.launch_s = None;
        }
    });
    undecided(&chosen, &[&metrics::LAUNCH], "2 of 5 repetitions of NEW have no value");
    let uncounted = changed(|run| run.alive = None);
    undecided(&uncounted, &[&metrics::FOOTPRINT], "the number of live tasks is unknown on one side");
    // No footprint replaces the fixed cost.
    let bent = changed(|run| {
        let tasks = run.tasks;
        if let Some(plateau) = run.memory.plateau.as_mut().filter(|_| tasks == 10_000) {
            plateau.footprint_bytes *= 9;
        }
    });
    let (.., open) = gated(&base, &bent, &[&metrics::BASE], true);
    assert!(open.iter().any(|cell| cell.contains("base: NEW is not linear")), "{open:?}");
    // Only noise.
    let mut rng = fastrand::Rng::with_seed(3);
    let mut wild = || measured(&["go/goroutine"], |_, _, _| 1e6 * (1.0 + 9.0 * rng.f64()));
    let comparison = compared(&wild(), &wild(), &settings(&[&metrics::FOOTPRINT], Some(0.05)));
    assert_eq!(
        (comparison.gate(), comparison.undecided.len()),
        (Some(Decision::Undecided), 1),
        "{comparison:?}"
    );
    // No run was ok, before or now.
    let fallen = changed(|run| *run = fell(run.clone(), Status::Crashed, "ended by SIGSEGV"));
    assert_eq!(gated(&fallen, &fallen, &USUAL, false).0, Decision::Undecided);
}

#[test]
fn different_memory_sources_or_waits_are_not_compared() {
    let base = measured(&["go/goroutine"], |_, tasks, _| 1e6 + 400.0 * tasks as f64);
    let mut new = measured(&["go/goroutine"], |_, tasks, _| 2e6 + 800.0 * tasks as f64);
    new.1.iter_mut().for_each(|sample| {
        sample.memory.source = MemorySource::Proc;
        sample.hold_s = 5.0;
    });
    let comparison = compared(
        &base,
        &new,
        &settings(&[&metrics::FOOTPRINT, &metrics::WALL, &metrics::LAUNCH], Some(0.05)),
    );
    for cell in &comparison.cells {
        let expected = match cell.metric.name {
            "footprint" => Some("memory sources differ: cgroup-v2 in BASE, proc in NEW"),
            "wall" => Some("tasks waited 3 s in BASE, 5 s in NEW"),
            _ => None,
        };
        assert_eq!(cell.reason.as_deref(), expected);
        assert_eq!(cell.ratio.is_none(), expected.is_some(), "{cell:?}");
    }
    assert_eq!(comparison.failures, Some(0));
}

#[test]
fn busy_machines_exclude_times_but_not_memory() {
    let base = measured(&["go/goroutine"], |_, tasks, _| 1e6 + 400.0 * tasks as f64);
    let mut new = measured(&["go/goroutine"], |_, tasks, _| 1e6 + 800.0 * tasks as f64);
    for run in &mut new.1 {
        run.time.launch_s = run.time.launch_s.map(|launch| 20.0 * launch);
        run.warnings = if run.repetition <= 3 { vec![Warning::MachineBusy] } else { vec![] };
    }
    let settings = settings(&[&metrics::BYTES_PER_TASK, &metrics::LAUNCH], Some(0.05));
    let comparison = compared(&base, &new, &settings);
    let times: Vec<_> =
        comparison.of_metric(&metrics::LAUNCH).map(|cell| (cell.verdict, cell.reason.as_deref())).collect();
    assert_eq!(times, [(Verdict::Unclear, Some("most runs of NEW were on a busy machine"))]);
    assert_eq!(comparison.failures, Some(1));
}

/// The peak of work on a map grows with the operations, whose number taskscale chooses for each results folder.
#[test]
fn peaks_growing_with_operations_need_equal_operation_counts() {
    let worked = |operations: u64, bytes_each: u64| {
        let mut side = steady(&["go/goroutine"]);
        let twice = side.1.clone().into_iter().map(|run| (run, true));
        let once = side.1.into_iter().map(|run| (run, false));
        side.1 = once
            .chain(twice)
            .map(|(mut run, double)| {
                let operations = if double { 2 * operations } else { operations };
                run.memory.peak_bytes = Some((10 << 20) + bytes_each * operations);
                run.work = Some(Box::new(Work { operations, double, ..Work::default() }));
                run
            })
            .collect();
        side
    };
    let peak = settings(&[&metrics::PEAK], Some(0.05));
    let decision = |base: &(Campaign, Vec<Sample>), new: &(Campaign, Vec<Sample>)| {
        let cell = compared(base, new, &peak).of_metric(&metrics::PEAK).next().unwrap().clone();
        (cell.decision, cell.reason.is_some())
    };
    let map = worked(1_000_000, 100);
    assert_eq!(decision(&map, &worked(1_500_000, 100)), (None, true));
    assert_eq!(decision(&map, &worked(1_000_000, 200)), (Some(Decision::Fail), false));
    // For work that keeps nothing, the number does not matter.
    assert_eq!(decision(&worked(1_000_000, 0), &worked(1_500_000, 0)), (Some(Decision::Pass), false));
}
