//! The results of a site, and the table that lists those of one machine.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::folders::ResultsFolder;
use super::layout::{START, SitePage, anchor, link, percent_encoded};
use crate::document::{NONE, escaped, joined};
use crate::explain::{self, Explanation};
use crate::record::{Campaign, Loaded, Machine, Status, Warning, last_attempts, same_machine};
use crate::report::{Report, processor};
use crate::submit::{Badge, Verification, Withdrawal};
use crate::units;

/// Newer results come before older ones if they have at least this share of their cases or workloads.
pub const NEARLY: f64 = 0.75;

/// Facts on one results folder, besides its page.
pub struct CampaignSummary {
    pub place: String,
    /// Its page, inside the site.
    pub page: String,
    pub folder: PathBuf,
    /// What is recorded besides samples.
    pub recorded: Campaign,
    /// Its badge. Absent on a site without submitted results.
    pub badge: Option<Badge>,
    pub verified: bool,
    /// One for each series.
    pub reports: Vec<Report>,
    /// The parts of a task's memory, if `explain` measured them.
    pub sheets: Vec<Explanation>,
    /// Number of runs, by last attempt.
    pub runs: usize,
    pub ok_runs: usize,
    /// Of these, runs on a busy machine.
    pub busy_runs: usize,
}

/// A series, with the results that it is of.
pub type SeriesOf<'a> = (&'a CampaignSummary, &'a Report);

impl CampaignSummary {
    pub fn of(found: &ResultsFolder, loaded: &Loaded) -> CampaignSummary {
        let Loaded { campaign, samples, .. } = loaded;
        let last = last_attempts(samples);
        let ok = || last.iter().filter(|sample| sample.status == Status::Ok);
        CampaignSummary {
            place: found.place.clone(),
            page: found.page(),
            folder: found.folder.clone(),
            recorded: campaign.clone(),
            badge: None,
            verified: Verification::confirms(&found.folder, campaign),
            reports: Report::of_parts(campaign, samples)
                .into_iter()
                .map(|report| report.named(&*found.place))
                .collect(),
            // Sheets that cannot be read are left out.
            sheets: explain::load(&found.folder).ok().flatten().unwrap_or_default(),
            runs: last.len(),
            ok_runs: ok().count(),
            busy_runs: ok().filter(|sample| sample.warnings.contains(&Warning::MachineBusy)).count(),
        }
    }

    /// Whether it was measured while taskscale was developed: on a site with submitted results, those outside
    /// of a machine's folder.
    pub fn is_development(&self) -> bool {
        self.badge.is_some() && !self.place.contains('/')
    }

    pub fn is_on(&self, machine: &Machine) -> bool {
        same_machine(&self.recorded.machine, machine)
    }
}

/// The page in place of withdrawn results.
pub fn withdrawn_page(found: &ResultsFolder, withdrawal: &Withdrawal, with_documents: bool) -> String {
    let main = format!(
        "<h1>Withdrawn results</h1>\n<p>The results {} were withdrawn on {}: {}</p>\n",
        escaped(&found.place),
        withdrawal.withdrawn_at.date(),
        escaped(&withdrawal.reason)
    );
    let about = "Results that were withdrawn, and why";
    SitePage { path: &found.page(), title: "Withdrawn results", about, main: &main }.render(with_documents)
}

/// `, measured by the project`, if known.
pub fn mark_behind(campaign: &CampaignSummary) -> String {
    campaign.badge.map(|badge| format!(", {}", badge.name())).unwrap_or_default()
}

/// A link from the page `from` to results, with their day and badge.
pub fn cited(from: &str, campaign: &CampaignSummary) -> String {
    let link = anchor(from, &campaign.page, &campaign.place);
    format!("{link}, {}{}", campaign.recorded.created_at.date(), mark_behind(campaign))
}

