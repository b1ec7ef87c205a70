//! Whole searches against scripted programs under scripted caps: how many runs they take, and their answers.

mod fixture;

use super::*;
use crate::record::{Plateau, Status};
use fixture::*;
pub use fixture::{report, search_spec};

#[test]
fn a_plain_program_is_limited_by_memory() {
    let answer = answer(&search_spec(IN_64), &PLAIN);
    let most = (61 * MIB) / 500;
    let tasks = answer.tasks.unwrap();
    assert!(tasks <= most && tasks as f64 > most as f64 * 0.98, "{tasks} of {most}");
    assert_eq!((answer.state, answer.by_memory), (SearchStatus::Found, Some(true)));
    assert!(answer.fails.unwrap().trial_point.tasks > most);
    let tried = answer.tried.unwrap();
    assert_eq!((tried.trial_point.tasks, tried.held, tried.runs), (tasks, 3, 3));
    assert!(answer.sometimes.is_none());
    assert!(answer.runs_of_search <= 6 && answer.runs <= 9, "{}", answer.runs);
    assert!((answer.bytes_per_task.unwrap() - 500.0).abs() < 1.0);
}

#[test]
fn garbage_is_not_counted_as_needed_memory() {
    let answer = answer(&search_spec(IN_64), &CappedProgram { garbage: 1.8, ..PLAIN });
    let most = (61 * MIB) / 500;
    let tasks = answer.tasks.unwrap();
    // A line cannot predict the garbage, so the search may need more runs than allowed.
    assert!(tasks <= most && tasks as f64 > most as f64 * 0.97, "{tasks} of {most}");
    assert!(
        answer.runs_of_search <= 16 && answer.width.unwrap() <= 0.03,
        "{} {:?}",
        answer.runs,
        answer.width
    );
}

/// A JVM's heap uses a part of its container's memory: the answer is where the heap is full, and names it.
#[test]
fn full_heap_is_named_as_the_limit() {
    let program = CappedProgram { heap_share: 0.25, ..PLAIN };
    let answer = answer(&search_spec(IN_64), &program);
    let most = 16 * MIB / 500;
    let tasks = answer.tasks.unwrap();
    assert!(tasks <= most && tasks as f64 > most as f64 * 0.98, "{tasks} of {most}");
    assert_eq!((answer.limited_by.as_deref(), answer.by_memory), (Some("its own heap"), Some(true)));
    assert!(answer.runs_of_search <= 9, "{}", answer.runs_of_search);
}

#[test]
fn system_limit_is_not_attributed_to_memory() {
    let answer = answer(&search_spec(IN_64), &CappedProgram { system: 32_000, ..PLAIN });
    assert_eq!(answer.limited_by.as_deref(), Some("vm.max_map_count, not memory"));
    assert_eq!(answer.by_memory, Some(false));
    assert!((31_360..=32_000).contains(&answer.tasks.unwrap()), "{:?}", answer.tasks);
}

#[test]
fn thrashing_is_reported_as_limited_by_memory() {
    let program = CappedProgram { thrash: 200.0, launch_per_task_s: 1e-5, ..PLAIN };
    let answer = answer(&search_spec(IN_64), &program);
    assert_eq!(answer.limited_by.as_deref(), Some("memory (too slow)"));
    let boundary = (0.8 * 64.0 * MIB as f64 / 500.0) as u64;
    let tasks = answer.tasks.unwrap();
    assert!(tasks <= boundary && tasks as f64 > boundary as f64 * 0.975, "{tasks} of {boundary}");
    assert!(answer.probes.iter().any(|run| run.purpose == Purpose::Control && run.holds));
}

/// A slow program is not limited by memory: the control run measures its time, and runs ended too soon are
/// repeated.
#[test]
fn timeout_of_a_slow_launch_is_inconclusive() {
    let mut samples: Vec<Sample> = Vec::new();
    let search_spec = search_spec(IN_64);
    loop {
        let search = replay(&search_spec, Kind::Stackless, &samples);
        let Some(next_run) = search.next else { break };
        // 400 times slower per task beyond 50,000, which the line through the pilots does not predict.
        let slow = if next_run.trial_point.tasks > 50_000 { 4e-4 } else { 1e-6 };
        let program = CappedProgram { launch_per_task_s: slow, ..PLAIN };
        let time_s = 2.0 + allowed(&search_spec, &search.seen, next_run.trial_point).allowance_s;
        samples.push(program.run(&next_run, samples.len() as u32 + 1, time_s, 2.0));
        assert!(samples.len() < 60);
    }
    let answer = report(&search_spec, &samples).answers.remove(0);
    assert_eq!(answer.limited_by.as_deref(), Some("memory"), "{answer:#?}");
    assert!(answer.tasks.unwrap() > 124_000);
    let cause = answer.probes.iter().find(|run| run.status == Status::TimedOut).unwrap();
    assert!(cause.reason.as_deref().unwrap().contains("inconclusive"));
}

