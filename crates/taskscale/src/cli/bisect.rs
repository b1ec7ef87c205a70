//! `taskscale bisect`: the versions in which a metric changed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, bail};
use serde::Serialize;

use super::args::{BisectArgs, Global};
use super::catalog_dir::{named_toolchains, open_catalog};
use super::failure::{CliResult, Failure, OrUsage, catch_signals, exit_code};
use super::output::{eprint_status, for_standard_output, json_or, print_result};
use super::output_dir::{FolderPurpose, OutputDir};
use super::session::{Session, USUAL_HOLD};
use super::workload_args::{self, SeriesOptions, task_counts};
use crate::campaign::RunSettings;
use crate::catalog::{Catalog, VersionRange, VersionRequest};
use crate::compare::{self, Change, CompareSettings, ComparedMetric, Comparison, Input, Judged, Verdict};
use crate::document::{Column, Document, DocumentRow, Emphasis, Table, TableCell, first_of};
use crate::metrics::{self, MetricDef};
use crate::record::{Loaded, Status, holds_campaign};
use crate::units;
use crate::versions::{self, Bisection, NamedToolchains, VersionCandidates};

/// Repetitions of a version with an unclear verdict, as a multiple of the initial number.
const MORE_REPETITIONS: u32 = 3;
/// How many entries a message names before "and N more".
const NAMED: usize = 4;

struct BisectOptions {
    request: VersionRequest,
    /// The library or runtime of the versions. Absent for the entry's runtime.
    name: Option<String>,
    range: VersionRange,
    series: SeriesOptions,
    by: f64,
}

fn validate(args: &BisectArgs) -> anyhow::Result<BisectOptions> {
    let request = VersionRequest::parse(&args.entry).map_err(anyhow::Error::msg)?;
    let request =
        request.with_context(|| format!("{}: names no versions (ENTRY@FIRST..LAST)", args.entry))?;
    let [axis] = &request.axes[..] else { bail!("{}: `bisect` takes versions of one thing", args.entry) };
    let [range @ VersionRange::Between(..)] = &axis.wanted[..] else {
        bail!("{}: `bisect` takes a range, FIRST..LAST", args.entry);
    };
    let (name, range) = (axis.name.clone(), range.clone());
    Ok(BisectOptions {
        name,
        range,
        request,
        series: SeriesOptions {
            tasks: args.tasks.as_deref().map(task_counts).transpose()?,
            repetitions: args.repetitions,
            ..SeriesOptions::default()
        },
        by: units::parse_share(&args.by).context("--by")?,
    })
}

/// A version that was measured.
struct MeasuredVersion {
    entry: String,
    loaded: Loaded,
    repetitions: u32,
}

impl MeasuredVersion {
    fn input(&self) -> Input<'_> {
        let Loaded { campaign, samples, .. } = &self.loaded;
        Input { folder: "", campaign, samples, entry: Some(&self.entry) }
    }
}

/// Everything that measuring a version needs.
struct VersionRunner<'a, 'i> {
    args: &'a BisectArgs,
    options: &'a BisectOptions,
    catalog: &'a Catalog,
    named: NamedToolchains,
    session: Session<'i>,
    folder: PathBuf,
    metric: &'static MetricDef,
    /// The cap of the first version, used for all: runtimes size their heaps by it.
    memory_cap_bytes: Option<u64>,
}