/// A link from the page `from` to an entry in a series of results.
pub fn link_to_result(from: &str, campaign: &CampaignSummary, part: &str, entry: &str) -> String {
    let at = format!("part={}&entry={}", percent_encoded(part), percent_encoded(entry));
    format!("<a href=\"{}#{}\">{}</a>", link(from, &campaign.page), escaped(&at), escaped(&campaign.place))
}

/// Results grouped by machine, in the order of the first of each: results of two machines are not comparable.
pub fn by_machine<'a>(
    campaigns: impl IntoIterator<Item = &'a CampaignSummary>,
) -> Vec<Vec<&'a CampaignSummary>> {
    let mut machines: Vec<Vec<&CampaignSummary>> = Vec::new();
    for campaign in campaigns {
        match machines.iter_mut().find(|own| campaign.is_on(&own[0].recorded.machine)) {
            Some(own) => own.push(campaign),
            None => machines.push(vec![campaign]),
        }
    }
    machines
}

/// `AMD EPYC 7B13, 2 CPUs, 7.81 GiB`, safe to show.
pub fn machine_name(machine: &Machine) -> String {
    escaped(&format!("{}, {}", processor(machine), units::bytes(machine.memory_bytes)))
}

/// The heading of a machine's results, with its hostname, OS and architecture.
pub fn machine_heading(machine: &Machine) -> String {
    let facts = [&machine.hostname, &machine.os, &machine.architecture];
    let known = facts.into_iter().filter(|fact| !["", "unknown"].contains(&fact.as_str()));
    let known = joined(known.map(|fact| escaped(fact)), " · ");
    format!("<h3>{}</h3>\n<p class=\"quiet\">{known}</p>\n", machine_name(machine))
}

/// A table of the results of one machine.
pub fn table(campaigns: &[&CampaignSummary]) -> String {
    let rows: String = campaigns.iter().map(|campaign| row(campaign)).collect();
    format!(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"campaigns\"><thead><tr><th scope=\"col\">Results</th>\
         <th scope=\"col\">Date</th><th scope=\"col\">Measured by</th><th scope=\"col\">Workloads</th><th scope=\"col\" class=\"n\">Entries</th>\
         <th scope=\"col\">Tasks</th><th scope=\"col\" class=\"n\">Repetitions</th>\
         <th scope=\"col\" class=\"n\">Successful runs</th></tr></thead>\n<tbody>{rows}</tbody></table></div>\n"
    )
}

fn row(campaign: &CampaignSummary) -> String {
    let mut workloads: Vec<&str> = campaign.reports.iter().map(|report| &*report.workload).collect();
    workloads.dedup();
    let tasks: BTreeSet<u64> =
        campaign.reports.iter().flat_map(|report| report.tasks.iter().copied()).collect();
    let tasks = match (tasks.first(), tasks.last()) {
        (Some(first), Some(last)) if first != last => {
            format!("{} to {}", units::count(*first), units::count(*last))
        }
        (one, _) => one.map_or(String::new(), |one| units::count(*one)),
    };
    let entries: BTreeSet<&str> = campaign.recorded.entries.iter().map(|facts| &*facts.name).collect();
    let busy = match campaign.busy_runs {
        0 => String::new(),
        runs => format!(" <small>{} on a busy machine</small>", units::grouped(runs as u64)),
    };
    format!(
        "<tr><th scope=\"row\">{link}</th><td class=\"date\">{date}</td><td>{badge}</td><td>{workloads}</td><td class=\"n\">{entries}</td>\
         <td class=\"date\">{tasks}</td><td class=\"n\">{repetitions}</td><td class=\"n\">{ok} of {runs}{busy}</td></tr>\n",
        link = anchor(START, &campaign.page, &campaign.place),
        date = campaign.recorded.created_at.date(),
        badge = campaign.badge.map_or(NONE, Badge::short),
        workloads = escaped(&workloads.join(", ")),
        entries = entries.len(),
        repetitions = campaign.recorded.plan.repetitions,
        ok = units::grouped(campaign.ok_runs as u64),
        runs = units::grouped(campaign.runs as u64),
    )
}
