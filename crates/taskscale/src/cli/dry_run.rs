//! `taskscale run --dry-run`: the plan with an estimate. Starts nothing and writes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::args::Format;
use super::list::columns;
use super::open::{Asked, check, memory_cap_bytes};
use super::parts::Plans;
use super::progress::time_left;
use super::{Failure, OrUsage, print_result, printable, say_aside};
use crate::campaign::{Estimate, Source, estimate};
use crate::catalog::{Kind, Program, Selection, Workload};
use crate::measure::machine_facts;
use crate::record::{self, Campaign, Conditions, Machine, Sample, same_memory};
use crate::toolchain;
use crate::units;

/// Where campaigns are unless told otherwise: those there are looked into for what is known of this machine.
const RESULTS: &str = "results";
/// More of the newest campaigns would take longer to read than they tell.
const CAMPAIGNS: usize = 20;

pub(super) fn run(
    asked: &Asked,
    format: Format,
    selection: &Selection,
    plans: &Plans,
    folder: &Path,
) -> Result<ExitCode, Failure> {
    let entries = selection.entries();
    let (there, missing): (Vec<_>, Vec<_>) =
        entries.iter().partition(|(_, entry)| toolchain::is_there(&entry.toolchain));
    let kinds: BTreeMap<String, Kind> =
        there.iter().map(|(_, entry)| (entry.full_name.clone(), entry.kind)).collect();
    let of = |workload: &Workload, only: &dyn Fn(&str) -> bool| -> Vec<String> {
        let does = |program: &&Program| program.workload == workload && only(&program.entry.full_name);
        selection.programs.iter().filter(does).map(|program| program.entry.full_name.clone()).collect()
    };
    let there = plans(&|workload| of(workload, &|name| kinds.contains_key(name)));
    let mut kept_cap = None;
    let kept = if record::holds_campaign(folder) {
        let loaded = record::load(folder).or_usage()?;
        // As `run` would refuse it: its plan names what is not installed as well.
        let mut all = plans(&|workload| of(workload, &|_| true));
        let conditions = Conditions {
            memory_source: None,
            memory_cap_bytes: asked.memory_cap_bytes,
            time_cap_s: asked.time_cap.map(|time| time.as_secs_f64()),
            clients_elsewhere: asked.clients.is_some(),
        };
        let now = Campaign {
            plan: all.remove(0),
            further_plans: all,
            conditions: Some(conditions),
            ..loaded.campaign.clone()
        };
        check(folder, &loaded, &now, asked).or_usage()?;
        kept_cap = loaded.campaign.known_conditions(&loaded.samples).memory_cap_bytes;
        loaded.samples
    } else {
        Vec::new()
    };
    let cap_bytes = kept_cap.or(asked.memory_cap_bytes).or_else(memory_cap_bytes);
    let (seen, campaigns) = seen_here(folder);
    let estimate = there
        .iter()
        .map(|plan| estimate(plan, &kinds, &seen, &kept))
        .fold(Estimate::default(), Estimate::and);
    let missing: Vec<String> = missing.iter().map(|(_, entry)| entry.full_name.clone()).collect();
    if format == Format::Json {
        let text = json!({
            "folder": folder.display().to_string(),
            "plan": there.first(),
            "further_plans": &there[1..],
            "estimate": estimate,
            "campaigns_known": campaigns,
            "not_installed": missing,
            "memory_cap_bytes": cap_bytes,
        });
        print_result(&format!("{text:#}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    if format != Format::Table {
        say_aside("warning: --dry-run prints a table or, with --format json, JSON");
    }
    print_result(&printable(&shown(cap_bytes, folder, &estimate, campaigns, &missing)))?;
    Ok(ExitCode::SUCCESS)
}

fn shown(
    cap_bytes: Option<u64>,
    folder: &Path,
    estimate: &Estimate,
    campaigns: usize,
    missing: &[String],
) -> String {
    let mut rows = vec![
        ["entry", "workload", "N", "runs", "waits or works", "memory", "estimated from"].map(str::to_owned),
    ];
    for cell in &estimate.cells {
        let over = cap_bytes.is_some_and(|cap| cell.footprint_bytes > cap as f64);
        rows.push([
            cell.entry.clone(),
            cell.part.clone(),
            units::count(cell.tasks),
            cell.runs.to_string(),
            units::seconds(cell.hold_s),
            units::bytes(cell.footprint_bytes as u64),
            format!("{}{}", cell.source.text(), if over { "; above the cap" } else { "" }),
        ]);
    }
    let mut text = columns(&rows);
    let most = estimate.cells.iter().map(|cell| cell.footprint_bytes).fold(0.0, f64::max);
    text.push_str(&format!(
        "\n{} runs and {} warm-ups, about {}; the largest takes about {}{}.\n",
        units::grouped(estimate.runs),
        estimate.warm_ups,
        time_left(estimate.seconds),
        units::bytes(most as u64),
        cap_bytes.map(|cap| format!(", each may take {}", units::bytes(cap))).unwrap_or_default(),
    ));
    if estimate.done > 0 {
        text.push_str(&format!(
            "{} runs are in {} already.\n",
            units::grouped(estimate.done),
            folder.display()
        ));
    }
    let guesses = estimate.cells.iter().filter(|cell| cell.source == Source::Kind).count();
    text.push_str(&format!(
        "Known from {campaigns} campaigns of this machine below {RESULTS}/{}. Builds are not counted, and a hold that \
         proves too short is repeated longer.\n",
        if guesses > 0 { format!("; {guesses} cells are a guess by kind") } else { String::new() },
    ));
    if !missing.is_empty() {
        text.push_str(&format!("Not installed, and left out: {}.\n", missing.join(", ")));
    }
    text.push_str(
        "Nothing was started: whether toolchains are new enough and builds succeed is not known.\n",
    );
    text.push_str(&format!("Campaign: {} (not made)\n", folder.display()));
    text
}

/// The samples of earlier campaigns of this machine but the one in `folder`, and how many campaigns they are of.
fn seen_here(folder: &Path) -> (Vec<Sample>, usize) {
    let here = machine_facts();
    let mut folders: Vec<_> = fs::read_dir(RESULTS)
        .into_iter()
        .flatten()
        .flatten()
        .map(|child| child.path())
        .filter(|path| path != folder && record::holds_campaign(path))
        .collect();
    // Their names begin with their date.
    folders.sort();
    let (mut samples, mut campaigns) = (Vec::new(), 0);
    for path in folders.iter().rev().take(CAMPAIGNS) {
        // One that cannot be read tells nothing; `report` says why.
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
