//! Are taskscale's values true? The scripted program takes memory of a known size. The difference from the same
//! program without it is compared with what taskscale reports.
//!
//! `cargo test --test end_to_end truth -- --nocapture` prints the tables for this machine. `tests/vm/truth`
//! does the same with cgroup v2 in virtual machines, and with TASKSCALE_BLESS=1 writes
//! docs/reference/ground-truth.md.

mod cases;
mod place;
mod processes;
mod table;

use std::sync::{Mutex, PoisonError};

use crate::support::{not_possible_here, skipped, was_starved};
use cases::{NOTHING, TruthCase};
use place::{NoSamples, Setup};
use table::{TruthRow, rows};
use taskscale::record::{Sample, Status, Warning};

/// Measures all cases in a place, and returns their rows and the faults. `None` if it is skipped.
fn check(place: &Setup, cases: &[TruthCase]) -> Option<(Vec<TruthRow>, Vec<String>)> {
    let samples = match place.measure_all(cases) {
        Ok(samples) => samples,
        Err(NoSamples::Skipped(why)) => {
            not_possible_here(&format!("{}: {}", place.title, why.trim()));
            return None;
        }
        Err(NoSamples::Failed(why)) => return Some((Vec::new(), vec![format!("{}: {why}", place.title)])),
    };
    let mut wrong = Vec::new();
    // CPU-starved programs are left out, as nothing is known of them.
    let samples: Vec<Sample> = samples.into_iter().filter(|sample| !was_starved(sample)).collect();
    for sample in &samples {
        wrong.extend(
            unexpected(place, sample).map(|what| format!("{}: {}: {what}", place.title, sample.entry)),
        );
    }
    let rows = rows(cases, &samples, place.files_in_memory());
    println!("{}", table::text(place.title, &samples, &rows));
    wrong
        .extend(rows.iter().filter(|row| !row.holds()).map(|row| format!("{}: {}", place.title, row.text())));
    Some((rows, wrong))
}

/// What is wrong with a sample besides its values.
fn unexpected(place: &Setup, sample: &Sample) -> Option<String> {
    if sample.status != Status::Ok {
        return Some(format!("{}: {:?} {:?}", sample.status, sample.reason, sample.stderr_tail));
    }
    if place.source.is_some_and(|source| source != sample.memory.source) {
        return Some(format!("measured by {}", sample.memory.source.name()));
    }
    // Other load on the machine changes times, but not the memory of these programs.
    let of_the_machine = [Warning::MachineBusy, Warning::CpuStarved];
    let warnings: Vec<_> =
        sample.warnings.iter().filter(|warning| !of_the_machine.contains(warning)).collect();
    let expected: Vec<_> = place.warning.iter().collect();
    (place.source.is_some() && warnings != expected).then(|| format!("warns of {warnings:?}"))
}

fn assert_right(wrong: &[String]) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn values_match_ground_truth() {
    let (_, wrong) = check(&place::here(), &cases::all()).expect("this machine is always there");
    assert_right(&wrong);
}

/// Without a cgroup the peak is sampled, so these tests must not run in parallel.
static SAMPLED: Mutex<()> = Mutex::new(());

#[test]
#[ignore = "nightly: ground truth"]
fn values_match_ground_truth_without_a_cgroup() {
    let _alone = SAMPLED.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, wrong) = check(&place::here_by_proc(), &cases::all()).expect("this machine is always there");
    assert_right(&wrong);
}

/// Every VM. Takes minutes, and needs what tests/vm/README.md lists. Run by tests/vm/truth.
#[test]
#[ignore = "run by tests/vm/truth"]
fn values_match_ground_truth_in_vms() {
    if std::env::var_os("TASKSCALE_TRUTH_STATIC").is_none() {
        return skipped("static programs for the VMs are built by tests/vm/truth");
    }
    let only = std::env::var("TASKSCALE_TRUTH_PLACE").unwrap_or_default();
    let bless = std::env::var_os("TASKSCALE_BLESS").is_some();
    let mut places = place::vms();
    if bless {
        places.splice(0..0, [place::here(), place::here_by_proc()]);
    }
    places.retain(|place| place.title.contains(&only));
    if std::env::var_os("TASKSCALE_TRUTH_FEW").is_some() {
        places.iter_mut().for_each(|place| place.only = place::FEW);
    }
    let cases = cases::all();
    // An emulated processor occupies a real one while it is not idle: about half of the time.
    let at_once = std::thread::available_parallelism().map_or(1, |count| count.get()) + 1;
    let mut results = Vec::new();
    for some in places.chunks(at_once) {
        results.extend(std::thread::scope(|scope| {
            let running: Vec<_> = some.iter().map(|place| scope.spawn(|| check(place, &cases))).collect();
            running.into_iter().map(|place| place.join().unwrap()).collect::<Vec<_>>()
        }));
    }
    let wrong: Vec<String> = results.iter().flatten().flat_map(|(_, wrong)| wrong.clone()).collect();
    assert_right(&wrong);
    if bless {
        let columns: Vec<_> = places
            .iter()
            .zip(&results)
            .filter_map(|(place, result)| Some((place.title, result.as_ref()?.0.as_slice())))
            .collect();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/ground-truth.md");
        std::fs::write(path, table::document(&columns)).unwrap();
    }
}

/// Small after large, large after small: twenty shuffles, five in each of four parallel campaigns.
#[test]
#[ignore = "nightly: ground truth"]
fn run_order_does_not_change_memory() {
    let _alone = SAMPLED.lock().unwrap_or_else(PoisonError::into_inner);
    let cases = cases::all();
    let names = [NOTHING, "anon-1", "anon-10", "anon-100"];
    let some: Vec<&TruthCase> = cases.iter().filter(|case| names.contains(&case.name)).collect();
    let samples: Vec<Sample> = std::thread::scope(|scope| {
        let campaigns: Vec<_> = (1..=4)
            .map(|seed| {
                scope.spawn({
                    let some = &some;
                    move || place::here().measure(some, 5, seed)
                })
            })
            .collect();
        campaigns
            .into_iter()
            .flat_map(|campaign| match campaign.join().unwrap() {
                Ok(samples) => samples,
                Err(NoSamples::Skipped(why) | NoSamples::Failed(why)) => panic!("{why}"),
            })
            .collect()
    });
    let mut wrong = Vec::new();
    for case in &some {
        for figure in [cases::TruthMetric::Anon, cases::TruthMetric::Peak] {
            let entry = format!("fake/{}", case.name);
            let seen: Vec<u64> =
                samples.iter().filter(|s| *s.entry == *entry).map(|s| figure.of(s).unwrap()).collect();
            assert_eq!(seen.len(), 20);
            let (least, most) = (seen.iter().min().unwrap(), seen.iter().max().unwrap());
            println!("{:10} {:5} {least:>10} to {most:>10} in 20 shuffles", case.name, figure.name());
            if most - least > figure.bound(*least, 1) {
                wrong.push(format!("{}: {}: {seen:?}", case.name, figure.name()));
            }
        }
    }
    assert_right(&wrong);
}
