//! Checks a run against earlier ones. A program that does not print how many of its tasks were alive is `ok` only if its
//! threads, processes and memory grow with the tasks; work only if the time between `ready` and `done` includes it. Pure.

use crate::record::{Sample, Status};
use crate::stats::{Point, medians};
use crate::units;

/// From this many tasks on, at least one thread (or process) per task means that each task has its own. With
/// fewer tasks, the number must also grow with the tasks, as a runtime has threads of its own.
const MANY_TASKS: u64 = 1_000;
/// The share of threads or processes that may be missing.
const MISSING_SHARE: f64 = 0.1;
/// If memory grows by less than this share of the predicted growth, some tasks are missing. Garbage-collected
/// heaps grew by at least a third of it in 1,300 runs of 70 entries (results/).
const GROWTH_SHARE: f64 = 0.2;
/// Predicted growth below this, in bytes, is not checked.
const GROWTH_BYTES: f64 = 16.0 * 1024.0 * 1024.0;
/// Twice the operations need at least this much more CPU time before `ready` and after `done`, in seconds and as a ratio,
/// if they are performed there. In results/, that growth is at most 0.85 times the CPU time between the lines (1,545
/// pairs): more than once is a fault.
const OUTSIDE_S: f64 = 0.3;
const OUTSIDE_RATIO: f64 = 1.4;

/// Corrects the `ok` of a sample if earlier ones contradict it.
pub(super) fn cross_check(sample: &mut Sample, before: &[Sample]) {
    if sample.status != Status::Ok {
        return;
    }
    if sample.is_double() {
        if let Some(contradiction) = work_outside(sample, before) {
            (sample.status, sample.reason) = (Status::Failed, Some(contradiction));
        }
        return;
    }
    // The memory of work is read at `ready`, when its tasks need not exist yet. Its `check` proves that they
    // did.
    if sample.alive.is_some() || sample.work.is_some() {
        return;
    }
    let is_smaller = |other: &&Sample| {
        other.status == Status::Ok
            && other.entry == sample.entry
            && other.is_of(&sample.series())
            && other.tasks < sample.tasks
    };
    let smaller: Vec<&Sample> = before.iter().filter(is_smaller).collect();
    let contradiction = fewer("threads", sample, &smaller, |sample| sample.threads)
        .or_else(|| fewer("processes", sample, &smaller, |sample| sample.processes))
        .or_else(|| smaller_than_predicted(sample, &smaller));
    if contradiction.is_some() {
        sample.status = Status::NoPlateau;
        sample.reason = contradiction;
    }
}

/// The reason if the run of twice the operations performs them before `ready` or after `done`.
fn work_outside(twice: &Sample, before: &[Sample]) -> Option<String> {
    let (part, (entry, tasks, repetition, _)) = twice.run();
    let once = before.iter().rfind(|other| other.run() == (part, (entry, tasks, repetition, false)))?;
    let inside = |sample: &Sample| sample.work.as_ref()?.cpu_s;
    let outside = |sample: &Sample| Some(sample.cpu.user_s? + sample.cpu.system_s? - inside(sample)?);
    let (inside_s, outside_s, once_s) = (inside(twice)?, outside(twice)?, outside(once)?);
    let grown_s = outside_s - once_s;
    let contradicts = grown_s > OUTSIDE_S.max(inside_s) && outside_s > OUTSIDE_RATIO * once_s;
    let [inside, outside, once] = [inside_s, outside_s, once_s].map(units::seconds);
    contradicts.then(|| {
        format!(
            "with twice the operations, CPU time before `ready` and after `done` grew from {once} to {outside}, and was \
             {inside} between them: print and flush `ready` before the first operation, and `done` after the last"
        )
    })
}

/// The reason if there are fewer threads or processes than tasks, although fewer tasks had one each.
fn fewer(
    what: &str,
    sample: &Sample,
    smaller: &[&Sample],
    count: impl Fn(&Sample) -> Option<u64>,
) -> Option<String> {
    let (there, tasks) = (count(sample)?, sample.tasks);
    let grew = |fewer: &Sample, other: &Sample| {
        let more = other.tasks.saturating_sub(fewer.tasks) as f64;
        let grown = count(other).zip(count(fewer)).map(|(other, fewer)| other.saturating_sub(fewer));
        more > 0.0 && grown.is_some_and(|grown| grown as f64 >= more * (1.0 - MISSING_SHARE))
    };
    let is_one_each = |other: &Sample| {
        count(other).is_some_and(|count| count >= other.tasks)
            && (other.tasks >= MANY_TASKS || smaller.iter().any(|fewer| grew(fewer, other)))
    };
    let one_each = smaller.iter().filter(|other| is_one_each(other)).max_by_key(|other| other.tasks)?;
    ((there as f64) < tasks as f64 * (1.0 - MISSING_SHARE)).then(|| {
        format!(
            "{there} {what} at {tasks} tasks, but {} tasks had {}: some tasks were missing when memory was read",
            one_each.tasks,
            count(one_each).unwrap_or_default()
        )
    })
}