#[test]
fn crash_with_spare_memory_is_not_blamed_on_memory() {
    let answer = answer(&search_spec(IN_64), &CappedProgram { crash: 20_000, ..PLAIN });
    assert_eq!((answer.limited_by.as_deref(), answer.by_memory), (Some("not memory"), Some(false)));
    assert!((19_600..20_000).contains(&answer.tasks.unwrap()));
}

#[test]
fn failure_of_one_task_yields_no_answer() {
    let answer = answer(&search_spec(IN_64), &CappedProgram { base: 65 * MIB, ..PLAIN });
    assert_eq!((answer.state, answer.tasks, answer.runs), (SearchStatus::NothingHolds, None, 3));
    let crashing = super::tests::answer(&search_spec(IN_64), &CappedProgram { crash: 1, ..PLAIN });
    assert_eq!((crashing.state, crashing.by_memory), (SearchStatus::NothingHolds, Some(false)));
}

#[test]
fn least_memory_search_measures_a_curve_up_to_unlimited() {
    for program in [PLAIN, CappedProgram { garbage: 3.0, ..PLAIN }] {
        let answer = answer(&search_spec(FOR_100K), &program);
        let least = 3 * MIB + 50_000_000;
        let found = answer.memory_bytes.unwrap();
        assert!(found >= least && (found as f64) < least as f64 * 1.021, "{found} for {least}");
        assert!(answer.fails.as_ref().unwrap().trial_point.cap_bytes < least);
        let runs = if program.garbage > 1.0 { 16 } else { 5 };
        assert!(answer.runs_of_search <= runs, "{}", answer.runs_of_search);
        let shares: Vec<f64> = answer
            .curve
            .iter()
            .filter(|p| p.held > 0)
            .map(|p| p.memory_bytes as f64 / found as f64)
            .collect();
        for wanted in [1.05, 1.1, 1.25, 1.5, 2.0, 4.0] {
            assert!(shares.iter().any(|share| (share / wanted - 1.0).abs() < 0.03), "{wanted}: {shares:?}");
        }
        // Runs with nearly the same memory do not count for each other.
        let often = answer.curve.iter().filter(|point| point.held >= 3).count();
        assert!(often >= 8, "{:?}", answer.curve);
        assert!(answer.curve.last().unwrap().roomy);
        assert_eq!(answer.curve.last().unwrap().times_roomy, Some(1.0));
    }
}

#[test]
fn file_pages_are_not_counted_as_needed_memory() {
    // A small program: the pages of its own file are an eighth of its memory.
    let program = CappedProgram { base: 4 * MIB, per_task: 2048, files: 3 * MIB, ..PLAIN };
    let answer = answer(&search_spec(Find::LeastMemory { tasks: 10_000 }), &program);
    let least = 4 * MIB + 20_480_000;
    assert_eq!(answer.state, SearchStatus::Found);
    assert!((least..least + least / 50).contains(&answer.memory_bytes.unwrap()), "{answer:?}");
    assert!(answer.runs_of_search <= 9, "{}", answer.runs_of_search);
}

#[test]
fn heap_limited_to_a_share_raises_the_needed_memory() {
    let answer = answer(&search_spec(FOR_100K), &CappedProgram { heap_share: 0.25, ..PLAIN });
    let least = 200_000_000;
    let found = answer.memory_bytes.unwrap();
    assert!(found >= least && (found as f64) < least as f64 * 1.03, "{found}");
    assert_eq!(answer.limited_by.as_deref(), Some("its own heap"));
}

#[test]
fn least_memory_has_no_answer_if_tasks_never_pass() {
    let answer = answer(&search_spec(FOR_100K), &CappedProgram { system: 1_000, ..PLAIN });
    assert_eq!((answer.state, answer.memory_bytes, answer.runs), (SearchStatus::NothingHolds, None, 3));
    assert_eq!(answer.by_memory, Some(false));
}

