//! The start page: the question, highlights and a picture of the answer, the heat table, and all results.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::campaigns::{CampaignSummary, NEARLY, by_machine, cited, machine_heading, table};
use super::docs::{Documents, REPOSITORY};
use super::folders::ResultsFolder;
use super::heat;
use super::highlights::{Highlight, highlights};
use super::layout::{ENTRIES, START, SitePage, anchor};
use super::subject::{SiteEntry, named};
use crate::catalog::reading_order;
use crate::document::{command_line, escaped, joined};
use crate::report::{Report, Row, RowGroup, failure_lines, ranking_chart};
use crate::submit::Withdrawal;
use crate::units::{counted, tasks};

/// Most rows of the picture, so that the opening fits on one screen.
const ROWS: usize = 11;

/// The results that the start page features.
#[derive(Clone, Copy)]
pub struct Featured<'a> {
    pub campaign: &'a CampaignSummary,
    pub report: &'a Report,
    pub group: &'a RowGroup,
}

pub fn page(
    campaigns: &[CampaignSummary],
    withdrawn: &[(ResultsFolder, Withdrawal)],
    subjects: &[SiteEntry],
    documents: &Documents,
) -> String {
    let featured = featured(campaigns);
    let n = featured.as_ref().map_or("N concurrent tasks".to_owned(), |of| many(of.group.tasks));
    let shown = featured.map(|featured| {
        let found = highlights(featured.report, featured.group.tasks);
        (list(&found, subjects), figure(&featured, subjects))
    });
    let (highlights, picture) = shown.unwrap_or_default();
    let (development, published): (Vec<&CampaignSummary>, Vec<&CampaignSummary>) =
        campaigns.iter().partition(|campaign| campaign.is_development());
    let mut main = format!(
        "<div class=\"opening\">\n<div class=\"point\">\n<h1>What do <b>{n}</b> cost, and where does each runtime break?</h1>\n\
         <p class=\"lead\">Memory, CPU and time of small idiomatic programs, measured with all tasks alive at once and \
         including kernel memory. Entries are ranked within their kind.</p>\n{highlights}</div>\n{picture}</div>\n{}{}{}{}\
         <section id=\"campaigns\" aria-labelledby=\"campaigns-title\">\n<h2 id=\"campaigns-title\">All results</h2>\n\
         <p>Only results of the same machine are comparable.</p>\n{}",
        heat::section(campaigns, subjects),
        choosing(documents),
        changed(&published),
        how_to_run(documents),
        tables(&published),
    );
    for (found, withdrawal) in withdrawn {
        let (link, date) = (anchor(START, &found.page(), &found.place), withdrawal.withdrawn_at.date());
        main.push_str(&format!("<p class=\"quiet\">Withdrawn: {link}, {date}</p>\n"));
    }
    if !development.is_empty() {
        main.push_str(&format!(
            "<details>\n<summary>Development <small>{}, measured while taskscale was developed</small></summary>\n\
             {}</details>\n",
            counted(development.len() as u64, "results folder"),
            tables(&development)
        ));
    }
    main.push_str("</section>\n");
    SitePage {
        path: START,
        title: "taskscale: what do concurrent tasks cost?",
        about: "What N concurrent tasks cost in each language runtime, and where each one breaks",
        main: &main,
    }
    .render(!documents.is_empty())
}

/// The results of each machine. The machine with the most runs comes first.
fn tables(campaigns: &[&CampaignSummary]) -> String {
    let mut machines = by_machine(campaigns.iter().copied());
    machines.sort_by_key(|own| Reverse(own.iter().map(|campaign| campaign.ok_runs).sum::<usize>()));
    machines.iter().map(|own| machine_heading(&own[0].recorded.machine) + &table(own)).collect()
}

/// `10k concurrent tasks`, as the question shows it.
fn many(n: u64) -> String {
    match n {
        1_000_000 => "a million concurrent tasks".to_owned(),
        n => tasks(n).replace(' ', " concurrent "),
    }
}

