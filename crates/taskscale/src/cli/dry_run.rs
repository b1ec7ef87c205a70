//! An estimate before anything is started: for `taskscale run --dry-run`, and for the question of `taskscale` alone. Starts
//! nothing and writes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::args::ReportFormat;
use super::list::columns;
use super::open::{ResumeOptions, memory_cap_bytes};
use super::progress::time_left;
use super::workload_args::PlanBuilder;
use super::{Failure, eprint_status, print_result, printable};
use crate::campaign::{CellEstimate, EstimateSource, PlanEstimate, estimate};
use crate::catalog::{Kind, Program, Selection, Shape, Workload};
use crate::record::{self, Loaded, Machine, Plan, Sample, same_memory};
use crate::toolchain;
use crate::units::{self, counted};
use taskscale_measure::{
    ConnectionLimits, PredictedLimit, SystemLimits, machine_facts, read_connection_limits, read_limits,
};

/// Default parent of results folders. Not `results/`, where a repository keeps submitted results.
pub(super) const RESULTS: &str = "taskscale-results";
/// The newest results that are read for the estimate.
const CAMPAIGNS: usize = 20;

/// An estimate of time, memory and limits.
pub(super) struct RunPreview {
    /// Of each series, the entries that seem to be installed.
    pub plans: Vec<Plan>,
    pub estimate: PlanEstimate,
    /// Results of this machine that the estimate is from.
    campaigns: usize,
    /// Not installed.
    pub missing: Vec<String>,
    cap_bytes: Option<u64>,
    /// Cases that will hit a limit of the machine, by their places in the estimate.
    pub ending: Vec<(usize, PredictedLimit)>,
}

impl RunPreview {
    /// `kept` are the results to resume.
    pub fn of(
        resume: &ResumeOptions,
        selection: &Selection,
        plans: &PlanBuilder,
        folder: &Path,
        kept: Option<&Loaded>,
    ) -> RunPreview {
        let entries = selection.entries();
        let (there, missing): (Vec<_>, Vec<_>) =
            entries.iter().partition(|(_, entry)| toolchain::is_there(&entry.toolchain));
        let kinds: BTreeMap<String, Kind> =
            there.iter().map(|(_, entry)| (entry.full_name.clone(), entry.kind)).collect();
        let plans = plans(&|workload| {
            let does = |program: &&Program| {
                program.workload == workload && kinds.contains_key(&program.entry.full_name)
            };
            selection.programs.iter().filter(does).map(|program| program.entry.full_name.clone()).collect()
        });
        let kept_cap = kept.and_then(|kept| kept.campaign.known_conditions(&kept.samples).memory_cap_bytes);
        let kept = kept.map_or(&[][..], |kept| &kept.samples);
        let (seen, campaigns) = seen_here(folder);
        let estimate = plans
            .iter()
            .map(|plan| estimate(plan, &kinds, &seen, kept))
            .fold(PlanEstimate::default(), PlanEstimate::and);
        let workloads = selection.workloads();
        let limits = Limits::read();
        let ending = estimate.cells.iter().enumerate().filter_map(|(place, cell)| {
            let plan = plans.iter().find(|plan| plan.series().to_string() == cell.part)?;
            let workload = workloads.iter().find(|workload| workload.name == plan.workload)?;
            Some((place, limits.predicted_limit(workload, *kinds.get(&cell.entry)?, cell.tasks)?))
        });
        RunPreview {
            ending: ending.collect(),
            estimate,
            plans,
            campaigns,
            missing: missing.iter().map(|(_, entry)| entry.full_name.clone()).collect(),
            cap_bytes: kept_cap.or(resume.memory_cap_bytes).or_else(memory_cap_bytes),
        }
    }

    /// The memory of the largest run, without runs that hit a limit first, and up to the cap.
    pub fn largest_bytes(&self) -> u64 {
        let ended = |place: usize| self.ending.iter().any(|(ending, met)| *ending == place && met.sure);
        let cells = self.estimate.cells.iter().enumerate().filter(|(place, _)| !ended(*place));
        let largest = cells.map(|(_, cell)| cell.footprint_bytes).fold(0.0, f64::max) as u64;
        largest.min(self.cap_bytes.unwrap_or(u64::MAX))
    }

    /// The cap, if a case needs more.
    fn above_cap(&self, cell: &CellEstimate) -> Option<u64> {
        self.cap_bytes.filter(|cap| cell.footprint_bytes > *cap as f64)
    }
}

/// What bounds tasks here.
struct Limits {
    system: SystemLimits,
    connections: ConnectionLimits,
}

impl Limits {
    fn read() -> Limits {
        Limits { system: read_limits(), connections: read_connection_limits() }
    }

    fn predicted_limit(&self, workload: &Workload, kind: Kind, tasks: u64) -> Option<PredictedLimit> {
        if workload.shape == Shape::Work && !workload.all_alive {
            return None;
        }
        let serves = workload.shape == Shape::Serve;
        let files = serves.then(|| self.connections.predicted_limit(tasks)).flatten();
        files.or_else(|| self.system.predicted_limit(kind, tasks))
    }
}