/// The reason if the footprint is far below the line through the medians of the two next smaller N.
fn smaller_than_predicted(sample: &Sample, smaller: &[&Sample]) -> Option<String> {
    let footprint = |sample: &Sample| Some(sample.memory.plateau.as_ref()?.footprint_bytes as f64);
    let point = |other: &&Sample| Some(Point { tasks: other.tasks, y: footprint(other)? });
    let points: Vec<Point> = smaller.iter().filter_map(point).collect();
    let [.., first, second] = medians(&points)[..] else { return None };
    let (n1, n2) = (first.tasks as f64, second.tasks as f64);
    let per_task = (second.y - first.y) / (n2 - n1);
    let more = sample.tasks as f64 - n2;
    let (predicted, grown) = (per_task * more, footprint(sample)? - second.y);
    (predicted > GROWTH_BYTES && grown < GROWTH_SHARE * predicted).then(|| {
        format!(
            "memory grew by {:.0} bytes per task above {n2} tasks, but by {per_task:.0} from {n1} to {n2}: some tasks \
             were missing when memory was read",
            grown / more
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Plateau, Work, test_sample};

    /// A run of a program that does not print how many of its tasks are alive.
    fn sample(tasks: u64, footprint_bytes: u64, threads: u64) -> Sample {
        let mut sample = test_sample("measure/x", tasks);
        sample.alive = None;
        sample.threads = Some(threads);
        sample.processes = Some(1);
        sample.memory.plateau = Some(Plateau { footprint_bytes, ..Plateau::default() });
        sample
    }

    fn checked(mut sample: Sample, before: &[Sample]) -> (Status, String) {
        cross_check(&mut sample, before);
        (sample.status, sample.measurement.reason.unwrap_or_default())
    }

    #[test]
    fn missing_threads_contradict_the_claim() {
        // The 2023 post's Java program at 100,000 threads, read while it launched.
        let before = [sample(1, 40 << 20, 30), sample(10_000, 550 << 20, 10_030)];
        let (status, reason) = checked(sample(100_000, 540 << 20, 9_266), &before);
        assert_eq!(status, Status::NoPlateau);
        assert!(reason.starts_with("9266 threads at 100000 tasks") && reason.contains("10030"), "{reason}");
    }

    #[test]
    fn a_thread_pool_does_not_contradict_the_claim() {
        let before = [sample(1, 40 << 20, 30), sample(10_000, 50 << 20, 34)];
        assert_eq!(checked(sample(100_000, 140 << 20, 34), &before).0, Status::Ok);
        let before = [sample(1, 40 << 20, 30), sample(10, 40 << 20, 30)];
        assert_eq!(checked(sample(100, 41 << 20, 34), &before).0, Status::Ok);
        let before = [sample(1, 40 << 20, 30), sample(10, 40 << 20, 39)];
        assert_eq!(
            checked(sample(100, 41 << 20, 60), &before).0,
            Status::NoPlateau,
            "one thread for each task"
        );
    }

    #[test]
    fn memory_far_below_the_line_contradicts_except_collected_heaps() {
        let before = [sample(1, 9_000_000, 1), sample(1_000, 10_000_000, 1), sample(10_000, 19_000_000, 1)];
        let (status, reason) = checked(sample(1_000_000, 120_000_000, 1), &before);
        assert_eq!(status, Status::NoPlateau);
        assert!(reason.contains("by 102 bytes per task"), "{reason}");
        // java/virtual-thread: 1,918 bytes per task up to 100k tasks, 894 from there to 1M.
        let before = [sample(10_000, 72_000_000, 9), sample(100_000, 244_000_000, 9)];
        assert_eq!(checked(sample(1_000_000, 1_048_000_000, 9), &before).0, Status::Ok);
    }

    #[test]
    fn stated_alive_counts_are_not_cross_checked() {
        let before = [sample(1, 40 << 20, 30), sample(10_000, 550 << 20, 10_030)];
        let mut said = sample(100_000, 540 << 20, 9_266);
        said.alive = Some(100_000);
        assert_eq!(checked(said, &before).0, Status::Ok);
    }

    #[test]
    fn work_before_ready_is_found_in_the_second_run() {
        let run = |operations: u64, all_s: f64, inside_s: f64| {
            let mut run = sample(1_000, 40 << 20, 5);
            (run.cpu.user_s, run.cpu.system_s) = (Some(all_s), Some(0.0));
            let double = operations == 2_000;
            let cpu_s = Some(inside_s);
            run.work = Some(Box::new(Work { operations, double, cpu_s, ..Work::default() }));
            run
        };
        let status = |once: (f64, f64), twice: (f64, f64)| {
            let (status, reason) = checked(run(2_000, twice.0, twice.1), &[run(1_000, once.0, once.1)]);
            assert_eq!(reason.contains("before the first operation"), status == Status::Failed, "{reason}");
            status
        };
        assert_eq!(status((2.2, 0.1), (4.2, 0.1)), Status::Failed);
        assert_eq!(status((3.0, 2.0), (5.0, 4.0)), Status::Ok, "a second of start-up in each");
        assert_eq!(status((0.2, 0.1), (0.4, 0.1)), Status::Ok, "too little to tell");
        assert_eq!(status((60.2, 0.2), (68.2, 0.2)), Status::Ok, "a million threads that start");
        // java/graal-jit-virtual-thread on results/epyc-2cpu/2026-11-26-4.
        assert_eq!(status((85.1, 21.0), (123.1, 31.9)), Status::Ok);
        assert_eq!(checked(run(2_000, 4.2, 0.1), &[]).0, Status::Ok, "no first run");
    }

    #[test]
    fn work_is_not_cross_checked() {
        let before = [sample(1, 40 << 20, 2), sample(10, 40 << 20, 10)];
        let mut work = sample(1_000, 40 << 20, 5);
        work.work = Some(Box::default());
        assert_eq!(checked(work, &before).0, Status::Ok);
    }

    #[test]
    fn one_smaller_n_yields_no_prediction() {
        assert_eq!(checked(sample(1_000_000, 120_000_000, 1), &[sample(1, 9_000_000, 1)]).0, Status::Ok);
    }
}
