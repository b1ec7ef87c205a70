//! Compares the claims of an entry with the kernel's counts. Pure.

use super::{CheckRule, Findings, Trial};
use crate::catalog::{Entry, Kind};
use crate::record::Status;
use crate::units;

/// A waiting task needs at least a pointer.
const MIN_BYTES: f64 = 8.0;
/// A stack has at least a frame, saved registers and a task header: more than 100 bytes (a greenlet saves about 200, an
/// Erlang process with 12 words of heap 700).
const MIN_STACK_BYTES: f64 = 128.0;
/// With fewer tasks, the runtime's own threads could be mistaken for tasks.
const ENOUGH_TASKS: u64 = 50;

/// With fewer tasks, their memory may be less than the variation of the runtime's own, which is megabytes. The
/// smallest stacks of 10,000 tasks are one megabyte.
const FAIR_TASKS: u64 = 10_000;
/// The variation of the runtime's own memory between runs, as a share: a compiler that compiles itself, such as
/// Graal, causes megabytes.
const OWN_NOISE: f64 = 0.02;

/// Checks the trials, smallest N first, against the entry's claims. Each task must hold `held` bytes. Returns the bytes per
/// task.
pub(super) fn check(
    entry: &Entry,
    held_bytes: u64,
    cpus: usize,
    trials: &[Trial],
    findings: &mut Findings,
) -> Option<f64> {
    let passed: Vec<&Trial> = trials.iter().filter(|trial| trial.status == Status::Ok).collect();
    let (first, last) = (passed.first()?, passed.last()?);
    if last.tasks < ENOUGH_TASKS {
        return None;
    }
    let n = last.tasks;
    let of_system = matches!(entry.kind, Kind::Thread | Kind::Process);
    let counted = [("thread", last.threads, first.threads), ("process", last.processes, first.processes)];
    for (what, large, small) in counted {
        let (Some(large), Some(small)) = (large, small) else { continue };
        if !of_system && large.saturating_sub(small) >= n - 1 {
            findings.error(
                CheckRule::Kind,
                format!("kind is {}, but the kernel counts {large} {what}s for {n} tasks", entry.kind.name()),
                format!("use `kind = \"{what}\"`, or start tasks of the runtime"),
            );
        }
    }
    let most = passed.iter().filter_map(|trial| Some(trial.threads?.max(trial.processes?))).max();
    if entry.parallel && cpus > 1 && most == Some(1) {
        let what = format!("`parallel = true`, but the kernel counts one thread for {n} tasks");
        let fix = "use `parallel = false`, or several threads";
        findings.error(CheckRule::Parallel, what, fix);
    }

    let (base, large) = (base(&passed)?, last.footprint_bytes?);
    let per_task = (large as f64 - base.1 as f64) / (n - base.0) as f64;
    let mut grown = format!("{n} tasks use {per_task:.0} bytes per task more than one");
    if held_bytes > 0 {
        grown.push_str(&format!(", {held_bytes} of which each must hold"));
    }
    let of_task = per_task - held_bytes as f64;
    let least = if entry.kind.stackful() { MIN_STACK_BYTES } else { MIN_BYTES };
    if of_task < least && n < FAIR_TASKS {
        return None;
    }
    if of_task < least && least * (n as f64) < OWN_NOISE * base.1 as f64 {
        let what = format!("{grown}; the runtime's own {} hide their memory", units::bytes(base.1));
        let fix = "none in the entry: the memory of its tasks cannot be measured beside so much";
        findings.note(CheckRule::Memory, what, fix);
        return None;
    }
    if of_task < MIN_BYTES {
        if entry.kind == Kind::Timer {
            let fix = "none needed if one timer serves all tasks: explain it in `notes`";
            findings.note(CheckRule::Memory, grown, fix);
        } else {
            findings.error(
                CheckRule::Memory,
                grown,
                "start N tasks that are all alive at once, each with its own wait; without tasks, use `kind = \"timer\"`",
            );
        }
    } else if entry.kind.stackful() && of_task < MIN_STACK_BYTES {
        let what = format!("kind is {}, but {grown} (too little for a stack)", entry.kind.name());
        let fix = "use `kind = \"stackless\"` or `\"future\"`, or start tasks with stacks";
        findings.error(CheckRule::Kind, what, fix);
    }
    Some(per_task)
}

