//! `taskscale submit`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use serde_json::json;

use super::args::{Global, Submit};
use super::catalog_dir::open_catalog_or_own;
use super::hint::Advice;
use super::open::existing_folder;
use super::report::for_standard_output;
use super::{Failure, OrUsage, print_result, say_aside};
use crate::campaign::receipt;
use crate::catalog::{Catalog, Entry, Runtime, ToolchainSpec};
use crate::limit;
use crate::measure::machine_facts;
use crate::record::{By, Campaign, EntryFacts, Loaded, SCHEMA_VERSION, Sample, Timestamp};
use crate::report::Report;
use crate::submit::{
    self, Candidate, Checked, Compared, Finding, Footprints, Published, Rule, VERIFICATION, Verification,
    Whose, Withdrawal,
};
use crate::toolchain::{self, Toolchain};

pub fn run(args: &Submit, global: &Global) -> Result<ExitCode, Failure> {
    if let Some(folder) = &args.withdraw {
        return withdraw(folder, args.reason.as_deref().unwrap_or_default());
    }
    match (&args.check, &args.folder) {
        (Some(results), _) => check(results, args, global),
        (None, Some(folder)) => hand_in(folder, args, global),
        (None, None) => Err(Failure::Usage(anyhow!("no results folder given"))),
    }
}

fn withdraw(folder: &Path, reason: &str) -> Result<ExitCode, Failure> {
    existing_folder(folder).or_usage()?;
    let reason = reason.trim();
    if reason.is_empty() {
        return Err(Failure::Usage(anyhow!("--reason is empty (the site shows it)")));
    }
    let Published { loaded, .. } = submit::read(folder).or_usage()?;
    let withdrawal = Withdrawal {
        schema: SCHEMA_VERSION,
        withdrawn_at: Timestamp::now(),
        campaign: loaded.campaign.id,
        reason: reason.to_owned(),
    };
    withdrawal.write(folder).with_context(|| format!("cannot withdraw {}", folder.display()))?;
    say_aside(&format!(
        "withdrawn: {folder}\nnext: `git add -A {folder}`, then commit",
        folder = folder.display()
    ));
    Ok(ExitCode::SUCCESS)
}

