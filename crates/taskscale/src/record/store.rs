//! A results folder: `campaign.json` and `samples.jsonl`.
//!
//! `campaign.json` is durable before the first run, and each sample before the next run begins (written, then synced).
//! An interruption loses at most the line being written, which is set aside when measuring resumes.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use taskscale_measure::open_regular;

use super::bounds::{
    CASES, LINE_BYTES, REJECTED_LINES, RUNS, SAMPLES_BYTES, check_size, read_document, too_large,
};
use super::{Campaign, SCHEMA_VERSION, Sample, StringInterner};
use crate::files::if_there;
use crate::hint::hints;

pub(super) const CAMPAIGN_FILE: &str = "campaign.json";
const SAMPLES_FILE: &str = "samples.jsonl";
const REJECTED_FILE: &str = "samples.rejected.jsonl";

/// Attempts to lock, and the pause between them: a taskscale that is ending, or its child before `exec`, may
/// keep a lock a moment longer.
const LOCK_TRIES: u32 = 10;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// What is wrong with a results folder.
#[derive(Debug, thiserror::Error, strum::EnumMessage)]
pub enum StoreError {
    #[error("cannot {what} {path}: {error}")]
    Io { what: &'static str, path: PathBuf, error: io::Error },
    #[error("no results in {0} (campaign.json not found)")]
    #[strum(
        message = "name a folder that `taskscale run` wrote; `ls taskscale-results` lists the usual ones"
    )]
    NoCampaign(PathBuf),
    #[error("no results in {0}")]
    #[strum(message = "run `taskscale --quick` first, or name a results folder")]
    NoneIn(PathBuf),
    #[error("not a campaign.json of taskscale: {path} ({error})")]
    #[strum(message = "restore campaign.json from a copy, or measure into a new folder: -o DIR")]
    Malformed { path: PathBuf, error: serde_json::Error },
    #[error("unknown schema: {found} in {path} (this taskscale reads up to {SCHEMA_VERSION})")]
    #[strum(message = "install the taskscale that wrote it, or a newer one")]
    Newer { path: PathBuf, found: u64 },
    #[error("too large: {path} ({what})")]
    TooLarge { path: PathBuf, what: String },
    #[error("results folder in use: {0} (another taskscale is measuring into it)")]
    #[strum(message = "wait until it ends, or choose another folder: -o DIR")]
    InUse(PathBuf),
    #[error("campaign.json not found: {0} (its samples are useless without the plan)")]
    #[strum(message = "restore campaign.json from a copy, or measure into a new folder: -o DIR")]
    Orphans(PathBuf),
    #[error("results folder in use: {0} (another taskscale has just started new results in it)")]
    #[strum(message = "wait until it ends, or choose another folder: -o DIR")]
    Begun(PathBuf),
}

hints!(StoreError {
    StoreError::Io { error, .. } => error.hint(),
});

/// The result, whose error says what was to be done to which file or folder.
pub fn at<T>(what: &'static str, path: &Path, result: io::Result<T>) -> Result<T, StoreError> {
    result.map_err(|error| StoreError::Io { what, path: path.to_owned(), error })
}

/// An invalid line of `samples.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedLine {
    /// Counted from 1.
    pub number: usize,
    pub why: String,
}

/// A campaign as read.
#[derive(Debug)]
pub struct Loaded {
    pub campaign: Campaign,
    pub samples: Vec<Sample>,
    pub rejected: Vec<RejectedLine>,
}

/// Whether `folder` is a results folder.
pub fn holds_campaign(folder: &Path) -> bool {
    folder.join(CAMPAIGN_FILE).exists()
}

/// Fails if a folder without a plan has samples: new samples could not be told from old ones.
pub fn check_no_orphans(folder: &Path) -> Result<(), StoreError> {
    let path = folder.join(SAMPLES_FILE);
    match at("examine", &path, if_there(fs::metadata(&path)))? {
        // An interrupted start leaves an empty file.
        Some(facts) if facts.len() > 0 => Err(StoreError::Orphans(folder.to_owned())),
        _ => Ok(()),
    }
}

