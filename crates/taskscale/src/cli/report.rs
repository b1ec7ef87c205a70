//! `taskscale report`.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::args::{ChartArg, RankArg, ReportArgs, ReportFormat};
use super::failure::{CliResult, Failure, OrUsage, SUCCESS, advised, succeed_with};
use super::output::{WIDEST, eprint_status, for_standard_output, print_through};
use super::output_dir::{PAGE_FILE, RESULTS, existing_folder, load_results};
use super::pages::{anatomy, name, page_of, target, text, what_changed};
use super::workload_args::task_counts;
use crate::catalog::{Kind, Matcher, Selectable, did_you_mean};
use crate::compare::over_versions;
use crate::document::quoted;
use crate::limit::{self, LimitReport};
use crate::record::{self, EntryFacts, Loaded, Plan, Sample, StoreError};
use crate::report::{
    self, Chart, Detail, ExportError, ExportRequest, ExportTarget, Rank, RenderOptions, Report,
};
use crate::units;

/// The results folders to show, and the filter.
fn validate(args: &ReportArgs) -> Result<(Vec<PathBuf>, ReportFilter)> {
    use ReportFormat::{Bencher, Csv, Github, Html, Json, Markdown, Svg, Table};
    let format = args.format;
    ensure!(!args.samples || format == Csv, "--samples needs --format csv");
    ensure!(args.chart.is_none() || format == Svg, "--chart needs --format svg");
    let filter = ReportFilter::of(args)?;
    let is_page = format == Html || args.open;
    if let Some(option) = filter.option().filter(|_| is_page) {
        bail!("{option}: not for the page, which has filters of its own");
    }
    ensure!(!args.open || matches!(format, Table | Html), "--open shows the page; omit --format");
    if args.open && args.output.is_none() && args.folders.len() > 1 {
        bail!("--open needs -o FILE for the page of several folders");
    }
    let shows_entries = matches!(args.chart, None | Some(ChartArg::Ranking));
    let ranking = format == Svg && shows_entries;
    ensure!(!ranking || filter.tasks.len() <= 1, "-n: a ranking chart takes one number of tasks");
    let shows_some = matches!(format, Table | Markdown | Github | Bencher);
    if !args.metric.is_empty() && (!shows_some || args.open) {
        bail!("--metric is for tables, github and bencher (this format has every metric)");
    }
    if let Some(path) = args.output.as_ref().filter(|path| format == Svg && is_bitmap(path)) {
        let [svg, png] = ["svg", "png"].map(|end| quoted(&path.with_extension(end).display().to_string()));
        let convert = format!("rsvg-convert --zoom 2 {svg} -o {png}");
        let advice = format!("write {svg}, and for a PNG (Debian: librsvg2-bin): `{convert}`");
        return Err(advised(format!("-o {}: charts are SVG", path.display()), advice));
    }
    let shows_ranking = !args.samples
        && shows_entries
        && match format {
            Table | Markdown => args.folders.len() == 1,
            Csv | Json | Svg => true,
            Github | Bencher | Html => false,
        };
    ensure!(
        args.rank.is_none() || shows_ranking,
        "--rank needs a ranking: table, markdown or svg of one folder, or csv or json (the page has a switch for it)"
    );
    let folders = if args.folders.is_empty() { vec![newest()?] } else { args.folders.clone() };
    Ok((folders, filter))
}

/// The options of an export, for formats other than the page.
fn export_request(args: &ReportArgs, target: ExportTarget, filter: &ReportFilter) -> ExportRequest {
    let mut seen = BTreeSet::new();
    let metrics = args.metric.iter().copied().filter(|metric| seen.insert(metric.name)).collect();
    let is_scaling = args.chart == Some(ChartArg::Scaling);
    let target = if is_scaling { ExportTarget::Svg(Chart::Scaling) } else { target };
    let takes_tasks = target == ExportTarget::Svg(Chart::Ranking);
    let tasks = filter.tasks.first().copied().filter(|_| takes_tasks);
    let detail = match (args.stats, filter.option().is_some() || !args.part.is_empty()) {
        (true, _) => Detail::Stats,
        (false, true) => Detail::Whole,
        (false, false) => Detail::Brief,
    };
    ExportRequest { target, metrics, tasks, detail, options: render_options(args) }
}

/// Whether a file name is that of a bitmap or PDF.
fn is_bitmap(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| ["png", "jpg", "jpeg", "webp", "gif", "pdf"].contains(&ending.as_str()))
}

/// The newest results, where no folder is named.
fn newest() -> Result<PathBuf, StoreError> {
    let none = || StoreError::NoneIn(Path::new(".").join(RESULTS));
    let folder = record::campaigns_in(Path::new(RESULTS)).into_iter().next().ok_or_else(none)?;
    eprint_status(&format!("{} (the newest in {RESULTS}/)", folder.display()));
    Ok(folder)
}

