//! Checks results against the others of a repository: before they are submitted, and once they are published.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::badges::{Candidate, badges};
use super::document::CheckedFolder;
use super::examine::{examine, names_left};
use super::folder::{SubmittedResults, read};
use super::plausible::{Footprints, compare};
use super::programs::{changed_programs, wrong_checks};
use super::verify::{VERIFICATION, Verification};
use super::{SubmissionRule, Violation};
use crate::catalog::Catalog;
use crate::record::{By, Loaded};
use crate::report::Report;

/// Checks results that are to be submitted. `changed`: findings on their programs and what these computed.
pub fn check_candidate(
    folder: &Path,
    loaded: &Loaded,
    there: &[SubmittedResults],
    changed: impl IntoIterator<Item = Violation>,
) -> CheckedFolder {
    let own_reports = reports(loaded);
    let mut findings = examine(loaded, &own_reports, true);
    findings.extend(changed);
    let id = &loaded.campaign.id;
    let (same, others): (Vec<_>, Vec<_>) =
        there.iter().partition(|other| id.is_some() && other.loaded.campaign.id == *id);
    let earlier = same.into_iter().find(|other| other.checksum_ok.is_some());
    let twice = match loaded.campaign.origin {
        Some(_) => Some("these results were already submitted".to_owned()),
        None => earlier.map(|other| format!("already submitted: {}", other.folder.display())),
    };
    findings.extend(twice.map(|what| Violation::new(SubmissionRule::Once, what)));
    let others: Vec<Footprints> =
        others.into_iter().map(|other| Footprints::of(&reports(&other.loaded))).collect();
    let compared = compare(&Footprints::of(&own_reports), &others.iter().collect::<Vec<_>>());
    findings.extend(compared.refused);
    CheckedFolder {
        folder: folder.display().to_string(),
        badge: None,
        runs: loaded.samples.len(),
        findings,
        outliers: compared.outliers,
    }
}

fn reports(loaded: &Loaded) -> Vec<Report> {
    Report::of_parts(&loaded.campaign, &loaded.samples)
}

/// Checks published results against each other and those `beside` them, and with `new` their programs against a
/// catalog.
pub fn check_folders(
    folders: &[PathBuf],
    beside: Vec<SubmittedResults>,
    new: Option<&Catalog>,
) -> Vec<CheckedFolder> {
    let read: Vec<_> = folders.iter().map(|folder| read(folder)).collect();
    let real = |folder: &Path| std::fs::canonicalize(folder).ok();
    let is_beside = |other: &&SubmittedResults| !folders.iter().any(|own| real(own) == real(&other.folder));
    let own: Vec<&SubmittedResults> = read.iter().flatten().collect();
    let beside: Vec<&SubmittedResults> = beside.iter().filter(is_beside).collect();
    let all = [&own[..], &beside[..]].concat();
    // Reading every text takes as long as the reports, and neither needs the other.
    let (names_left, reports) = std::thread::scope(|scope| {
        let names_left = scope.spawn(|| {
            let left = |of: &&SubmittedResults| names_left(&of.loaded.campaign, &of.loaded.samples);
            own.iter().map(left).collect::<Vec<Option<Violation>>>()
        });
        let reports: Vec<Vec<Report>> = all.iter().map(|of| reports(&of.loaded)).collect();
        (names_left.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), reports)
    });
    let footprints: Vec<Footprints> = reports.iter().map(|reports| Footprints::of(reports)).collect();
    let candidates = all.iter().zip(&reports).map(|(of, reports)| Candidate {
        id: of.loaded.campaign.id.as_deref(),
        reports,
        verified: Verification::confirms(&of.folder, &of.loaded.campaign),
    });
    let badges = badges(&candidates.collect::<Vec<_>>());
    let mut ids: BTreeMap<&str, &Path> = BTreeMap::new();
    for other in &beside {
        ids.extend(other.loaded.campaign.id.as_deref().map(|id| (id, other.folder.as_path())));
    }
    let (mut names_left, mut positions) = (names_left.into_iter(), 0..);
    let mut checked_all = Vec::new();
    for (folder, read) in folders.iter().zip(&read) {
        let mut checked = CheckedFolder { folder: folder.display().to_string(), ..CheckedFolder::default() };
        match read {
            Err(error) => checked.findings.push(Violation::new(SubmissionRule::Lines, error.to_string())),
            Ok(published) => {
                let Some(position) = positions.next() else { continue };
                checked.badge = Some(badges[position]);
                checked.runs = published.loaded.samples.len();
                checked.findings = against(published, &reports[position], new);
                checked.findings.extend(names_left.next().flatten());
                let others = footprints.iter().enumerate().filter(|(other, _)| *other != position);
                let others: Vec<&Footprints> = others.map(|(_, footprints)| footprints).collect();
                let compared = compare(&footprints[position], &others);
                checked.findings.extend(compared.refused);
                checked.outliers = compared.outliers;
                let id = published.loaded.campaign.id.as_deref();
                if let Some(before) = id.and_then(|id| ids.insert(id, folder)) {
                    let what = format!("the same results are in {}", before.display());
                    checked.findings.push(Violation::new(SubmissionRule::Once, what));
                }
            }
        }
        checked_all.push(checked);
    }
    checked_all
}

/// Problems of published results. Results of the project without a checksum are older than checksums.
fn against(published: &SubmittedResults, reports: &[Report], new: Option<&Catalog>) -> Vec<Violation> {
    let Loaded { campaign, samples, .. } = &published.loaded;
    let handed_in = published.checksum_ok.is_some() || new.is_some();
    let mut findings = examine(&published.loaded, reports, handed_in);
    let mut find = |rule, what: String| findings.push(Violation::new(rule, what));
    if let Err(error) = Verification::beside(&published.folder, campaign) {
        find(SubmissionRule::Checksum, format!("{VERIFICATION}: {error}"));
    }
    if published.checksum_ok == Some(false) {
        let what = "files changed after the submission (checksum mismatch)";
        find(SubmissionRule::Checksum, what.to_owned());
    }
    let Some(catalog) = new else { return findings };
    if published.folder.join(VERIFICATION).exists() {
        find(SubmissionRule::Origin, format!("{VERIFICATION} is included (only curators add it)"));
    }
    let wrong_origin = match campaign.origin.as_ref().map(|origin| origin.by) {
        None => Some("no origin and no checksum"),
        Some(By::Project) => Some("the origin is `project` (new results are handed-in)"),
        Some(By::HandedIn) => None,
    };
    findings.extend(wrong_origin.map(|what| Violation::new(SubmissionRule::Origin, what)));
    // Digests of another machine are unknown here: compares texts, commands and kinds.
    findings.extend(changed_programs(campaign, samples, catalog, |_, _, _, _| None));
    findings.extend(wrong_checks(samples, catalog));
    findings
}
