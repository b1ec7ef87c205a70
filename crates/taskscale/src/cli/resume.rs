//! New results in a folder, or results to resume.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;

use super::failure::{Failure, OrUsage};
use super::messages::eprint_status;
use super::output_dir::{OutputDir, warn_of_rejected};
use super::progress::Progress;
use crate::campaign::{CampaignError, CampaignSettings, Prepared, plan_digest};
use crate::limit;
use crate::load::Elsewhere;
use crate::measure::{available_memory_bytes, machine_facts};
use crate::record::{
    self, Campaign, Conditions, Loaded, MemorySource, Plan, SCHEMA_VERSION, Sample, Store, Timestamp,
};
use crate::units;

/// The default share of available memory that a run may take.
const MEMORY_SHARE: f64 = 0.8;

/// Options that results record. Without them, results resume as they started.
#[derive(Debug, Clone, Default)]
pub(super) struct ResumeOptions {
    pub seed: Option<u64>,
    pub memory_cap_bytes: Option<u64>,
    pub time_cap: Option<Duration>,
    pub clients: Option<Elsewhere>,
}

/// The value of `--memory-cap`.
pub(super) fn memory_cap(text: Option<&str>) -> anyhow::Result<Option<u64>> {
    text.map(units::parse_bytes).transpose().context("--memory-cap")
}

/// The default memory cap of a run. None if the available memory is unknown.
pub(super) fn memory_cap_bytes() -> Option<u64> {
    available_memory_bytes().map(|bytes| (bytes as f64 * MEMORY_SHARE) as u64)
}

/// Results that are ready to be measured into.
pub(super) struct Opened {
    pub store: Store,
    pub campaign: Campaign,
    pub samples: Vec<Sample>,
    pub settings: CampaignSettings,
}

/// New results, of one or more series.
pub(super) fn describe(
    mut plans: Vec<Plan>,
    seed: Option<u64>,
    source: MemorySource,
    prepared: &[Prepared],
) -> Campaign {
    let created_at = Timestamp::now();
    let plan = plans.remove(0);
    Campaign {
        schema: SCHEMA_VERSION,
        taskscale: env!("CARGO_PKG_VERSION").to_owned(),
        created_at,
        command: std::env::args().collect(),
        machine: machine_facts(),
        plan_digest: plan_digest(&plan, &plans),
        plan,
        further_plans: plans,
        // Below 2^53, so that JSON readers that know only floating-point numbers do not round it.
        seed: seed.unwrap_or_else(|| fastrand::u64(..1 << 53)),
        entries: prepared.iter().map(|entry| entry.facts.clone()).collect(),
        // The instant for people, the rest to make it unique.
        id: Some(format!("{}-{:016x}", created_at.compact(), fastrand::u64(..))),
        conditions: Some(Conditions { memory_source: Some(source), ..Conditions::default() }),
        origin: None,
    }
}

/// A new campaign, or the unfinished one that the folder holds.
pub(super) fn open(
    output: &OutputDir,
    mut now: Campaign,
    resume: &ResumeOptions,
    progress: &Progress,
) -> Result<Opened, Failure> {
    let time_cap_s = resume.time_cap.map(|time| time.as_secs_f64());
    let said = Conditions {
        memory_cap_bytes: resume.memory_cap_bytes,
        time_cap_s,
        clients_elsewhere: resume.clients.is_some(),
        ..now.conditions.unwrap_or_default()
    };
    now.conditions = Some(said);
    let settings = |conditions: Conditions| CampaignSettings {
        memory_cap_bytes: conditions.memory_cap_bytes,
        time_cap: conditions.time_cap_s.map(Duration::from_secs_f64),
        clients: resume.clients.clone(),
    };
    if !output.holds_campaign() {
        let store = output.claim().or_usage()?;
        let conditions =
            Conditions { memory_cap_bytes: said.memory_cap_bytes.or_else(memory_cap_bytes), ..said };
        now.conditions = Some(conditions);
        store.write_campaign(&now).or_usage()?;
        return Ok(Opened { store, campaign: now, samples: Vec::new(), settings: settings(conditions) });
    }
    // Before anything is written: other results stay as they are.
    check(&output.path, &record::load(&output.path).or_usage()?, &now, resume).or_usage()?;
    let (store, campaign, samples) = go_on(&output.path, now.entries, progress)?;
    let mut conditions = campaign.known_conditions(&samples);
    // Older results did not record all of it.
    if campaign.conditions.is_none() {
        conditions.memory_cap_bytes =
            conditions.memory_cap_bytes.or(said.memory_cap_bytes).or_else(memory_cap_bytes);
        conditions.time_cap_s = said.time_cap_s;
    }
    if let (Some(cap), Some(there)) = (conditions.memory_cap_bytes, available_memory_bytes())
        && cap > there
    {
        eprint_status(&format!(
            "warning: runs may swap: their memory cap is {}, and {} is available; free memory first",
            units::bytes(cap),
            units::bytes(there)
        ));
    }
    Ok(Opened { store, campaign, samples, settings: settings(conditions) })
}

/// The results to resume, if these plans can resume them; `None` for new results. Checks what can be known before builds,
/// which take long.
pub(super) fn check_kept(
    output: &OutputDir,
    plans: &[Plan],
    resume: &ResumeOptions,
) -> Result<Option<Loaded>, Failure> {
    let (true, [plan, further_plans @ ..]) = (output.holds_campaign(), plans) else { return Ok(None) };
    let loaded = record::load(&output.path).or_usage()?;
    let conditions = Conditions {
        memory_source: None,
        memory_cap_bytes: resume.memory_cap_bytes,
        time_cap_s: resume.time_cap.map(|time| time.as_secs_f64()),
        clients_elsewhere: resume.clients.is_some(),
    };
    let now = Campaign {
        plan: plan.clone(),
        further_plans: further_plans.to_vec(),
        conditions: Some(conditions),
        machine: machine_facts(),
        taskscale: env!("CARGO_PKG_VERSION").to_owned(),
        ..loaded.campaign.clone()
    };
    check(&output.path, &loaded, &now, resume).or_usage()?;
    Ok(Some(loaded))
}

/// Whether a folder can resume as `now`.
fn check(
    folder: &Path,
    loaded: &Loaded,
    now: &Campaign,
    resume: &ResumeOptions,
) -> Result<(), CampaignError> {
    let differ = |what: String| Err(CampaignError::Another { folder: folder.to_owned(), what });
    if limit::holds_search(folder) {
        return differ("it has a search of `taskscale limit`".to_owned());
    }
    loaded.campaign.check_same(&loaded.samples, now, folder)?;
    match resume.seed {
        Some(seed) if seed != loaded.campaign.seed => {
            differ(format!("its seed is {}, not {seed} (omit --seed to resume)", loaded.campaign.seed))
        }
        _ => Ok(()),
    }
}

/// Opens results to resume, with the current facts of their entries.
pub(super) fn go_on(
    folder: &Path,
    entries: Vec<record::EntryFacts>,
    progress: &Progress,
) -> Result<(Store, Campaign, Vec<Sample>), Failure> {
    let (store, Loaded { mut campaign, samples, rejected }) = Store::reopen(folder).or_usage()?;
    warn_of_rejected(folder, &rejected, "set aside in samples.rejected.jsonl");
    campaign.update_entries(entries);
    store.write_campaign(&campaign)?;
    progress.say(&format!("resuming {} ({})", folder.display(), units::counted(samples.len(), "sample")));
    Ok((store, campaign, samples))
}
