//! Builds the data of the page from campaigns and their samples.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;
use std::mem::take;

use super::super::cells::Cells;
use super::super::color::color_of;
use super::super::headline::Headline;
use super::super::model::{Growth, Rank, Report, Row, RowGroup};
use super::super::overview::{HEAT_STEPS, overview_at};
use super::super::phrases::{SHOWN_SPREAD, letter};
use super::super::rank::NO_VALUE;
use super::super::{facts, footnotes, phrases};
use super::columns::columns;
use super::model::{
    OverviewRows, PAGE_SCHEMA, PageCampaign, PageChanges, PageData, PageEntry, PageFile, PageGap,
    PageRanking, PerTaskShown, Scaling,
};
use super::published::published;
use super::rows::page_row;
use super::tables::by_use;
use super::{samples, tables};
use crate::catalog::{FanOut, Kind, Shape, Style, reading_order};
use crate::document::command_line;
use crate::metrics::{self, MetricDef, Unit};
use crate::record::{Campaign, EntryFacts, Sample, Source, Status, Warning, last_attempts};
use crate::report::estimate::ValueEstimate;
use crate::report::version::shown_version;
use crate::stats::Interval;
use crate::units::counted;

impl Default for PageData {
    /// A page without campaigns.
    fn default() -> PageData {
        PageData {
            schema: PAGE_SCHEMA,
            taskscale: env!("CARGO_PKG_VERSION").to_owned(),
            metrics: tables::metrics(),
            kinds: tables::kinds(),
            standings: tables::standings(),
            best: [Rank::Kind, Rank::All].map(|rank| (rank, rank.best())).into(),
            heat_steps: HEAT_STEPS,
            about: tables::about(),
            shown_spread: SHOWN_SPREAD,
            no_value: PageGap(NO_VALUE.into(), "its runs do not have this metric".into()),
            not_measured: PageGap("not measured".into(), "no run at this number of tasks yet".into()),
            no_fit: PageGap("no fit".into(), "needs ok runs at two or more numbers of tasks".into()),
            no_program: PageGap("no program".into(), "the entry lacks this workload".into()),
            parts: tables::PARTS.into(),
            part_sources: tables::PART_SOURCES.into(),
            phases: tables::PHASES.into(),
            columns: columns(),
            sample_fields: samples::fields(),
            entries: Vec::new(),
            overviews: Vec::new(),
            campaigns: Vec::new(),
            change_notes: Vec::new(),
            versions: Vec::new(),
            anatomy: Vec::new(),
            published: Vec::new(),
            sources: Vec::new(),
        }
    }
}

impl PageData {
    /// Adds a campaign, each series by itself, under its name, or else its machine and day. Several campaigns need names that
    /// differ.
    ///
    /// Old results have no sources of programs. For them `catalog` returns today's sources of a workload and an entry;
    /// they are marked, as they may have changed.
    ///
    /// Returns its reports, in the order of the added `campaigns`.
    pub fn add(
        &mut self,
        campaign: &Campaign,
        samples: &[Sample],
        name: Option<&str>,
        catalog: impl Fn(&str, &str) -> Vec<Source>,
    ) -> Vec<Report> {
        let day = || format!("{}, {}", campaign.machine.hostname, campaign.created_at.date());
        let name = name.map_or_else(day, str::to_owned);
        let mut parts = campaign.parts(samples);
        parts.sort_by_key(|(part, _)| reading_order(&part.plan.workload));
        let mut reports: Vec<Report> =
            parts.iter().map(|(part, samples)| Report::build(part, samples).named(&name)).collect();
        let mut overviews = Vec::new();
        for rank in [Rank::All, Rank::Kind] {
            reports = reports.into_iter().map(|report| report.ranked_by(rank)).collect();
            overviews.extend(overview_rows(&reports));
        }
        for (report, (campaign, samples)) in reports.iter().zip(parts) {
            let page = self.series(report.clone(), campaign, &samples, &catalog);
            self.campaigns.push(page);
        }
        self.overviews.push(overviews);
        self.published = published(|workload, name| {
            let mut of_workload = self.campaigns.iter().filter(|page| page.report.workload == workload);
            of_workload.any(|page| page.entries.iter().any(|of| self.entries[of.entry].name == name))
        });
        reports
    }

