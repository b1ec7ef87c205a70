//! Whose word a figure is: the project's, somebody's, or that of two who measured the same. Pure.

use std::collections::BTreeMap;

use serde::Serialize;

use super::machine::class;
use crate::record::{By, Campaign, Loaded, MemorySource, Part};
use crate::report::Report;
use crate::stats::{CONFIDENCE, Interval, Spread, Welch};

/// Of so large a share of the cells that two campaigns have in common, the figures agree where one reproduces the other.
const AGREE_SHARE: f64 = 0.9;
/// Two values agree where the 95% interval of their ratio comes within this share of 1; of single runs, the ratio itself.
const WITHIN: f64 = 0.10;

/// What a campaign's figures rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Measured by the project.
    Project,
    /// Measured by somebody else, and by nobody again.
    HandedIn,
    /// Handed in, and measured again in another campaign on a machine of its class: the figures agree.
    Reproduced,
}

impl Mark {
    /// In words of a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Mark::Project => "measured by the project",
            Mark::HandedIn => "handed in",
            Mark::Reproduced => "handed in, reproduced",
        }
    }
}

/// What of two campaigns must be alike before their figures can agree.
type Measured = (Part, String, Option<String>, u64, MemorySource);

/// The marks of campaigns that stand beside each other, in their order.
pub fn marks(campaigns: &[&Loaded]) -> Vec<Mark> {
    let cells: Vec<_> = campaigns.iter().map(|loaded| cells(loaded)).collect();
    let mark = |(nth, loaded): (usize, &&Loaded)| {
        let own = &loaded.campaign;
        if own.origin.as_ref().is_none_or(|origin| origin.by == By::Project) {
            return Mark::Project;
        }
        let again = |(other, campaign): (usize, &&Loaded)| {
            other != nth && is_another(own, &campaign.campaign) && agree(&cells[nth], &cells[other])
        };
        match campaigns.iter().enumerate().any(again) {
            true => Mark::Reproduced,
            false => Mark::HandedIn,
        }
    };
    campaigns.iter().enumerate().map(mark).collect()
}

fn is_another(own: &Campaign, other: &Campaign) -> bool {
    own.id != other.id
        && class(&own.machine) == class(&other.machine)
        && own.machine.architecture == other.machine.architecture
}

fn agree(own: &BTreeMap<Measured, Spread>, other: &BTreeMap<Measured, Spread>) -> bool {
    let common: Vec<bool> =
        own.iter().filter_map(|(cell, spread)| Some(near(spread, other.get(cell)?))).collect();
    let agreeing = common.iter().filter(|agree| **agree).count();
    !common.is_empty() && agreeing as f64 >= AGREE_SHARE * common.len() as f64
}

fn near(a: &Spread, b: &Spread) -> bool {
    let welch = a.logs.zip(b.logs).and_then(|(a, b)| Welch::between(&a, &b));
    let single = b.median / a.median;
    let ratio =
        welch.map_or(Interval { low: single, high: single }, |welch| welch.ratio_interval(CONFIDENCE));
    ratio.low <= 1.0 + WITHIN && ratio.high >= 1.0 / (1.0 + WITHIN)
}

/// The figure that each cell is ranked by, where it was ok.
fn cells(loaded: &Loaded) -> BTreeMap<Measured, Spread> {
    let mut cells = BTreeMap::new();
    for report in Report::of_parts(&loaded.campaign, &loaded.samples) {
        let part = report.part();
        for row in report.groups.iter().flat_map(|group| &group.rows).filter(|row| row.ok_runs > 0) {
            if let (Some(headline), [source]) = (row.headline, row.memory_sources.as_slice()) {
                let entry = &row.entry;
                let cell = (part.clone(), entry.name.clone(), entry.version.clone(), row.tasks, *source);
                cells.insert(cell, headline);
            }
        }
    }
    cells
}
