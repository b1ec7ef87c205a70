//! Counts waits of a run's threads by the kernel's voluntary context switches, which no program can fake.

use std::fs;

use super::cgroup::Group;

/// Counts waits of threads during a plateau, on request: every thread is read twice, which is not free.
#[derive(Debug, Default)]
pub(super) struct Switches {
    pub wanted: bool,
    first: Option<u64>,
    last: Option<u64>,
}

impl Switches {
    /// The plateau begins.
    pub fn begin(&mut self, group: &dyn Group) {
        if self.wanted {
            (self.first, self.last) = (Some(count(&group.processes())), None);
        }
    }

    /// The plateau ends.
    pub fn end(&mut self, group: &dyn Group) {
        if self.wanted {
            self.last = Some(count(&group.processes()));
        }
    }

    /// Number of waits between `begin` and `end`. Counts of threads that ended meanwhile are lost.
    pub fn seen(&self) -> Option<u64> {
        self.first.zip(self.last).map(|(first, last)| last.saturating_sub(first))
    }
}

fn count(pids: &[u32]) -> u64 {
    let tasks = pids.iter().flat_map(|pid| fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten());
    let statuses = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("status")).ok());
    statuses.filter_map(|status| parse(&status)).sum()
}

fn parse(status: &str) -> Option<u64> {
    let mut lines = status.lines();
    lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_voluntary_context_switches_are_counted() {
        assert_eq!(
            parse("Threads:\t1\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n"),
            Some(12)
        );
        let own = [std::process::id()];
        let before = count(&own);
        // Threads of other tests end meanwhile, and their counts go with them.
        let waits = (0..10_000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            count(&own) > before
        });
        assert!(waits);
    }
}
