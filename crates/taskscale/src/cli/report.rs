//! `taskscale report`.

use std::cell::LazyCell;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};

use super::args::{self, ReportFormat};
use super::browse::browse;
use super::catalog_dir::any_catalog;
use super::dry_run::RESULTS;
use super::hint::Advice;
use super::open::{existing_folder, warn_of_rejected};
use super::report_filter::ReportFilter;
use super::session::PAGE_FILE;
use super::{Failure, OrUsage, colour, eprint_status, print_result, print_through};
use crate::catalog::sources;
use crate::compare;
use crate::document::{command_line, quoted};
use crate::limit::{self, LimitReport};
use crate::record::{self, Campaign, Loaded, Sample};
use crate::report::{
    self, Bars, Chart, Detail, ExportRequest, ExportTarget, PageData, Rank, Recorded, RenderOptions,
};

/// The widest table, also without a terminal: longer lines are hard to follow.
pub(super) const WIDEST: usize = 120;

/// How many cases a message names before "and N more".
const NAMED: usize = 4;

/// The validated options.
struct ReportOptions {
    folders: Vec<PathBuf>,
    output: Option<PathBuf>,
    filter: ReportFilter,
    /// In a browser.
    open: bool,
    what: What,
}

/// What is made of the results.
enum What {
    /// All samples, one line each.
    Samples,
    /// One HTML file.
    Page,
    Report(ExportRequest, Rank),
}

fn validate(args: &args::ReportArgs) -> anyhow::Result<ReportOptions> {
    let format = args.format;
    if args.samples && format != ReportFormat::Csv {
        bail!("--samples needs --format csv");
    }
    if args.chart.is_some() && format != ReportFormat::Svg {
        bail!("--chart needs --format svg");
    }
    let filter = ReportFilter::of(args)?;
    let is_page = format == ReportFormat::Html || args.open;
    if let Some(option) = filter.option().filter(|_| is_page) {
        bail!("{option}: not for the page, which has filters of its own");
    }
    if args.open && !matches!(format, ReportFormat::Table | ReportFormat::Html) {
        bail!("--open shows the page; omit --format");
    }
    if args.open && args.output.is_none() && args.folders.len() > 1 {
        bail!("--open needs -o FILE for the page of several folders");
    }
    let ranking = format == ReportFormat::Svg && args.chart != Some(args::ChartArg::Scaling);
    if ranking && filter.tasks.len() > 1 {
        bail!("-n: a ranking chart takes one number of tasks");
    }
    let shows_some = matches!(
        format,
        ReportFormat::Table | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Bencher
    );
    if !args.metric.is_empty() && (!shows_some || args.open) {
        bail!("--metric is for tables, github and bencher (this format has every metric)");
    }
    if let Some(path) = args.output.as_ref().filter(|path| format == ReportFormat::Svg && is_bitmap(path)) {
        let error = anyhow!("-o {}: charts are SVG", path.display());
        return Err(error.context(Advice(format!("for a PNG (Debian: librsvg2-bin): `{}`", png(args, path)))));
    }
    let shows_ranking = !args.samples
        && args.chart != Some(args::ChartArg::Scaling)
        && match format {
            ReportFormat::Table | ReportFormat::Markdown => args.folders.len() == 1,
            ReportFormat::Csv | ReportFormat::Json | ReportFormat::Svg => true,
            ReportFormat::Github | ReportFormat::Bencher | ReportFormat::Html => false,
        };
    if args.rank.is_some() && !shows_ranking {
        bail!(
            "--rank needs a ranking: table, markdown or svg of one folder, or csv or json (the page has a switch for it)"
        );
    }
    let rank = match args.rank {
        Some(args::RankArg::All) => Rank::All,
        Some(args::RankArg::Kind) | None => Rank::Kind,
    };
    let what =
        |request: ExportRequest| if args.samples { What::Samples } else { What::Report(request, rank) };
    let (output, open) = (args.output.clone(), args.open);
    let folders = if args.folders.is_empty() { vec![newest()?] } else { args.folders.clone() };
    let target = match (target(format).filter(|_| !open), args.chart) {
        (None, _) => return Ok(ReportOptions { folders, output, filter, open, what: What::Page }),
        (Some(ExportTarget::Svg(_)), Some(args::ChartArg::Scaling)) => ExportTarget::Svg(Chart::Scaling),
        (Some(target), _) => target,
    };
    let mut metrics = Vec::new();
    for &metric in &args.metric {
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    Ok(ReportOptions {
        folders,
        output,
        open,
        what: what(ExportRequest {
            target,
            metrics,
            tasks: filter.tasks.first().copied().filter(|_| ranking),
            detail: match (args.stats, filter.option().is_some() || args.part.is_some()) {
                (true, _) => Detail::Stats,
                (false, true) => Detail::Whole,
                (false, false) => Detail::Brief,
            },
            options: match args.output {
                Some(_) => RenderOptions { width: WIDEST, ..RenderOptions::default() },
                None => for_standard_output(),
            },
        }),
        filter,
    })
}

/// Whether a file name is that of a bitmap or PDF.
fn is_bitmap(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| ["png", "jpg", "jpeg", "webp", "gif", "pdf"].contains(&ending.as_str()))
}

