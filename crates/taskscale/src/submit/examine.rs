//! Checks results by their two files alone. Pure.

use super::plausible::implausible;
use super::sample::contradictions;
use super::{SubmissionRule, Violation, runs};
use crate::record::{Campaign, Loaded, Sample, Status, path_left};
use crate::report::Report;

/// Where homes and temporary files are, on most machines.
const ROOTS: [&str; 5] = ["/home/", "/root/", "/Users/", "/tmp/", "/var/folders/"];

/// The broken rules of results, the most serious first. Results without `origin` are the project's from before
/// submission existed: they must be complete and consistent, but may have been measured on a busy machine. Programs,
/// checksum and names are checked elsewhere.
pub fn examine(loaded: &Loaded, reports: &[Report], handed_in: bool) -> Vec<Violation> {
    let (campaign, samples) = (&loaded.campaign, loaded.samples.as_slice());
    let mut found = Vec::from_iter(Violation::of_many(SubmissionRule::Lines, &loaded.rejected, |line| {
        format!("line {} of samples.jsonl: {}", line.number, line.why)
    }));
    let plans = campaign.plans_by_series();
    found.extend(runs::outside(campaign, &plans, samples));
    found.extend(match samples.iter().any(|sample| sample.status == Status::Ok) {
        true => runs::missing(campaign, samples),
        false => Some(Violation::new(SubmissionRule::Whole, "no run was ok")),
    });
    found.extend(runs::mixed(campaign, samples));
    if handed_in {
        found.extend(runs::busy(samples));
        if campaign.id.is_none() || campaign.conditions.is_none() {
            let what = "campaign.json has no id or no conditions (written by an old taskscale)";
            found.push(Violation::new(SubmissionRule::Lines, what));
        }
    }
    let wrong = samples.iter().flat_map(|sample| {
        let plan = runs::plan_of(&plans, sample).unwrap_or(&campaign.plan);
        contradictions(sample, plan, campaign).into_iter().map(move |what| (what, sample))
    });
    found.extend(Violation::of_many(SubmissionRule::Figures, wrong, |(what, sample)| {
        format!("{what} ({})", runs::label(sample))
    }));
    found.extend(runs::not_doubled(samples));
    found.extend(implausible(campaign, samples, reports));
    found.extend(runs::out_of_order(campaign, samples));
    found
}

/// Paths of the machine that remain in the results.
pub fn names_left(campaign: &Campaign, samples: &[Sample]) -> Option<Violation> {
    let what = match path_left(campaign, samples, &ROOTS) {
        Ok(None) => return None,
        Ok(Some(path)) => format!("a path of the machine remains ({path})"),
        Err(error) => format!("paths of the machine may remain: {error}"),
    };
    Some(Violation::new(SubmissionRule::Names, what))
}