impl VersionRunner<'_, '_> {
    /// Measures a version, or reads its results from an earlier start. The inner `Err` is why it cannot be
    /// measured.
    fn measure(
        &mut self,
        version: &str,
        repetitions: u32,
    ) -> Result<Result<MeasuredVersion, String>, Failure> {
        let mut catalog = self.catalog.clone();
        let name = self.options.name.as_ref().map(|name| format!("{name}=")).unwrap_or_default();
        let word = format!("{}@{name}{version}", self.options.request.entries);
        let words = versions::expand(&mut catalog, &[word], &self.named).or_usage()?;
        let asked = self.args.workload.as_slice();
        let mut selection = workload_args::selected(&catalog, &words, asked).or_usage()?;
        let [program] = &selection.programs[..] else {
            return Err(Failure::usage("`bisect` takes one entry and one workload"));
        };
        let entry = program.entry.full_name.clone();
        let series = SeriesOptions { repetitions, ..self.options.series.clone() };
        let plans = workload_args::plans(&series, USUAL_HOLD, &mut selection).or_usage()?;
        let prepared = self.session.prepare_any(&selection.programs)?;
        if let Some(why) = prepared.iter().find_map(|prepared| prepared.command.as_ref().err()) {
            let why = why.reason().lines().last().unwrap_or_default().to_owned();
            return Ok(Err(why));
        }
        let path = self.folder.join(format!("{version}-r{repetitions}"));
        let output = OutputDir::checked(Some(&path), FolderPurpose::Campaign).or_usage()?;
        // Resumed results keep their own cap.
        let memory_cap_bytes = self.memory_cap_bytes.filter(|_| !holds_campaign(&output.path));
        let resume = RunSettings { memory_cap_bytes, ..RunSettings::default() };
        let (_, loaded) = self.session.measure_all(plans, &prepared, &output, &resume)?;
        let cap = loaded.campaign.conditions.and_then(|conditions| conditions.memory_cap_bytes);
        self.memory_cap_bytes = self.memory_cap_bytes.or(cap);
        let samples = &loaded.samples;
        match samples.last().filter(|_| samples.iter().all(|sample| sample.status != Status::Ok)) {
            Some(sample) => Ok(Err(sample.reason.clone().unwrap_or_default())),
            None => Ok(Ok(MeasuredVersion { entry, loaded, repetitions })),
        }
    }

    fn compared(&self, low: &MeasuredVersion, high: &MeasuredVersion) -> Option<ComparedVersions> {
        let metric = ComparedMetric { figure: self.metric, margin: Some(self.options.by) };
        let settings = CompareSettings::ungated(vec![metric]);
        let comparison = Comparison::build(low.input(), high.input(), &settings).ok()?;
        let outcome = comparison.outcomes.iter().find(|outcome| outcome.change != Change::StillFails);
        let outcome = outcome.map(|outcome| {
            let tasks = outcome.tasks.map(units::count).unwrap_or_default();
            format!("{tasks} tasks: {}, then {}", outcome.base, outcome.new)
        });
        // `compare` adds other metrics where memory is not linear.
        let judged = comparison.cells.into_iter().find(|cell| cell.metric == self.metric);
        Some(ComparedVersions { judged, outcome })
    }
}

/// The comparison of two versions.
#[derive(Default)]
struct ComparedVersions {
    judged: Option<Judged>,
    /// How their failures differ, if they do. Metrics then describe different runs.
    outcome: Option<String>,
}

impl ComparedVersions {
    fn differ(&self) -> bool {
        self.outcome.is_some() || self.judged.as_ref().is_some_and(|cell| cell.verdict.is_change())
    }

    /// Why it is unclear whether they differ in the metric, if so.
    fn unclear(&self) -> Option<String> {
        match (&self.outcome, &self.judged) {
            (Some(outcome), _) => Some(outcome.clone()),
            (None, None) => Some("not comparable".to_owned()),
            (None, Some(cell)) if cell.verdict == Verdict::Unclear => {
                Some(cell.reason.clone().unwrap_or_else(|| "too much scatter".to_owned()))
            }
            (None, Some(_)) => None,
        }
    }
}

/// A change from one version to the next measurable one.
#[derive(Debug, Serialize)]
struct VersionChange {
    from: String,
    to: String,
    base: Option<f64>,
    new: Option<f64>,
    ratio: Option<f64>,
    verdict: Verdict,
    /// The address of the release notes, if the catalog has it.
    page: Option<String>,
}

#[derive(Debug, Serialize)]
struct BisectReport {
    title: String,
    metric: &'static MetricDef,
    by: f64,
    /// Each version that was measured, with its value.
    measured: Vec<(String, Option<f64>)>,
    /// Versions that could not be measured, and why.
    skipped: Vec<(String, String)>,
    steps: Vec<VersionChange>,
    /// Neighboring versions with an unclear verdict, and why.
    unclear: Vec<(String, String, String)>,
    folder: PathBuf,
}

