//! The plan's runs in the order in which they are made. Pure.

use sha2::{Digest, Sha256};

use crate::catalog::Shape;
use crate::record::{Campaign, Cell, Plan, Sample};

/// One repetition of a case, or for work one of the two runs whose difference is the cost.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlannedRun {
    pub repetition: u32,
    pub cell: Cell,
    /// Whether it does twice the operations of the run before it.
    pub double: bool,
}

impl PlannedRun {
    /// Whether a sample is of this run.
    pub fn has(&self, sample: &Sample) -> bool {
        *sample.entry == self.cell.entry
            && sample.tasks == self.cell.tasks
            && sample.repetition == self.repetition
            && sample.is_double() == self.double
            && sample.is_of(&self.cell.part)
    }
}

/// All runs of a campaign: repetition by repetition, and within each series by series.
pub fn planned_runs(campaign: &Campaign) -> impl Iterator<Item = PlannedRun> {
    let repetitions = campaign.plans().map(|plan| plan.repetitions).max().unwrap_or(0);
    (1..=repetitions)
        .flat_map(|repetition| campaign.plans().map(move |plan| (repetition, plan)))
        .flat_map(|(repetition, plan)| repetition_of(plan, repetition, campaign.seed))
}

/// One repetition of a plan. N ascends, as smaller N predict the needs of larger ones. Within one N the entries come in
/// random order, so that no entry always follows the same one.
pub(super) fn repetition_of(plan: &Plan, repetition: u32, seed: u64) -> Vec<PlannedRun> {
    if repetition > plan.repetitions {
        return Vec::new();
    }
    let doubles: &[bool] = if plan.shape == Shape::Work { &[false, true] } else { &[false] };
    let mut runs = Vec::new();
    for &tasks in &plan.tasks {
        let mut entries = plan.entries.clone();
        // Each shuffle has a seed of its own: leaving out one N does not change the order of another.
        let own_seed = seed ^ tasks.rotate_left(17) ^ u64::from(repetition).rotate_left(47);
        fastrand::Rng::with_seed(own_seed).shuffle(&mut entries);
        for entry in entries {
            let cell = Cell { entry, part: plan.series(), tasks };
            runs.extend(doubles.iter().map(|&double| PlannedRun { repetition, cell: cell.clone(), double }));
        }
    }
    runs
}

/// SHA-256 of the plans of a campaign, in hexadecimal digits.
pub fn plan_digest(plan: &Plan, further: &[Plan]) -> String {
    // Field by field in fixed order: JSON of a struct is canonical enough.
    let plans: Vec<String> = std::iter::once(plan)
        .chain(further)
        .map(|plan| serde_json::to_string(plan).unwrap_or_default())
        .collect();
    Sha256::digest(plans.concat().as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Hold;

    fn plan() -> Plan {
        let entries = ["a/a", "a/b", "b/c", "b/d", "b/e"].map(String::from).to_vec();
        Plan::of_holds("sleep", entries, vec![1, 10_000], 3, Hold::Chosen { plateau_s: 1.0 })
    }

    fn runs(plan: &Plan, seed: u64) -> Vec<PlannedRun> {
        (1..=plan.repetitions).flat_map(|repetition| repetition_of(plan, repetition, seed)).collect()
    }

    #[test]
    fn each_run_is_planned_once_with_ascending_n() {
        let runs = runs(&plan(), 7);
        assert_eq!(runs.len(), 30);
        assert!(runs.is_sorted_by_key(|run| (run.repetition, run.cell.tasks)));
        let mut unique = runs.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), 30);
    }

    #[test]
    fn single_and_double_work_are_adjacent() {
        let work = Plan { shape: Shape::Work, ..plan() };
        let runs = runs(&work, 7);
        assert_eq!(runs.len(), 60);
        for pair in runs.chunks(2) {
            assert_eq!(pair[0].cell, pair[1].cell);
            assert_eq!((pair[0].double, pair[1].double), (false, true));
        }
    }

    #[test]
    fn the_seed_decides_the_order() {
        assert_eq!(runs(&plan(), 7), runs(&plan(), 7));
        assert_ne!(runs(&plan(), 7), runs(&plan(), 8));
        let order = |repetition| {
            let runs = runs(&plan(), 7);
            runs.into_iter()
                .filter(|run| run.repetition == repetition && run.cell.tasks == 1)
                .map(|run| run.cell.entry)
                .collect::<Vec<_>>()
        };
        assert!(order(1) != order(2) || order(2) != order(3), "entries are shuffled anew in each repetition");
    }

    #[test]
    fn digests_differ_between_plans() {
        let other = Plan { repetitions: 2, ..plan() };
        assert_ne!(plan_digest(&plan(), &[]), plan_digest(&other, &[]));
        assert_ne!(plan_digest(&plan(), &[]), plan_digest(&plan(), &[other]));
        assert_eq!(plan_digest(&plan(), &[]).len(), 64);
    }
}
