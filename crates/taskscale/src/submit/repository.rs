//! Checks results against the others of a repository: before they are submitted, and once they are published.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::badges::{Candidate, badges};
use super::document::CheckedFolder;
use super::examine::{examine, names_left};
use super::folder::{SubmittedResults, read};
use super::plausible::{Compared, Footprints, compare};
use super::programs::changed_programs;
use super::verify::{VERIFICATION, Verification};
use super::{SubmissionRule, Violation};
use crate::catalog::Catalog;
use crate::record::{By, Loaded};
use crate::report::Report;

/// Checks results that are to be submitted. `changed` is the finding on their programs.
pub fn check_candidate(
    folder: &Path,
    loaded: &Loaded,
    there: &[SubmittedResults],
    changed: Option<Violation>,
) -> CheckedFolder {
    let own_reports = reports(loaded);
    let mut findings = refusals(loaded, &own_reports, there, changed);
    let compared = compared(loaded, &own_reports, there.iter().map(|other| &other.loaded));
    findings.extend(compared.refused);
    CheckedFolder {
        folder: folder.display().to_string(),
        badge: None,
        runs: loaded.samples.len(),
        findings,
        outliers: compared.outliers,
    }
}

/// Compares footprints with those of all other results.
fn compared<'a>(own: &Loaded, own_reports: &[Report], others: impl Iterator<Item = &'a Loaded>) -> Compared {
    let others = others.filter(|other| other.campaign.id.is_none() || other.campaign.id != own.campaign.id);
    let others: Vec<Footprints> = others.map(|other| Footprints::of(&reports(other))).collect();
    compare(&Footprints::of(own_reports), &others.iter().collect::<Vec<_>>())
}

fn reports(loaded: &Loaded) -> Vec<Report> {
    Report::of_parts(&loaded.campaign, &loaded.samples)
}

/// Reasons not to submit these results.
fn refusals(
    loaded: &Loaded,
    reports: &[Report],
    there: &[SubmittedResults],
    changed: Option<Violation>,
) -> Vec<Violation> {
    let mut findings = examine(loaded, reports, true);
    findings.extend(changed);
    if loaded.campaign.origin.is_some() {
        findings.push(Violation::new(SubmissionRule::Once, "these results were already submitted"));
        return findings;
    }
    let id = &loaded.campaign.id;
    let same = |other: &&SubmittedResults| other.checksum_ok.is_some() && other.loaded.campaign.id == *id;
    findings.extend(there.iter().find(same).filter(|_| id.is_some()).map(|other| {
        Violation::new(SubmissionRule::Once, format!("already submitted: {}", other.folder.display()))
    }));
    findings
}

/// Checks published results. With `new`, they are being submitted to those `beside` them now.
pub fn check_folders(
    folders: &[PathBuf],
    beside: Vec<SubmittedResults>,
    new: Option<&Catalog>,
) -> Vec<CheckedFolder> {
    let read: Vec<_> = folders.iter().map(|folder| read(folder)).collect();
    let loaded: Vec<&Loaded> = read.iter().flatten().map(|published| &published.loaded).collect();
    let is_beside = |folder: &Path| {
        let real = |folder: &Path| std::fs::canonicalize(folder).ok();
        !folders.iter().any(|own| real(own) == real(folder))
    };
    let beside: Vec<&SubmittedResults> = beside.iter().filter(|other| is_beside(&other.folder)).collect();
    let all: Vec<&Loaded> = loaded.iter().copied().chain(beside.iter().map(|other| &other.loaded)).collect();
    // Reading every text takes as long as the reports, and neither needs the other.
    let (names_left, reports) = std::thread::scope(|scope| {
        let names_left = scope.spawn(|| {
            let left = |of: &&Loaded| names_left(&of.campaign, &of.samples);
            loaded.iter().map(left).collect::<Vec<Option<Violation>>>()
        });
        let reports: Vec<Vec<Report>> = all.iter().map(|loaded| reports(loaded)).collect();
        (names_left.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), reports)
    });
    let mut names_left = names_left.into_iter();
    let footprints: Vec<Footprints> = reports.iter().map(|reports| Footprints::of(reports)).collect();
    let places =
        folders.iter().zip(&read).filter(|(_, read)| read.is_ok()).map(|(folder, _)| folder.as_path());
    let places = places.chain(beside.iter().map(|other| other.folder.as_path()));
    let candidates = all.iter().zip(&reports).zip(places).map(|((loaded, reports), folder)| Candidate {
        id: loaded.campaign.id.as_deref(),
        reports,
        verified: Verification::beside(folder, &loaded.campaign)
            .is_ok_and(|verification| verification.is_some_and(|of| of.is_verified())),
    });
    let mut badges = badges(&candidates.collect::<Vec<_>>()).into_iter();
    let mut ids: BTreeMap<&str, &Path> = BTreeMap::new();
    for other in &beside {
        ids.extend(other.loaded.campaign.id.as_deref().map(|id| (id, other.folder.as_path())));
    }
    let mut checked_all = Vec::new();
    let mut position = 0;
    for (folder, read) in folders.iter().zip(&read) {
        let mut checked = CheckedFolder { folder: folder.display().to_string(), ..CheckedFolder::default() };
        match read {
            Err(error) => checked.findings.push(Violation::new(SubmissionRule::Lines, error.to_string())),
            Ok(published) => {
                checked.badge = badges.next();
                checked.runs = published.loaded.samples.len();
                checked.findings = against(published, &reports[position], new);
                checked.findings.extend(names_left.next().flatten());
                let others: Vec<&Footprints> = footprints
                    .iter()
                    .enumerate()
                    .filter_map(|(other, footprints)| (other != position).then_some(footprints))
                    .collect();
                let compared = compare(&footprints[position], &others);
                checked.findings.extend(compared.refused);
                checked.outliers = compared.outliers;
                position += 1;
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
    if let Err(error) = Verification::beside(&published.folder, campaign) {
        findings.push(Violation::new(SubmissionRule::Checksum, format!("{VERIFICATION}: {error}")));
    }
    if published.checksum_ok == Some(false) {
        findings.push(Violation::new(
            SubmissionRule::Checksum,
            "files changed after the submission (checksum mismatch)",
        ));
    }
    let Some(catalog) = new else { return findings };
    if published.folder.join(VERIFICATION).exists() {
        let what = format!("{VERIFICATION} is included (only curators add it)");
        findings.push(Violation::new(SubmissionRule::Origin, what));
    }
    match &campaign.origin {
        None => findings.push(Violation::new(SubmissionRule::Origin, "no origin and no checksum")),
        Some(origin) if origin.by == By::Project => {
            findings.push(Violation::new(
                SubmissionRule::Origin,
                "the origin is `project` (new results are handed-in)",
            ));
        }
        Some(_) => {}
    }
    // Digests of another machine are unknown here: compares texts, commands and kinds.
    findings.extend(changed_programs(campaign, samples, catalog, |_, _, _, _| None));
    findings
}
