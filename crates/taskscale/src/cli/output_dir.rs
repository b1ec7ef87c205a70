//! Results folders on the command line: their names, and whether one can be used.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::output::eprint_status;
use crate::campaign::{self, CampaignError, CampaignResult, RunSettings};
use crate::files::if_there;
use crate::limit::{self, LimitError};
use crate::record::{self, Loaded, Plan, RejectedLine, Store, StoreError, Timestamp};

/// Default parent of results folders. Not `results/`, where a repository keeps submitted results.
pub(super) const RESULTS: &str = "taskscale-results";
/// The page in a results folder.
pub(super) const PAGE_FILE: &str = "report.html";

/// What a folder is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FolderPurpose {
    Campaign,
    /// Of `taskscale limit`.
    Search,
}

/// Where results are written.
#[derive(Debug, Clone)]
pub(super) struct OutputDir {
    pub path: PathBuf,
    /// Whether the user named it. Only then it may resume.
    pub named: bool,
}

impl OutputDir {
    /// The value of `-o`, or a folder named after time and host. Fails if the folder cannot be used.
    pub fn checked(output: Option<&Path>, purpose: FolderPurpose) -> Result<OutputDir> {
        let output = match output {
            Some(path) => OutputDir { path: path.to_owned(), named: true },
            None => OutputDir { path: new_folder(), named: false },
        };
        output.check(purpose)?;
        Ok(output)
    }

    /// Whether there are results to resume.
    pub fn holds_campaign(&self) -> bool {
        self.named && record::holds_campaign(&self.path)
    }

    /// The results to resume, if these plans can resume them; `None` for new results.
    pub fn check_kept(&self, plans: &[Plan], resume: &RunSettings) -> CampaignResult<Option<Loaded>> {
        self.holds_campaign().then(|| campaign::load_kept(&self.path, plans, resume)).transpose()
    }

    /// Takes the folder for new results.
    pub fn claim(&self) -> Result<Store, StoreError> {
        if self.named { Store::claim(&self.path) } else { Store::claim_new(&self.path) }
    }

    /// Checks before any build whether the folder can be used. Writes nothing.
    fn check(&self, purpose: FolderPurpose) -> Result<()> {
        let folder = &self.path;
        if self.holds_campaign() {
            let folder = folder.clone();
            return match (purpose, limit::holds_search(&folder)) {
                (FolderPurpose::Campaign, true) => {
                    let what = "it has a search of `taskscale limit`".to_owned();
                    Err(CampaignError::Another { folder, what }.into())
                }
                (FolderPurpose::Search, false) => {
                    let what = "it has results of `taskscale run`".to_owned();
                    Err(LimitError::Another { folder, what }.into())
                }
                _ => Ok(()),
            };
        }
        let children = if_there(fs::read_dir(folder)).with_context(|| format!("-o {}", folder.display()))?;
        // If it was not named by the user, another name is chosen.
        if let Some(mut children) = children.filter(|_| self.named) {
            record::check_no_orphans(folder)?;
            // Files of an interrupted start can be reused.
            let ours = ["samples.jsonl", "campaign.json.new", "limit.json", "limit.json.new"];
            let most = if purpose == FolderPurpose::Search { 4 } else { 2 };
            let is_ours = |child: fs::DirEntry| ours[..most].iter().any(|name| child.file_name() == *name);
            ensure!(
                children.all(|child| child.is_ok_and(is_ours)),
                "-o {}: not empty and not a results folder (choose a new or an empty folder)",
                folder.display()
            );
        }
        let nearest = folder.ancestors().find(|folder| folder.as_os_str().is_empty() || folder.exists());
        let nearest = nearest.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        ensure!(nearest.is_dir(), "-o {}: not a folder: {}", folder.display(), nearest.display());
        rustix::fs::access(nearest, rustix::fs::Access::WRITE_OK)
            .with_context(|| format!("-o {}: cannot write in {}", folder.display(), nearest.display()))
    }
}

/// `taskscale-results/DATE-HOST`.
fn new_folder() -> PathBuf {
    let is_odd = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    let host = rustix::system::uname().nodename().to_string_lossy().replace(is_odd, "-");
    let date = Timestamp::now().compact();
    Path::new(RESULTS).join(format!("{date}-{host}"))
}

/// Refuses a folder that does not exist, before anything is read from it.
pub(super) fn existing_folder(folder: &Path) -> Result<()> {
    let shown = folder.display();
    let facts = if_there(fs::metadata(folder)).with_context(|| format!("cannot read {shown}"))?;
    let facts = facts.with_context(|| format!("no such folder: {shown}"))?;
    ensure!(facts.is_dir(), "not a folder: {shown}");
    Ok(())
}

/// Reads results, with a warning for each line that is left out.
pub(super) fn load_results(folder: &Path) -> Result<Loaded, StoreError> {
    let loaded = record::load(folder)?;
    warn_of_rejected(folder, &loaded.rejected, "left out");
    Ok(loaded)
}

/// Warns of invalid lines. `done` is what taskscale did with them.
pub(super) fn warn_of_rejected(folder: &Path, rejected: &[RejectedLine], done: &str) {
    let file = folder.join("samples.jsonl");
    for RejectedLine { number, why, .. } in rejected {
        let line = format!("line {number} of {} (not a sample: {why})", file.display());
        eprint_status(&format!("warning: {done}: {line}"));
    }
}