    /// The position of a note on changes.
    pub fn change_note(&mut self, note: String) -> usize {
        position(&mut self.change_notes, note)
    }

    /// The changes of an entry of a campaign at some N, or of the whole entry.
    pub fn changes_of(
        &mut self,
        campaign: usize,
        entry: &str,
        tasks: Option<u64>,
    ) -> Option<&mut PageChanges> {
        let PageCampaign { entries, rows, .. } = &mut self.campaigns[campaign];
        let at = entries.iter().position(|of| self.entries[of.entry].name == entry)?;
        match tasks {
            None => Some(&mut entries[at].changes),
            Some(tasks) => {
                let row = rows.iter_mut().find(|row| row.entry == at && row.tasks == tasks)?;
                Some(&mut row.changes)
            }
        }
    }

    fn series(
        &mut self,
        mut report: Report,
        campaign: Campaign,
        samples: &[&Sample],
        catalog: impl Fn(&str, &str) -> Vec<Source>,
    ) -> PageCampaign {
        let part = report.series();
        let positions: BTreeMap<&str, usize> =
            campaign.entries.iter().map(|facts| &*facts.name).zip(0..).collect();
        let last = last_attempts(samples);
        let cells = Cells::of(&campaign, &last);
        let (facts, commands) = facts::account(&report);
        let releases = footnotes::releases(report.rows().map(|row| &row.entry));
        // The page shows warnings about the machine separately.
        let of_machine = footnotes::of_machine(&report);
        let mut notes: Vec<String> = releases.into_iter().chain(footnotes::notes(&report)).collect();
        notes.retain(|note| !of_machine.contains(note));
        let metrics = compared(&report);
        let (headlines, rankings) = (headlines(&report, &cells), rankings(&report, &metrics, &positions));
        let per_task = metrics.iter().map(|metric| per_task(&report, metric)).collect();
        let overview_tasks = report.representative_tasks();
        let is_lead = |of: &&PageRanking| Some(of.tasks) == overview_tasks && of.metric == metrics[0].name;
        let smallest = rankings.iter().find(is_lead).map_or(&[][..], |of| &of.order);
        let lines = line_order(&campaign.entries, smallest);
        let usual = report.usual_source();
        let of_row = |row: Row| {
            let position = *positions.get(&*row.entry.name)?;
            let cell = cells.cell(&row.entry.name, row.tasks);
            Some(page_row(position, row, cell, &metrics, usual))
        };
        let rows = take(&mut report.groups).into_iter().flat_map(|group| group.rows);
        let rows = rows.filter_map(of_row).collect();
        let samples = samples::columns(&positions, samples, &part);
        let of_catalog = |name: &str| catalog(&part.workload, name);
        let entries =
            campaign.entries.into_iter().map(|facts| self.program(facts, &report, of_catalog)).collect();
        PageCampaign {
            context: context(&report),
            scenario: footnotes::scenario(&report),
            letter: letter(self.campaigns.iter().filter(|page| page.part == part.to_string()).count()),
            part: part.to_string(),
            metrics: metrics.into_iter().map(|metric| metric.name).collect(),
            results: self.overviews.len(),
            overview_tasks,
            headlines,
            rankings,
            per_task,
            lines,
            facts,
            commands: commands.map(|words| command_line(&words)),
            notes,
            entries,
            rows,
            samples,
            report,
        }
    }

    /// An entry's program for one series. Facts that all its programs share are added to `self.entries` once.
    fn program(
        &mut self,
        mut facts: EntryFacts,
        report: &Report,
        catalog: impl Fn(&str) -> Vec<Source>,
    ) -> PageEntry {
        let recorded = take(&mut facts.sources);
        let sources_recorded = !recorded.is_empty();
        let files = if sources_recorded { recorded } else { catalog(&facts.name) };
        let file = |Source { path, text }| PageFile { path, text: position(&mut self.sources, text) };
        // The report has the reason if it could not run.
        (facts.workload, facts.program_digest, facts.unavailable) = (None, None, None);
        let growth = report.growth_of(&facts.name).filter(|_| report.shape != Shape::Work);
        let missing = report.unavailable.iter().find(|missing| missing.entry.name == facts.name);
        PageEntry {
            gap: missing.map(|missing| PageGap(Status::Unavailable.name().into(), missing.reason.clone())),
            sources: files.into_iter().map(file).collect(),
            color: color_of(&facts.runtime),
            shown_version: shown_version(&facts, report.created_at),
            tags: tags(&facts),
            badges: badges(&facts),
            scaling: growth.and_then(scaling),
            changes: PageChanges::new(),
            sources_recorded,
            build: take(&mut facts.build),
            run: take(&mut facts.run),
            digest: facts.digest.take(),
            entry: position(&mut self.entries, facts),
        }
    }
}

