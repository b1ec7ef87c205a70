//! The badges of results: measured by the project, submitted, or confirmed by other results. Pure.

use std::collections::BTreeMap;

use serde::Serialize;

use super::machine::class;
use super::plausible::{SourceCase, ok_cases};
use crate::document::joined;
use crate::record::By;
use crate::report::{Report, Row};
use crate::stats::{CONFIDENCE, Interval, Spread, Welch};

/// The share of all cases that must agree with other results. Cases that are missing there, or have another version, do
/// not agree.
const AGREE_SHARE: f64 = 0.8;
/// Two values agree if the 95% interval of their ratio (of single runs, the ratio itself) comes within this
/// share of 1.
const WITHIN: f64 = 0.10;

/// The badge of a results folder, with its words in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
pub enum Badge {
    /// Measured by the project.
    #[strum(serialize = "measured by the project")]
    Project,
    /// Submitted, and not confirmed yet.
    #[strum(serialize = "submitted")]
    HandedIn,
    /// Submitted, and other submitted results of a machine of its class agree. They may be of the same person.
    #[strum(serialize = "submitted, consistent")]
    Consistent,
    /// Submitted, and the project's own results of a machine of its class agree.
    #[strum(serialize = "submitted, reproduced")]
    Reproduced,
    /// Submitted, and a curator measured a tenth of its cases again, which agree.
    #[strum(serialize = "submitted, verified")]
    Verified,
}

named!(Badge);

impl Badge {
    /// For a column of a table.
    pub fn short(self) -> &'static str {
        match self {
            Badge::Project => "project",
            _ => self.name(),
        }
    }
}

/// The key of cases that can be compared: the case, and the version of the entry.
type Measured = (SourceCase, Option<String>);

/// Results to be compared with others: id, and a report of each series.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    pub id: Option<&'a str>,
    pub reports: &'a [Report],
    /// Whether a curator's second measurement agrees.
    pub verified: bool,
}

/// The badges of results that are published together, in their order.
pub fn badges(campaigns: &[Candidate]) -> Vec<Badge> {
    let cells: Vec<_> = campaigns.iter().map(|campaign| cells(campaign.reports)).collect();
    let badge = |(nth, own): (usize, &Candidate)| {
        if is_projects(own) {
            return Badge::Project;
        }
        if own.verified {
            return Badge::Verified;
        }
        let agreeing = |(other, there): (usize, &Candidate)| {
            let agrees = other != nth && is_another(own, there) && agree(&cells[nth], &cells[other]);
            agrees.then_some(if is_projects(there) { Badge::Reproduced } else { Badge::Consistent })
        };
        campaigns.iter().enumerate().filter_map(agreeing).max().unwrap_or(Badge::HandedIn)
    };
    campaigns.iter().enumerate().map(badge).collect()
}

fn is_projects(campaign: &Candidate) -> bool {
    campaign.reports.iter().all(|report| report.by.is_none_or(|by| by == By::Project))
}

/// Whether these are other results, of a machine of the same class.
fn is_another(own: &Candidate, other: &Candidate) -> bool {
    let machines = own.reports.first().zip(other.reports.first());
    let alike = machines.is_some_and(|(own, other)| {
        class(&own.machine) == class(&other.machine) && own.machine.architecture == other.machine.architecture
    });
    own.id != other.id && alike
}

fn agree(own: &BTreeMap<Measured, Spread>, other: &BTreeMap<Measured, Spread>) -> bool {
    let agrees =
        |(cell, spread): &(&Measured, &Spread)| other.get(*cell).is_some_and(|other| near(spread, other));
    let agreeing = own.iter().filter(agrees).count();
    agreeing > 0 && agreeing as f64 >= AGREE_SHARE * own.len() as f64
}

fn near(a: &Spread, b: &Spread) -> bool {
    let welch = a.logs.zip(b.logs).and_then(|(a, b)| Welch::between(&a, &b));
    let single = b.median / a.median;
    let ratio =
        welch.map_or(Interval { low: single, high: single }, |welch| welch.ratio_interval(CONFIDENCE));
    ratio.low <= 1.0 + WITHIN && ratio.high >= 1.0 / (1.0 + WITHIN)
}

/// The headline value of each case that was ok.
fn cells(reports: &[Report]) -> BTreeMap<Measured, Spread> {
    let measured = |(case, row): (SourceCase, &Row)| {
        // Spaces do not matter in a version.
        let version = row.entry.version.as_ref().map(|version| joined(version.split_whitespace(), " "));
        Some(((case, version), row.headline?))
    };
    ok_cases(reports).filter_map(measured).collect()
}
