//! A curator's second measurement of some cases of submitted results: which cases, and whether both agree. Pure, except
//! for the record's file.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::read_record;
use crate::record::{Campaign, Series, Timestamp};
use crate::report::{Report, Row};

/// The record of a verification, next to the files of the results.
pub const VERIFICATION: &str = "verification.json";

/// This share of the cases is measured again, and at least one.
const SHARE: f64 = 0.1;
/// Bytes per task agree within this share.
const WITHIN: f64 = 0.10;
/// Growth agrees if it differs by no more than this many bytes: runs differ by a few pages.
const SAME_BYTES: f64 = 65_536.0;
/// Results are verified if this share of the cases agrees.
const VERIFIED_SHARE: f64 = 0.9;

/// A case to measure again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnCase {
    pub entry: String,
    pub part: Series,
    pub tasks: u64,
    /// The fewest tasks of this entry and series in the results, from which bytes per task are counted.
    pub least: u64,
}

/// A curator's second measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verification {
    pub schema: u32,
    /// The results that were verified, and their checksum.
    pub campaign: Option<String>,
    #[serde(rename = "seal")]
    pub checksum: Option<String>,
    /// Decides which cases are drawn.
    pub seed: u64,
    pub verified_at: Timestamp,
    pub taskscale: String,
    pub cases: Vec<VerifiedCase>,
}

/// A case as it was submitted and as it was measured again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerifiedCase {
    pub entry: String,
    /// The workload with its parameters and CPUs.
    pub workload: String,
    pub tasks: u64,
    pub submitted: CaseOutcome,
    /// Absent if the entry could not run here.
    pub measured: Option<CaseOutcome>,
    pub agrees: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CaseOutcome {
    /// `ok` if any repetition was.
    pub status: String,
    pub version: Option<String>,
    /// (footprint − footprint at the fewest tasks) ÷ (tasks − fewest tasks), medians. Absent if a footprint is
    /// missing.
    pub bytes_per_task: Option<f64>,
    /// Medians, in seconds: shown, not judged.
    pub launch_s: Option<f64>,
    pub wall_s: Option<f64>,
}

impl Verification {
    /// Whether enough cases agree that the results are verified.
    pub fn is_verified(&self) -> bool {
        let (agree, measured) = self.agreement();
        agree > 0 && agree as f64 >= VERIFIED_SHARE * measured as f64
    }

    /// Number of cases that agree, and number that could be measured.
    pub fn agreement(&self) -> (usize, usize) {
        let measured = self.cases.iter().filter(|case| case.measured.is_some());
        (measured.clone().filter(|case| case.agrees).count(), measured.count())
    }

    /// The record in a results folder, if it belongs to these results.
    pub fn beside(folder: &Path, campaign: &Campaign) -> io::Result<Option<Verification>> {
        let Some(verification) = read_record::<Verification>(&folder.join(VERIFICATION))? else {
            return Ok(None);
        };
        let checksum = campaign.origin.as_ref().map(|origin| &origin.checksum);
        if verification.campaign != campaign.id || verification.checksum.as_ref() != checksum {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the record belongs to other results"));
        }
        Ok(Some(verification))
    }

    /// Whether the record in a results folder verifies these results. A record of other results, or an
    /// unreadable one, does not count, and `submit --check` reports it.
    pub fn confirms(folder: &Path, campaign: &Campaign) -> bool {
        Verification::beside(folder, campaign).is_ok_and(|found| found.is_some_and(|of| of.is_verified()))
    }
}

/// A random tenth of the cases, ok or not. The fewest tasks of an entry are left out unless it has no others.
pub fn draw(reports: &[Report], seed: u64) -> Vec<DrawnCase> {
    let mut cases = Vec::new();
    for report in reports {
        for row in report.rows() {
            let own: Vec<u64> = report.rows_of(&row.entry.name).map(|other| other.tasks).collect();
            let (tasks, least) = (row.tasks, own.iter().copied().min().unwrap_or(row.tasks));
            if tasks > least || own.len() == 1 {
                cases.push(DrawnCase { entry: row.entry.name.clone(), part: report.series(), tasks, least });
            }
        }
    }
    let count = (cases.len() as f64 * SHARE).ceil() as usize;
    fastrand::Rng::with_seed(seed).shuffle(&mut cases);
    cases.truncate(count);
    cases.sort_by(|a, b| (&a.entry, &a.part, a.tasks).cmp(&(&b.entry, &b.part, b.tasks)));
    cases
}