pub fn run(args: &ReportArgs) -> CliResult {
    let (folders, filter) = validate(args).or_usage()?;
    for folder in &folders {
        existing_folder(folder).or_usage()?;
    }
    if let Some(folder) = folders.iter().find(|folder| limit::holds_search(folder)) {
        return write(&of_limit(args, &filter, folder, folders.len() == 1).or_usage()?, args);
    }
    let names = names(&folders).or_usage()?;
    let load = |(name, folder): (String, &PathBuf)| Ok((name, load_results(folder).or_usage()?));
    let mut campaigns = names.into_iter().zip(&folders).map(load).collect::<CliResult<Vec<_>>>()?;
    filter.campaigns(&mut campaigns).or_usage()?;
    let text = match target(args.format).filter(|_| !args.open) {
        None => {
            let mut page = page_of(campaigns);
            page.anatomy = folders.iter().flat_map(|folder| anatomy(folder)).collect();
            let file = args.output.clone().or_else(|| args.open.then(|| folders[0].join(PAGE_FILE)));
            match &file {
                None => print_through(|out| report::write_html(page, out))?,
                Some(path) => record::write_whole(path, |out| report::write_html(page, out)).context("-o")?,
            }
            if let Some(file) = file.filter(|_| args.open) {
                eprint_status(&format!("report: {}", file.display()));
                browse(&file)?;
            }
            return Ok(SUCCESS);
        }
        Some(_) if args.chart == Some(ChartArg::Versions) => {
            let all = campaigns.iter().map(|(_, loaded)| over_versions(&loaded.campaign, &loaded.samples));
            match &all.flatten().collect::<Vec<_>>()[..] {
                [(report, lines)] => report::versions_chart(report, lines).or_usage()?.0,
                [] => return Err(Failure::usage("no entry was measured in several versions")),
                several => return Err(ExportError::OneCampaign(several.len())).or_usage(),
            }
        }
        Some(_) if args.samples => {
            let has = |sample: &Sample| filter.tasks.is_empty() || filter.tasks.contains(&sample.tasks);
            campaigns.iter_mut().for_each(|(_, loaded)| loaded.samples.retain(has));
            report::samples_csv(&campaigns)
        }
        Some(target) => {
            let request = &export_request(args, target, &filter);
            let rank = if args.rank == Some(RankArg::All) { Rank::All } else { Rank::Kind };
            let reports = campaigns.iter().flat_map(|(name, Loaded { campaign, samples, .. })| {
                let parts = Report::of_parts(campaign, samples).into_iter();
                parts.map(move |part| part.named(name).ranked_by(rank).showing(&request.metrics))
            });
            let mut reports: Vec<Report> = reports.collect();
            filter.rows(&mut reports).or_usage()?;
            let changed = campaigns.iter().map(|(_, of)| what_changed(of, request.target, request.options));
            text(&reports, request).or_usage()? + &changed.collect::<String>()
        }
    };
    write(&text, args)
}

/// Reports a search of `taskscale limit`, which has its own tables.
fn of_limit(args: &ReportArgs, filter: &ReportFilter, folder: &Path, alone: bool) -> Result<String> {
    let search = format!("{} is a search of `taskscale limit`", folder.display());
    let Some(format) = args.format.document() else {
        bail!("{search}, with the formats table, markdown, csv and json");
    };
    ensure!(alone, "{search}; report it alone");
    let option = filter.option().or(args.open.then_some("--open"));
    if let Some(option) = option.or(args.rank.and(Some("--rank"))) {
        bail!("{option}: not for {}, a search of `taskscale limit`", folder.display());
    }
    let loaded = load_results(folder)?;
    let found = LimitReport::build(&loaded.campaign, &limit::load_search_spec(folder)?, &loaded.samples);
    Ok(limit::render(&found, format, render_options(args)))
}

/// Prints a text, or writes it to `-o FILE`.
fn write(text: &str, args: &ReportArgs) -> CliResult {
    let Some(path) = &args.output else { return succeed_with(text) };
    record::write_whole(path, |out| out.write_all(text.as_bytes())).context("-o")?;
    Ok(SUCCESS)
}

/// For standard output, or a file of maximum width.
fn render_options(args: &ReportArgs) -> RenderOptions {
    match args.output {
        Some(_) => RenderOptions { width: WIDEST, ..RenderOptions::default() },
        None => for_standard_output(),
    }
}

/// The names of results: of their folders, or whole paths if two folders have the same name.
fn names(folders: &[PathBuf]) -> Result<Vec<String>> {
    let mut seen = BTreeSet::new();
    for folder in folders {
        let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        ensure!(seen.insert(real), "given twice: {}", folder.display());
    }
    let short: Vec<String> = folders.iter().map(|folder| name(folder)).collect();
    let alike = short.iter().enumerate().any(|(i, name)| short[..i].contains(name));
    Ok(if alike { folders.iter().map(|folder| folder.display().to_string()).collect() } else { short })
}

/// Opens a file in the user's default program (freedesktop.org, xdg-utils).
const OPENER: &str = "xdg-open";

