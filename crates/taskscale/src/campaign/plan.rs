//! The plan's cells in the order in which they are run. Pure.

use sha2::{Digest, Sha256};

use crate::record::Plan;

/// One repetition of entry × N.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    pub repetition: u32,
    pub tasks: u64,
    pub entry: String,
}

/// All cells in order: repetition after repetition; within one, N ascends, as smaller N predict the hold of larger;
/// within one N the entries come in random order, so that no entry always follows the same one.
pub fn cells(plan: &Plan, seed: u64) -> Vec<Cell> {
    let mut cells = Vec::new();
    for repetition in 1..=plan.repetitions {
        for tasks in &plan.tasks {
            let mut entries = plan.entries.clone();
            // Each shuffle has a seed of its own: leaving out one N does not change the order of another.
            let own_seed = seed ^ tasks.rotate_left(17) ^ u64::from(repetition).rotate_left(47);
            fastrand::Rng::with_seed(own_seed).shuffle(&mut entries);
            cells.extend(entries.into_iter().map(|entry| Cell { repetition, tasks: *tasks, entry }));
        }
    }
    cells
}

/// SHA-256 of a plan in hexadecimal digits.
pub fn plan_digest(plan: &Plan) -> String {
    // Field by field in fixed order: JSON of a struct is canonical enough.
    let text = serde_json::to_string(plan).unwrap_or_default();
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Hold;

    fn plan() -> Plan {
        Plan {
            workload: "sleep".into(),
            entries: ["a/a", "a/b", "b/c", "b/d", "b/e"].map(String::from).to_vec(),
            tasks: vec![1, 10_000],
            repetitions: 3,
            hold: Hold::Chosen { plateau_s: 1.0 },
        }
    }

    #[test]
    fn every_cell_comes_once_with_n_ascending_within_a_repetition() {
        let cells = cells(&plan(), 7);
        assert_eq!(cells.len(), 30);
        assert!(cells.is_sorted_by_key(|cell| (cell.repetition, cell.tasks)));
        let mut unique = cells.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), 30);
    }

    #[test]
    fn the_seed_decides_the_order() {
        assert_eq!(cells(&plan(), 7), cells(&plan(), 7));
        assert_ne!(cells(&plan(), 7), cells(&plan(), 8));
        let order = |repetition| {
            let cells = cells(&plan(), 7);
            cells
                .into_iter()
                .filter(|c| c.repetition == repetition && c.tasks == 1)
                .map(|c| c.entry)
                .collect::<Vec<_>>()
        };
        assert!(order(1) != order(2) || order(2) != order(3), "entries are shuffled anew in each repetition");
    }

    #[test]
    fn another_plan_has_another_digest() {
        let other = Plan { repetitions: 2, ..plan() };
        assert_ne!(plan_digest(&plan()), plan_digest(&other));
        assert_eq!(plan_digest(&plan()).len(), 64);
    }
}