/// Reads a campaign without changing anything. Invalid lines are left out and reported.
pub fn load(folder: &Path) -> Result<Loaded, StoreError> {
    let path = folder.join(CAMPAIGN_FILE);
    let Some(text) = at("read", &path, if_there(read_document(&path)))? else {
        // If the folder itself is missing, that is the error.
        at("read", folder, fs::metadata(folder))?;
        return Err(StoreError::NoCampaign(folder.to_owned()));
    };
    let malformed = |error| StoreError::Malformed { path: path.clone(), error };
    let value: serde_json::Value = serde_json::from_slice(&text).map_err(malformed)?;
    if let Some(found) = value["schema"].as_u64().filter(|found| *found > SCHEMA_VERSION.into()) {
        return Err(StoreError::Newer { path, found });
    }
    // From the text again, as an error then has its line.
    let campaign: Campaign = serde_json::from_slice(&text).map_err(malformed)?;
    check_size(&campaign, &path)?;

    let path = folder.join(SAMPLES_FILE);
    let (samples, rejected) = match at("read", &path, if_there(open_regular(&path)))? {
        None => (Vec::new(), Vec::new()),
        Some(file) => {
            let bytes = at("read", &path, file.metadata())?.len();
            at("read", &path, read_samples(BufReader::new(file), bytes, campaign.id.as_deref()))?
        }
    };
    Ok(Loaded { campaign, samples, rejected })
}

/// Reads samples line by line, so that the text of a long campaign is not in memory besides its samples.
/// `bytes` is the size of the text. Samples must have the campaign's `id`, or none if it is old.
pub fn read_samples(
    mut lines: impl BufRead,
    bytes: u64,
    id: Option<&str>,
) -> io::Result<(Vec<Sample>, Vec<RejectedLine>)> {
    let (mut samples, mut rejected, mut interner) = (Vec::new(), Vec::new(), StringInterner::default());
    if bytes > SAMPLES_BYTES {
        return Err(too_large(format!("more than {SAMPLES_BYTES} bytes")));
    }
    let (mut cases, hashes) = (HashSet::new(), RandomState::new());
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if (&mut lines).take(LINE_BYTES + 1).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.len() as u64 > LINE_BYTES {
            return Err(too_large(format!("line {number} has more than {LINE_BYTES} bytes")));
        }
        if number as u64 > 2 * RUNS {
            return Err(too_large(format!("more than {} lines", 2 * RUNS)));
        }
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if text.trim_ascii().is_empty() {
            continue;
        }
        match sample_of(text, id) {
            Ok(sample) => {
                if samples.is_empty() {
                    // Reserves room by the size of the first line: a list that grows leaves its old memory in
                    // the heap. If that much room is not available, the list grows.
                    let _ = samples.try_reserve((bytes / text.len() as u64).min(RUNS) as usize + 1);
                }
                if samples.len() as u64 == RUNS {
                    return Err(too_large(format!("more than {RUNS} samples")));
                }
                // Counts hashes with a random seed: cases collide only by chance, and then count as one.
                let (part, (entry, tasks, ..)) = sample.run();
                if cases.insert(hashes.hash_one((part, entry, tasks))) && cases.len() as u64 > CASES {
                    return Err(too_large(format!("more than {CASES} cases")));
                }
                samples.push(interner.intern(sample));
            }
            Err(_) if rejected.len() == REJECTED_LINES => {
                return Err(too_large(format!("more than {REJECTED_LINES} invalid lines")));
            }
            Err(why) => rejected.push(RejectedLine { number, why }),
        }
    }
    Ok((samples, rejected))
}

