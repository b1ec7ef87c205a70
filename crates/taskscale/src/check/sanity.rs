//! What an entry claims of itself against what the kernel counted. Pure.

use super::{Findings, Rule, Trial};
use crate::catalog::{Entry, Kind};
use crate::record::Status;
use crate::units;

/// Whatever waits must be known by something: less than a pointer a task is none.
const LEAST_BYTES: f64 = 8.0;
/// A stack of its own holds at least a frame, saved registers and what knows the task: 100 bytes and more in the
/// smallest of them (a stackful coroutine of a greenlet saves about 200, an Erlang process with 12 words of heap 700).
const LEAST_STACK_BYTES: f64 = 128.0;
/// With fewer tasks a runtime's own threads could be taken for theirs.
const ENOUGH_TASKS: u64 = 50;

/// With fewer tasks what a runtime takes for itself, which varies from run to run by megabytes, may be more than they
/// take: a stack's least bytes are a megabyte of so many tasks.
const FAIR_TASKS: u64 = 10_000;
/// By this share of what a runtime takes for itself that differs from run to run: a compiler that compiles itself, as Graal
/// does, makes megabytes of it.
const OWN_NOISE: f64 = 0.02;

/// What is claimed, and what it is to be compared with.
pub(super) struct Claims<'c> {
    pub entry: &'c Entry,
    /// How many bytes each task was told to hold.
    pub held: u64,
    pub cpus: usize,
}

/// Looks at the trials, smallest N first; returns the bytes that a task takes.
pub(super) fn look(claims: &Claims, trials: &[Trial], findings: &mut Findings) -> Option<f64> {
    let Claims { entry, held, cpus } = *claims;
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
                Rule::Kind,
                format!(
                    "kind is {}, but with {n} tasks the kernel counts {large} {what}s",
                    entry.kind.name()
                ),
                format!("give `kind = \"{what}\"`, or start tasks of the runtime instead"),
            );
        }
    }
    let most = passed.iter().filter_map(|trial| Some(trial.threads?.max(trial.processes?))).max();
    if entry.parallel && cpus > 1 && most == Some(1) {
        findings.error(
            Rule::Parallel,
            format!("`parallel = true`, but with {n} tasks the kernel counts one thread"),
            "give `parallel = false`, or let the runtime use several threads",
        );
    }

    let (base, large) = (base(&passed)?, last.footprint_bytes?);
    let per_task = (large as f64 - base.1 as f64) / (n - base.0) as f64;
    let mut grown = format!("with {n} tasks memory is {per_task:.0} bytes a task above that of one");
    if held > 0 {
        grown.push_str(&format!(", of which each was told to hold {held}"));
    }
    let of_task = per_task - held as f64;
    let least = if entry.kind.stackful() { LEAST_STACK_BYTES } else { LEAST_BYTES };
    if of_task < least && n < FAIR_TASKS {
        return None;
    }
    if of_task < least && least * (n as f64) < OWN_NOISE * base.1 as f64 {
        findings.note(
            Rule::Memory,
            format!("{grown}, which the runtime's own {} hide", units::bytes(base.1)),
            "nothing in the entry: whether its tasks take memory cannot be told beside so much",
        );
        return None;
    }
    if of_task < LEAST_BYTES {
        if entry.kind == Kind::Timer {
            findings.note(Rule::Memory, grown, "nothing, if one timer stands for all: say so in `notes`");
        } else {
            findings.error(
                Rule::Memory,
                grown,
                "start N tasks that all live at once, each with a wait of its own; if there is none, `kind = \"timer\"`",
            );
        }
    } else if entry.kind.stackful() && of_task < LEAST_STACK_BYTES {
        findings.error(
            Rule::Kind,
            format!("kind is {}, but {grown}: no stack is so small", entry.kind.name()),
            "give `kind = \"stackless\"` or `\"future\"`, or start tasks with stacks of their own",
        );
    }
    Some(per_task)
}

