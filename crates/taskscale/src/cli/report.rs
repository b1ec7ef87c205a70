//! `taskscale report`.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};

use super::args::{self, Format};
use super::catalog_dir::any_catalog;
use super::open::warn_of_rejected;
use super::{Failure, OrUsage, colour, print_result, print_through, say_aside};
use crate::catalog::sources;
use crate::limit::{self, LimitReport};
use crate::record::{self, Campaign, EntryFacts, Loaded, Plan, Sample};
use crate::report::{self, Bars, Chart, PageData, Rank, Recorded, RenderOptions, Request, Target};
use crate::units;

/// Columns of a table at most, however wide the terminal, and where there is none: further on the eye loses the line.
const WIDEST: usize = 120;

/// How many cells a message names before it says "and N more".
const NAMED: usize = 4;

/// What was asked, validated.
struct Options {
    folders: Vec<PathBuf>,
    output: Option<PathBuf>,
    /// Only the parts whose names begin so.
    part: Option<String>,
    what: What,
}

/// What is made of the campaigns.
enum What {
    /// All samples, one line each.
    Samples,
    /// One HTML file.
    Page,
    Report(Request, Rank),
}

fn validate(args: &args::Report) -> anyhow::Result<Options> {
    let format = args.format;
    if args.samples && format != Format::Csv {
        bail!("--samples: one line for each sample is CSV; add --format csv");
    }
    if args.chart.is_some() && format != Format::Svg {
        bail!("--chart: a chart is SVG; add --format svg");
    }
    if args.tasks.is_some() && (format != Format::Svg || args.chart == Some(args::Chart::Scaling)) {
        bail!("-n: only a ranking chart is of one number of tasks (--format svg --chart ranking)");
    }
    let compared = args.folders.len() > 1 && matches!(format, Format::Table | Format::Markdown);
    if !args.metric.is_empty() && !compared && !matches!(format, Format::Github | Format::Bencher) {
        bail!(
            "--metric: it chooses what several campaigns are compared by, as a table or markdown, \
             or what goes to github or bencher; this has every figure"
        );
    }
    let shows_ranking = !args.samples
        && args.chart != Some(args::Chart::Scaling)
        && match format {
            Format::Table | Format::Markdown => args.folders.len() == 1,
            Format::Csv | Format::Json | Format::Svg => true,
            Format::Github | Format::Bencher | Format::Html => false,
        };
    if args.rank.is_some() && !shows_ranking {
        bail!(
            "--rank: it is about a ranking: of one campaign as a table, markdown or svg, of any number as csv or json; \
             the page has a switch for it"
        );
    }
    let rank = match args.rank {
        Some(args::Rank::All) => Rank::All,
        Some(args::Rank::Kind) | None => Rank::Kind,
    };
    let what = |request: Request| if args.samples { What::Samples } else { What::Report(request, rank) };
    let (folders, output, part) = (args.folders.clone(), args.output.clone(), args.part.clone());
    let target = match (target(format), args.chart) {
        (None, _) => return Ok(Options { folders, output, part, what: What::Page }),
        (Some(Target::Svg(_)), Some(args::Chart::Scaling)) => Target::Svg(Chart::Scaling),
        (Some(target), _) => target,
    };
    let mut metrics = Vec::new();
    for &metric in &args.metric {
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    Ok(Options {
        folders,
        output,
        part,
        what: what(Request {
            target,
            metrics,
            tasks: args.tasks.as_deref().map(units::parse_count).transpose().context("-n")?,
            options: match args.output {
                Some(_) => RenderOptions { width: WIDEST, ..RenderOptions::default() },
                None => for_standard_output(),
            },
        }),
    })
}

pub fn run(args: &args::Report) -> Result<ExitCode, Failure> {
    let options = validate(args).or_usage()?;
    if let Some(folder) = options.folders.iter().find(|folder| limit::holds_question(folder)) {
        return of_limit(args, folder);
    }
    let names = names(&options.folders).or_usage()?;
    let mut campaigns = Vec::new();
    for (folder, name) in options.folders.iter().zip(names) {
        let loaded = record::load(folder).or_usage()?;
        warn_of_rejected(folder, &loaded.rejected, "left out");
        campaigns.push((name, loaded));
    }
    if let Some(part) = &options.part {
        keep_part(&mut campaigns, part).or_usage()?;
    }
    let text = match &options.what {
        What::Page => {
            let page = page_of(campaigns);
            match &options.output {
                None => print_through(|out| report::write_html(page, out))?,
                Some(path) => {
                    record::write_whole(path, |out| report::write_html(page, out)).context("-o")?;
                }
            }
            return Ok(ExitCode::SUCCESS);
        }
        What::Samples => {
            let recorded: Vec<Recorded> = campaigns
                .iter()
                .map(|(name, Loaded { campaign, samples, .. })| Recorded { name, campaign, samples })
                .collect();
            report::samples_csv(&recorded)
        }
        What::Report(request, rank) => {
            let reports = campaigns.iter().flat_map(|(name, Loaded { campaign, samples, .. })| {
                let parts = report::Report::of_parts(campaign, samples).into_iter();
                parts.map(move |part| part.named(name).ranked_by(*rank))
            });
            text(&reports.collect::<Vec<_>>(), request).or_usage()?
        }
    };
    match &options.output {
        None => print_result(&text)?,
        Some(path) => record::write_whole(path, |out| out.write_all(text.as_bytes())).context("-o")?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Leaves only the parts whose names begin so.
fn keep_part(campaigns: &mut Vec<(String, Loaded)>, wanted: &str) -> anyhow::Result<()> {
    let mut names: Vec<String> = Vec::new();
    for (_, Loaded { campaign, samples, .. }) in campaigns.iter_mut() {
        let mut plans: Vec<Plan> = campaign.plans().cloned().collect();
        names.extend(plans.iter().map(|plan| plan.part().to_string()));
        plans.retain(|plan| plan.part().to_string().starts_with(wanted));
        samples.retain(|sample| plans.iter().any(|plan| sample.is_of(&plan.part())));
        let done = |facts: &EntryFacts| plans.iter().any(|plan| plan.has(facts));
        campaign.entries.retain(done);
        let mut plans = plans.into_iter();
        // A campaign that has no such part is left out below.
        campaign.plan.entries.clear();
        campaign.plan = plans.next().unwrap_or(campaign.plan.clone());
        campaign.further_plans = plans.collect();
    }
    campaigns.retain(|(_, loaded)| !loaded.campaign.plan.entries.is_empty());
    if campaigns.is_empty() {
        names.dedup();
        bail!("--part {wanted}: there is none whose name begins so; there are {}", names.join("; "));
    }
    Ok(())
}

fn text(reports: &[report::Report], request: &Request) -> Result<String, report::ExportError> {
    let export = report::export(reports, request)?;
    if !export.left_out.is_empty() {
        let mut cells: Vec<String> = export.left_out.iter().take(NAMED).cloned().collect();
        if export.left_out.len() > NAMED {
            cells.push(format!("and {} more", export.left_out.len() - NAMED));
        }
        say_aside(&format!("left out, having no figure to keep: {}", cells.join(", ")));
    }
    Ok(export.text)
}

/// A search for limits: other tables, of one folder.
fn of_limit(args: &args::Report, folder: &Path) -> Result<ExitCode, Failure> {
    let format = match args.format {
        Format::Table => report::Format::Table,
        Format::Markdown => report::Format::Markdown,
        Format::Json => report::Format::Json,
        Format::Csv => report::Format::Csv,
        _ => {
            return Err(anyhow!(
                "{} holds a search for limits: it is shown as table, markdown, csv or json",
                folder.display()
            ))
            .or_usage();
        }
    };
    if args.folders.len() > 1 {
        return Err(anyhow!("{} holds a search for limits: it is shown by itself", folder.display()))
            .or_usage();
    }
    if args.rank.is_some() {
        return Err(anyhow!("--rank: {} holds a search for limits, which ranks nothing", folder.display()))
            .or_usage();
    }
    let loaded = record::load(folder).or_usage()?;
    let question = limit::load_question(folder).or_usage()?;
    warn_of_rejected(folder, &loaded.rejected, "left out");
    let found = LimitReport::build(&loaded.campaign, &question, &loaded.samples);
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

/// What `run` prints.
pub(super) enum Shown {
    Text(String),
    Page(PageData),
}

/// A campaign as `run` prints it.
pub(super) fn of_run(
    folder: &Path,
    campaign: &Campaign,
    samples: &[Sample],
    format: Format,
) -> Result<Shown, report::ExportError> {
    let Some(target) = target(format) else {
        return Ok(Shown::Page(page(campaign, samples)));
    };
    let parts = report::Report::of_parts(campaign, samples).into_iter();
    let reports: Vec<_> = parts.map(|part| part.named(name(folder))).collect();
    let options = for_standard_output();
    Ok(Shown::Text(text(&reports, &Request { target, metrics: Vec::new(), tasks: None, options })?))
}

/// The page of campaigns. Several are told apart by the names of their folders, one by its machine and day.
pub(super) fn page_of(campaigns: Vec<(String, Loaded)>) -> PageData {
    let several = campaigns.len() > 1;
    let mut page = PageData::default();
    // One by one: the samples of the one before are no longer in memory.
    for (name, Loaded { campaign, samples, .. }) in campaigns {
        add(&mut page, &campaign, &samples, several.then_some(&*name));
    }
    page
}

/// The page of one campaign.
pub(super) fn page(campaign: &Campaign, samples: &[Sample]) -> PageData {
    let mut page = PageData::default();
    add(&mut page, campaign, samples, None);
    page
}

/// Where no source was recorded, those of the catalogue stand in, if there is one.
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

/// What is made of a report in a format; none for the page, which is made of campaigns.
fn target(format: Format) -> Option<Target> {
    Some(match format {
        Format::Table => Target::Report(report::Format::Table),
        Format::Markdown => Target::Report(report::Format::Markdown),
        Format::Json => Target::Report(report::Format::Json),
        Format::Csv => Target::Report(report::Format::Csv),
        Format::Github => Target::Github,
        Format::Bencher => Target::Bencher,
        Format::Svg => Target::Svg(Chart::Ranking),
        Format::Html => return None,
    })
}

/// What tells the campaigns apart: the names of their folders, or whole paths where two are named alike.
fn names(folders: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut seen: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        if seen.contains(&real) {
            bail!("{} is given twice", folder.display());
        }
        seen.push(real);
    }
    let short: Vec<String> = folders.iter().map(|folder| name(folder)).collect();
    let alike = short.iter().enumerate().any(|(i, name)| short[..i].contains(name));
    Ok(if alike { folders.iter().map(|folder| folder.display().to_string()).collect() } else { short })
}

/// The name of a campaign's folder; of `.`, the name of the folder that it is.
fn name(folder: &Path) -> String {
    let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    real.file_name().unwrap_or(real.as_os_str()).to_string_lossy().into_owned()
}

/// As suits a terminal, a pipe or a file.
pub(super) fn for_standard_output() -> RenderOptions {
    let color = colour(&std::io::stdout());
    RenderOptions {
        color,
        width: terminal_width().unwrap_or(WIDEST).min(WIDEST),
        bars: if color { Bars::Blocks } else { Bars::Plain },
    }
}

/// Columns of the terminal that standard output is, or that COLUMNS says.
pub(super) fn terminal_width() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    if let Some(columns) = said.filter(|columns| *columns > 0) {
        return Some(columns);
    }
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
