//! The page of an entry: what it is, its results by machine, and its program.

use std::collections::BTreeMap;

use super::anatomy;
use super::campaigns::{CampaignSummary, SeriesOf, by_machine, link_to_result, machine_heading, mark_behind};
use super::docs::{Documents, published};
use super::entries::style;
use super::layout::{ENTRIES, SitePage, anchor, link, plain_name};
use super::subject::SiteEntry;
use crate::catalog::{embedded_files, reading_order};
use crate::document::{NONE, capitalized, command_line, escaped, escaped_lines, joined};
use crate::record::{EntryFacts, Source};
use crate::report::{FailureLine, Report, Row, columns, failure_lines};
use crate::units::{self, counted};

pub fn page(subject: &SiteEntry, campaigns: &[CampaignSummary], documents: &Documents) -> String {
    let (here, facts) = (&*subject.page, &subject.facts);
    let mut main = format!(
        "<p class=\"above\">{} › <a href=\"{}#{}\">{}</a></p>\n<h1>{}</h1>\n<p class=\"id\"><code>{}</code></p>\n\
         <p class=\"lead\">{}</p>\n",
        anchor(here, ENTRIES, "Entries"),
        link(here, ENTRIES),
        plain_name(&facts.runtime),
        escaped(&facts.runtime_title),
        escaped(&facts.title),
        escaped(&facts.name),
        escaped(&sentence(&facts.why)),
    );
    if let Some(why) = &facts.unverified {
        main.push_str(&format!("<p class=\"warning\">Unverified: {}.</p>\n", escaped(why)));
    }
    main.push_str(&facts_list(subject, documents));
    let notes = facts.notes.iter().chain(&facts.omitted);
    let notes: String = notes.map(|note| format!("<li>{}</li>\n", escaped(note))).collect();
    if !notes.is_empty() {
        main.push_str(&format!("<h2>Notes</h2>\n<ul>\n{notes}</ul>\n"));
    }
    main.push_str("<h2 id=\"figures\">Results</h2>\n");
    let figures = figures(subject, campaigns);
    main.push_str(if figures.is_empty() { "<p>No results on this site include it.</p>\n" } else { &figures });
    main.push_str(&anatomy::section(here, &facts.name, campaigns));
    main.push_str(&program(subject));
    let about = format!("{} under taskscale: what it costs, and its program", facts.title);
    SitePage { path: here, title: &facts.title, about: &about, main: &main }.render(!documents.is_empty())
}

/// The text with a period, and a capital letter unless it begins with a name such as `std::thread`.
fn sentence(text: &str) -> String {
    let text = text.trim();
    let is_word = text.split(' ').next().is_some_and(|first| first.chars().all(char::is_alphabetic));
    let text = if is_word { capitalized(text) } else { text.to_owned() };
    if text.is_empty() || text.ends_with(['.', '!', '?']) { text } else { text + "." }
}

fn facts_list(subject: &SiteEntry, documents: &Documents) -> String {
    let SiteEntry { page: here, facts: of, .. } = subject;
    let parallel = if of.parallel { "on several CPUs at once" } else { "on one CPU at a time" };
    let title = escaped(&of.runtime_title);
    // Addresses with other schemes could be code.
    let runtime = match of.url.starts_with("https://") || of.url.starts_with("http://") {
        true => format!("<a href=\"{}\">{title}</a>", escaped(&of.url)),
        false => title,
    };
    let readme = documents.readme(here, &of.runtime).map(|link| format!(", {link}"));
    let mut facts: Vec<(&str, String)> = vec![
        ("Kind", format!("{} ({})", of.kind.title(), of.kind.about())),
        ("Style", style(of)),
        ("Its tasks run", parallel.to_owned()),
        ("Runtime", runtime + &readme.unwrap_or_default()),
    ];
    facts.extend(subject.library.as_ref().map(|library| ("Library", escaped(library))));
    facts.extend(subject.install.as_ref().map(|install| ("Install", escaped(install))));
    if !of.env.is_empty() {
        let all = of.env.iter().map(|(name, value)| escaped(&format!("{name}={value}")));
        facts.push(("Environment", format!("<code>{}</code>", joined(all, " "))));
    }
    let workload = |(workload, _)| match documents.page("docs/workloads.md", workload) {
        Some((page, at)) => format!("<a href=\"{}{at}\">{}</a>", link(here, &page), escaped(workload)),
        None => escaped(workload),
    };
    facts.push(("Workloads", joined(subject.workloads().map(workload), ", ")));
    facts.extend(of.posts.then(|| ("Blog posts", "in the original blog posts (2023, 2024)".to_owned())));
    let facts: String =
        facts.iter().map(|(name, text)| format!("<div><dt>{name}</dt><dd>{text}</dd></div>\n")).collect();
    format!("<dl class=\"facts\">\n{facts}</dl>\n")
}

/// For each machine the series that were measured, each from the newest results that have it.
fn figures(subject: &SiteEntry, campaigns: &[CampaignSummary]) -> String {
    let has = |report: &Report| report.rows_of(&subject.facts.name).next().is_some();
    let mut text = String::new();
    for own in by_machine(campaigns) {
        // Series in reading order, with their results, the newest first.
        let mut parts: BTreeMap<(usize, String), Vec<SeriesOf>> = BTreeMap::new();
        for campaign in own {
            for report in campaign.reports.iter().filter(|report| has(report)) {
                let part = (reading_order(&report.workload), report.series().to_string());
                parts.entry(part).or_default().push((campaign, report));
            }
        }
        let Some(of) = parts.values().next() else { continue };
        text.push_str(&machine_heading(&of[0].0.recorded.machine));
        text.extend(parts.iter().map(|((_, part), all)| part_table(subject, part, all)));
    }
    text
}