/// Compares a case with the reports of the second measurement.
pub fn judge(case: &DrawnCase, submitted: &[Report], measured: &[Report]) -> VerifiedCase {
    let outcome = |reports| CaseOutcome::of(case, reports);
    let unknown = || CaseOutcome { status: "unknown".to_owned(), ..CaseOutcome::default() };
    let (submitted, measured) = (outcome(submitted).unwrap_or_else(unknown), outcome(measured));
    let tasks = (case.tasks - case.least) as f64;
    let agrees = measured.as_ref().is_some_and(|measured| {
        let bytes = match (submitted.bytes_per_task, measured.bytes_per_task) {
            (Some(a), Some(b)) => {
                (a - b).abs() <= WITHIN * a.abs().max(b.abs()) || (a - b).abs() * tasks <= SAME_BYTES
            }
            // Neither has a footprint.
            (None, None) => true,
            _ => false,
        };
        submitted.status == measured.status && bytes
    });
    VerifiedCase {
        entry: case.entry.clone(),
        workload: case.part.to_string(),
        tasks: case.tasks,
        submitted,
        measured,
        agrees,
    }
}

impl CaseOutcome {
    fn of(case: &DrawnCase, reports: &[Report]) -> Option<CaseOutcome> {
        let report = reports.iter().find(|report| report.series() == case.part)?;
        let at = |tasks| report.rows_of(&case.entry).find(|row| row.tasks == tasks);
        let row = at(case.tasks)?;
        let footprint =
            |row: &Row| row.footprint_bytes.filter(|_| row.ok_runs > 0).map(|spread| spread.median);
        let least = at(case.least).filter(|_| case.least < case.tasks);
        let growth = footprint(row).zip(least.and_then(footprint));
        Some(CaseOutcome {
            status: if row.ok_runs > 0 { "ok".to_owned() } else { row.status.clone() },
            version: row.entry.version.clone(),
            bytes_per_task: growth.map(|(most, least)| (most - least) / (case.tasks - case.least) as f64),
            launch_s: row.launch_s,
            wall_s: row.wall_s,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record;
    use crate::submit::tests::posts;

    fn reports(scale: f64) -> Vec<Report> {
        let record::Loaded { campaign, mut samples, .. } = posts();
        for sample in &mut samples {
            if let Some(plateau) = sample.memory.plateau.as_mut() {
                plateau.footprint_bytes = (plateau.footprint_bytes as f64 * scale) as u64;
            }
        }
        Report::of_parts(&campaign, &samples)
    }

    #[test]
    fn verification_draws_a_seeded_tenth() {
        let reports = reports(1.0);
        let all: usize = reports.iter().map(|report| report.rows().count()).sum();
        let drawn = draw(&reports, 7);
        assert!(!drawn.is_empty() && drawn.len() <= all.div_ceil(10), "{} of {all}", drawn.len());
        assert_eq!(drawn, draw(&reports, 7));
        assert!((0..20).any(|seed| draw(&reports, seed) != drawn));
        assert!((0..20).flat_map(|seed| draw(&reports, seed)).all(|case| case.tasks > case.least));
    }

    #[test]
    fn verified_cases_agree_within_ten_percent() {
        let submitted = reports(1.0);
        let agreeing = |measured: &[Report]| {
            let cases = (0..20).flat_map(|seed| draw(&submitted, seed));
            cases.map(|case| judge(&case, &submitted, measured).agrees).collect::<Vec<_>>()
        };
        assert!(agreeing(&reports(1.05)).into_iter().all(|agrees| agrees));
        let far = agreeing(&reports(1.5));
        assert!(far.iter().filter(|agrees| **agrees).count() * 2 < far.len(), "{far:?}");
        // Cases that could not be run do not agree.
        assert!(agreeing(&[]).into_iter().all(|agrees| !agrees));
    }
}
