//! The cost of operations, from `ready` (preparation is over) until `done`.

use super::Analysis;
use crate::sampler::seconds;
use crate::{Warning, Work};

/// How much the time of the second half may differ from the first half's, as a share.
const SETTLED: f64 = 0.1;

impl Analysis<'_> {
    /// Wall and CPU time of all operations, where observed.
    pub(super) fn work(&self) -> Option<Work> {
        let (state, params) = (self.state, self.spec.scenario.work()?);
        let wall_s = state.plateau.zip(state.program.done_ns).map(|(from, to)| seconds(from.since_ns, to));
        let used = state.plateau.and_then(|from| from.cpu).zip(state.plateau_end.and_then(|(_, cpu)| cpu));
        let cpu_s = used.map(|(from, to)| (to.total_s - from.total_s).max(0.0));
        Some(Work {
            operations: params.operations,
            double: params.once_s.is_some(),
            wall_s,
            cpu_s: cpu_s.filter(|_| wall_s.is_some()),
            check: state.program.printed.check.clone(),
        })
    }

    /// A warning if the time was too short, or did not grow linearly with the operations.
    pub(super) fn work_warning(&self, work: &Work) -> Option<Warning> {
        let params = self.spec.scenario.work()?;
        let wall_s = work.wall_s?;
        if wall_s < params.least_s {
            return Some(Warning::WorkShort);
        }
        is_unsettled(params.once_s?, wall_s).then_some(Warning::WorkUnsettled)
    }
}

/// Whether the second half took clearly more or less time than the first.
fn is_unsettled(once_s: f64, twice_s: f64) -> bool {
    ((twice_s - once_s) / once_s - 1.0).abs() > SETTLED
}

#[cfg(test)]
mod tests {
    use super::is_unsettled;

    #[test]
    fn uneven_halves_of_work_are_reported() {
        assert!(!is_unsettled(1.0, 2.0) && !is_unsettled(1.0, 1.92) && !is_unsettled(1.0, 2.08));
        assert!(is_unsettled(1.0, 1.85), "a compiler made the second half faster");
        assert!(is_unsettled(1.0, 2.15), "a map outgrew a cache");
        assert!(is_unsettled(1.0, 0.9));
    }
}
