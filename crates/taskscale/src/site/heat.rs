//! The heat table of the start page: entries × workloads, each against the best of its kind.

use std::collections::BTreeSet;

use super::campaigns::{CampaignSummary, NEARLY, cited, machine_name};
use super::layout::START;
use super::subject::{SiteEntry, named};
use crate::document::{NONE, escaped};
use crate::report::{Factor, HEAT_STEPS, Overview, overview, releases};
use crate::submit::Badge;
use crate::units::{self, counted};

/// Most rows of a kind. The page of the results shows all.
const ROWS: usize = 8;

/// Empty if no results have two workloads.
pub fn section(campaigns: &[CampaignSummary], subjects: &[SiteEntry]) -> String {
    let newest = newest_complete(campaigns);
    let Some((campaign, overview)) = newest.and_then(|of| Some((of, overview(&of.reports)?))) else {
        return String::new();
    };
    format!(
        "<section class=\"overview\" aria-labelledby=\"overview-title\">\n\
         <h2 id=\"overview-title\">Every workload, vs best of its kind</h2>\n\
         <p class=\"quiet\">Memory, or time per operation, as a multiple of the best entry of the same kind at N tasks. \
         Results: {}, on {}.</p>\n<div class=\"scroll\" tabindex=\"0\">{}</div>\n{}</section>\n",
        cited(START, campaign),
        machine_name(&campaign.recorded.machine),
        table(&overview, subjects),
        overview
            .remarks(usize::MAX)
            .into_iter()
            .chain(releases(overview.lines.iter().map(|line| line.entry)))
            .map(|remark| format!("<p class=\"quiet\">{}</p>\n", escaped(&remark)))
            .collect::<String>(),
    )
}

/// The newest of the project's own results with at least `NEARLY` times the most workloads of any. `campaigns`:
/// the newest first.
fn newest_complete(campaigns: &[CampaignSummary]) -> Option<&CampaignSummary> {
    let own =
        || campaigns.iter().filter(|campaign| campaign.badge.is_none_or(|badge| badge == Badge::Project));
    let most = own().map(workloads).max()? as f64;
    own().find(|campaign| workloads(campaign) as f64 >= NEARLY * most)
}

fn workloads(campaign: &CampaignSummary) -> usize {
    let reports = campaign.reports.iter().filter(|report| report.rows().any(|row| row.ranked));
    reports.map(|report| &report.workload).collect::<BTreeSet<_>>().len()
}

fn table(overview: &Overview, subjects: &[SiteEntry]) -> String {
    let head = |(part, n): &(String, u64)| {
        let n = units::count(*n);
        format!("<th scope=\"col\" class=\"n\">{} <small>N = {n}</small></th>", escaped(part))
    };
    let heads: String = overview.columns.iter().map(head).collect();
    let width = overview.columns.len() + 1;
    let mut text =
        format!("<table class=\"heat\">\n<thead><tr><th scope=\"col\">Entry</th>{heads}</tr></thead>\n");
    for lines in overview.lines.chunk_by(|a, b| a.entry.kind == b.entry.kind) {
        text.push_str(&format!(
            "<tbody>\n<tr><th scope=\"rowgroup\" colspan=\"{width}\"><span>{}</span></th></tr>\n",
            lines[0].entry.kind.title()
        ));
        for line in lines.iter().take(ROWS) {
            let version = line.entry.shown_version.as_deref().unwrap_or_default();
            let name = format!("{} {}", named(&line.entry.name, subjects), escaped(version));
            let cells: String = line.factors.iter().map(cell).collect();
            text.push_str(&format!("<tr><th scope=\"row\">{name}</th>{cells}</tr>\n"));
        }
        if lines.len() > ROWS {
            let more = counted(lines.len() - ROWS, "more entry");
            text.push_str(&format!("<tr><td colspan=\"{width}\"><span>{more}</span></td></tr>\n"));
        }
        text.push_str("</tbody>\n");
    }
    text + "</table>"
}

fn cell(factor: &Factor) -> String {
    match factor {
        Factor::Times(times) => {
            let step = HEAT_STEPS.iter().filter(|step| times >= *step).count();
            format!("<td class=\"n heat-{step}\">{}</td>", units::significant(*times, 3))
        }
        Factor::Unranked(why) => format!("<td class=\"n fell\">{}</td>", escaped(why)),
        Factor::Absent => format!("<td class=\"n\">{NONE}</td>"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::{everything, of_parts};
    use crate::site::fixture::shown;

    #[test]
    fn newest_project_results_with_most_workloads_are_chosen() {
        let mut campaigns =
            [shown("newest", everything()), shown("newer", of_parts()), shown("old", of_parts())];
        let place = |campaigns: &[CampaignSummary]| newest_complete(campaigns).map(|of| of.place.clone());
        assert_eq!(place(&campaigns).as_deref(), Some("newer"));
        campaigns[1].badge = Some(Badge::HandedIn);
        assert_eq!(place(&campaigns).as_deref(), Some("old"));
    }

    #[test]
    fn table_headers_have_scopes_and_n() {
        let text = section(&[shown("parts", of_parts())], &[]);
        for part in [
            "<th scope=\"col\" class=\"n\">sleep <small>N = 10k</small></th>",
            "<th scope=\"col\" class=\"n\">spawn, 2 CPUs <small>N = 1k</small></th>",
            "<th scope=\"rowgroup\" colspan=\"3\"><span>Async tasks</span></th>",
            "<th scope=\"row\"><code>rust/thread</code> 1</th><td class=\"n heat-0\">1.00</td>",
            "<p class=\"quiet\">Only in sleep: go/time-after-func.</p>",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(section(&[shown("one workload", everything())], &[]), "");
    }

    #[test]
    fn shades_follow_the_factor_and_failures_are_escaped() {
        let cells = [1.0, 1.1, 1.49, 12.3].map(|times| cell(&Factor::Times(times)));
        assert_eq!(
            cells,
            [("0", "1.00"), ("1", "1.10"), ("1", "1.49"), ("5", "12.3")]
                .map(|(step, text)| format!("<td class=\"n heat-{step}\">{text}</td>"))
        );
        assert_eq!(cell(&Factor::Unranked("<b>".into())), "<td class=\"n fell\">&lt;b&gt;</td>");
    }
}
