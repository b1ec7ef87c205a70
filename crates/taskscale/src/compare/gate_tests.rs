//! How often the gate passes, fails and is undecided on campaigns of seeded noise, and what it refuses.
//! benches/operating_curve has the whole curve.

use super::tests::{compared, input, measured, normal, settings, usual};
use super::*;
use crate::metrics;
use crate::record::{Campaign, Sample, Warning};

/// Whole footprints scatter. Tasks of the first entry use `more` memory.
fn campaign(
    rng: &mut fastrand::Rng,
    entries: usize,
    repetitions: u32,
    scatter: f64,
    more: f64,
) -> (Campaign, Vec<Sample>) {
    let names: Vec<String> = (0..entries).map(|nth| format!("fake/{nth:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut side = measured(&names, |entry, tasks, _| {
        let per_task = 6_000.0 * if entry == "fake/00" { 1.0 + more } else { 1.0 };
        (20_971_520.0 + per_task * tasks as f64) * (1.0 + scatter * normal(rng))
    });
    side.0.plan.repetitions = repetitions;
    side.1.retain(|sample| sample.repetition <= repetitions);
    side
}

/// Of `pairs`, how many pass, fail and are undecided.
fn ends(pairs: usize, entries: usize, repetitions: u32, scatter: f64, more: f64) -> [usize; 3] {
    let mut rng = fastrand::Rng::with_seed(31);
    let mut ends = [0; 3];
    for _ in 0..pairs {
        let base = campaign(&mut rng, entries, repetitions, scatter, 0.0);
        let new = campaign(&mut rng, entries, repetitions, scatter, more);
        ends[compared(&base, &new, &usual()).gate().unwrap() as usize] += 1;
    }
    ends
}

/// A small form of the operating curve.
#[test]
fn regressions_fail_and_noise_passes() {
    let [pass, ..] = ends(20, 20, 5, 0.01, 0.0);
    assert!(pass >= 19, "identical at 1%: {pass} of 20 pass");
    let [_, fail, _] = ends(20, 20, 5, 0.005, 0.06);
    assert!(fail >= 18, "+6% at 0.5%: {fail} of 20 fail");
    let [_, fail, _] = ends(20, 20, 5, 0.01, 0.03);
    assert!(fail <= 1, "+3% at 1%: {fail} of 20 fail");
    for repetitions in [3, 5] {
        for scatter in [0.005, 0.05] {
            let [_, fail, _] = ends(40, 1, repetitions, scatter, 0.0);
            assert!(fail <= 2, "identical, {scatter}, {repetitions} repetitions: {fail} of 40 fail");
            for more in [0.12, 1.0] {
                let [pass, ..] = ends(40, 1, repetitions, scatter, more);
                assert!(pass <= 2, "+{more}, {scatter}, {repetitions} repetitions: {pass} of 40 pass");
            }
        }
    }
}

#[test]
fn undecided_cases_name_the_needed_repetitions() {
    let side = |more: f64, scatter: f64| {
        measured(&["go/goroutine"], move |_, tasks, repetition| {
            let noise = scatter * [-1.0, -0.5, 0.0, 0.5, 1.0][repetition as usize - 1];
            (2e6 + 6_000.0 * tasks as f64) * (1.0 + more) * (1.0 + noise)
        })
    };
    let needs = |more: f64, scatter: f64| {
        let comparison = compared(&side(0.0, scatter), &side(more, scatter), &usual());
        let footprint = &comparison.cells[0];
        (footprint.decision, footprint.repetitions_needed)
    };
    assert_eq!(needs(0.0, 0.01), (Some(Decision::Pass), None));
    let (decision, few) = needs(0.01, 0.04);
    let (_, many) = needs(0.02, 0.04);
    assert_eq!(decision, Some(Decision::Undecided));
    assert!(few > Some(5) && few < many && many <= Some(30), "{few:?} {many:?}");
    // A change at the threshold cannot be decided.
    assert_eq!(needs(0.05, 0.05), (Some(Decision::Undecided), None));
    let comparison = compared(&side(0.0, 0.05), &side(0.05, 0.05), &usual());
    let said = undecided(&comparison.undecided[0]);
    assert!(said.contains("cannot decide near the threshold with 30 repetitions"), "{said}");
    // A large change with much scatter is undecided, too, and never passes.
    let (decision, repetitions) = needs(0.08, 0.08);
    assert!(decision == Some(Decision::Undecided) && repetitions.is_some(), "{repetitions:?}");
}

#[test]
fn values_without_scatter_are_decided() {
    let side = |per_task: f64| measured(&["go/goroutine"], move |_, tasks, _| 2e6 + per_task * tasks as f64);
    let of = |more: f64| compared(&side(1_000.0), &side(1_000.0 * (1.0 + more)), &usual()).gate().unwrap();
    assert_eq!([of(0.0), of(0.04), of(0.06), of(-0.5)], {
        use Decision::{Fail, Pass};
        [Pass, Pass, Fail, Pass]
    });
}

#[test]
fn small_differences_pass_when_no_ratio_exists() {
    // Only noise of pages: slopes are above and below zero.
    let side = |shift: f64| {
        measured(&["go/goroutine"], move |_, tasks, repetition| {
            1e6 + shift * tasks as f64 / 1e5 + 4096.0 * f64::from((repetition * 7 + tasks as u32 % 4) % 3)
        })
    };
    let slope = |base: f64, new: f64| {
        let comparison = compared(&side(base), &side(new), &usual());
        let cell = comparison.of_metric(&metrics::BYTES_PER_TASK).next().unwrap();
        (cell.verdict, cell.decision, cell.reason.clone())
    };
    assert_eq!(slope(0.0, 8192.0), (Verdict::Same, Some(Decision::Pass), None));
    let (verdict, decision, reason) = slope(0.0, 400e3);
    assert_eq!((verdict, decision), (Verdict::Unclear, Some(Decision::Undecided)));
    assert_eq!(reason.as_deref(), Some("no ratio: a value is 0 or negative"));
    // Kernel memory is the same on both sides.
    let none = compared(&side(0.0), &side(0.0), &settings(&[&metrics::KERNEL], Some(0.05)));
    assert_eq!(none.gate(), Some(Decision::Pass), "{:?}", none.cells);
}