/// Opens a page. A failure names its path.
fn browse(page: &Path) -> CliResult<()> {
    let nothing = Stdio::null;
    let ended = Command::new(OPENER).arg(page).stdin(nothing()).stdout(nothing()).stderr(nothing()).status();
    let why = match ended {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => format!("cannot open the page: {OPENER} failed ({status})"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            format!("cannot open the page: {OPENER} not found (Debian: apt install xdg-utils)")
        }
        Err(error) => format!("cannot open the page: {OPENER} ({error})"),
    };
    Err(Failure::Broken(advised(why, format!("the page is {}", page.display()))))
}

/// Filters; the default keeps everything.
#[derive(Debug, Default)]
struct ReportFilter {
    /// Prefixes of series names.
    parts: Vec<String>,
    entries: Vec<Matcher>,
    kinds: Vec<Kind>,
    /// Ascending.
    tasks: Vec<u64>,
}

impl ReportFilter {
    fn of(args: &ReportArgs) -> Result<ReportFilter> {
        let entries = args.entry.iter().map(|word| Matcher::of(word)).collect();
        let tasks = args.tasks.as_deref().map(task_counts).transpose()?.unwrap_or_default();
        Ok(ReportFilter { parts: args.part.clone(), entries, kinds: args.kind.clone(), tasks })
    }

    /// The first filter given, except `--part`.
    fn option(&self) -> Option<&'static str> {
        let given = [
            ("--entry", !self.entries.is_empty()),
            ("--kind", !self.kinds.is_empty()),
            ("-n", !self.tasks.is_empty()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// Filters series and entries, and drops results without either. Keeps all numbers of tasks, which the fits need
    /// ([`ReportFilter::rows`]).
    fn campaigns(&self, campaigns: &mut Vec<(String, Loaded)>) -> Result<()> {
        let plans = campaigns.iter().flat_map(|(_, loaded)| loaded.campaign.plans());
        let mut parts: Vec<String> = plans.map(|plan| plan.series().to_string()).collect();
        let all = || campaigns.iter().flat_map(|(_, loaded)| &loaded.campaign.entries);
        let is_asked = |facts: &EntryFacts| self.entries.iter().any(|word| word.matches(&selectable(facts)));
        for word in &self.entries {
            if !all().any(|facts| word.matches(&selectable(facts))) {
                let nearest = did_you_mean(&word.word, all().map(|facts| &*facts.name));
                bail!("--entry {}: not in these results{nearest}", word.word);
            }
        }
        for (_, Loaded { campaign, samples, .. }) in campaigns.iter_mut() {
            let wanted = |facts: &EntryFacts| {
                (self.entries.is_empty() || is_asked(facts))
                    && (self.kinds.is_empty() || self.kinds.contains(&facts.kind))
            };
            campaign.entries.retain(wanted);
            let kept: Vec<String> = campaign.entries.iter().map(|facts| facts.name.clone()).collect();
            let mut plans: Vec<Plan> = campaign.plans().cloned().collect();
            plans.retain(|plan| {
                let series = plan.series().to_string();
                self.parts.is_empty() || self.parts.iter().any(|part| series.starts_with(part))
            });
            if self.option().is_some() {
                plans.iter_mut().for_each(|plan| plan.entries.retain(|name| kept.contains(name)));
                plans.retain(|plan| !plan.entries.is_empty());
                samples.retain(|sample| kept.iter().any(|name| **name == *sample.entry));
            }
            if !self.parts.is_empty() {
                samples.retain(|sample| plans.iter().any(|plan| sample.is_of(&plan.series())));
                campaign.entries.retain(|facts| plans.iter().any(|plan| plan.has(facts)));
            }
            let mut plans = plans.into_iter();
            // Results without any series are dropped below.
            campaign.plan.entries.clear();
            campaign.plan = plans.next().unwrap_or(campaign.plan.clone());
            campaign.further_plans = plans.collect();
        }
        campaigns.retain(|(_, loaded)| !loaded.campaign.plan.entries.is_empty());
        if !campaigns.is_empty() {
            return Ok(());
        }
        parts.dedup();
        match &self.parts[..] {
            [asked, ..] if self.option().is_none() => {
                bail!("--part {asked}: no series matches; available: {}", parts.join("; "))
            }
            [] if self.option().is_none() => bail!("these results have no entries"),
            _ => bail!("no entry matches all filters (--entry, --kind, --part)"),
        }
    }

    /// Filters the rows of reports by number of tasks.
    fn rows(&self, reports: &mut [Report]) -> Result<()> {
        if self.tasks.is_empty() {
            return Ok(());
        }
        let there: BTreeSet<u64> = reports.iter().flat_map(|report| report.tasks.clone()).collect();
        if let Some(tasks) = self.tasks.iter().find(|tasks| !there.contains(tasks)) {
            let there: Vec<String> = there.into_iter().map(units::count).collect();
            bail!("-n {}: not measured; available: {}", units::count(*tasks), there.join(", "));
        }
        for report in reports {
            report.tasks.retain(|tasks| self.tasks.contains(tasks));
            report.groups.retain(|group| self.tasks.contains(&group.tasks));
        }
        Ok(())
    }
}

/// An entry as the command line selects it.
fn selectable(facts: &EntryFacts) -> Selectable<'_> {
    Selectable { full_name: &facts.name, runtime: &facts.runtime, posts: facts.posts, style: facts.style }
}
