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
        let known = |workload: &str, name: &str| {
            campaigns.iter().any(|campaign| {
                campaign.workload == workload && campaign.entries.iter().any(|entry| entry.name == name)
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

/// Campaigns of one machine and day get the time of day, and a number where that does not help. Only those of one part
/// stand side by side.
fn tell_apart(campaigns: &mut [PageCampaign]) {
    let names = |campaigns: &[PageCampaign]| -> Vec<(String, String)> {
        campaigns.iter().map(|campaign| (campaign.part.clone(), campaign.label.clone())).collect()
    };
    let twice = |names: &[(String, String)], position: usize| {
        names.iter().filter(|other| **other == names[position]).count() > 1
    };
    let before = names(campaigns);
    for (position, campaign) in campaigns.iter_mut().enumerate() {
        if twice(&before, position) {
            campaign.label.push_str(&campaign.created_at.strftime(" %H:%M").to_string());
        }
    }
    let before = names(campaigns);
    for (position, campaign) in campaigns.iter_mut().enumerate() {
        if twice(&before, position) {
            let place = before[..=position].iter().filter(|(part, _)| *part == campaign.part).count();
            campaign.label.push_str(&format!(" ({place})"));
        }
    }
}
