//! What a campaign would take on this machine: time, memory, and the limits that cases will hit. Starts nothing.

use std::collections::BTreeMap;
use std::path::Path;

use super::estimate::{CellEstimate, PlanEstimate};
use crate::catalog::{Kind, Selection, Shape};
use crate::record::{self, Loaded, Plan, Sample, same_machine};
use crate::toolchain;
use taskscale_measure::{PredictedLimit, machine_facts, read_connection_limits, read_limits};

/// How many of the newest results folders are read for the estimate.
const CAMPAIGNS: usize = 20;

/// An estimate of time, memory and limits.
pub struct RunPreview {
    /// The plan of each series, with only the entries that seem to be installed.
    pub plans: Vec<Plan>,
    pub estimate: PlanEstimate,
    /// Number of results folders of this machine that the estimate uses.
    pub campaigns: usize,
    /// Full names of the entries that are not installed.
    pub missing: Vec<String>,
    pub cap_bytes: Option<u64>,
    /// Cases that will hit a limit of the machine, by their index in `estimate.cells`.
    pub ending: Vec<(usize, PredictedLimit)>,
}

impl RunPreview {
    /// Estimates from the results of this machine in `results`. `kept` are those to resume, in `folder`.
    pub fn of(
        selection: &Selection,
        plans: &[Plan],
        cap_bytes: Option<u64>,
        (results, folder): (&Path, &Path),
        kept: Option<&Loaded>,
    ) -> RunPreview {
        let entries = selection.entries();
        let (there, missing): (Vec<_>, Vec<_>) =
            entries.iter().partition(|(_, entry)| toolchain::is_there(&entry.toolchain));
        let kinds: BTreeMap<String, Kind> =
            there.iter().map(|(_, entry)| (entry.full_name.clone(), entry.kind)).collect();
        let mut plans = plans.to_vec();
        plans.iter_mut().for_each(|plan| plan.entries.retain(|entry| kinds.contains_key(entry)));
        let kept_cap = kept.and_then(|kept| kept.campaign.known_conditions(&kept.samples).memory_cap_bytes);
        let kept = kept.map_or(&[][..], |kept| &kept.samples);
        let (seen, campaigns) = seen_here(results, folder);
        let mut estimate = PlanEstimate::default();
        plans.iter().for_each(|plan| estimate.add(plan, &kinds, &seen, kept));
        let workloads = selection.workloads();
        let (limits, connections) = (read_limits(), read_connection_limits());
        let ending = estimate.cells.iter().enumerate().filter_map(|(place, cell)| {
            let plan = plans.iter().find(|plan| plan.series().to_string() == cell.part)?;
            let workload = workloads.iter().find(|workload| workload.name == plan.workload)?;
            if workload.shape == Shape::Work && !workload.all_alive {
                return None;
            }
            let serves = workload.shape == Shape::Serve;
            let of_files = serves.then(|| connections.predicted_limit(cell.tasks)).flatten();
            let kind = *kinds.get(&cell.entry)?;
            Some((place, of_files.or_else(|| limits.predicted_limit(kind, cell.tasks))?))
        });
        RunPreview {
            ending: ending.collect(),
            estimate,
            plans,
            campaigns,
            missing: missing.iter().map(|(_, entry)| entry.full_name.clone()).collect(),
            cap_bytes: kept_cap.or(cap_bytes),
        }
    }

    /// Memory of the largest run, in bytes, at most the cap. Runs that surely hit a limit first do not count.
    pub fn largest_bytes(&self) -> u64 {
        let ended = |place: usize| self.ending.iter().any(|(ending, met)| *ending == place && met.sure);
        let cells = self.estimate.cells.iter().enumerate().filter(|(place, _)| !ended(*place));
        let largest = cells.map(|(_, cell)| cell.footprint_bytes).fold(0.0, f64::max) as u64;
        largest.min(self.cap_bytes.unwrap_or(u64::MAX))
    }

    /// The cap, if a case needs more.
    pub fn above_cap(&self, cell: &CellEstimate) -> Option<u64> {
        self.cap_bytes.filter(|cap| cell.footprint_bytes > *cap as f64)
    }
}

/// The samples of earlier results of this machine except those in `folder`, and the number of results folders.
fn seen_here(results: &Path, folder: &Path) -> (Vec<Sample>, usize) {
    let here = machine_facts();
    let (mut samples, mut campaigns) = (Vec::new(), 0);
    for path in record::campaigns_in(results).iter().filter(|path| *path != folder).take(CAMPAIGNS) {
        // `report` shows why one cannot be read.
        let Ok(loaded) = record::load(path) else { continue };
        if same_machine(&loaded.campaign.machine, &here) {
            campaigns += 1;
            samples.extend(loaded.samples);
        }
    }
    (samples, campaigns)
}