pub fn run(args: &BisectArgs, global: &Global) -> CliResult {
    let options = validate(args).or_usage()?;
    let catalog = open_catalog(global).or_usage()?;
    let named = named_toolchains(global).or_usage()?;
    let entries = std::slice::from_ref(&options.request.entries);
    let selection = workload_args::selected(&catalog, entries, args.workload.as_slice()).or_usage()?;
    let [program] = &selection.programs[..] else {
        let names: Vec<&str> = selection.entries().iter().map(|(_, entry)| &*entry.full_name).collect();
        let names = first_of(&names, NAMED);
        return Err(Failure::usage(format!("`bisect` takes one entry and one workload ({names})")));
    };
    let workload = program.workload;
    let candidates =
        versions::candidates(program.runtime, program.entry, &options.request, &options.range, &named)
            .or_usage()?;
    if let Some(why) = &candidates.unlisted {
        eprint_status(&format!("warning: cannot list the releases, so all numbers are tried: {why}"));
    }
    let metric = args.metric.unwrap_or(compare::metric_over_versions(workload.shape));
    if !metric.is_of(workload.shape) {
        return Err(Failure::usage(format!("--metric {}: not of `{}`", metric.name, workload.name)));
    }
    let new_folder = || OutputDir::checked(None, FolderPurpose::Campaign).map(|output| output.path);
    let folder = args.output.clone().map_or_else(new_folder, Ok).or_usage()?;
    let interrupt = catch_signals()?;
    let session = Session::begin(&folder, global, &interrupt)?;
    let mut runner = VersionRunner {
        args,
        options: &options,
        catalog: &catalog,
        named,
        session,
        folder,
        metric,
        memory_cap_bytes: None,
    };
    let report = search(&mut runner, &candidates)?;
    print_result(&json_or(global.json, &report, || document(&report).terminal(for_standard_output())))?;
    eprint_status(&format!("results: {}", report.folder.display()));
    Ok(exit_code(report.measured.len() < 2))
}

