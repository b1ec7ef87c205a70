//! `taskscale site`.

use anyhow::Context;

use super::args::{self, Global};
use super::catalog_dir::open_catalog_or_own;
use super::failure::{CliResult, OrUsage, succeed_with};
use super::output::eprint_status;
use super::output_dir::{existing_folder, load_results};
use super::pages::page;
use crate::limit;
use crate::site::{self, ResultsFolder, Site, SiteError};
use crate::submit::Withdrawal;
use crate::units::counted;

pub fn run(args: &args::SiteArgs, global: &Global) -> CliResult {
    existing_folder(&args.results).map_err(|error| SiteError::Folder(error.to_string())).or_usage()?;
    let found = site::find(&args.results).or_usage()?;
    let catalog = open_catalog_or_own(global).or_usage()?;
    let mut site = Site::begin(&args.output, &catalog).context("-o").or_usage()?;
    for found in found {
        add(&mut site, &found)?;
    }
    if site.campaigns.is_empty() {
        return Err(SiteError::NoResults(args.results.clone())).or_usage();
    }
    let made = site.finish()?;
    for link in &made.dead_links {
        eprint_status(&format!("warning: broken link: {link}"));
    }
    let documents = match made.documents {
        0 => "no documents (neither the catalog nor the results are in taskscale's repository)".to_owned(),
        documents => counted(documents as u64, "document"),
    };
    let campaigns = counted(made.campaigns as u64, "results page");
    let entries = counted(made.entries as u64, "entry page");
    eprint_status(&format!("{campaigns}, {entries}, {documents}"));
    succeed_with(&format!("{}\n", made.start.display()))
}

/// Adds results. Unreadable results are skipped with a warning.
fn add(site: &mut Site, found: &ResultsFolder) -> CliResult<()> {
    if limit::holds_search(&found.folder) {
        eprint_status(&format!("left out: {} (a search of `taskscale limit`)", found.folder.display()));
        return Ok(());
    }
    let withdrawal = Withdrawal::read(&found.folder).with_context(|| found.folder.display().to_string())?;
    if let Some(withdrawal) = withdrawal {
        site.withdrawn.push((found.clone(), withdrawal));
        return Ok(());
    }
    match load_results(&found.folder) {
        Ok(loaded) => site.add(found, &loaded, page(&loaded))?,
        Err(error) => eprint_status(&format!("warning: left out: {error}")),
    }
    Ok(())
}
