//! The start of a search: first number of tasks, variables, plan.

use std::collections::BTreeMap;

use super::search::HOLD;
use super::search_spec::{Find, fill_in};
use crate::campaign::Prepared;
use crate::catalog::{Entry, Params, Runtime, Workload, bytes_held};
use crate::record::Plan;

/// The number of tasks that a search starts with.
pub fn least_tasks(workload: &Workload, params: &Params, find: Find) -> Result<u64, String> {
    if let Find::LeastMemory { tasks } | Find::HighestRate { tasks, .. } = find {
        let refused = workload.refuse(tasks, params);
        return refused.map_or(Ok(workload.least_tasks), |why| Err(format!("-n {tasks}: {why}")));
    }
    if workload.whole_trees {
        return Err(format!(
            "--memory: `{}` takes powers of ten only, which cannot be searched; -n finds the least memory for one",
            workload.name
        ));
    }
    let doubled = std::iter::successors(Some(workload.least_tasks), |tasks| tasks.checked_mul(2));
    let mut valid = doubled.filter(|tasks| workload.refuse(*tasks, params).is_none());
    valid.next().ok_or_else(|| "no number of tasks is valid with these parameters".to_owned())
}

/// Environment variables under a memory limit, by entry.
pub fn entry_env(
    entries: &[(&Runtime, &Entry)],
) -> Result<BTreeMap<String, BTreeMap<String, String>>, String> {
    let mut all = BTreeMap::new();
    for (_, entry) in entries.iter().filter(|(_, entry)| !entry.limit_env.is_empty()) {
        for value in entry.limit_env.values() {
            fill_in(value, 0).map_err(|why| format!("limit_env of {}: {why}", entry.full_name))?;
        }
        all.insert(entry.full_name.clone(), entry.limit_env.clone());
    }
    Ok(all)
}

/// The plan that a search is recorded with.
pub fn plan(workload: &Workload, params: Params, find: Find, prepared: &[Prepared]) -> Plan {
    let entries = prepared.iter().map(|entry| entry.facts.name.clone()).collect();
    let tasks = match find {
        // Each number follows from earlier runs.
        Find::MostTasks { .. } => Vec::new(),
        Find::LeastMemory { tasks } | Find::HighestRate { tasks, .. } => vec![tasks],
    };
    Plan {
        holds_bytes: bytes_held(workload, &params),
        params,
        shape: workload.shape,
        operation: workload.operation.clone(),
        // A search may run more than one repetition.
        ..Plan::of_holds(&workload.name, entries, tasks, 1, HOLD)
    }
}
