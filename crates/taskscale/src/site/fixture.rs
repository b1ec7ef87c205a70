//! Results for tests.

use std::path::PathBuf;

use super::campaigns::CampaignSummary;
use super::folders::ResultsFolder;
use crate::record::{Campaign, Loaded, Sample};

pub fn shown(place: &str, (campaign, samples): (Campaign, Vec<Sample>)) -> CampaignSummary {
    let found = ResultsFolder { place: place.to_owned(), folder: PathBuf::from(place) };
    CampaignSummary::of(&found, &Loaded { campaign, samples, rejected: Vec::new() })
}
