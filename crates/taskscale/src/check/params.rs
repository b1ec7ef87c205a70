//! Checks that a program accepts parameters other than the defaults, with the right result.

use std::collections::BTreeMap;

use super::runs::Runs;
use super::work::FEW_ROUNDS;
use super::{CheckResult, Findings};
use crate::catalog::{Shape, Workload};
use crate::record::Status;

/// The number of tasks with other parameters: a power of ten, which every workload accepts.
const TASKS: u64 = 10;
/// The wait of each task, in seconds.
const HOLD_S: f64 = 1.0;

/// Runs with other parameters, unless a run with the defaults failed.
pub(super) fn check(runs: &mut Runs) -> CheckResult<()> {
    runs.params = others(runs.workload, TASKS);
    if !runs.params.is_empty() && runs.passed() {
        let before = runs.set_aside();
        match runs.workload.shape {
            Shape::Hold => {
                runs.hold(TASKS, HOLD_S)?;
                // Computing tasks may keep others from waking if nothing preempts them: a result, not a fault.
                let is_partial = runs.trials.last().is_some_and(|trial| trial.status == Status::Partial);
                if is_partial && runs.workload.wakes.is_some() {
                    runs.findings = Findings::default();
                }
            }
            // These parameters are for the clients.
            Shape::Serve => {}
            Shape::Work => {
                runs.work(TASKS, FEW_ROUNDS * TASKS)?;
            }
        }
        runs.restore(before);
    }
    runs.params.clear();
    Ok(())
}

/// Another value for each parameter: slightly above the default if allowed, or else below.
fn others(workload: &Workload, tasks: u64) -> BTreeMap<String, String> {
    let mut params = BTreeMap::new();
    for (name, parameter) in &workload.parameters {
        let default = parameter.default;
        let candidates = [default.saturating_add(2), default.saturating_add(1), default.saturating_sub(1)];
        let fits = |value: &u64| {
            let mut with: BTreeMap<String, String> = params.clone();
            with.insert(name.clone(), value.to_string());
            *value != default
                && (parameter.least..=parameter.most).contains(value)
                && workload.refuse(tasks, &with).is_none()
        };
        if let Some(value) = candidates.into_iter().find(fits) {
            params.insert(name.clone(), value.to_string());
        }
    }
    params
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::tests::carried_workloads;

    #[test]
    fn every_parameter_has_a_valid_non_default_value() {
        for workload in carried_workloads() {
            let others = others(&workload, TASKS);
            assert_eq!(others.len(), workload.parameters.len(), "{}", workload.name);
            for (name, value) in &others {
                assert_ne!(*value, workload.parameters[name].default.to_string(), "{} {name}", workload.name);
            }
            assert_eq!(workload.refuse(TASKS, &others), None);
        }
    }
}