/// Runs a search. `change` may alter each run.
fn drive_with(search_spec: &SearchSpec, mut change: impl FnMut(&NextRun, &mut Sample)) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    while let Some(next_run) = replay(search_spec, Kind::Stackless, &samples).next {
        let mut sample = PLAIN.run(&next_run, samples.len() as u32 + 1, 99.0, 2.0);
        change(&next_run, &mut sample);
        samples.push(sample);
        assert!(samples.len() < 200, "the search does not end");
    }
    samples
}

/// Both directions: the answer moves to the safe side, is confirmed again, and the boundary is not sharp.
#[test]
fn failed_confirming_runs_move_the_answer() {
    use crate::document::Format;
    for find in [IN_64, FOR_100K] {
        let search_spec = search_spec(find);
        let mut unlucky = None;
        let samples = drive_with(&search_spec, |next_run, sample| {
            if next_run.purpose == Purpose::Confirm && unlucky.is_none() {
                unlucky = Some((next_run.trial_point.tasks, next_run.trial_point.cap_bytes));
                (sample.status, sample.memory.plateau) = (Status::KilledOom, None);
            }
        });
        let report = report(&search_spec, &samples);
        let answer = &report.answers[0];
        let (tasks, bytes) = (answer.tasks.unwrap(), answer.memory_bytes.unwrap());
        let unlucky = unlucky.unwrap();
        assert!(tasks < unlucky.0 || bytes > unlucky.1, "{tasks} {bytes} {unlucky:?}");
        assert_eq!(answer.state, SearchStatus::Found);
        let tried = answer.tried.unwrap();
        assert_eq!(
            (tried.trial_point.tasks, tried.trial_point.cap_bytes, tried.held, tried.runs),
            (tasks, bytes, 3, 3)
        );
        let sometimes = answer.sometimes.as_ref().unwrap();
        assert!(
            sometimes.trial_point.tasks >= unlucky.0 && sometimes.trial_point.cap_bytes <= unlucky.1,
            "{sometimes:?}"
        );
        let fails = answer.fails.as_ref().unwrap();
        assert_eq!((fails.trial_point.tasks, fails.trial_point.cap_bytes), unlucky);

        let shown = |format| super::super::render(&report, format, Default::default());
        let said = ["3 of 3", "no sharp boundary", "all runs passed"];
        assert!(said.iter().all(|said| shown(Format::Table).contains(said)), "{}", shown(Format::Table));
        assert!(
            said.iter().all(|said| shown(Format::Markdown).contains(said)),
            "{}",
            shown(Format::Markdown)
        );
        let csv = shown(Format::Csv);
        assert!(
            csv.contains(",answer,") && csv.contains(",sometimes,") && csv.contains(",3,3,not-sharp"),
            "{csv}"
        );
        let json: serde_json::Value = serde_json::from_str(&shown(Format::Json)).unwrap();
        assert_eq!(json["answers"][0]["sometimes"]["holds"], true);
        assert_eq!(json["answers"][0]["tried"]["held"], 3);
        let sentence = super::super::sentence(answer, &find);
        assert!(sentence.contains("(3 of 3); no sharp boundary: all runs passed"), "{sentence}");
    }
}

/// If no value is confirmed in the allowed runs, there is no answer, only the last candidate's passes.
#[test]
fn unconfirmed_boundaries_are_not_answers() {
    for (find, format) in [(IN_64, "tasks"), (FOR_100K, "MiB")] {
        let search_spec = SearchSpec { most_runs: 8, ..search_spec(find) };
        let mut third = 0;
        let samples = drive_with(&search_spec, |next_run, sample| {
            if next_run.purpose == Purpose::Confirm {
                third += 1;
                if third % 3 == 0 {
                    (sample.status, sample.memory.plateau) = (Status::KilledOom, None);
                }
            }
        });
        let report = report(&search_spec, &samples);
        let answer = &report.answers[0];
        assert_eq!((answer.state, answer.tasks, answer.memory_bytes), (SearchStatus::Undecided, None, None));
        assert!(report.is_incomplete());
        assert_eq!(answer.runs_of_search, 8);
        let tried = answer.tried.unwrap();
        assert_eq!((tried.held, tried.runs), (2, 3));
        let table = super::super::render(&report, crate::document::Format::Table, Default::default());
        assert!(table.contains("└ no answer: ") && table.contains("passed 2 of 3"), "{table}");
        assert!(table.contains(format), "{table}");
        // More runs resume from there.
        let more = SearchSpec { most_runs: 24, ..search_spec };
        assert!(replay(&more, Kind::Stackless, &samples).next.is_some());
    }
}

