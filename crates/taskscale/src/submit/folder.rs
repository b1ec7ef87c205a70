//! The files of published results: finds, reads and writes them, with their checksum.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use taskscale_measure::open_regular;
use walkdir::WalkDir;

use super::machine::class;
use crate::record::{
    self, By, Campaign, Loaded, Origin, Sample, Store, StoreError, holds_campaign, read_document,
};

/// Replaces the checksum while it is computed.
const NO_CHECKSUM: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Results of a repository.
#[derive(Debug)]
pub struct SubmittedResults {
    pub folder: PathBuf,
    pub loaded: Loaded,
    /// Whether the checksum matches the files. `None` without a checksum.
    pub checksum_ok: Option<bool>,
}

/// SHA-256 in hexadecimal digits over the bytes of both files, with zeros in place of the checksum itself.
fn checksum_of(folder: &Path, own: &str) -> Result<String, StoreError> {
    let at = |path: PathBuf| move |error| StoreError::Io { what: "read", path, error };
    let path = folder.join("campaign.json");
    let campaign = read_document(&path).map_err(at(path))?;
    let campaign = String::from_utf8_lossy(&campaign);
    let blank = if own.is_empty() { campaign.into_owned() } else { campaign.replace(own, NO_CHECKSUM) };
    let mut digest = Sha256::new();
    digest.update((blank.len() as u64).to_le_bytes());
    digest.update(blank);
    let path = folder.join("samples.jsonl");
    let mut read = || -> io::Result<()> {
        let mut file = open_regular(&path)?;
        let mut bytes = vec![0; 1 << 16];
        loop {
            match file.read(&mut bytes)? {
                0 => return Ok(()),
                length => digest.update(&bytes[..length]),
            }
        }
    };
    read().map_err(at(path))?;
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Reads results of a repository.
pub fn read(folder: &Path) -> Result<SubmittedResults, StoreError> {
    let loaded = record::load(folder)?;
    let checksum_ok = match &loaded.campaign.origin {
        None => None,
        Some(origin) => Some(checksum_of(folder, &origin.checksum)? == origin.checksum),
    };
    Ok(SubmittedResults { folder: folder.to_owned(), loaded, checksum_ok })
}

/// Results folders at `root` and at any depth below, sorted by name, including those with samples but no plan. Does not
/// follow links.
pub fn campaigns_below(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let children = WalkDir::new(root).sort_by_file_name().into_iter();
    for child in children.filter_entry(|child| child.file_type().is_dir()) {
        let folder = child?.into_path();
        if holds_campaign(&folder) || folder.join("samples.jsonl").exists() {
            found.push(folder);
        }
    }
    Ok(found)
}

/// The folder of submitted results: `RESULTS/xeon-2-5ghz-2cpu/2026-11-24`.
pub fn place(results: &Path, campaign: &Campaign) -> PathBuf {
    results.join(class(&campaign.machine)).join(campaign.created_at.date())
}

/// Writes anonymized results below `results`, with a checksum, and returns the folder. Never overwrites: the second
/// results of a day get the suffix `-2`.
pub fn write_submission(
    results: &Path,
    campaign: &Campaign,
    samples: &[Sample],
    by: By,
) -> Result<PathBuf, StoreError> {
    let mut store = Store::claim_new(&place(results, campaign))?;
    let with = |checksum: String| Campaign { origin: Some(Origin { by, checksum }), ..campaign.clone() };
    for sample in samples {
        store.append(sample)?;
    }
    store.write_campaign(&with(NO_CHECKSUM.to_owned()))?;
    let checksum = checksum_of(store.folder(), NO_CHECKSUM)?;
    store.write_campaign(&with(checksum))?;
    Ok(store.folder().to_owned())
}