/// The first rows of an overview for each N that can be selected, and for none selected.
fn overview_rows(reports: &[Report]) -> Vec<OverviewRows> {
    let sizes: BTreeSet<u64> = reports.iter().flat_map(|report| &report.tasks).copied().collect();
    let rows = |tasks: Option<u64>| {
        let order = overview_at(reports, tasks)?.lines.iter().map(|line| line.entry.name.clone()).collect();
        Some(OverviewRows { rank: reports[0].rank, tasks, order })
    };
    once(None).chain(sizes.into_iter().map(Some)).filter_map(rows).collect()
}

/// References, the best of each language, entries of the original blog posts, then the smallest. `smallest`:
/// positions of entries with a value, the smallest first.
fn line_order(entries: &[EntryFacts], smallest: &[usize]) -> Vec<String> {
    let size = |at: usize| smallest.iter().position(|of| *of == at).unwrap_or(usize::MAX);
    let mut order: Vec<(usize, &EntryFacts)> = entries.iter().enumerate().collect();
    order.sort_by_key(|(at, _)| size(*at));
    let mut best = BTreeMap::new();
    for (at, facts) in &order {
        if !facts.reference && facts.style == Style::Idiomatic && facts.kind != Kind::Timer {
            best.entry(&facts.runtime).or_insert(*at);
        }
    }
    order.sort_by_key(|(at, facts)| (!facts.reference, best.get(&facts.runtime) != Some(at), !facts.posts));
    order.into_iter().map(|(_, facts)| facts.name.clone()).collect()
}

/// The position of a value in a list of distinct values. Adds it if new.
fn position<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|known| *known == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

/// `sleep · AMD EPYC 7B13, 2 CPUs · 8 GiB · … · 2026-03-01 · 3 repetitions`.
fn context(report: &Report) -> String {
    let repetitions = counted(report.repetitions, "repetition");
    let machine = footnotes::machine(&report.machine);
    format!("{} · {machine} · {} · {repetitions}", report.series(), report.created_at.date())
}

/// The metrics that entries are compared by, the headline first.
fn compared(report: &Report) -> Vec<&'static MetricDef> {
    let has =
        |metric: &&MetricDef| !metric.optional || report.rows().any(|row| row.spreads.of(metric).is_some());
    let mut all: Vec<&MetricDef> =
        by_use().into_iter().filter(|metric| metric.compares(report.shape)).collect();
    all.retain(has);
    all.sort_by_key(|metric| (*metric != report.headline(), metric.shapes.len()));
    all
}

fn headlines(report: &Report, cells: &Cells) -> Vec<Headline> {
    let busy = |sample: &&Sample| {
        let marked = |warning| sample.warnings.contains(&warning);
        marked(Warning::MachineBusy) || marked(Warning::CpuStarved)
    };
    let slowed = |group: &RowGroup| {
        let ranked = group.rows.iter().filter(|row| row.ranked);
        ranked.flat_map(|row| cells.cell(&row.entry.name, row.tasks)).any(busy)
    };
    let of = |group: &RowGroup| {
        let slowed = slowed(group);
        [Rank::Kind, Rank::All].map(|rank| Headline::of(report, group, rank, slowed))
    };
    report.groups.iter().flat_map(of).collect()
}

