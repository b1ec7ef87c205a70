//! `taskscale site`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow};

use super::args::{self, Global};
use super::catalog_dir::open_catalog_or_own;
use super::hint::Advice;
use super::open::warn_of_rejected;
use super::report::page;
use super::{Failure, OrUsage, print_result, say_aside};
use crate::limit;
use crate::record;
use crate::site::{self, Found, Made, Site};
use crate::submit::Withdrawal;
use crate::units::counted;

pub fn run(args: &args::Site, global: &Global) -> Result<ExitCode, Failure> {
    let found = site::find(&args.results).or_usage()?;
    let catalog = open_catalog_or_own(global).or_usage()?;
    let mut site = Site::begin(&args.output, &catalog).context("-o").or_usage()?;
    for found in found {
        add(&mut site, &found)?;
    }
    if site.is_without_campaigns() {
        return Err(none_below(&args.results)).or_usage();
    }
    let made = site.finish()?;
    say(&made);
    print_result(&format!("{}\n", made.start.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// What cannot be shown is said, and does not keep the others from being shown.
fn add(site: &mut Site, found: &Found) -> Result<(), Failure> {
    if limit::holds_question(&found.folder) {
        say_aside(&format!("left out: {}: it holds a search for limits", found.folder.display()));
        return Ok(());
    }
    if let Some(withdrawal) =
        Withdrawal::read(&found.folder).with_context(|| found.folder.display().to_string())?
    {
        site.add_withdrawn(found, withdrawal);
        return Ok(());
    }
    match record::load(&found.folder) {
        Ok(loaded) => {
            warn_of_rejected(&found.folder, &loaded.rejected, "left out");
            let page = page(&loaded.campaign, &loaded.samples);
            Ok(site.add(found, &loaded, page)?)
        }
        Err(error) => {
            say_aside(&format!("warning: left out: {error}"));
            Ok(())
        }
    }
}

fn none_below(results: &Path) -> anyhow::Error {
    let advice = "name the folder that campaigns are in, or measure first: `taskscale --quick`";
    anyhow!("{} holds no campaign that can be shown", results.display()).context(Advice(advice.into()))
}

fn say(made: &Made) {
    for link in &made.dead_links {
        say_aside(&format!("warning: a link leads nowhere: {link}"));
    }
    let documents = match made.documents {
        0 => "no documents, as none are beside the catalogue".to_owned(),
        documents => counted(documents as u64, "document"),
    };
    let campaigns = counted(made.campaigns as u64, "campaign");
    say_aside(&format!("{campaigns}, {} pages of entries, {documents}", made.entries));
}