/// The tasks and bytes of the smallest trial with fewer tasks than the last. What another trial uses beyond it
/// belongs to the runtime, such as a running compiler.
pub(super) fn base(trials: &[&Trial]) -> Option<(u64, u64)> {
    let (last, fewer) = trials.split_last()?;
    let sizes = fewer.iter().filter(|trial| trial.tasks < last.tasks);
    sizes.filter_map(|trial| Some((trial.tasks, trial.footprint_bytes?))).min_by_key(|(_, bytes)| *bytes)
}

#[cfg(test)]
mod tests {
    use super::super::runs::test_trial;
    use super::*;
    use crate::catalog::Catalog;

    /// The findings for a parallel entry of this kind, whose `n` tasks use `bytes` and `threads`.
    fn found(kind: &str, n: u64, bytes: u64, threads: u64, cpus: usize) -> Vec<String> {
        found_with_base(1 << 20, kind, n, bytes, threads, cpus)
    }

    /// The same for a program that uses `own` bytes with one task.
    fn found_with_base(own: u64, kind: &str, n: u64, bytes: u64, threads: u64, cpus: usize) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let manifest = format!(
            "name = \"x\"\ntitle = \"X\"\nurl = \"u\"\nversion = [\"x\"]\ninstall = {{ other = \"o\" }}\n[[entry]]\n\
             name = \"e\"\ntitle = \"E\"\nkind = \"{kind}\"\nparallel = true\nstyle = \"tuned\"\nwhy = \"w\"\n\
             workloads.sleep = {{ run = [\"x\"] }}"
        );
        std::fs::create_dir(folder.path().join("x")).unwrap();
        std::fs::write(folder.path().join("x/runtime.toml"), manifest).unwrap();
        let catalog = Catalog::load(folder.path()).unwrap();
        let trial = |tasks, bytes, threads| Trial {
            footprint_bytes: Some(bytes),
            threads: Some(threads),
            processes: Some(1),
            ..test_trial(tasks)
        };
        let mut findings = Findings::default();
        let trials = [trial(1, own, threads.min(3)), trial(n, own + bytes, threads)];
        let entry = &catalog.runtimes[0].entries[0];
        check(entry, 0, cpus, &trials, &mut findings);
        findings
            .sorted()
            .iter()
            .map(|found| format!("{} {}", found.severity.name(), found.rule.name()))
            .collect()
    }

    #[test]
    fn true_claims_pass() {
        assert_eq!(found("stackful", 1000, 1_000_000, 3, 2), [""; 0]);
        assert_eq!(found("stackless", 100_000, 1_600_000, 3, 2), [""; 0]);
        assert_eq!(found("thread", 1000, 36_000_000, 1001, 2), [""; 0]);
        // On one CPU, a parallel program may have one thread.
        assert_eq!(found("stackless", 1000, 1_000_000, 1, 1), [""; 0]);
    }

    #[test]
    fn base_is_the_smaller_trial_with_the_least_memory() {
        let trial = |tasks, bytes| Trial { tasks, footprint_bytes: Some(bytes), ..test_trial(tasks) };
        let (one, seven, many) = (trial(1, 150 << 20), trial(7, 70 << 20), trial(10_000, 82 << 20));
        assert_eq!(base(&[&one, &seven, &many]), Some((7, 70 << 20)));
        assert_eq!(base(&[&one]), None);
    }

    #[test]
    fn large_runtime_memory_turns_memory_error_into_note() {
        assert_eq!(found_with_base(70 << 20, "stackful", 10_000, 0, 3, 2), ["note memory"]);
        assert_eq!(found_with_base(40 << 20, "stackful", 10_000, 0, 3, 2), ["error memory"]);
    }

    #[test]
    fn claims_contradicting_threads_or_memory_are_reported() {
        assert_eq!(found("stackless", 1000, 1_000_000, 1, 2), ["error parallel"]);
        assert_eq!(found("stackful", 10_000, 600_000, 3, 2), ["error kind"]);
        assert_eq!(found("stackless", 1000, 36_000_000, 1002, 2), ["error kind"]);
        assert_eq!(found("stackless", 100_000, 4096, 3, 2), ["error memory"]);
        assert_eq!(found("timer", 100_000, 4096, 3, 2), ["note memory"]);
        // Too few tasks to judge memory.
        assert_eq!(found("stackless", 200, 0, 3, 2), [""; 0]);
        // Below 10,000 tasks: the runtime may have returned a megabyte of its own meanwhile.
        assert_eq!(found("stackless", 1000, 0, 3, 2), [""; 0]);
        assert_eq!(found("stackful", 1000, 60_000, 3, 2), [""; 0]);
    }
}