/// The sample of a line, or why the line is invalid.
fn sample_of(line: &[u8], id: Option<&str>) -> Result<Sample, String> {
    let sample: Sample = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    if sample.schema > SCHEMA_VERSION {
        return Err(format!("schema {} is newer than this taskscale", sample.schema));
    }
    let found = sample.campaign.as_deref();
    if found != id {
        let named = |id: Option<&str>| id.map_or("without an id".into(), |id| format!("{id:?}"));
        return Err(format!("of other results: campaign {}, expected {}", named(found), named(id)));
    }
    Ok(sample)
}

/// Whether a file's last line lacks its line end.
fn is_unfinished(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != [b'\n'])
}

/// The folder of a campaign that is being measured, locked for one taskscale.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    samples: File,
}

impl Drop for Store {
    /// A child that was forked but has not reached its exec keeps the file open, and with it a lock that is not
    /// released.
    fn drop(&mut self) {
        let _ = self.samples.unlock();
    }
}

impl Store {
    /// Locks a folder for a new campaign, before `write_campaign`. Fails if another taskscale came first.
    pub fn claim(folder: &Path) -> Result<Store, StoreError> {
        at("create", folder, fs::create_dir_all(folder))?;
        let store = Store::lock(folder)?;
        // Checked again, now that no other taskscale can write here.
        if holds_campaign(folder) {
            return Err(StoreError::Begun(folder.to_owned()));
        }
        check_no_orphans(folder)?;
        Ok(store)
    }

    /// Creates and locks a folder for a new campaign: `folder`, or `folder-2` and so on if it exists.
    pub fn claim_new(folder: &Path) -> Result<Store, StoreError> {
        if let Some(parent) = folder.parent() {
            at("create", parent, fs::create_dir_all(parent))?;
        }
        let mut path = folder.to_owned();
        for number in 2.. {
            match fs::create_dir(&path) {
                Ok(()) => break,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    path = beside(folder, &format!("-{number}"));
                }
                Err(error) => return at("create", &path, Err(error)),
            }
        }
        Store::claim(&path)
    }

    /// Opens a results folder to resume. Invalid lines are moved to `samples.rejected.jsonl`, so that new samples are
    /// appended to valid lines only.
    pub fn reopen(folder: &Path) -> Result<(Store, Loaded), StoreError> {
        let mut store = Store::lock(folder)?;
        let loaded = load(folder)?;
        let path = folder.join(SAMPLES_FILE);
        if !loaded.rejected.is_empty() || at("read", &path, is_unfinished(&path))? {
            let bytes = at("read", &path, fs::read(&path))?;
            store.set_aside(&bytes, &loaded.rejected)?;
        }
        Ok((store, loaded))
    }

    /// Separates the lines, byte for byte: valid lines keep the fields of a newer taskscale, and invalid ones
    /// can be examined.
    fn set_aside(&mut self, bytes: &[u8], rejected: &[RejectedLine]) -> Result<(), StoreError> {
        let bad: BTreeSet<usize> = rejected.iter().map(|line| line.number).collect();
        let (mut good, mut aside) = (Vec::new(), Vec::new());
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let lines = if bad.contains(&(index + 1)) { &mut aside } else { &mut good };
            if !line.trim_ascii().is_empty() {
                lines.extend_from_slice(line);
                lines.push(b'\n');
            }
        }
        if !aside.is_empty() {
            let path = self.folder.join(REJECTED_FILE);
            let mut file = at("open", &path, OpenOptions::new().append(true).create(true).open(&path))?;
            at("write", &path, file.write_all(&aside))?;
            at("sync", &path, file.sync_all())?;
        }
        let path = self.folder.join(SAMPLES_FILE);
        let file = write_temporary(&path, |out| out.write_all(&good))?;
        // Locked before the rename, so that no other taskscale can take the folder in between.
        let _ = file.try_lock();
        rename_into_place(&path)?;
        self.samples = file;
        Ok(())
    }

    fn lock(folder: &Path) -> Result<Store, StoreError> {
        let path = folder.join(SAMPLES_FILE);
        let mut tries = 0;
        loop {
            let samples = at("open", &path, OpenOptions::new().append(true).create(true).open(&path))?;
            match samples.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if tries < LOCK_TRIES => {
                    tries += 1;
                    std::thread::sleep(LOCK_PAUSE);
                    continue;
                }
                Err(TryLockError::WouldBlock) => return Err(StoreError::InUse(folder.to_owned())),
                // The file system has no locks, so others cannot be detected.
                Err(TryLockError::Error(_)) => {}
            }
            // Another taskscale may have replaced the file just opened. The new one must then be locked.
            if at("examine", &path, is_at(&samples, &path))? {
                return Ok(Store { folder: folder.to_owned(), samples });
            }
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Rewrites `campaign.json` atomically.
    pub fn write_campaign(&self, campaign: &Campaign) -> Result<(), StoreError> {
        write_json(&self.folder.join(CAMPAIGN_FILE), campaign)
    }

    /// Appends a sample and returns once it is on the disk.
    pub fn append(&mut self, sample: &Sample) -> Result<(), StoreError> {
        let path = self.folder.join(SAMPLES_FILE);
        // If the results folder was removed while measuring, samples would be lost silently.
        if !at("examine", &path, is_at(&self.samples, &path))? {
            let gone = io::Error::new(io::ErrorKind::NotFound, "the results folder was removed");
            return at("append to", &path, Err(gone));
        }
        let mut line = serde_json::to_vec(sample)
            .map_err(|error| StoreError::Malformed { path: path.clone(), error })?;
        line.push(b'\n');
        let length = at("examine", &path, self.samples.metadata())?.len();
        let written = self.samples.write_all(&line);
        if written.is_err() {
            // On a full disk, a part of the line may be written. It is removed, as the next sample would
            // continue that line. If even this fails, the next start sets it aside.
            let _ = self.samples.set_len(length);
        }
        at("append to", &path, written)?;
        at("sync", &path, self.samples.sync_data())
    }
}