/// The run that found a value does not count, as the value was selected because it passed.
#[test]
fn search_runs_do_not_count_as_confirmation() {
    for repetitions in [1, 2, 5] {
        let search_spec = SearchSpec { repetitions, ..search_spec(IN_64) };
        let answer = answer(&search_spec, &PLAIN);
        let tried = answer.tried.unwrap();
        assert_eq!((tried.held, tried.runs), (repetitions as usize, repetitions as usize));
        let confirming = answer.probes.iter().filter(|run| run.purpose == Purpose::Confirm).count();
        assert_eq!((confirming, answer.runs), (tried.runs, answer.runs_of_search + tried.runs));
    }
}

/// A run that fails far below its cap is repeated, and the answer is as if it had not failed.
#[test]
fn failures_by_chance_do_not_change_the_answer() {
    let usual = answer(&search_spec(IN_64), &PLAIN);
    for failing in [0, 1, 3] {
        let (search_spec, mut runs) = (search_spec(IN_64), 0);
        let samples = drive_with(&search_spec, |_, sample| {
            if runs == failing {
                (sample.status, sample.memory.plateau) = (Status::Crashed, None);
                sample.memory.peak_bytes = Some(MIB);
            }
            runs += 1;
        });
        let answer = report(&search_spec, &samples).answers.remove(0);
        assert_eq!((answer.state, answer.tasks), (SearchStatus::Found, usual.tasks), "{failing}");
        assert_eq!(answer.limited_by.as_deref(), Some("memory"), "{failing}");
    }
}

/// As of a program that starts 50,000 tasks at most, whatever their number.
#[test]
fn a_program_without_its_tasks_has_no_limit() {
    let search_spec = search_spec(IN_64);
    let samples = drive_with(&search_spec, |_, sample| {
        let footprint = sample.memory.plateau.as_ref().map_or(20 * MIB, |plateau| plateau.footprint_bytes);
        let footprint_bytes = footprint.min(20 * MIB);
        sample.memory.plateau = Some(Plateau { footprint_bytes, ..Plateau::default() });
        (sample.status, sample.memory.peak_bytes) = (Status::Ok, Some(footprint_bytes));
    });
    let answer = report(&search_spec, &samples).answers.remove(0);
    assert_eq!((answer.state, answer.tasks), (SearchStatus::NothingHolds, None), "{answer:#?}");
    assert!(answer.fails.unwrap().reason.unwrap().contains("tasks are missing"));
}

#[test]
fn inconclusive_runs_do_not_pass() {
    use crate::record::Warning;
    let search_spec = search_spec(IN_64);
    let judged = |change: fn(&mut Sample)| {
        let trial_point = search_spec.trial_point(10);
        let next_run = NextRun { purpose: Purpose::Search, trial_point, again: false };
        let mut sample = PLAIN.run(&next_run, 1, 99.0, 2.0);
        change(&mut sample);
        classify(&search_spec, Kind::Stackless, &sample, Baseline { allowance_s: 10.0, cpu_s: 1.0 })
    };
    assert_eq!(judged(|_| {}), Outcome::Passes);
    assert_eq!(judged(|sample| sample.warnings = vec![Warning::Swapped]).cause(), Some(Cause::Memory));
    assert_eq!(judged(|sample| sample.alive = None).cause(), Some(Cause::Other));
    assert_eq!(judged(|sample| sample.alive = Some(9)).cause(), Some(Cause::Other));
    let grew = judged(|sample| sample.warnings = vec![Warning::PlateauGrew]);
    assert!(matches!(grew, Outcome::Inconclusive(Cause::Other, _)), "{grew:?}");
    // Repeated, and fails if memory grows each time.
    let samples = drive_with(&search_spec, |next_run, sample| {
        if next_run.trial_point.tasks > 1 {
            sample.warnings = vec![Warning::PlateauGrew];
        }
    });
    let answer = report(&search_spec, &samples).answers.remove(0);
    assert!(answer.tasks.is_none_or(|tasks| tasks == 1), "{:?}", answer.tasks);
    assert!(answer.probes.iter().any(|run| run.cause == Some(Cause::Other)));
}

