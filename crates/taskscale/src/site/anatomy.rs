//! The parts of a task's memory: a stacked bar and a table for each sheet of an entry.

use super::campaigns::{CampaignSummary, mark_behind};
use super::layout::anchor;
use crate::document::escaped;
use crate::explain::{Explanation, PartSource, PerTask, UNEXPLAINED};
use crate::metrics::per_task;
use crate::units;

/// The width of a bar in units of its `viewBox`.
const WIDTH: f64 = 1000.0;

/// The newest sheet of each workload, on the entry's page; empty without any.
pub fn section(here: &str, name: &str, campaigns: &[CampaignSummary]) -> String {
    let mut shown: Vec<(&CampaignSummary, &Explanation)> = Vec::new();
    // The newest come first.
    for campaign in campaigns {
        for sheet in campaign.sheets.iter().filter(|sheet| sheet.entry == name) {
            if !shown.iter().any(|(_, known)| known.workload == sheet.workload) {
                shown.push((campaign, sheet));
            }
        }
    }
    if shown.is_empty() {
        return String::new();
    }
    let sheets: String = shown.iter().map(|(campaign, sheet)| of_sheet(here, campaign, sheet)).collect();
    format!("<h2 id=\"anatomy\">Anatomy of a task</h2>\n{sheets}")
}

fn of_sheet(here: &str, campaign: &CampaignSummary, sheet: &Explanation) -> String {
    let rows = || {
        let rows = sheet.sheet.rows.iter().map(|row| (&*row.name, class(row.group), &row.per_task));
        rows.chain([(UNEXPLAINED, "of-unexplained", &sheet.sheet.unexplained)])
    };
    let table: String = rows()
        .map(|(name, class, of)| {
            let bytes = per_task(of.bytes);
            let share = units::decimal(share(sheet, of) * 100.0, 0);
            format!(
                "<tr><th scope=\"row\"><i class=\"swatch {class}\"></i> {}</th><td class=\"n\">{bytes}</td>\
                 <td class=\"n\">{share}%</td></tr>\n",
                escaped(name)
            )
        })
        .collect();
    let mut at = 0.0;
    let bar: String = rows()
        .filter(|(.., of)| of.bytes > 0.0)
        .map(|(name, class, of)| {
            let width = share(sheet, of) * WIDTH;
            let piece = format!(
                "<rect class=\"{class}\" x=\"{at:.1}\" width=\"{width:.1}\" height=\"24\"><title>{}</title></rect>",
                escaped(name)
            );
            at += width;
            piece
        })
        .collect();
    format!(
        "<h3>{}: {} B per task</h3>\n<p class=\"quiet\">Slope over N. Results: {}, {}{}.</p>\n\
         <svg class=\"anatomy\" viewBox=\"0 0 {WIDTH} 24\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"Parts of a task's memory, as in the table below\">{bar}</svg>\n<div class=\"scroll\" \
         tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">Part</th><th scope=\"col\" class=\"n\">B/task</th>\
         <th scope=\"col\" class=\"n\">share</th></tr></thead>\n<tbody>\n{table}</tbody>\n</table></div>\n",
        escaped(&sheet.workload),
        per_task(sheet.sheet.slope.bytes),
        anchor(here, &campaign.page, &campaign.place),
        campaign.recorded.created_at.date(),
        mark_behind(campaign),
    )
}

fn share(sheet: &Explanation, of: &PerTask) -> f64 {
    if sheet.sheet.slope.bytes > 0.0 { of.bytes / sheet.sheet.slope.bytes } else { 0.0 }
}

fn class(group: PartSource) -> &'static str {
    match group {
        PartSource::Live => "of-live",
        PartSource::Unused => "of-unused",
        PartSource::Mapped => "of-mapped",
        PartSource::Kernel => "of-kernel",
    }
}