/// The least that fewer tasks than the last trial's took, and how many they were: what one took more than that the
/// runtime took for itself, such as a compiler at work.
pub(super) fn base(trials: &[&Trial]) -> Option<(u64, u64)> {
    let (last, fewer) = trials.split_last()?;
    let sizes = fewer.iter().filter(|trial| trial.tasks < last.tasks);
    sizes.filter_map(|trial| Some((trial.tasks, trial.footprint_bytes?))).min_by_key(|(_, bytes)| *bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn of(tasks: u64) -> Trial {
        Trial {
            tasks,
            hold_s: Some(2.0),
            operations: None,
            status: Status::Ok,
            reason: None,
            launch_s: None,
            start_cpu_s: None,
            work_s: None,
            work_cpu_s: None,
            footprint_bytes: None,
            peak_bytes: None,
            threads: None,
            processes: None,
        }
    }

    /// An entry of this kind, parallel, and what is found when `n` tasks take so many bytes and threads.
    fn found(kind: &str, n: u64, bytes: u64, threads: u64, cpus: usize) -> Vec<String> {
        found_beside(1 << 20, kind, n, bytes, threads, cpus)
    }

    /// The same where the program takes so many bytes with one task.
    fn found_beside(own: u64, kind: &str, n: u64, bytes: u64, threads: u64, cpus: usize) -> Vec<String> {
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
            ..of(tasks)
        };
        let mut findings = Findings::default();
        let trials = [trial(1, own, threads.min(3)), trial(n, own + bytes, threads)];
        let entry = &catalog.runtimes[0].entries[0];
        look(&Claims { entry, held: 0, cpus }, &trials, &mut findings);
        findings
            .sorted()
            .iter()
            .map(|found| format!("{} {}", found.severity.name(), found.rule.name()))
            .collect()
    }

    #[test]
    fn claims_that_hold_are_left_alone() {
        assert_eq!(found("stackful", 1000, 1_000_000, 3, 2), [""; 0]);
        assert_eq!(found("stackless", 100_000, 1_600_000, 3, 2), [""; 0]);
        assert_eq!(found("thread", 1000, 36_000_000, 1001, 2), [""; 0]);
        // One CPU: what runs in parallel elsewhere has one thread here.
        assert_eq!(found("stackless", 1000, 1_000_000, 1, 1), [""; 0]);
    }

    #[test]
    fn what_a_runtime_took_for_itself_is_not_the_first_tasks() {
        let trial = |tasks, bytes| Trial { tasks, footprint_bytes: Some(bytes), ..of(tasks) };
        let (one, seven, many) = (trial(1, 150 << 20), trial(7, 70 << 20), trial(10_000, 82 << 20));
        assert_eq!(base(&[&one, &seven, &many]), Some((7, 70 << 20)));
        assert_eq!(base(&[&one]), None);
    }

    #[test]
    fn what_a_runtime_takes_for_itself_may_hide_its_tasks() {
        assert_eq!(found_beside(70 << 20, "stackful", 10_000, 0, 3, 2), ["note memory"]);
        assert_eq!(found_beside(40 << 20, "stackful", 10_000, 0, 3, 2), ["error memory"]);
    }

    #[test]
    fn claims_that_do_not_are_found() {
        assert_eq!(found("stackless", 1000, 1_000_000, 1, 2), ["error parallel"]);
        assert_eq!(found("stackful", 10_000, 600_000, 3, 2), ["error kind"]);
        assert_eq!(found("stackless", 1000, 36_000_000, 1002, 2), ["error kind"]);
        assert_eq!(found("stackless", 100_000, 4096, 3, 2), ["error memory"]);
        assert_eq!(found("timer", 100_000, 4096, 3, 2), ["note memory"]);
        // Too few to say anything of memory.
        assert_eq!(found("stackless", 200, 0, 3, 2), [""; 0]);
        // More were not tried, as the machine was busy: a runtime's own megabyte may have been given back meanwhile.
        assert_eq!(found("stackless", 1000, 0, 3, 2), [""; 0]);
        assert_eq!(found("stackful", 1000, 60_000, 3, 2), [""; 0]);
    }
}