/// Interrupted after any run, a search resumes with the same runs.
#[test]
fn interrupted_searches_resume_with_the_same_runs() {
    for (find, program) in [
        (IN_64, CappedProgram { garbage: 1.5, ..PLAIN }),
        (IN_64, CappedProgram { thrash: 200.0, launch_per_task_s: 1e-5, ..PLAIN }),
        (FOR_100K, PLAIN),
    ] {
        let search_spec = search_spec(find);
        let all = drive(&search_spec, &program);
        for cut in 0..all.len() {
            let next_run = replay(&search_spec, Kind::Stackless, &all[..cut]).next.unwrap();
            assert_eq!(
                (next_run.trial_point.tasks, Some(next_run.trial_point.cap_bytes)),
                (all[cut].tasks, all[cut].memory.cap_bytes)
            );
        }
    }
}

#[test]
fn exhausted_run_budget_is_undecided_and_resumable() {
    let few = SearchSpec { most_runs: 3, ..search_spec(IN_64) };
    let samples = drive(&few, &PLAIN);
    let answer = report(&few, &samples).answers.remove(0);
    assert_eq!((answer.state, answer.runs_of_search, answer.runs), (SearchStatus::Undecided, 3, 6));
    // The last candidate is confirmed all the same, but not as precise as requested.
    assert_eq!((answer.tried.unwrap().held, answer.width), (3, None));
    assert!(replay(&search_spec(IN_64), Kind::Stackless, &samples).next.is_some());
}

fn rendered(find: Find, program: &CappedProgram, format: crate::document::Format) -> String {
    let search_spec = search_spec(find);
    let report = report(&search_spec, &drive(&search_spec, program));
    super::super::render(&report, format, Default::default())
}

#[test]
fn memory_answers_render_as_table_csv_markdown_and_json() {
    use crate::document::Format;
    let heap = CappedProgram { heap_share: 0.25, ..PLAIN };
    insta::assert_snapshot!("most_tasks_table", rendered(IN_64, &heap, Format::Table));
    insta::assert_snapshot!("most_tasks_csv", rendered(IN_64, &heap, Format::Csv));
    let thrash = CappedProgram { thrash: 3.0, ..PLAIN };
    insta::assert_snapshot!("least_memory_table", rendered(FOR_100K, &thrash, Format::Table));
    let none = CappedProgram { base: 65 * MIB, ..PLAIN };
    assert!(rendered(IN_64, &none, Format::Table).contains("fails with 1 task: "));
    assert!(rendered(IN_64, &heap, Format::Markdown).contains("| most tasks"));
    let json: serde_json::Value = serde_json::from_str(&rendered(IN_64, &PLAIN, Format::Json)).unwrap();
    assert_eq!(json["question"]["find"], "most-tasks");
}

/// A run that was slow on a busy machine without more CPU time is repeated, and does not move the boundary.
#[test]
fn runs_slowed_by_a_busy_machine_do_not_count() {
    let search_spec = search_spec(FOR_100K);
    let mut disturbed = 0;
    let mut samples = drive_with(&search_spec, |next_run, sample| {
        if next_run.purpose == Purpose::Curve && disturbed < 2 {
            disturbed += 1;
            sample.time.drain_s = Some(60.0);
            sample.warnings = vec![crate::record::Warning::MachineBusy];
        }
    });
    let answer = report(&search_spec, &samples).answers.remove(0);
    assert!((answer.memory_bytes.unwrap() as f64) < (3 * MIB + 50_000_000) as f64 * 1.021);
    assert!(
        answer
            .curve
            .iter()
            .all(|point| point.held == point.runs || point.memory_bytes < 3 * MIB + 50_000_000)
    );
    assert_eq!(answer.probes.iter().filter(|run| !run.holds && run.cause.is_none()).count(), 2);
    // A run that is slow three times fails.
    for sample in samples.iter_mut().filter(|sample| sample.memory.cap_bytes == answer.memory_bytes) {
        sample.time.drain_s = Some(60.0);
        sample.warnings = vec![crate::record::Warning::MachineBusy];
    }
    let three = samples.iter().find(|sample| sample.memory.cap_bytes == answer.memory_bytes).unwrap();
    let roomy = samples[0].clone();
    let again = [vec![roomy], vec![three.clone(); 3]].concat();
    assert_eq!(replay(&search_spec, Kind::Stackless, &again).seen[3].outcome.cause(), Some(Cause::Slow));
}