fn part_table(subject: &SiteEntry, part: &str, all: &[SeriesOf]) -> String {
    let Some((_, report)) = all.first() else { return String::new() };
    let headline = report.headline();
    let columns = columns(report, true);
    let heads: String = std::iter::once(headline.heading)
        .chain(columns.iter().map(|(metric, _)| metric.heading))
        .map(|heading| format!("<th scope=\"col\" class=\"n\">{}</th>", escaped(heading)))
        .collect();
    let mut rows = String::new();
    for group in &report.groups {
        let Some(row) = group.row(&subject.facts.name) else { continue };
        let of_kind = || group.rows.iter().filter(|other| other.ranked && other.entry.kind == row.entry.kind);
        let place = of_kind().position(|other| other.entry.name == row.entry.name).map(|at| at + 1);
        let place = place.zip(row.times_best).map(|(place, times)| {
            format!("{} <small>{place} of {}</small>", units::significant(times, 3), of_kind().count())
        });
        rows.push_str(&format!("<tr><th scope=\"row\" class=\"n\">{}</th>", units::count(row.tasks)));
        if row.has_figures() {
            let shown = row.median().map(|median| headline.show(median));
            let others = columns.iter().map(|(metric, _)| row.text(metric));
            for text in std::iter::once(shown).chain(others) {
                rows.push_str(&format!("<td class=\"n\">{}</td>", escaped(text.as_deref().unwrap_or(NONE))));
            }
            let place =
                place.unwrap_or_else(|| escaped(if row.entry.reference { "reference" } else { NONE }));
            rows.push_str(&format!("<td class=\"n\">{place}</td><td>{}</td></tr>\n", status(row)));
        } else {
            rows.push_str(&format!("<td colspan=\"{}\">{}</td></tr>\n", columns.len() + 3, status(row)));
        }
    }
    format!(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"figures\"><caption>{} <small>{}</small></caption>\n\
         <thead><tr><th scope=\"col\" class=\"n\">tasks</th>{heads}<th scope=\"col\" class=\"n\">vs best of its kind</th>\
         <th scope=\"col\">Runs</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n",
        escaped(part),
        origin(subject, part, all),
    )
}

/// Links to the results that have the series, the shown ones first. Each link opens the entry there.
fn origin(subject: &SiteEntry, part: &str, all: &[SeriesOf]) -> String {
    let to = |(campaign, _): &SeriesOf| {
        link_to_result(&subject.page, campaign, part, &subject.facts.name) + &mark_behind(campaign)
    };
    let [newest, others @ ..] = all else { return String::new() };
    let shown = format!("{}, {}", to(newest), counted(newest.1.repetitions, "repetition"));
    let others = joined(others.iter().map(to), ", ");
    if others.is_empty() { shown } else { format!("{shown}; also in {others}") }
}

fn status(row: &Row) -> String {
    if row.shortfalls.is_empty() {
        return escaped(&row.status);
    }
    let failure = |FailureLine { head, reason }: FailureLine| {
        format!("<b class=\"fell\">{}</b>: {}", escaped(&head), escaped(&reason))
    };
    let failures = joined(failure_lines(row).into_iter().map(failure), "; ");
    match row.ok_runs {
        0 => failures,
        ok => format!("{ok} of {} ok; {failures}", row.runs),
    }
}

fn program(subject: &SiteEntry) -> String {
    let origin = match subject.in_catalog {
        true => "As in the current catalog. The page of each result shows the program as it was measured.",
        false => "As it was measured: the catalog of this site has no such entry.",
    };
    let commands = |(workload, program): (&str, &EntryFacts)| {
        let lines = program.build.iter().chain([&program.run]).map(|command| command_line(command));
        format!("# {workload}\n{}", joined(lines, "\n"))
    };
    let files = subject.files().into_iter().enumerate();
    let files: String =
        files.map(|(at, (file, workloads))| source(subject, file, &workloads, at == 0)).collect();
    format!(
        "<h2 id=\"program\">Program</h2>\n<p>{origin}</p>\n\
         <details><summary>Build and run commands by workload</summary>\n\
         <pre tabindex=\"0\"><code>{}</code></pre></details>\n{files}",
        escaped_lines(&joined(subject.workloads().map(commands), "\n\n"))
    )
}

fn source(subject: &SiteEntry, file: &Source, workloads: &[&str], open: bool) -> String {
    let inside = format!("{}/{}", subject.facts.runtime, file.path);
    let is_ours = subject.in_catalog && embedded_files().any(|name| name == inside);
    let there = match is_ours {
        true => format!(
            "<p class=\"there\"><a href=\"{}\">in the repository</a></p>\n",
            published(&format!("runtimes/{inside}"))
        ),
        false => String::new(),
    };
    format!(
        "<details class=\"source\"{}><summary><code>{}</code> <small>{}</small></summary>\n{there}\
         <pre tabindex=\"0\"><code>{}</code></pre></details>\n",
        if open { " open" } else { "" },
        escaped(&file.path),
        escaped(&workloads.join(", ")),
        escaped_lines(&file.text),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_formatted_as_sentences() {
        assert_eq!(
            sentence("the building block of concurrency in Go"),
            "The building block of concurrency in Go."
        );
        assert_eq!(sentence("std::thread, without a library"), "std::thread, without a library.");
        assert_eq!((sentence("Done."), sentence("")), ("Done.".to_owned(), String::new()));
    }
}