fn hand_in(folder: &Path, args: &Submit, global: &Global) -> Result<ExitCode, Failure> {
    existing_folder(folder).or_usage()?;
    if limit::holds_question(folder) {
        let error = anyhow!("cannot submit {}: a search of `taskscale limit`", folder.display());
        return Err(Failure::Usage(error.context(Advice("submit results of `taskscale run`".into()))));
    }
    let Published { loaded, .. } = submit::read(folder).or_usage()?;
    let catalog = open_catalog_or_own(global).or_usage()?;
    let there = published(&args.to)?;
    let own_reports = reports(&loaded);
    let mut findings = refusals(&loaded, &own_reports, &catalog, &there);
    let compared = compared(&loaded, &own_reports, there.iter().map(|other| &other.loaded));
    findings.extend(compared.refused);
    if !findings.is_empty() {
        let refused = Checked {
            folder: folder.display().to_string(),
            mark: None,
            runs: loaded.samples.len(),
            findings,
            outliers: compared.outliers,
        };
        return shown(&[refused], global);
    }
    let stripped =
        submit::stripped(&loaded.campaign, &loaded.samples, &whose()).context("cannot remove paths")?;
    let (campaign, samples) = (&stripped.campaign, stripped.samples.as_slice());
    if let Some(left) = submit::names_left(campaign, samples) {
        return Err(Failure::Broken(anyhow!("{} (taskscale cannot remove it)", left.what)));
    }
    let place = match args.dry_run {
        true => submit::place(&args.to, campaign),
        false => submit::hand_in(&args.to, campaign, samples, args.by.into()).context("--to")?,
    };
    // As in the repository, without the path of the clone.
    let results = Path::new(args.to.file_name().unwrap_or("results".as_ref()));
    let published = results.join(place.strip_prefix(&args.to).unwrap_or(&place));
    let outliers = &compared.outliers;
    let text = submit::pull_request(campaign, samples, &published, &stripped.what, outliers).markdown();
    if global.json {
        let folder = place.display().to_string();
        let result = json!({
            "folder": folder, "written": !args.dry_run, "findings": [],
            "stripped": stripped.what, "outliers": compared.outliers, "pull_request": text,
        });
        print_result(&format!("{result:#}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    print_result(&text)?;
    let place = place.display();
    match args.dry_run {
        true => say_aside(&format!("dry run: nothing was written (would be {place})")),
        false => say_aside(&format!(
            "written: {place}\nnext: check it (`taskscale report {place}`), `git add {place}`, commit, and open a pull \
             request with the text above"
        )),
    }
    Ok(ExitCode::SUCCESS)
}

/// The published results. `--check` reports those that cannot be read.
fn published(results: &Path) -> Result<Vec<Published>, Failure> {
    if !results.is_dir() {
        return Ok(Vec::new());
    }
    let there = submit::campaigns_below(results).with_context(|| results.display().to_string())?;
    Ok(there.iter().filter_map(|folder| submit::read(folder).ok()).collect())
}

/// Compares footprints with those of all other results.
fn compared<'a>(own: &Loaded, own_reports: &[Report], others: impl Iterator<Item = &'a Loaded>) -> Compared {
    let others = others.filter(|other| other.campaign.id.is_none() || other.campaign.id != own.campaign.id);
    let others: Vec<Footprints> = others.map(|other| Footprints::of(&reports(other))).collect();
    submit::compare(&Footprints::of(own_reports), &others.iter().collect::<Vec<_>>())
}

fn reports(loaded: &Loaded) -> Vec<Report> {
    Report::of_parts(&loaded.campaign, &loaded.samples)
}

/// Reasons not to submit these results.
fn refusals(loaded: &Loaded, reports: &[Report], catalog: &Catalog, there: &[Published]) -> Vec<Finding> {
    let mut findings = submit::examine(loaded, reports, true);
    findings.extend(programs(&loaded.campaign, &loaded.samples, catalog));
    if loaded.campaign.origin.is_some() {
        findings.push(Finding::new(Rule::Once, "these results were already submitted"));
        return findings;
    }
    let id = &loaded.campaign.id;
    let same = |other: &&Published| other.sealed.is_some() && other.loaded.campaign.id == *id;
    findings.extend(
        there
            .iter()
            .find(same)
            .filter(|_| id.is_some())
            .map(|other| Finding::new(Rule::Once, format!("already submitted: {}", other.folder.display()))),
    );
    findings
}

/// Compares programs with the catalog: their texts, and on the same machine their digests.
fn programs(campaign: &Campaign, samples: &[Sample], catalog: &Catalog) -> Option<Finding> {
    let here = machine_facts();
    let measured_here = here.hostname == campaign.machine.hostname && here.cpu == campaign.machine.cpu;
    let toolchains: RefCell<BTreeMap<ToolchainSpec, Option<Toolchain>>> = RefCell::default();
    let digest = |runtime: &Runtime, entry: &Entry, workload: &str, facts: &EntryFacts| {
        if !measured_here {
            return None;
        }
        let mut toolchains = toolchains.borrow_mut();
        let found = toolchains
            .entry(entry.toolchain.clone())
            .or_insert_with(|| toolchain::find(&entry.toolchain).ok())
            .as_ref()
            .filter(|found| facts.version.as_deref() == Some(&receipt(found, entry)))?;
        toolchain::program_digest(runtime, entry, workload, found).ok()
    };
    submit::changed_programs(campaign, samples, catalog, digest)
}

/// Names that programs may print.
fn whose() -> Whose {
    let of = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let home = of("HOME").and_then(|home| Some(Path::new(&home).file_name()?.to_str()?.to_owned()));
    let mut users: Vec<String> =
        ["USER", "LOGNAME", "SUDO_USER"].into_iter().filter_map(of).chain(home).collect();
    users.sort();
    users.dedup();
    Whose { users, hosts: vec![machine_facts().hostname] }
}

fn check(results: &Path, args: &Submit, global: &Global) -> Result<ExitCode, Failure> {
    existing_folder(results).or_usage()?;
    let folders =
        submit::campaigns_below(results).with_context(|| results.display().to_string()).or_usage()?;
    if folders.is_empty() {
        return Err(Failure::Usage(anyhow!("no results in {} or below", results.display())));
    }
    let catalog = if args.new { Some(open_catalog_or_own(global).or_usage()?) } else { None };
    let read: Vec<_> = folders.iter().map(|folder| submit::read(folder)).collect();
    let loaded: Vec<&Loaded> = read.iter().flatten().map(|published| &published.loaded).collect();
    // The results that are already published.
    let beside = if args.new { published(&args.to)? } else { Vec::new() };
    let is_beside = |folder: &Path| {
        let real = |folder: &Path| std::fs::canonicalize(folder).ok();
        !folders.iter().any(|own| real(own) == real(folder))
    };
    let beside: Vec<&Published> = beside.iter().filter(|other| is_beside(&other.folder)).collect();
    let all: Vec<&Loaded> = loaded.iter().copied().chain(beside.iter().map(|other| &other.loaded)).collect();
    // Reading every text takes as long as the reports, and neither needs the other.
    let (names_left, reports) = std::thread::scope(|scope| {
        let names_left = scope.spawn(|| {
            let left = |of: &&Loaded| submit::names_left(&of.campaign, &of.samples);
            loaded.iter().map(left).collect::<Vec<Option<Finding>>>()
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
    let mut marks = submit::marks(&candidates.collect::<Vec<_>>()).into_iter();
    let mut ids: BTreeMap<&str, &Path> = BTreeMap::new();
    for other in &beside {
        ids.extend(other.loaded.campaign.id.as_deref().map(|id| (id, other.folder.as_path())));
    }
    let mut checked_all = Vec::new();
    let mut position = 0;
    for (folder, read) in folders.iter().zip(&read) {
        let mut checked = Checked { folder: folder.display().to_string(), ..Checked::default() };
        match read {
            Err(error) => checked.findings.push(Finding::new(Rule::Lines, error.to_string())),
            Ok(published) => {
                checked.mark = marks.next();
                checked.runs = published.loaded.samples.len();
                checked.findings = against(published, &reports[position], catalog.as_ref());
                checked.findings.extend(names_left.next().flatten());
                let others: Vec<&Footprints> = footprints
                    .iter()
                    .enumerate()
                    .filter_map(|(other, footprints)| (other != position).then_some(footprints))
                    .collect();
                let compared = submit::compare(&footprints[position], &others);
                checked.findings.extend(compared.refused);
                checked.outliers = compared.outliers;
                position += 1;
                let id = published.loaded.campaign.id.as_deref();
                if let Some(before) = id.and_then(|id| ids.insert(id, folder)) {
                    let what = format!("the same results are in {}", before.display());
                    checked.findings.push(Finding::new(Rule::Once, what));
                }
            }
        }
        checked_all.push(checked);
    }
    shown(&checked_all, global)
}

/// Problems of published results. Results of the project without a checksum are older than checksums.
fn against(published: &Published, reports: &[Report], new: Option<&Catalog>) -> Vec<Finding> {
    let campaign = &published.loaded.campaign;
    let handed_in = published.sealed.is_some() || new.is_some();
    let mut findings = submit::examine(&published.loaded, reports, handed_in);
    if let Err(error) = Verification::beside(&published.folder, campaign) {
        findings.push(Finding::new(Rule::Seal, format!("{VERIFICATION}: {error}")));
    }
    if published.sealed == Some(false) {
        findings.push(Finding::new(Rule::Seal, "files changed after the submission (checksum mismatch)"));
    }
    let Some(catalog) = new else { return findings };
    if published.folder.join(VERIFICATION).exists() {
        let what = format!("{VERIFICATION} is included (only curators add it)");
        findings.push(Finding::new(Rule::Origin, what));
    }
    match &campaign.origin {
        None => findings.push(Finding::new(Rule::Origin, "no origin and no checksum")),
        Some(origin) if origin.by == By::Project => {
            findings.push(Finding::new(Rule::Origin, "the origin is `project` (new results are handed-in)"));
        }
        Some(_) => {}
    }
    // Digests of another machine are unknown here: compares texts, commands and kinds.
    findings
        .extend(submit::changed_programs(campaign, &published.loaded.samples, catalog, |_, _, _, _| None));
    findings
}

fn shown(all: &[Checked], global: &Global) -> Result<ExitCode, Failure> {
    match global.json {
        true => print_result(&format!("{:#}\n", json!({ "campaigns": all })))?,
        false => print_result(&submit::checked(all).terminal(for_standard_output()))?,
    }
    let refused = all.iter().any(|one| !one.findings.is_empty());
    Ok(if refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