#[test]
fn metric_margin_overrides_fail_above() {
    let side = |launch: f64, warnings: Vec<Warning>| {
        let mut side = measured(&["go/goroutine"], |_, tasks, _| 1e6 + 400.0 * tasks as f64);
        for run in &mut side.1 {
            run.time.launch_s = Some(launch * (1.0 + 0.001 * f64::from(run.repetition)));
            run.warnings = warnings.clone();
        }
        side
    };
    let threshold = |margin: Option<f64>, fail_above: f64, more: f64| {
        let metrics = vec![ComparedMetric { figure: &metrics::LAUNCH, margin }];
        let settings = CompareSettings { metrics, ..settings(&[], Some(fail_above)) };
        let comparison = compared(&side(1.0, vec![]), &side(1.0 + more, vec![]), &settings);
        (comparison.cells[0].threshold.unwrap(), comparison.gate().unwrap())
    };
    assert_eq!(threshold(None, 0.01, 0.03), (0.05, Decision::Pass));
    assert_eq!(threshold(None, 0.01, 0.08), (0.05, Decision::Fail));
    assert_eq!(threshold(None, 0.2, 0.08), (0.2, Decision::Pass));
    assert_eq!(threshold(Some(0.1), 0.01, 0.08), (0.1, Decision::Pass));
    assert_eq!(threshold(Some(0.02), 0.2, 0.08), (0.02, Decision::Fail));
}

#[test]
fn different_machines_are_refused_without_across() {
    let side = measured(&["go/goroutine"], |_, tasks, _| 1e6 + 400.0 * tasks as f64);
    type EditCampaign = fn(&mut Campaign);
    let changes: [(&str, EditCampaign); 5] = [
        ("machine (bench, other)", |of| of.machine.hostname = "other".into()),
        ("kernel (6.18.5, 6.1.0)", |of| of.machine.kernel = "6.1.0".into()),
        ("CPUs (2, 4)", |of| of.machine.cpus = 4),
        ("transparent huge pages (madvise, always)", |of| {
            of.machine.transparent_huge_pages = Some("always".into());
        }),
        ("taskscale (0.1.0, 0.2.0)", |of| of.taskscale = "0.2.0".into()),
    ];
    for (what, change) in changes {
        let mut new = side.clone();
        change(&mut new.0);
        let refused = Comparison::build(input("a", &side), input("b", &new), &usual()).unwrap_err();
        assert_eq!(refused.to_string(), format!("not comparable: different {what}"));
        let across = CompareSettings { across: true, ..usual() };
        assert_eq!(compared(&side, &new, &across).gate(), Some(Decision::Pass));
    }
    let (mut here, mut there) = (side.clone(), side.clone());
    here.0.conditions = Some(Default::default());
    there.0.conditions = Some(crate::record::Conditions { clients_elsewhere: true, ..Default::default() });
    let refused = Comparison::build(input("a", &here), input("b", &there), &usual()).unwrap_err();
    assert!(
        refused.to_string().contains("clients (on the server's machine, on another machine)"),
        "{refused}"
    );
    let mut new = side.clone();
    new.0.machine.cpu_governor = Some("powersave".into());
    assert_eq!(compared(&side, &new, &usual()).gate(), Some(Decision::Pass));
}

#[test]
fn repetition_recorded_twice_is_refused() {
    let side = measured(&["go/goroutine"], |_, tasks, _| 1e6 + 400.0 * tasks as f64);
    let mut twice = side.clone();
    let mut again = twice.1[4].clone();
    twice.1.push(again.clone());
    let refused = |base, new| Comparison::build(base, new, &usual()).unwrap_err().to_string();
    let said = "recorded twice: repetition 2 of go/goroutine × 10k (in b)";
    assert_eq!(refused(input("a", &side), input("b", &twice)), said);
    assert_eq!(refused(input("b", &twice), input("a", &side)), said);
    // A second attempt is still the same repetition, and the one that counts.
    again.attempt = 2;
    *twice.1.last_mut().unwrap() = again;
    assert_eq!(compared(&side, &twice, &usual()).cells[0].new.runs, 5);
}

/// Repetitions that differ in number, and hundreds of entries.
#[test]
fn many_cases_and_uneven_repetitions_are_compared() {
    let names: Vec<String> = (0..400).map(|nth| format!("fake/{nth}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut rng = fastrand::Rng::with_seed(1);
    let mut side =
        || measured(&names, |_, tasks, _| (1e6 + 400.0 * tasks as f64) * (1.0 + 0.02 * normal(&mut rng)));
    let (base, mut new) = (side(), side());
    new.1.retain(|sample| sample.repetition <= 4);
    new.0.plan.repetitions = 4;
    let comparison = compared(&base, &new, &usual());
    assert_eq!((comparison.cells.len(), comparison.failures), (800, Some(0)));
    assert!(comparison.cells.iter().all(|cell| (cell.base.runs, cell.new.runs) == (5, 4)));
    assert!(comparison.verdict_confidence > 0.999_9);
}