/// The command that converts the chart to PNG.
fn png(args: &args::ReportArgs, path: &Path) -> String {
    let mut words: Vec<String> = vec!["taskscale".into(), "report".into()];
    words.extend(args.folders.iter().map(|folder| folder.display().to_string()));
    words.extend(["--format", "svg"].map(str::to_owned));
    if args.chart == Some(args::ChartArg::Scaling) {
        words.extend(["--chart", "scaling"].map(str::to_owned));
    }
    let file = path.with_extension("png").display().to_string();
    format!("{} | rsvg-convert --zoom 2 -o {}", command_line(&words), quoted(&file))
}

/// The newest results, where no folder is named.
fn newest() -> anyhow::Result<PathBuf> {
    let Some(folder) = record::campaigns_in(Path::new(RESULTS)).into_iter().next() else {
        let error = anyhow!("no results in ./{RESULTS}");
        return Err(error.context(Advice("run `taskscale --quick` first, or name a results folder".into())));
    };
    eprint_status(&format!("{} (the newest in {RESULTS}/)", folder.display()));
    Ok(folder)
}

pub fn run(args: &args::ReportArgs) -> Result<ExitCode, Failure> {
    let options = validate(args).or_usage()?;
    for folder in &options.folders {
        existing_folder(folder).or_usage()?;
    }
    if let Some(folder) = options.folders.iter().find(|folder| limit::holds_search(folder)) {
        return of_limit(args, &options, folder);
    }
    let names = names(&options.folders).or_usage()?;
    let mut campaigns = Vec::new();
    for (folder, name) in options.folders.iter().zip(names) {
        let loaded = record::load(folder).or_usage()?;
        warn_of_rejected(folder, &loaded.rejected, "left out");
        campaigns.push((name, loaded));
    }
    options.filter.campaigns(&mut campaigns).or_usage()?;
    let text = match &options.what {
        What::Page => {
            let page = page_of(campaigns);
            let file =
                options.output.clone().or_else(|| options.open.then(|| options.folders[0].join(PAGE_FILE)));
            match &file {
                None => print_through(|out| report::write_html(page, out))?,
                Some(path) => {
                    record::write_whole(path, |out| report::write_html(page, out)).context("-o")?;
                }
            }
            if let Some(file) = file.filter(|_| options.open) {
                eprint_status(&format!("report: {}", file.display()));
                browse(&file)?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        What::Samples => {
            for (_, loaded) in &mut campaigns {
                loaded.samples.retain(|sample| options.filter.has(sample));
            }
            let recorded: Vec<Recorded> = campaigns
                .iter()
                .map(|(name, Loaded { campaign, samples, .. })| Recorded { name, campaign, samples })
                .collect();
            report::samples_csv(&recorded)
        }
        What::Report(request, rank) => {
            let reports = campaigns.iter().flat_map(|(name, Loaded { campaign, samples, .. })| {
                let parts = report::Report::of_parts(campaign, samples).into_iter();
                parts.map(move |part| part.named(name).ranked_by(*rank).showing(&request.metrics))
            });
            let mut reports: Vec<report::Report> = reports.collect();
            options.filter.rows(&mut reports).or_usage()?;
            text(&reports, request).or_usage()?
        }
    };
    match &options.output {
        None => print_result(&text)?,
        Some(path) => record::write_whole(path, |out| out.write_all(text.as_bytes())).context("-o")?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The reports as a text. People get several results side by side, programs one after the other.
fn text(reports: &[report::Report], request: &ExportRequest) -> Result<String, report::ExportError> {
    if compare::campaigns(reports) > 1 {
        let default = &compare::DEFAULT_METRICS[..];
        let metrics = if request.metrics.is_empty() { default } else { &request.metrics };
        let document = || compare::side_by_side(reports, metrics);
        match request.target {
            ExportTarget::Report(report::Format::Table) => return Ok(document().terminal(request.options)),
            ExportTarget::Report(report::Format::Markdown) => return Ok(document().markdown()),
            _ => {}
        }
    }
    let export = report::export(reports, request)?;
    if !export.left_out.is_empty() {
        let mut cells: Vec<String> = export.left_out.iter().take(NAMED).cloned().collect();
        if export.left_out.len() > NAMED {
            cells.push(format!("and {} more", export.left_out.len() - NAMED));
        }
        eprint_status(&format!("left out (no value): {}", cells.join(", ")));
    }
    Ok(export.text)
}

/// A search of `taskscale limit`, which has tables of its own.
fn of_limit(args: &args::ReportArgs, options: &ReportOptions, folder: &Path) -> Result<ExitCode, Failure> {
    let format = match args.format {
        ReportFormat::Table => report::Format::Table,
        ReportFormat::Markdown => report::Format::Markdown,
        ReportFormat::Json => report::Format::Json,
        ReportFormat::Csv => report::Format::Csv,
        _ => {
            return Err(anyhow!(
                "{} is a search of `taskscale limit`, with the formats table, markdown, csv and json",
                folder.display()
            ))
            .or_usage();
        }
    };
    if options.folders.len() > 1 {
        return Err(anyhow!("{} is a search of `taskscale limit`; report it alone", folder.display()))
            .or_usage();
    }
    let option = options.filter.option().or(args.open.then_some("--open"));
    if let Some(option) = option {
        return Err(anyhow!("{option}: not for {}, a search of `taskscale limit`", folder.display()))
            .or_usage();
    }
    if args.rank.is_some() {
        return Err(anyhow!("--rank: not for {}, a search of `taskscale limit`", folder.display()))
            .or_usage();
    }
    let loaded = record::load(folder).or_usage()?;
    let search_spec = limit::load_search_spec(folder).or_usage()?;
    warn_of_rejected(folder, &loaded.rejected, "left out");
    let found = LimitReport::build(&loaded.campaign, &search_spec, &loaded.samples);
    let options = match args.output {
        Some(_) => RenderOptions { width: WIDEST, ..RenderOptions::default() },
        None => for_standard_output(),
    };
    let text = limit::render(&found, format, options);
    match &args.output {
        None => print_result(&text)?,
        Some(path) => record::write_whole(path, |out| out.write_all(text.as_bytes())).context("-o")?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The output of `run`.
pub(super) enum RunOutput {
    Text(String),
    Page(Box<PageData>),
}

/// Results as `run` prints them.
pub(super) fn of_run(
    folder: &Path,
    campaign: &Campaign,
    samples: &[Sample],
    format: ReportFormat,
) -> Result<RunOutput, report::ExportError> {
    let Some(target) = target(format) else {
        return Ok(RunOutput::Page(Box::new(page(campaign, samples))));
    };
    let parts = report::Report::of_parts(campaign, samples).into_iter();
    let reports: Vec<_> = parts.map(|part| part.named(name(folder))).collect();
    let options = for_standard_output();
    Ok(RunOutput::Text(text(
        &reports,
        &ExportRequest { target, metrics: Vec::new(), tasks: None, detail: Detail::Brief, options },
    )?))
}

/// The page of results. Several are named after their folders, one after its machine and day.
pub(super) fn page_of(campaigns: Vec<(String, Loaded)>) -> PageData {
    let several = campaigns.len() > 1;
    let mut page = PageData::default();
    // One by one: the samples of the one before are no longer in memory.
    for (name, Loaded { campaign, samples, .. }) in campaigns {
        add(&mut page, &campaign, &samples, several.then_some(&*name));
    }
    page
}

/// The page of one results folder.
pub(super) fn page(campaign: &Campaign, samples: &[Sample]) -> PageData {
    let mut page = PageData::default();
    add(&mut page, campaign, samples, None);
    page
}

/// Sources that were not recorded are taken from the catalog, if there is one.
fn add(page: &mut PageData, campaign: &Campaign, samples: &[Sample], name: Option<&str>) {
    let catalog = LazyCell::new(any_catalog);
    page.add(campaign, samples, name, |workload, name| {
        let found = catalog
            .as_ref()
            .and_then(|catalog| catalog.entry(name))
            .filter(|(_, entry)| entry.workloads.contains_key(workload))
            .map(|(runtime, entry)| sources(runtime, entry, workload));
        let files = found.unwrap_or_default().into_iter();
        files.map(|file| record::Source { path: file.path, text: file.text }).collect()
    });
}

/// The target of a format; none for the page, which is made of results.
fn target(format: ReportFormat) -> Option<ExportTarget> {
    Some(match format {
        ReportFormat::Table => ExportTarget::Report(report::Format::Table),
        ReportFormat::Markdown => ExportTarget::Report(report::Format::Markdown),
        ReportFormat::Json => ExportTarget::Report(report::Format::Json),
        ReportFormat::Csv => ExportTarget::Report(report::Format::Csv),
        ReportFormat::Github => ExportTarget::Github,
        ReportFormat::Bencher => ExportTarget::Bencher,
        ReportFormat::Svg => ExportTarget::Svg(Chart::Ranking),
        ReportFormat::Html => return None,
    })
}

/// The names of results: of their folders, or whole paths if two folders have the same name.
fn names(folders: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut seen: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        if seen.contains(&real) {
            bail!("given twice: {}", folder.display());
        }
        seen.push(real);
    }
    let short: Vec<String> = folders.iter().map(|folder| name(folder)).collect();
    let alike = short.iter().enumerate().any(|(i, name)| short[..i].contains(name));
    Ok(if alike { folders.iter().map(|folder| folder.display().to_string()).collect() } else { short })
}

/// The name of a folder, also of `.`.
fn name(folder: &Path) -> String {
    let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    real.file_name().unwrap_or(real.as_os_str()).to_string_lossy().into_owned()
}

/// Options for standard output: a terminal, a pipe or a file.
pub(super) fn for_standard_output() -> RenderOptions {
    let color = colour(&std::io::stdout());
    RenderOptions {
        color,
        width: terminal_width().unwrap_or(WIDEST).min(WIDEST),
        bars: match (color, std::io::stdout().is_terminal()) {
            (true, _) => Bars::Blocks,
            (false, true) => Bars::Plain,
            (false, false) => Bars::Hidden,
        },
    }
}

/// The width of the terminal on standard output, or COLUMNS.
pub(super) fn terminal_width() -> Option<usize> {
    width_of(&std::io::stdout())
}

/// The same of another stream.
pub(super) fn width_of(stream: &impl AsFd) -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    if let Some(columns) = said.filter(|columns| *columns > 0) {
        return Some(columns);
    }
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