/// The results to feature: of the first workload in reading order, the newest with at least `NEARLY` of the
/// highest worth. Worth = ranked cases × repetitions (at most 3) × share of runs on an idle machine.
pub fn featured<'a>(campaigns: &'a [CampaignSummary]) -> Option<Featured<'a>> {
    let of = |campaign: &'a CampaignSummary| {
        let reports = campaign.reports.iter().filter(|report| report.rows().any(|row| row.ranked));
        let order = |report: &Report| reading_order(&report.workload);
        let report = reports.min_by_key(|report| (order(report), report.params.len()))?;
        let tasks = report.representative_tasks()?;
        let group = report.groups.iter().find(|group| group.tasks == tasks)?;
        // Count only what is shown, and only entries of the blog posts: other workloads, entries and versions
        // add nothing.
        let entries = &campaign.recorded.entries;
        let stands = |name: &str| entries.iter().any(|facts| facts.posts && facts.name == name);
        let cells = report.rows().filter(|row| row.ranked && stands(&row.entry.name)).count();
        let quiet = 1.0 - campaign.busy_runs as f64 / campaign.ok_runs.max(1) as f64;
        let worth = (cells * campaign.recorded.plan.repetitions.min(3) as usize) as f64 * quiet;
        Some((order(report), worth, Featured { campaign, report, group }))
    };
    // The newest come first.
    let all: Vec<_> = campaigns.iter().filter_map(of).collect();
    let first = all.iter().map(|(order, ..)| *order).min()?;
    let alike = || all.iter().filter(|(order, ..)| *order == first);
    let most = alike().map(|(_, worth, _)| *worth).fold(0.0, f64::max);
    alike().find(|(_, worth, _)| *worth >= NEARLY * most).map(|(.., featured)| *featured)
}

fn list(found: &[Highlight], subjects: &[SiteEntry]) -> String {
    if found.is_empty() {
        return String::new();
    }
    let items: String = found
        .iter()
        .map(|Highlight { text, entries }| {
            let mut text = escaped(text);
            for (at, name) in entries.iter().enumerate() {
                text = text.replace(&format!("{{{at}}}"), &named(name, subjects));
            }
            format!("<li>{text}</li>\n")
        })
        .collect();
    format!("<ul class=\"highlights\">\n{items}</ul>\n")
}

/// For each kind the first rows of the ranking, one per runtime, as many as fit. Failed rows rank last.
fn chosen(group: &RowGroup) -> Vec<Row> {
    let runtime = |row: &Row| row.entry.name.split('/').next().unwrap_or_default().to_owned();
    let of_kinds = |most: usize| -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for row in group.rows.iter().filter(|row| !row.entry.reference) {
            let alike = || rows.iter().filter(|other| other.entry.kind == row.entry.kind);
            if alike().count() < most && alike().all(|other| runtime(other) != runtime(row)) {
                rows.push(row.clone());
            }
        }
        rows
    };
    let fits = (1..=ROWS).rev().map(of_kinds).find(|rows| rows.len() <= ROWS);
    fits.unwrap_or_else(|| of_kinds(1).into_iter().take(ROWS).collect())
}

fn figure(featured: &Featured, subjects: &[SiteEntry]) -> String {
    let Featured { campaign, report, group } = featured;
    let rows = chosen(group);
    let left_out = group.rows.iter().filter(|row| !row.entry.reference).count() - rows.len();
    let small = Report {
        groups: vec![RowGroup { tasks: group.tasks, rows: rows.clone() }],
        unavailable: Vec::new(),
        ..(*report).clone()
    };
    // Cannot fail: featured results have rows.
    let Ok(picture) = ranking_chart(&small, Some(group.tasks)) else { return String::new() };
    let more = match left_out {
        0 => String::new(),
        more => format!("{}, every run and ", counted(more, "more entry")),
    };
    format!(
        "<figure class=\"picture\">\n<div class=\"wide\">{picture}</div>\n{}\
         <figcaption>{more}all other results: {}.</figcaption>\n</figure>\n",
        narrow(report, &rows, subjects),
        cited(START, campaign),
    )
}

/// The same for a narrow screen, on which a picture would be too small to read.
fn narrow(report: &Report, rows: &[Row], subjects: &[SiteEntry]) -> String {
    let figure = report.headline();
    let largest = rows.iter().filter_map(Row::median).fold(0.0, f64::max);
    let mut text = format!("<table class=\"bars narrow\"><caption>{}</caption>\n", escaped(figure.heading));
    let mut kind = None;
    for row in rows {
        if kind.replace(row.entry.kind) != Some(row.entry.kind) {
            text.push_str(&format!(
                "<tbody><tr><th scope=\"rowgroup\" colspan=\"2\">{}</th></tr>\n",
                row.entry.kind.title()
            ));
        }
        let ends = joined(failure_lines(row).into_iter().map(|told| told.head), "; ");
        let shown = match row.headline {
            Some(spread) => format!(
                "<span class=\"bar\" style=\"width:{:.1}%\"></span></td><td class=\"n\">{}{}",
                100.0 * spread.median / largest,
                escaped(&figure.show(spread.median)),
                if row.ok_runs == 0 { format!(" ({})", escaped(&ends)) } else { String::new() }
            ),
            None => format!("</td><td class=\"fell\">{}", escaped(&ends)),
        };
        text.push_str(&format!(
            "<tr><td>{} {}<br>{shown}</td></tr>\n",
            named(&row.entry.name, subjects),
            escaped(row.entry.shown_version.as_deref().unwrap_or_default())
        ));
    }
    text + "</table>\n"
}

