//! The list of all entries, by runtime, each with a result.

use super::campaigns::{CampaignSummary, SeriesOf, link_to_result};
use super::docs::Documents;
use super::layout::{ENTRIES, SitePage, anchor, plain_name};
use super::start::featured;
use super::subject::SiteEntry;
use crate::catalog::{Style, reading_order};
use crate::document::{NONE, escaped, joined};
use crate::metrics;
use crate::record::EntryFacts;
use crate::report::footnotes::qualities;
use crate::report::{Report, Row};
use crate::submit::Badge;
use crate::units::{self, counted};

pub fn page(campaigns: &[CampaignSummary], subjects: &[SiteEntry], documents: &Documents) -> String {
    let runtimes = subjects.chunk_by(|a, b| a.facts.runtime == b.facts.runtime);
    let mut runtimes: Vec<(&EntryFacts, &[SiteEntry])> = runtimes.map(|own| (&own[0].facts, own)).collect();
    runtimes.sort_by_key(|(of, _)| of.runtime_title.to_lowercase());
    let series = series(campaigns);
    let jump = |(of, _): &(&EntryFacts, _)| {
        format!("<a href=\"#{}\">{}</a>\n", plain_name(&of.runtime), escaped(&of.runtime_title))
    };
    let main = format!(
        "<h1>{} entries of {}</h1>\n<p class=\"lead\">An entry is one way to run tasks: a program as users of the language write it \
         (idiomatic), or tuned for the benchmark (tuned). Compare entries of the same kind: a timer does less than a thread.</p>\n\
         <p class=\"quiet\">Each value is of the workload and N beside it, from the linked results. \
         &quot;vs best&quot; compares it with the best entry of its kind there.</p>\n\
         <nav class=\"jumps\" aria-label=\"Runtimes\">\n{}</nav>\n{}",
        subjects.len(),
        counted(runtimes.len() as u64, "runtime"),
        runtimes.iter().map(jump).collect::<String>(),
        runtimes.iter().map(|(of, own)| section(of, own, &series, documents)).collect::<String>(),
    );
    let about = "Every program that taskscale measures, by runtime";
    SitePage { path: ENTRIES, title: "Entries", about, main: &main }.render(!documents.is_empty())
}

/// All series, preferred ones first: outside of development, by reading order, without parameters or CPUs, of
/// the featured machine, the newest.
fn series(campaigns: &[CampaignSummary]) -> Vec<SeriesOf<'_>> {
    let featured = featured(campaigns);
    let machine = featured.as_ref().map(|featured| &featured.campaign.recorded.machine);
    let all = campaigns.iter().flat_map(|of| of.reports.iter().map(move |report| (of, report)));
    let mut all: Vec<SeriesOf> = all.collect();
    all.sort_by_key(|(campaign, report)| {
        let elsewhere = machine.is_some_and(|machine| !campaign.is_on(machine));
        let is_special = !report.params.is_empty() || report.cpus.is_some();
        (campaign.is_development(), reading_order(&report.workload), is_special, elsewhere)
    });
    all
}

/// The entry's row at the largest N with an ok run, in the first series that has one.
fn best_known<'a>(series: &[SeriesOf<'a>], entry: &str) -> Option<(SeriesOf<'a>, &'a Row)> {
    let is_good = |row: &&Row| row.ok_runs > 0 && row.headline.is_some();
    series.iter().find_map(|of| Some((*of, of.1.rows_of(entry).filter(is_good).last()?)))
}

fn section(of: &EntryFacts, own: &[SiteEntry], series: &[SeriesOf], documents: &Documents) -> String {
    let readme = documents.readme(ENTRIES, &of.runtime);
    let readme = readme.map(|link| format!(" <small>{link}</small>"));
    let rows: String = own.iter().map(|subject| row(subject, series)).collect();
    format!(
        "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}{}</h2>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"entries\">\n\
         <thead><tr><th scope=\"col\">Entry</th><th scope=\"col\">Kind</th><th scope=\"col\">Style</th>\
         <th scope=\"col\" class=\"n\">Memory or time</th><th scope=\"col\">Workload, N</th>\
         <th scope=\"col\" class=\"n\">vs best</th><th scope=\"col\" class=\"n\">{}</th><th scope=\"col\">Results</th>\
         <th scope=\"col\">Workloads</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n</section>\n",
        escaped(&of.runtime_title),
        readme.unwrap_or_default(),
        metrics::BYTES_PER_TASK.heading,
        id = plain_name(&of.runtime),
    )
}

fn row(subject: &SiteEntry, series: &[SeriesOf]) -> String {
    let facts = &subject.facts;
    let value = best_known(series, &facts.name);
    let value = value.map(|((campaign, report), row)| value_cells(campaign, report, row));
    let workloads: Vec<&str> = subject.workloads().map(|(workload, _)| workload).collect();
    format!(
        "<tr><th scope=\"row\">{}<small>{}</small></th><td>{}</td><td>{}</td>{}<td class=\"words\">{}</td></tr>\n",
        anchor(ENTRIES, &subject.page, facts.name.split_once('/').map_or(&*facts.name, |(_, name)| name)),
        escaped(&facts.title),
        facts.kind.title(),
        style(facts),
        value.unwrap_or_else(|| format!("<td class=\"n\">{NONE}</td><td colspan=\"4\">no result</td>")),
        escaped(&workloads.join(", ")),
    )
}

/// The cells of a row: its headline, series, N, other values and results.
fn value_cells(campaign: &CampaignSummary, report: &Report, row: &Row) -> String {
    let headline = report.headline();
    let value = row.median().map(|median| headline.with_unit(median));
    let times = row.times_best.map(|times| units::significant(times, 3));
    let n =
        |text: Option<String>| format!("<td class=\"n\">{}</td>", escaped(text.as_deref().unwrap_or(NONE)));
    let part = report.series().to_string();
    format!(
        "{}<td class=\"date\">{}, {}</td>{}{}<td>{} <small>{}</small></td>",
        n(value),
        escaped(&part),
        units::count(row.tasks),
        n(times),
        n(row.text(&metrics::BYTES_PER_TASK)),
        link_to_result(ENTRIES, campaign, &part, &row.entry.name),
        campaign.badge.map_or("", Badge::short),
    )
}

/// Facts that matter for comparisons.
pub fn style(facts: &EntryFacts) -> String {
    let usual = (facts.style == Style::Idiomatic).then_some(Style::Idiomatic.name());
    let words = qualities(facts.style, facts.reference, facts.parallel, facts.unverified.is_some());
    joined(usual.into_iter().chain(words), ", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::{everything, of_parts};
    use crate::site::fixture::shown;

    #[test]
    fn entries_missing_in_the_newest_results_use_older_values() {
        let campaigns = [shown("newest", of_parts()), shown("old", everything())];
        let series = series(&campaigns);
        let known = |entry: &str| {
            best_known(&series, entry).map(|((campaign, _), row)| (campaign.place.as_str(), row.tasks))
        };
        assert_eq!(known("go/goroutine"), Some(("newest", 10_000)));
        assert_eq!(known("rust/floor"), Some(("old", 1_000_000)));
        assert_eq!(known("kotlin/coroutine"), None);
        let ((campaign, report), row) = best_known(&series, "rust/floor").unwrap();
        let cells = value_cells(campaign, report, row);
        assert!(cells.contains(" MiB</td><td class=\"date\">sleep, 1M</td>"), "{cells}");
        assert!(cells.contains("campaigns/old.html#part=sleep&amp;entry=rust%2Ffloor"), "{cells}");
    }
}
