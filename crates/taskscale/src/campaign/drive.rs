//! The one loop that measures: runs what a strategy asks for, and stores each sample.

use std::path::PathBuf;
use std::sync::Arc;

use super::plan::PlannedRun;
use crate::hint::hints;
use crate::record::{Campaign, EntryFacts, SCHEMA_VERSION, Sample, Store, StoreError, StringInterner};
use taskscale_measure::{MeasureError, Measurement, RunEnd, RunSpec, Runner};

/// Decides from the samples so far what to run next: by the plan of a campaign, or as a search. Its steps are
/// more than a `RunSpec`, as a sample also has a repetition and an attempt.
pub trait Strategy {
    /// The next step. `None` if nothing is left. `seen` includes the samples of earlier starts.
    fn next(&mut self, seen: &[Sample]) -> Option<NextStep>;

    /// Corrects the verdict on a run by the samples before it.
    fn review(&self, _sample: &mut Sample, _seen: &[Sample]) {}
}

/// The next run of a strategy.
#[derive(Debug)]
pub enum NextStep {
    /// Not measured: brings the files that measured runs need into the page cache.
    WarmUp(RunSpec),
    Measure(Box<ScheduledRun>),
}

/// A run to measure, and what identifies its sample.
#[derive(Debug)]
pub struct ScheduledRun {
    pub run: PlannedRun,
    pub attempt: u32,
    pub spec: RunSpec,
}

/// Why measuring stopped.
#[derive(Debug, thiserror::Error, strum::EnumMessage)]
pub enum CampaignError {
    #[error(transparent)]
    Measure(#[from] MeasureError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot resume the results in {folder}: {what}")]
    #[strum(message = "choose another folder with -o, or omit -o for a new one")]
    Another { folder: PathBuf, what: String },
}

pub type CampaignResult<T = ()> = Result<T, CampaignError>;

hints!(CampaignError {
    CampaignError::Measure(error) => error.hint(),
    CampaignError::Store(error) => error.hint(),
});

/// How measuring ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunsEnd {
    Complete,
    Interrupted,
}

/// Runs what `strategy` asks for until nothing is left, and appends to `store` and `samples`.
pub fn drive(
    strategy: &mut dyn Strategy,
    campaign: &Campaign,
    runner: &mut dyn Runner,
    store: &mut Store,
    samples: &mut Vec<Sample>,
) -> CampaignResult<RunsEnd> {
    let mut interner = StringInterner::default();
    while let Some(step) = strategy.next(samples) {
        let spec = match &step {
            NextStep::WarmUp(spec) => spec,
            NextStep::Measure(scheduled) => &scheduled.spec,
        };
        let RunEnd::Measured(measurement) = runner.run(spec)? else { return Ok(RunsEnd::Interrupted) };
        // A warm-up that fails is ignored: the measured runs show why.
        let NextStep::Measure(scheduled) = step else { continue };
        let mut sample = sample_of(campaign, *scheduled, *measurement);
        strategy.review(&mut sample, samples);
        store.append(&sample)?;
        samples.push(interner.intern(sample));
    }
    Ok(RunsEnd::Complete)
}

/// The sample of a run.
fn sample_of(campaign: &Campaign, scheduled: ScheduledRun, measurement: Measurement) -> Sample {
    let ScheduledRun { run, attempt, spec } = scheduled;
    let is_of = |facts: &&EntryFacts| {
        facts.name == run.cell.entry
            && facts.workload.as_ref().is_none_or(|workload| *workload == run.cell.part.workload)
    };
    let facts = campaign.entries.iter().find(is_of);
    let load = spec.scenario.black_box().and_then(|black_box| black_box.load.as_ref());
    Sample {
        schema: SCHEMA_VERSION,
        versions: facts.map(|facts| facts.versions.clone()).unwrap_or_default(),
        entry: run.cell.entry.into(),
        workload: run.cell.part.workload.into(),
        tasks: run.cell.tasks,
        hold_s: spec.scenario.hold_s(),
        repetition: run.repetition,
        attempt,
        measurement,
        load_command: load.map(|load| load.command.clone()),
        command: spec.command.as_slice().into(),
        version: facts.and_then(|facts| facts.version.as_deref().map(Arc::from)),
        campaign: campaign.id.as_deref().map(Arc::from),
        params: run.cell.part.params,
        cpus: run.cell.part.cpus,
    }
}
