//! What the runs of fewer tasks say against one of more: a program of which nobody says how many of its tasks were
//! alive is believed as long as its threads, processes and memory grow with them. Pure.

use std::collections::BTreeMap;

use crate::record::{Sample, Status};

/// Threads or processes are the tasks where there is at least one for each of so many tasks.
const FEWEST_TASKS: u64 = 10;
/// As many may be missing and all tasks still be there, as a share.
const MISSING_SHARE: f64 = 0.1;
/// Memory that grows by less than this share of what fewer tasks foretell is not that of all tasks. A heap that is
/// collected grows by a third at the least, in 1,300 runs of seventy entries (results/).
const GROWTH_SHARE: f64 = 0.2;
/// Where less growth than this is foretold, in bytes, it tells nothing.
const GROWTH_BYTES: f64 = 16.0 * 1024.0 * 1024.0;

/// Takes the `ok` from a sample that runs of fewer tasks contradict.
pub(super) fn heed(sample: &mut Sample, before: &[Sample]) {
    // Work is read at `ready`, when its tasks need not have been made; its `check` says whether they were.
    if sample.status != Status::Ok || sample.alive.is_some() || sample.work.is_some() {
        return;
    }
    let smaller: Vec<&Sample> = before
        .iter()
        .filter(|other| {
            other.status == Status::Ok
                && other.entry == sample.entry
                && other.is_of(&sample.part())
                && other.tasks < sample.tasks
        })
        .collect();
    if let Some(reason) = contradiction(sample, &smaller) {
        sample.status = Status::NoPlateau;
        sample.reason = Some(reason);
    }
}

fn contradiction(sample: &Sample, smaller: &[&Sample]) -> Option<String> {
    fewer("threads", sample, smaller, |sample| sample.threads)
        .or_else(|| fewer("processes", sample, smaller, |sample| sample.processes))
        .or_else(|| smaller_than_foretold(sample, smaller))
}

/// Fewer threads or processes than tasks, where fewer tasks had one each.
fn fewer(
    what: &str,
    sample: &Sample,
    smaller: &[&Sample],
    count: impl Fn(&Sample) -> Option<u64>,
) -> Option<String> {
    let (there, tasks) = (count(sample)?, sample.tasks);
    let one_each = smaller
        .iter()
        .filter(|other| other.tasks >= FEWEST_TASKS && count(other).is_some_and(|count| count >= other.tasks))
        .max_by_key(|other| other.tasks)?;
    ((there as f64) < tasks as f64 * (1.0 - MISSING_SHARE)).then(|| {
        format!(
            "{there} {what} at {tasks} tasks, where {} tasks had {}: not all tasks were there when its memory was read",
            one_each.tasks,
            count(one_each).unwrap_or_default()
        )
    })
}

/// A footprint far below the line through those of the two nearest smaller numbers of tasks.
fn smaller_than_foretold(sample: &Sample, smaller: &[&Sample]) -> Option<String> {
    let footprint = |sample: &Sample| Some(sample.memory.plateau.as_ref()?.footprint_bytes as f64);
    let mut by_tasks: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for other in smaller {
        by_tasks.entry(other.tasks).or_default().extend(footprint(other));
    }
    let mut nearest = by_tasks
        .into_iter()
        .rev()
        .filter_map(|(tasks, bytes)| Some((tasks as f64, crate::stats::median(&bytes)?)));
    let ((n2, bytes2), (n1, bytes1)) = (nearest.next()?, nearest.next()?);
    let per_task = (bytes2 - bytes1) / (n2 - n1);
    let more = sample.tasks as f64 - n2;
    let (foretold, grown) = (per_task * more, footprint(sample)? - bytes2);
    (foretold > GROWTH_BYTES && grown < GROWTH_SHARE * foretold).then(|| {
        format!(
            "its memory grew by {:.0} bytes a task from {n2} tasks on, where it had grown by {per_task:.0} from {n1} to \
             {n2}: not all tasks were there when it was read",
            grown / more
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Plateau, test_sample};

    /// A run of a program that does not say how many of its tasks are alive.
    fn sample(tasks: u64, footprint_bytes: u64, threads: u64) -> Sample {
        let mut sample = test_sample("measure/x", tasks);
        sample.alive = None;
        sample.threads = Some(threads);
        sample.processes = Some(1);
        sample.memory.plateau = Some(Plateau { footprint_bytes, ..Plateau::default() });
        sample
    }

    fn heeded(mut sample: Sample, before: &[Sample]) -> (Status, String) {
        heed(&mut sample, before);
        (sample.status, sample.reason.unwrap_or_default())
    }

    #[test]
    fn threads_that_are_missing_contradict() {
        // The 2023 post's Java program at 100,000 threads, read while it launched.
        let before = [sample(1, 40 << 20, 30), sample(10_000, 550 << 20, 10_030)];
        let (status, reason) = heeded(sample(100_000, 540 << 20, 9_266), &before);
        assert_eq!(status, Status::NoPlateau);
        assert!(reason.starts_with("9266 threads at 100000 tasks, where 10000 tasks had 10030"), "{reason}");
    }

    #[test]
    fn a_pool_of_threads_is_no_contradiction() {
        let before = [sample(1, 40 << 20, 30), sample(10_000, 50 << 20, 34)];
        assert_eq!(heeded(sample(100_000, 140 << 20, 34), &before).0, Status::Ok);
    }

    #[test]
    fn memory_far_below_the_line_contradicts_and_that_of_a_collected_heap_does_not() {
        let before = [sample(1, 9_000_000, 1), sample(1_000, 10_000_000, 1), sample(10_000, 19_000_000, 1)];
        let (status, reason) = heeded(sample(1_000_000, 120_000_000, 1), &before);
        assert_eq!(status, Status::NoPlateau);
        assert!(reason.contains("by 102 bytes a task from 10000 tasks on"), "{reason}");
        // java/virtual-thread: 1,918 bytes a task to 100 k, 894 from there to 1 M.
        let before = [sample(10_000, 72_000_000, 9), sample(100_000, 244_000_000, 9)];
        assert_eq!(heeded(sample(1_000_000, 1_048_000_000, 9), &before).0, Status::Ok);
    }

    #[test]
    fn what_the_program_itself_says_is_judged_elsewhere() {
        let before = [sample(1, 40 << 20, 30), sample(10_000, 550 << 20, 10_030)];
        let mut said = sample(100_000, 540 << 20, 9_266);
        said.alive = Some(100_000);
        assert_eq!(heeded(said, &before).0, Status::Ok);
    }

    #[test]
    fn tasks_of_work_need_not_be_there_when_it_is_read() {
        let before = [sample(1, 40 << 20, 2), sample(10, 40 << 20, 10)];
        let mut work = sample(1_000, 40 << 20, 5);
        work.work = Some(Box::default());
        assert_eq!(heeded(work, &before).0, Status::Ok);
    }

    #[test]
    fn one_smaller_number_of_tasks_is_no_line() {
        assert_eq!(heeded(sample(1_000_000, 120_000_000, 1), &[sample(1, 9_000_000, 1)]).0, Status::Ok);
    }
}