/// Prints it.
pub(super) fn show(preview: &RunPreview, format: ReportFormat, folder: &Path) -> Result<ExitCode, Failure> {
    if format == ReportFormat::Json {
        let ending = preview.ending.iter().map(|(place, met)| {
            let cell = &preview.estimate.cells[*place];
            json!({
                "entry": cell.entry, "part": cell.part, "tasks": cell.tasks, "limit": met.limit,
                "sure": met.sure, "reason": met.sentence,
            })
        });
        let ending = ending.collect();
        let text = json!({
            "folder": folder.display().to_string(),
            "plan": preview.plans.first(),
            "further_plans": &preview.plans[1..],
            "estimate": preview.estimate,
            "campaigns_known": preview.campaigns,
            "not_installed": preview.missing,
            "memory_cap_bytes": preview.cap_bytes,
            "will_end_at_a_limit": serde_json::Value::Array(ending),
        });
        print_result(&format!("{text:#}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    if format != ReportFormat::Table {
        eprint_status("warning: --dry-run prints a table or, with --format json, JSON");
    }
    print_result(&printable(&shown(preview, folder)))?;
    Ok(ExitCode::SUCCESS)
}

fn shown(preview: &RunPreview, folder: &Path) -> String {
    let estimate = &preview.estimate;
    let mut rows =
        vec![["entry", "workload", "N", "runs", "wait or work", "memory", "notes"].map(str::to_owned)];
    for (place, cell) in estimate.cells.iter().enumerate() {
        let ends = preview.ending.iter().find(|(ending, _)| *ending == place);
        let ends = match ends {
            Some((_, met)) => {
                format!("{} {}", if met.sure { "hits" } else { "may hit" }, met.limit.name)
            }
            None if preview.above_cap(cell).is_some() => "above the cap".to_owned(),
            None => String::new(),
        };
        // Most are guesses on a new machine: what `~` means is said once below.
        let is_guess = cell.source == EstimateSource::Kind;
        let notes = if is_guess { String::new() } else { cell.source.text().to_owned() };
        let notes: Vec<String> = [notes, ends].into_iter().filter(|note| !note.is_empty()).collect();
        rows.push([
            cell.entry.clone(),
            cell.part.clone(),
            units::count(cell.tasks),
            cell.runs.to_string(),
            units::seconds(cell.hold_s),
            format!("{}{}", if is_guess { "~" } else { "" }, units::bytes(cell.footprint_bytes as u64)),
            notes.join("; "),
        ]);
    }
    let mut text = columns(&rows);
    text.push_str(&format!(
        "\n{} and {}, about {}. Memory of the largest run: about {}{}.\n",
        counted(estimate.runs, "run"),
        counted(estimate.warm_ups, "warm-up"),
        time_left(estimate.seconds),
        units::bytes(preview.largest_bytes()),
        preview.cap_bytes.map(|cap| format!(" (cap: {})", units::bytes(cap))).unwrap_or_default(),
    ));
    if estimate.done > 0 {
        text.push_str(&format!("Already in {}: {}.\n", folder.display(), counted(estimate.done, "run")));
    }
    let guesses = estimate.cells.iter().filter(|cell| cell.source == EstimateSource::Kind).count();
    let known = counted(preview.campaigns, "results folder");
    text.push_str(&format!(
        "Estimated from {known} of this machine in {RESULTS}/, without builds and repeated runs.\n"
    ));
    if guesses > 0 {
        text.push_str(&format!("~ {}: estimated from the kind alone.\n", counted(guesses, "case")));
    }
    text.push_str(&ends(preview));
    if !preview.missing.is_empty() {
        text.push_str(&format!("Not installed: {}.\n", preview.missing.join(", ")));
    }
    text.push_str("Nothing was started. Builds and versions of toolchains were not checked.\n");
    text.push_str(&format!("Results: {} (not created)\n", folder.display()));
    text
}

/// A line for each case that will hit a limit or the memory cap, and once how to raise each limit.
fn ends(preview: &RunPreview) -> String {
    let cell = |place: usize| &preview.estimate.cells[place];
    let line = |cell: &CellEstimate, status: &str, why: &str| {
        format!("  {} × {}: {status}: {why}\n", cell.entry, units::count(cell.tasks))
    };
    let mut lines: BTreeMap<usize, String> = BTreeMap::new();
    for (place, met) in &preview.ending {
        let status = if met.sure { "limit" } else { "limit?" };
        lines.insert(*place, line(cell(*place), status, &met.sentence));
    }
    for (place, cell) in preview.estimate.cells.iter().enumerate() {
        if let Some(cap) = preview.above_cap(cell) {
            let (needs, cap) = (units::bytes(cell.footprint_bytes as u64), units::bytes(cap));
            let why = format!("needs about {needs}, and the cap is {cap}");
            lines.entry(place).or_insert_with(|| line(cell, "killed-oom", &why));
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let remedies: BTreeSet<&String> =
        preview.ending.iter().filter_map(|(_, met)| met.remedy.as_ref()).collect();
    let remedies: String = remedies.into_iter().map(|remedy| format!("  {remedy}\n")).collect();
    format!("\nWill not reach N tasks:\n{}{remedies}\n", lines.into_values().collect::<String>())
}

/// The samples of earlier results of this machine except those in `folder`, and the number of results folders.
fn seen_here(folder: &Path) -> (Vec<Sample>, usize) {
    let here = machine_facts();
    let (mut samples, mut campaigns) = (Vec::new(), 0);
    for path in record::campaigns_in(Path::new(RESULTS)).iter().filter(|path| *path != folder).take(CAMPAIGNS)
    {
        // `report` shows why one cannot be read.
        let Ok(loaded) = record::load(path) else { continue };
        if same_machine(&loaded.campaign.machine, &here) {
            campaigns += 1;
            samples.extend(loaded.samples);
        }
    }
    (samples, campaigns)
}

fn same_machine(then: &Machine, now: &Machine) -> bool {
    (&then.hostname, &then.cpu, then.cpus) == (&now.hostname, &now.cpu, now.cpus)
        && same_memory(then.memory_bytes, now.memory_bytes)
}