fn choosing(documents: &Documents) -> String {
    let link = documents.link(START, "docs/choosing.md", "The right runtime for your service");
    let text = "depends on what it runs short of: connections, memory, CPU or messages.";
    link.map(|link| format!("<h2>Choosing</h2>\n<p>{link} {text}</p>\n")).unwrap_or_default()
}

/// Suggests comparing the results of one machine that share the most cases, the newest of equals. `campaigns`:
/// the newest first.
fn changed(campaigns: &[&CampaignSummary]) -> String {
    let cases: Vec<_> = campaigns.iter().map(|campaign| (*campaign, cases(campaign))).collect();
    let pairs = cases.iter().enumerate().rev().flat_map(|(nth, (new, own))| {
        let older = cases[nth + 1..].iter().rev().filter(|(old, _)| old.is_on(&new.recorded.machine));
        older.map(move |(old, others)| (others.intersection(own).count(), *old, *new))
    });
    let most = pairs.filter(|(common, ..)| *common > 0).max_by_key(|(common, ..)| *common);
    let Some((_, old, new)) = most else { return String::new() };
    let command = ["taskscale", "compare", old.place.as_str(), new.place.as_str()].map(str::to_owned);
    format!(
        "<h2>What changed</h2>\n<p>To compare {} with {}, results of the same machine, run <code>{}</code> in the folder \
         that contains both.</p>\n",
        anchor(START, &new.page, &new.place),
        anchor(START, &old.page, &old.place),
        escaped(&command_line(&command))
    )
}

/// Series, entry and N of all cases.
fn cases(campaign: &CampaignSummary) -> BTreeSet<(String, &str, u64)> {
    let of_report = campaign.reports.iter().flat_map(|report| {
        let part = report.series().to_string();
        report.rows().map(move |row| (part.clone(), &*row.entry.name, row.tasks))
    });
    of_report.collect()
}

fn how_to_run(documents: &Documents) -> String {
    let mut more: Vec<String> = vec![anchor(START, ENTRIES, "every program that is measured")];
    more.extend(documents.link(START, "docs/guides/measure.md", "how to measure your program"));
    more.extend(documents.link(START, "docs/methodology.md", "how it is measured"));
    format!(
        "<section class=\"run\" aria-labelledby=\"run-title\">\n<div><h2 id=\"run-title\">Run it on your machine</h2>\n\
         <p>You need Linux and Rust. Runtimes that are not installed are skipped and listed. See {more}.</p>\n</div>\n\
         <pre tabindex=\"0\"><code>git clone {REPOSITORY} &amp;&amp; cd taskscale\n\
         cargo run --release -- --quick       # a first table: up to 100k tasks, once\n\
         cargo run --release                  # 1 to 1M tasks, three times\n\
         cargo run --release -- site -o site  # these pages with your results</code></pre>\n</section>\n",
        more = more.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Kind;
    use crate::record::{Campaign, Sample};
    use crate::report::Report;
    use crate::report::fixture::everything;
    use crate::site::fixture::shown;
    use crate::submit::Badge;

    #[test]
    fn the_chart_has_entries_of_each_kind() {
        let (campaign, samples) = everything();
        let report = Report::build(&campaign, &samples);
        let group = report.groups.last().unwrap();
        let rows = chosen(group);
        assert!(rows.len() <= ROWS && !rows.iter().any(|row| row.entry.reference));
        let kinds = |rows: &[Row]| -> std::collections::BTreeSet<Kind> {
            rows.iter().filter(|row| !row.entry.reference).map(|row| row.entry.kind).collect()
        };
        assert_eq!(kinds(&rows), kinds(&group.rows));
    }

    #[test]
    fn compare_command_is_suggested_for_results_of_one_machine() {
        let other = |mut of: (Campaign, Vec<Sample>)| {
            of.0.machine.cpu = "Another".to_owned();
            of
        };
        let all = [
            shown("new", everything()),
            shown("elsewhere", other(everything())),
            shown("old & gone", everything()),
        ];
        let of = |campaigns: &[CampaignSummary]| changed(&campaigns.iter().collect::<Vec<_>>());
        let text = of(&all);
        assert!(text.contains("taskscale compare &#39;old &amp; gone&#39; new"), "{text}");
        assert_eq!(of(&all[..2]), "");
    }

    #[test]
    fn results_outside_machine_folders_are_development() {
        let mut campaign = shown("2026-11-21", everything());
        assert!(!campaign.is_development());
        campaign.badge = Some(Badge::Project);
        assert!(campaign.is_development());
        campaign.place = "machine/2026-11-21".to_owned();
        assert!(!campaign.is_development());
    }

    #[test]
    fn task_counts_are_formatted_for_questions() {
        assert_eq!(many(1_000_000), "a million concurrent tasks");
        assert_eq!(many(10_000), "10k concurrent tasks");
    }
}
