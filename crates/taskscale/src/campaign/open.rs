//! New results in a folder, or results to resume.

use std::path::Path;

use super::by_plan::RunSettings;
use super::drive::{CampaignError, CampaignResult};
use super::plan::plan_digest;
use super::prepare::Prepared;
use crate::record::{
    self, Campaign, Conditions, EntryFacts, Loaded, MemorySource, Plan, SCHEMA_VERSION, Store, StoreError,
    Timestamp,
};
use crate::units;
use taskscale_measure::{available_memory_bytes, machine_facts};

/// The default share of available memory that a run may take.
const MEMORY_SHARE: f64 = 0.8;

impl RunSettings {
    fn conditions(&self, memory_source: Option<MemorySource>) -> Conditions {
        Conditions {
            memory_source,
            memory_cap_bytes: self.memory_cap_bytes,
            time_cap_s: self.time_cap.map(|time| time.as_secs_f64()),
            clients_elsewhere: self.clients.is_some(),
        }
    }
}

/// The default memory cap of a run, in bytes. `None` if the available memory is unknown.
pub fn memory_cap_bytes() -> Option<u64> {
    available_memory_bytes().map(|bytes| (bytes as f64 * MEMORY_SHARE) as u64)
}

/// The campaign of new results. The seed is random unless given.
pub fn describe(
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
        // A readable time, and random digits to make it unique.
        id: Some(format!("{}-{:016x}", created_at.compact(), fastrand::u64(..))),
        conditions: Some(Conditions { memory_source: Some(source), ..Conditions::default() }),
        origin: None,
    }
}

/// An opened results folder, what it holds, and the settings of its runs.
pub type OpenCampaign = (Store, Loaded, RunSettings);

/// Opens a new campaign in a folder that `claim` takes.
pub fn open_new(
    mut now: Campaign,
    asked: &RunSettings,
    claim: impl FnOnce() -> Result<Store, StoreError>,
) -> CampaignResult<OpenCampaign> {
    let store = claim()?;
    let said = asked.conditions(now.conditions.and_then(|conditions| conditions.memory_source));
    let memory_cap_bytes = said.memory_cap_bytes.or_else(memory_cap_bytes);
    let conditions = Conditions { memory_cap_bytes, ..said };
    now.conditions = Some(conditions);
    store.write_campaign(&now)?;
    let loaded = Loaded { campaign: now, samples: Vec::new(), rejected: Vec::new() };
    Ok((store, loaded, settings(conditions, asked)))
}

/// Opens the unfinished campaign of a folder.
pub fn open_kept(folder: &Path, mut now: Campaign, asked: &RunSettings) -> CampaignResult<OpenCampaign> {
    let said = asked.conditions(now.conditions.and_then(|conditions| conditions.memory_source));
    now.conditions = Some(said);
    // Checked before anything is written, so that other results stay unchanged.
    check(folder, &record::load(folder)?, &now, asked)?;
    let (store, loaded) = reopen(folder, now.entries)?;
    let mut conditions = loaded.campaign.known_conditions(&loaded.samples);
    // Older results did not record their conditions.
    if loaded.campaign.conditions.is_none() {
        conditions.memory_cap_bytes =
            conditions.memory_cap_bytes.or(said.memory_cap_bytes).or_else(memory_cap_bytes);
        conditions.time_cap_s = said.time_cap_s;
    }
    Ok((store, loaded, settings(conditions, asked)))
}

fn settings(conditions: Conditions, asked: &RunSettings) -> RunSettings {
    let time_cap = conditions.time_cap_s.map(units::duration);
    RunSettings { memory_cap_bytes: conditions.memory_cap_bytes, time_cap, ..asked.clone() }
}

/// The results in a folder, if these plans can resume them. Checks what can be known before builds, which take long.
pub fn load_kept(folder: &Path, plans: &[Plan], asked: &RunSettings) -> CampaignResult<Loaded> {
    let loaded = record::load(folder)?;
    let Some((plan, further_plans)) = plans.split_first() else { return Ok(loaded) };
    let now = Campaign {
        plan: plan.clone(),
        further_plans: further_plans.to_vec(),
        conditions: Some(asked.conditions(None)),
        machine: machine_facts(),
        taskscale: env!("CARGO_PKG_VERSION").to_owned(),
        ..loaded.campaign.clone()
    };
    check(folder, &loaded, &now, asked)?;
    Ok(loaded)
}

/// Checks that the results in a folder can resume as `now`.
fn check(folder: &Path, loaded: &Loaded, now: &Campaign, asked: &RunSettings) -> CampaignResult {
    loaded.campaign.check_same(&loaded.samples, now, folder)?;
    match asked.seed {
        Some(seed) if seed != loaded.campaign.seed => Err(CampaignError::Another {
            folder: folder.to_owned(),
            what: format!("its seed is {}, not {seed} (omit --seed to resume)", loaded.campaign.seed),
        }),
        _ => Ok(()),
    }
}

/// Opens results to resume, with the current facts of their entries. Rejected lines were set aside.
pub fn reopen(folder: &Path, entries: Vec<EntryFacts>) -> Result<(Store, Loaded), StoreError> {
    let (store, mut loaded) = Store::reopen(folder)?;
    loaded.campaign.update_entries(entries);
    store.write_campaign(&loaded.campaign)?;
    Ok((store, loaded))
}