/// The order and the best of entries at each N by each metric.
fn rankings<'r>(
    report: &'r Report,
    metrics: &[&'static MetricDef],
    positions: &BTreeMap<&str, usize>,
) -> Vec<PageRanking> {
    let usual = report.usual_source();
    let of = |group: &'r RowGroup, metric: &'static MetricDef| {
        // Entry, value, whether it is ranked, and whether fewer than N were alive. A metric is of fits or of
        // rows.
        let of_line = |of: &'r Growth| {
            Some((&of.entry, ValueEstimate::in_growth(metric, of)?.value, !of.entry.reference, false))
        };
        let of_row = |row: &'r Row| {
            let ranked = row.standing(metric, usual).is_ranked();
            Some((&row.entry, row.spreads.median(metric)?, ranked, row.ok_runs == 0))
        };
        let lines = report.growth.iter().filter_map(of_line);
        let mut all: Vec<_> = lines.chain(group.rows.iter().filter_map(of_row)).collect();
        all.sort_by(|a, b| a.3.cmp(&b.3).then(metric.better.order(Some(a.1), Some(b.1))));
        let mut best = BTreeMap::new();
        for (entry, value, ..) in all.iter().filter(|(.., ranked, _)| *ranked) {
            for set in [entry.kind.name(), Rank::All.name()] {
                best.entry(set).or_insert(*value);
            }
        }
        // Multiples need a best above 0, and a fitted fixed cost may be below.
        best.retain(|_, best| *best > 0.0);
        let order = all.iter().filter_map(|(entry, ..)| positions.get(&*entry.name).copied());
        PageRanking { tasks: group.tasks, metric: metric.name, order: order.collect(), best }
    };
    report.groups.iter().flat_map(|group| metrics.iter().map(|metric| of(group, metric))).collect()
}

/// How a metric's values are shown per task; `None` if they are not.
fn per_task(report: &Report, metric: &MetricDef) -> Option<PerTaskShown> {
    match metric.unit {
        _ if report.shape == Shape::Work || metric.per_entry() => None,
        _ if metric == &metrics::FOOTPRINT => Some(PerTaskShown::Slope),
        Unit::Bytes => Some(PerTaskShown::BytesPerTask),
        // The wall time is mostly the wait.
        Unit::Seconds if metric != &metrics::WALL => Some(PerTaskShown::Nanoseconds),
        _ => None,
    }
}

fn tags(facts: &EntryFacts) -> Vec<String> {
    let cpus = if facts.parallel { "runs on all CPUs" } else { "runs on one CPU" };
    let stack = if facts.kind.stackful() { "a stack per task" } else { "no stack per task" };
    let mut tags = vec![cpus.to_owned(), stack.to_owned()];
    tags.extend(facts.fan_out.map(fan_out));
    tags.extend(facts.reference.then(|| "reference, not ranked".to_owned()));
    tags.extend(facts.posts.then(|| "in the original blog posts".to_owned()));
    tags
}

fn badges(facts: &EntryFacts) -> Vec<String> {
    let tuned = (facts.style == Style::Tuned).then(|| "tuned".to_owned());
    let one_cpu = (!facts.parallel).then(|| "one CPU".to_owned());
    tuned.into_iter().chain(facts.fan_out.map(fan_out)).chain(one_cpu).collect()
}

fn fan_out(of: FanOut) -> String {
    format!("fan-out: {}", of.name())
}

/// How the footprint grows; `None` without a fit.
fn scaling(growth: &Growth) -> Option<Scaling> {
    let (base, slope) = (growth.base_bytes?, growth.bytes_per_task?);
    let interval = |interval: Option<Interval>, metric: &MetricDef| match interval {
        Some(interval) => interval.text(|bound| metric.text(bound)),
        None if growth.is_nonlinear() => "no interval: not linear".to_owned(),
        None => "no interval: needs two runs of every N".to_owned(),
    };
    let slope = format!("{} B", phrases::slope_text(slope, growth.linear));
    let base = phrases::line_mark(growth.linear).to_owned() + &metrics::BASE.text(base);
    let (deviation, nonlinear) = (phrases::worst_text(growth), phrases::nonlinear_text(growth));
    let of_slope = interval(growth.bytes_per_task_interval, &metrics::BYTES_PER_TASK);
    let mut facts = vec![("Bytes per task", slope.clone(), of_slope)];
    facts.extend(
        growth
            .excess_bytes
            .map(|bytes| ("Beyond the memory it keeps", metrics::BYTES_PER_TASK.text(bytes), String::new())),
    );
    let of_base = interval(growth.base_bytes_interval, &metrics::BASE);
    facts.push(("Fixed cost", base.clone(), of_base));
    facts.extend(deviation.clone().map(|off| {
        let linear = || "median vs fixed cost + N × bytes per task".to_owned();
        ("Largest deviation", off, nonlinear.clone().unwrap_or_else(linear))
    }));
    Some(Scaling { slope, base, deviation, nonlinear, facts })
}
