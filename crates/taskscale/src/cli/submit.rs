//! `taskscale submit`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, anyhow};
use serde_json::json;

use super::args::{Global, SubmitArgs};
use super::catalog_dir::open_catalog_or_own;
use super::failure::{CliResult, Failure, OrUsage, SUCCESS, advised, exit_code, succeed_with};
use super::output::{eprint_status, for_standard_output, json_or, print_result};
use super::output_dir::existing_folder;
use crate::campaign::receipt;
use crate::catalog::{Catalog, Entry, Runtime, ToolchainSpec};
use crate::document::json;
use crate::limit;
use crate::record::{self, Campaign, EntryFacts, SCHEMA_VERSION, Sample, Timestamp};
use crate::submit::{self, CheckedFolder, Identity, SubmittedResults, Violation, Withdrawal};
use crate::toolchain::{self, Toolchain};
use taskscale_measure::machine_facts;

pub fn run(args: &SubmitArgs, global: &Global) -> CliResult {
    if let Some(folder) = &args.withdraw {
        return withdraw(folder, args.reason.as_deref().unwrap_or_default());
    }
    if let Some(results) = &args.check {
        return check(results, args, global);
    }
    // clap requires one of the three.
    let folder = args.folder.as_deref().ok_or_else(|| Failure::usage("no results folder given"))?;
    submit(folder, args, global)
}

fn withdraw(folder: &Path, reason: &str) -> CliResult {
    existing_folder(folder).or_usage()?;
    let reason = reason.trim();
    if reason.is_empty() {
        return Err(Failure::usage("--reason is empty (the site shows it)"));
    }
    // An interrupted withdrawal may have removed the samples already.
    let loaded = record::load(folder).or_usage()?;
    let (campaign, reason) = (loaded.campaign.id, reason.to_owned());
    let withdrawal = Withdrawal { schema: SCHEMA_VERSION, withdrawn_at: Timestamp::now(), campaign, reason };
    withdrawal.write(folder).with_context(|| format!("cannot withdraw {}", folder.display()))?;
    let folder = folder.display();
    eprint_status(&format!("withdrawn: {folder}\nnext: `git add -A {folder}`, then commit"));
    Ok(SUCCESS)
}

fn submit(folder: &Path, args: &SubmitArgs, global: &Global) -> CliResult {
    existing_folder(folder).or_usage()?;
    if limit::holds_search(folder) {
        let what = format!("cannot submit {}: a search of `taskscale limit`", folder.display());
        return Err(Failure::Usage(advised(what, "submit results of `taskscale run`")));
    }
    let SubmittedResults { loaded, .. } = submit::read(folder).or_usage()?;
    let catalog = open_catalog_or_own(global).or_usage()?;
    let there = published(&args.to)?;
    let changed = programs(&loaded.campaign, &loaded.samples, &catalog)
        .into_iter()
        .chain(submit::wrong_checks(&loaded.samples, &catalog));
    let checked = submit::check_candidate(folder, &loaded, &there, changed);
    if !checked.findings.is_empty() {
        return shown(&[checked], global);
    }
    let anonymized =
        submit::anonymize(&loaded.campaign, &loaded.samples, &identity()).context("cannot remove paths")?;
    let (campaign, samples) = (&anonymized.campaign, anonymized.samples.as_slice());
    if let Some(left) = submit::names_left(campaign, samples) {
        return Err(Failure::Broken(anyhow!("{} (taskscale cannot remove it)", left.what)));
    }
    let place = match args.dry_run {
        true => submit::place(&args.to, campaign),
        false => submit::write_submission(&args.to, campaign, samples, args.by).context("--to")?,
    };
    // As in the repository, without the path of the clone.
    let results = Path::new(args.to.file_name().unwrap_or("results".as_ref()));
    let published = results.join(place.strip_prefix(&args.to).unwrap_or(&place));
    let outliers = &checked.outliers;
    let text = submit::pull_request(campaign, samples, &published, &anonymized.what, outliers).markdown();
    if global.json {
        let folder = place.display().to_string();
        let result = json!({
            "folder": folder, "written": !args.dry_run, "findings": [],
            "stripped": anonymized.what, "outliers": outliers, "pull_request": text,
        });
        return succeed_with(&json::pretty(&result));
    }
    print_result(&text)?;
    let place = place.display();
    match args.dry_run {
        true => eprint_status(&format!("dry run: nothing was written (would be {place})")),
        false => eprint_status(&format!(
            "written: {place}\nnext: check it (`taskscale report {place}`), `git add {place}`, commit, and open a pull \
             request with the text above"
        )),
    }
    Ok(SUCCESS)
}

/// The published results. `--check` reports those that cannot be read.
fn published(results: &Path) -> CliResult<Vec<SubmittedResults>> {
    if !results.is_dir() {
        return Ok(Vec::new());
    }
    let there = submit::campaigns_below(results).with_context(|| results.display().to_string())?;
    Ok(there.iter().filter_map(|folder| submit::read(folder).ok()).collect())
}

/// Compares programs with the catalog: their texts, and on the same machine their digests.
fn programs(campaign: &Campaign, samples: &[Sample], catalog: &Catalog) -> Option<Violation> {
    let here = machine_facts();
    let measured_here = here.hostname == campaign.machine.hostname && here.cpu == campaign.machine.cpu;
    let toolchains: RefCell<BTreeMap<ToolchainSpec, Option<Toolchain>>> = RefCell::default();
    let digest = |runtime: &Runtime, entry: &Entry, workload: &str, facts: &EntryFacts| {
        if !measured_here {
            return None;
        }
        let mut toolchains = toolchains.borrow_mut();
        let find = || toolchain::find(&entry.toolchain).ok();
        let found = toolchains.entry(entry.toolchain.clone()).or_insert_with(find).as_ref();
        let found = found.filter(|found| facts.version.as_deref() == Some(&receipt(found, entry)))?;
        toolchain::program_digest(runtime, entry, workload, found).ok()
    };
    submit::changed_programs(campaign, samples, catalog, digest)
}

/// Users and hosts that programs may print.
fn identity() -> Identity {
    let of = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let home = of("HOME").and_then(|home| Some(Path::new(&home).file_name()?.to_str()?.to_owned()));
    let users: BTreeSet<String> =
        ["USER", "LOGNAME", "SUDO_USER"].into_iter().filter_map(of).chain(home).collect();
    Identity { users: users.into_iter().collect(), hosts: vec![machine_facts().hostname] }
}

fn check(results: &Path, args: &SubmitArgs, global: &Global) -> CliResult {
    existing_folder(results).or_usage()?;
    let folders =
        submit::campaigns_below(results).with_context(|| results.display().to_string()).or_usage()?;
    if folders.is_empty() {
        return Err(Failure::usage(format!("no results in {} or below", results.display())));
    }
    let catalog = if args.new { Some(open_catalog_or_own(global).or_usage()?) } else { None };
    // The results that are already published.
    let beside = if args.new { published(&args.to)? } else { Vec::new() };
    shown(&submit::check_folders(&folders, beside, catalog.as_ref()), global)
}

fn shown(all: &[CheckedFolder], global: &Global) -> CliResult {
    let text = || submit::checked(all).terminal(for_standard_output());
    print_result(&json_or(global.json, &json!({ "campaigns": all }), text))?;
    Ok(exit_code(all.iter().any(|one| !one.findings.is_empty())))
}