/// Whether `file` is the one at `path`: neither removed nor replaced.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let (own, there) = (file.metadata()?, if_there(fs::metadata(path))?);
    Ok(there.is_some_and(|there| (there.dev(), there.ino()) == (own.dev(), own.ino())))
}

/// Writes a document atomically and durably.
pub fn write_json(path: &Path, document: &impl Serialize) -> Result<(), StoreError> {
    write_temporary(path, |out| {
        serde_json::to_writer_pretty(&mut *out, document)?;
        out.write_all(b"\n")
    })?;
    rename_into_place(path)
}

/// Writes a file atomically: an interruption leaves the old file or the new one. A terminal or a pipe is written to
/// directly.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), StoreError> {
    match fs::metadata(path) {
        Ok(meta) if !meta.is_file() => {
            at("write", path, File::create(path).and_then(|file| buffered(&file, write)))
        }
        _ => {
            // A link is kept, and its target replaced.
            let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            write_temporary(&path, write)?;
            rename_into_place(&path)
        }
    }
}

/// Suffix of a file while it is being written. Follows the whole name, as `a.svg` and `a.csv` may be written at
/// the same time.
const NEW: &str = ".new";

/// A path with `more` appended to its name.
fn beside(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    PathBuf::from(name)
}

/// Writes and syncs the new file next to the old one. Removes it after an error, such as a full disk.
fn write_temporary(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<File, StoreError> {
    let new = beside(path, NEW);
    let file = at("create", &new, OpenOptions::new().append(true).create(true).open(&new))?;
    let written = file.set_len(0).and_then(|()| buffered(&file, write)).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    at("write", &new, written)?;
    Ok(file)
}

fn buffered(file: &File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    out.flush()
}

/// Renames the file of `write_temporary` to `path`, and syncs the folder.
fn rename_into_place(path: &Path) -> Result<(), StoreError> {
    let new = beside(path, NEW);
    at("rename", &new, fs::rename(&new, path))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    at("sync", folder, File::open(folder).and_then(|folder| folder.sync_all()))
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
