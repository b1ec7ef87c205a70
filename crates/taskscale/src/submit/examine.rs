//! What speaks against a campaign, by its own two files alone. Pure.

use super::sample::contradictions;
use super::{Finding, Rule, runs};
use crate::record::{Campaign, Loaded, Sample, Status, without_paths};

/// Where homes and temporary files are, on most machines.
const ROOTS: [&str; 5] = ["/home/", "/root/", "/Users/", "/tmp/", "/var/folders/"];

/// What speaks against a campaign, the gravest first. One without `origin` is the project's from before there was handing
/// in: it must be whole, unmixed and free of contradictions like any other, and may have been measured on a busy machine.
/// Whether its programs are the catalogue's, its seal holds and names are left is asked elsewhere.
pub fn examine(loaded: &Loaded, handed_in: bool) -> Vec<Finding> {
    let (campaign, samples) = (&loaded.campaign, loaded.samples.as_slice());
    let lines =
        loaded.rejected.iter().map(|line| format!("line {} of samples.jsonl: {}", line.number, line.why));
    let mut found: Vec<Finding> = Finding::of_many(Rule::Lines, lines.collect()).into_iter().collect();
    found.extend(runs::outside(campaign, samples));
    found.extend(missing(campaign, samples));
    found.extend(runs::mixed(campaign, samples));
    if handed_in {
        found.extend(runs::busy(samples));
        if campaign.id.is_none() || campaign.conditions.is_none() {
            let what = "campaign.json has no id or no conditions: an older taskscale made it";
            found.push(Finding::new(Rule::Lines, what));
        }
    }
    let wrong = samples.iter().flat_map(|sample| {
        let plan = runs::plan_of(campaign, sample).unwrap_or(&campaign.plan);
        let wrong = contradictions(sample, plan, campaign).into_iter();
        wrong.map(move |what| format!("{what} ({})", runs::label(sample)))
    });
    found.extend(Finding::of_many(Rule::Figures, wrong.collect()));
    found.extend(runs::out_of_order(campaign, samples));
    found
}

fn missing(campaign: &Campaign, samples: &[Sample]) -> Option<Finding> {
    if !samples.iter().any(|sample| sample.status == Status::Ok) {
        return Some(Finding::new(Rule::Whole, "no run of it was ok"));
    }
    let missing = runs::missing(campaign, samples).into_iter();
    Finding::of_many(Rule::Whole, missing.map(|run| format!("not measured: {run}")).collect())
}

/// Paths of a machine that are left in a campaign.
pub fn names_left(campaign: &Campaign, samples: &[Sample]) -> Option<Finding> {
    let clean = |(stripped, of_samples): (Campaign, Vec<Sample>)| {
        stripped == *campaign && of_samples.as_slice() == samples
    };
    let whole = without_paths(campaign, samples).is_ok_and(clean);
    let left = || {
        let machine = Campaign { entries: Vec::new(), ..campaign.clone() };
        let text = serde_json::to_string(&(machine, samples)).unwrap_or_default();
        ROOTS.into_iter().find(|root| text.contains(root))
    };
    match (whole, left()) {
        (true, None) => None,
        (_, Some(root)) => {
            Some(Finding::new(Rule::Names, format!("a path of the machine is left ({root}…)")))
        }
        (false, None) => Some(Finding::new(Rule::Names, "paths of the machine are left")),
    }
}