/// Measures versions until every change is between measurable neighbors.
fn search(runner: &mut VersionRunner, candidates: &VersionCandidates) -> CliResult<BisectReport> {
    let versions = &candidates.versions;
    let mut search = Bisection::new(versions.len());
    let mut measured: BTreeMap<usize, MeasuredVersion> = BTreeMap::new();
    let mut skipped = Vec::new();
    loop {
        // A slope does not describe memory that is not linear: compare memory at the largest N instead.
        let by_default = runner.args.metric.is_none() && runner.metric == &metrics::BYTES_PER_TASK;
        let is_nonlinear = |(low, high): &(usize, usize)| {
            let compared = runner.compared(&measured[low], &measured[high]);
            compared
                .is_some_and(|of| of.outcome.is_none() && of.judged.is_none_or(|cell| cell.ratio.is_none()))
        };
        if by_default && search.neighbors().iter().any(is_nonlinear) {
            runner.metric = &metrics::FOOTPRINT;
        }
        // Repeat versions with unclear verdicts before measuring versions between them.
        let compared = |low: usize, high: usize| runner.compared(&measured[&low], &measured[&high]);
        let most = runner.options.series.repetitions * MORE_REPETITIONS;
        let unclear = search.neighbors().into_iter().find_map(|(low, high)| {
            // More repetitions reduce scatter, but not a verdict with another `reason`.
            let is_unclear = compared(low, high)
                .filter(|of| of.outcome.is_none())
                .and_then(|of| of.judged)
                .is_some_and(|cell| cell.verdict == Verdict::Unclear && cell.reason.is_none());
            [low, high].into_iter().find(|at| is_unclear && measured[at].repetitions < most)
        });
        let differ = |low: usize, high: usize| compared(low, high).is_some_and(|of| of.differ());
        let (at, repetitions) = match (unclear, search.next(differ)) {
            (Some(at), _) => (at, most),
            (None, Some(at)) => (at, runner.options.series.repetitions),
            (None, None) => break,
        };
        match runner.measure(&versions[at], repetitions)? {
            Ok(version) => {
                measured.insert(at, version);
                search.measured(at);
            }
            Err(why) => match measured.get_mut(&at) {
                // Keep its results with fewer repetitions.
                Some(version) => {
                    eprint_status(&format!("no more repetitions of {}: {why}", versions[at]));
                    version.repetitions = most;
                }
                None => {
                    eprint_status(&format!("skipped {}: {why}", versions[at]));
                    skipped.push((versions[at].clone(), why));
                    search.skip(at);
                }
            },
        }
    }
    let compared =
        |low: usize, high: usize| runner.compared(&measured[&low], &measured[&high]).unwrap_or_default();
    let pairs: Vec<(usize, usize, ComparedVersions)> =
        search.neighbors().into_iter().map(|(low, high)| (low, high, compared(low, high))).collect();
    let value = |at: usize| {
        pairs.iter().find_map(|(low, high, of)| {
            let cell = of.judged.as_ref()?;
            if *high == at { cell.new.value } else { cell.base.value.filter(|_| *low == at) }
        })
    };
    let steps = pairs.iter().filter_map(|(low, high, of)| {
        let judged = of.judged.as_ref().filter(|_| of.outcome.is_none());
        let cell = judged.filter(|cell| cell.verdict.is_change())?;
        Some(VersionChange {
            from: versions[*low].clone(),
            to: versions[*high].clone(),
            base: cell.base.value,
            new: cell.new.value,
            ratio: cell.ratio,
            verdict: cell.verdict,
            page: candidates.page(&versions[*high]),
        })
    });
    let unclear = pairs
        .iter()
        .filter_map(|(low, high, of)| Some((versions[*low].clone(), versions[*high].clone(), of.unclear()?)))
        .collect();
    Ok(BisectReport {
        unclear,
        title: format!("bisect · {} · {}", runner.args.entry, runner.metric.name),
        metric: runner.metric,
        by: runner.options.by,
        measured: measured.keys().map(|at| (versions[*at].clone(), value(*at))).collect(),
        skipped,
        steps: steps.collect(),
        folder: runner.folder.clone(),
    })
}

fn document(report: &BisectReport) -> Document {
    let mut document = Document::new(report.title.clone());
    let columns = vec![
        Column::words("version"),
        Column::figures(report.metric.heading),
        Column::figures("change"),
        Column::words("verdict"),
        Column::words("release").drop_priority(1),
    ];
    let rows =
        report.measured.iter().map(|(version, value)| {
            let step = report.steps.iter().find(|step| step.to == *version);
            let emphasis = step.map_or(Emphasis::Plain, |step| {
                if step.verdict.worse() { Emphasis::Bad } else { Emphasis::Good }
            });
            let change = step.and_then(|step| step.ratio).map(compare::change).unwrap_or_default();
            DocumentRow::of(vec![
                TableCell::Text(version.clone(), emphasis),
                TableCell::figure(value.map(|value| report.metric.show_finely(value)), emphasis),
                TableCell::Text(change, emphasis),
                TableCell::Text(step.map_or("", |step| step.verdict.name()).to_owned(), emphasis),
                TableCell::quiet(step.and_then(|step| step.page.clone()).unwrap_or_default()),
            ])
        });
    document.table(Table::of(columns, "", rows));
    let by = compare::percent(report.by);
    document.text(
        match report.steps.len() {
            0 if report.unclear.is_empty() && report.measured.len() > 1 => format!("No change above {by}."),
            0 => format!("No change above {by} was found."),
            steps => format!("{} above {by}.", units::counted(steps, "change")),
        },
        Emphasis::Plain,
    );
    for (low, high, why) in &report.unclear {
        document.text(format!("Unclear between {low} and {high}: {why}."), Emphasis::Doubtful);
    }
    for (version, why) in &report.skipped {
        document.text(format!("Skipped {version}: {why}"), Emphasis::Doubtful);
    }
    document
}
