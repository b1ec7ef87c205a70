//! The data behind the page of a report. [`super::html`] puts it into the page.

mod build;
mod model;
mod published;
#[cfg(test)]
mod tests;

pub use model::{PAGE_SCHEMA, PageCampaign, PageData, PageDetails};

impl PageData {
    /// The page of these campaigns, in this order.
    pub fn of(mut campaigns: Vec<PageCampaign>) -> PageData {
        tell_apart(&mut campaigns);
        let known = |name: &str| {
            campaigns.iter().any(|campaign| {
                // What they published is about tasks that sleep.
                campaign.workload == "sleep" && campaign.entries.iter().any(|entry| entry.name == name)
            })
        };
        PageData {
            schema: PAGE_SCHEMA,
            taskscale: env!("CARGO_PKG_VERSION").to_owned(),
            published: published::published(known),
            campaigns,
        }
    }
}

/// Campaigns of one machine and day get the time of day, and a number where that does not help.
fn tell_apart(campaigns: &mut [PageCampaign]) {
    let labels: Vec<String> = campaigns.iter().map(|campaign| campaign.label.clone()).collect();
    let twice = |labels: &[String], label: &String| labels.iter().filter(|other| *other == label).count() > 1;
    for campaign in campaigns.iter_mut() {
        if twice(&labels, &campaign.label) {
            campaign.label.push_str(&campaign.created_at.strftime(" %H:%M").to_string());
        }
    }
    let labels: Vec<String> = campaigns.iter().map(|campaign| campaign.label.clone()).collect();
    for (position, campaign) in campaigns.iter_mut().enumerate() {
        if twice(&labels, &campaign.label) {
            campaign.label.push_str(&format!(" ({})", position + 1));
        }
    }
}
