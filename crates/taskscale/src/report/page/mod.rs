//! The data behind the page of a report. [`super::html`] puts it into the page.

mod build;
mod columns;
mod model;
mod published;
mod rows;
mod samples;
mod tables;
#[cfg(test)]
mod tests;

pub use model::{PAGE_SCHEMA, PageData, VersionsChart};
pub(super) use samples::NUMBERS;

use super::model::Report;

impl PageData {
    /// Adds the time of day, or else a number, to campaigns with the same name. Only those of one series are compared.
    pub(super) fn tell_apart(&mut self) {
        self.name_alike(|report, _| format!(" {}", report.created_at.time_of_day()));
        self.name_alike(|_, place| format!(" ({place})"));
    }

    /// Adds something to each name that occurs twice in a series, by the campaign's place there.
    fn name_alike(&mut self, what: impl Fn(&Report, usize) -> String) {
        let names: Vec<(String, String)> =
            self.campaigns.iter().map(|page| (page.part.clone(), page.report.campaign.clone())).collect();
        for (position, page) in self.campaigns.iter_mut().enumerate() {
            if names.iter().filter(|other| **other == names[position]).count() > 1 {
                let place = names[..=position].iter().filter(|(part, _)| *part == page.part).count();
                let more = what(&page.report, place);
                page.report.campaign.push_str(&more);
            }
        }
    }
}
