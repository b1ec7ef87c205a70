//! The folder of a fleet, on a file system that all nodes share.
//!
//! ```text
//! fleet.json                the submitted plan; written once
//! jobs.jsonl                each submission: the job's number, and the targets that it fills
//! bin/<machine>/taskscale   the program, by architecture
//! cache/<machine>/          builds, by architecture
//! catalog/                  programs and workloads, as they were when the fleet was submitted
//! jobs/, log/               batch scripts, and what jobs print
//! slots/<slot>/claims/N     the claims of the target: the last one owns it
//! slots/<slot>/<node>/      the results of that node
//! slots/<slot>/published    the target's published results
//! ```
//!
//! A lost node may still be writing while its job runs elsewhere. So each start of a job claims its target by a new
//! number, and only the last claim may publish. Both use link(2), which fails if the name is taken, on NFS as well:
//! there, the file's link count shows whether a lost answer was a success.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

use super::{FleetError, FleetResult, at};
use crate::catalog::trust::{Others, distrust};
use crate::files::if_there;
use crate::record::{SCHEMA_VERSION, Timestamp};

const FLEET_FILE: &str = "fleet.json";
const JOBS_FILE: &str = "jobs.jsonl";
const PUBLISHED: &str = "published";
/// The published files of a results folder.
const CAMPAIGN_FILES: [&str; 2] = ["campaign.json", "samples.jsonl"];

/// What was submitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fleet {
    pub schema: u32,
    /// Unique: a folder of the same name on another machine has another id.
    pub id: String,
    pub submitted_at: Timestamp,
    /// Version of the taskscale that submitted it.
    pub taskscale: String,
    /// The plan as it was written.
    pub plan: String,
    /// The arguments of `taskscale run` on each machine.
    pub arguments: Vec<String>,
    #[serde(rename = "slots")]
    pub targets: Vec<Target>,
    /// Number of catalogs that jobs use, in order of precedence.
    #[serde(default = "one")]
    pub catalog_count: usize,
    #[serde(skip)]
    pub folder: PathBuf,
}

fn one() -> usize {
    1
}

/// One machine to be measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// `x86-1`, or `x86-node7` where the plan lists nodes.
    pub name: String,
    /// The name of its machines in the plan.
    pub machines: String,
    /// Its node, if the plan names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

/// A submission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Submission {
    pub at: Timestamp,
    /// The job's number.
    pub job: String,
    pub script: String,
    /// Targets by the queue's numbers of jobs and of elements of arrays. Empty for a job that measures nothing.
    #[serde(rename = "slots")]
    pub targets: BTreeMap<String, String>,
}

/// A claim of a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// 1 for the first.
    pub epoch: u32,
    pub at: Timestamp,
    pub job: String,
    /// As Slurm names it.
    pub node: String,
    pub hostname: String,
    pub pid: u32,
}

/// The published results of a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedTarget {
    pub at: Timestamp,
    pub epoch: u32,
    pub job: String,
    pub node: String,
    /// The results folder, inside the target's.
    pub folder: String,
    pub runs: u64,
    /// Cases whose runs were all ok.
    pub good_cells: u64,
    pub cells: u64,
    /// SHA-256 of the published files, by name.
    pub digests: Vec<(String, String)>,
}

impl Fleet {
    pub fn open(folder: &Path) -> FleetResult<Fleet> {
        let path = folder.join(FLEET_FILE);
        let fleet: Fleet = read_json(&path)?.ok_or_else(|| FleetError::NoFleet(folder.to_owned()))?;
        Ok(Fleet { folder: folder.to_owned(), ..fleet })
    }

    /// Creates a fleet, unless its folder has one.
    pub fn create(self) -> FleetResult<Fleet> {
        at("make", &self.folder, fs::create_dir_all(&self.folder))?;
        let path = self.folder.join(FLEET_FILE);
        if link_json(&path, &self)? { Ok(self) } else { Err(FleetError::Busy(self.folder)) }
    }

    pub fn new(folder: &Path, plan: &str, arguments: Vec<String>, targets: Vec<Target>) -> Fleet {
        let submitted_at = Timestamp::now();
        Fleet {
            schema: SCHEMA_VERSION,
            id: format!("{}-{:016x}", submitted_at.compact(), fastrand::u64(..)),
            submitted_at,
            taskscale: env!("CARGO_PKG_VERSION").to_owned(),
            plan: plan.to_owned(),
            arguments,
            targets,
            catalog_count: one(),
            folder: folder.to_owned(),
        }
    }

    /// Locks the fleet until the file is dropped: only one taskscale submits at a time.
    pub fn lock(&self) -> FleetResult<File> {
        let path = self.folder.join(FLEET_FILE);
        // NFS locks only what is open for writing.
        let file = at("open", &path, File::options().read(true).write(true).open(&path))?;
        match file.try_lock() {
            Err(fs::TryLockError::WouldBlock) => Err(FleetError::Busy(self.folder.clone())),
            // A file system without locks: other submitters cannot be noticed.
            Ok(()) | Err(fs::TryLockError::Error(_)) => Ok(file),
        }
    }

    /// Refuses a folder whose scripts, programs or catalogs another user may have written: they run as the submitting
    /// user.
    pub fn check_trust(&self) -> FleetResult<()> {
        check_trust(&self.folder)?;
        let catalogs = self.catalogs().map(|place| place.split('/').next().unwrap_or_default().to_owned());
        let names = [FLEET_FILE, "jobs", "bin", "cache"].map(str::to_owned).into_iter().chain(catalogs);
        for path in names.map(|name| self.folder.join(name)).filter(|path| path.exists()) {
            // Builds may be deep, and are made with the jobs' own umask.
            let depth = if path.ends_with("cache") { 0 } else { usize::MAX };
            for child in WalkDir::new(&path).follow_links(true).max_depth(depth) {
                check_trust(at("read", &path, child.map_err(io::Error::from))?.path())?;
            }
        }
        Ok(())
    }

    pub fn target(&self, name: &str) -> FleetResult<&Target> {
        let known = || self.targets.iter().map(|target| &*target.name).take(8).collect::<Vec<_>>().join(", ");
        let found = self.targets.iter().find(|target| target.name == name);
        found.ok_or_else(|| FleetError::NoTarget { target: name.to_owned(), known: known() })
    }

    pub fn target_folder(&self, target: &Target) -> PathBuf {
        self.folder.join("slots").join(&target.name)
    }

    /// The paths of the catalogs that jobs use, in the fleet's folder, in order of precedence.
    pub fn catalogs(&self) -> impl Iterator<Item = String> {
        (1..=self.catalog_count).map(|nth| match nth {
            1 => "catalog/runtimes".to_owned(),
            nth => format!("catalog-{nth}/runtimes"),
        })
    }

    pub fn submissions(&self) -> FleetResult<Vec<Submission>> {
        let path = self.folder.join(JOBS_FILE);
        let text = at("read", &path, if_there(fs::read_to_string(&path)))?.unwrap_or_default();
        let whole = text.lines().filter(|line| line.ends_with('}'));
        let parsed = whole.map(serde_json::from_str).collect::<FleetResult<_, _>>();
        parsed.map_err(|error| FleetError::Malformed { path, error })
    }

    pub fn add_submission(&self, submission: &Submission) -> FleetResult<()> {
        let path = self.folder.join(JOBS_FILE);
        let malformed = |error| FleetError::Malformed { path: path.clone(), error };
        let mut line = format!("{}\n", serde_json::to_string(submission).map_err(malformed)?);
        let mut write = || {
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(&path)?;
            let mut last = [b'\n'];
            let length = file.metadata()?.len();
            file.read_at(&mut last, length.saturating_sub(1))?;
            if last != *b"\n" {
                // Half a line, left by an interrupted write.
                line.insert(0, '\n');
            }
            file.write_all(line.as_bytes())?;
            file.sync_data()
        };
        at("append to", &path, write())
    }

    /// Claims a target: earlier owners may no longer publish.
    pub fn claim(&self, target: &Target, job: &str, node: &str) -> FleetResult<Claim> {
        let folder = self.target_folder(target).join("claims");
        at("make", &folder, fs::create_dir_all(&folder))?;
        let hostname = rustix::system::uname().nodename().to_string_lossy().into_owned();
        loop {
            let epoch = self.last_claim(target)?.map_or(0, |claim| claim.epoch) + 1;
            let (job, node, pid) = (job.to_owned(), node.to_owned(), std::process::id());
            let claim = Claim { epoch, at: Timestamp::now(), job, node, hostname: hostname.clone(), pid };
            if link_json(&folder.join(epoch.to_string()), &claim)? {
                return Ok(claim);
            }
        }
    }

    /// The last claim, which owns the target.
    pub fn last_claim(&self, target: &Target) -> FleetResult<Option<Claim>> {
        let folder = self.target_folder(target).join("claims");
        let names = at("read", &folder, if_there(fs::read_dir(&folder)))?.into_iter().flatten().flatten();
        let epochs = names.filter_map(|name| name.file_name().to_str()?.parse::<u32>().ok());
        epochs.max().map_or(Ok(None), |epoch| read_json(&folder.join(epoch.to_string())))
    }

    pub fn published(&self, target: &Target) -> FleetResult<Option<PublishedTarget>> {
        read_json(&self.target_folder(target).join(PUBLISHED))
    }

    /// Refuses a claim that is no longer the last of its target.
    pub fn check_claim(&self, target: &Target, own: &Claim) -> FleetResult<()> {
        let newer = self.last_claim(target)?.filter(|last| last.epoch > own.epoch);
        newer.map_or(Ok(()), |Claim { job: newer, .. }| {
            Err(FleetError::Superseded { target: target.name.clone(), own: own.job.clone(), newer })
        })
    }

    /// Publishes results for the target. `false` if some are published.
    pub fn publish(&self, target: &Target, own: &Claim, published: &PublishedTarget) -> FleetResult<bool> {
        self.check_claim(target, own)?;
        link_json(&self.target_folder(target).join(PUBLISHED), published)
    }

    /// Checks that results are unchanged since publication.
    pub fn verify(&self, target: &Target, published: &PublishedTarget) -> FleetResult<PathBuf> {
        let folder = self.target_folder(target).join(&published.folder);
        for (name, digest) in &published.digests {
            if digest_of(&folder.join(name))? != *digest {
                return Err(FleetError::Changed { folder, what: format!("the digest of {name} differs") });
            }
        }
        Ok(folder)
    }
}

/// The path of the program for machines of an architecture, in a fleet's folder.
pub(super) fn program_in(folder: &Path, machine: &str) -> PathBuf {
    folder.join("bin").join(machine).join("taskscale")
}

/// Refuses a file or folder that others may have written, or may write to.
pub(super) fn check_trust(path: &Path) -> FleetResult<()> {
    let why = at("examine", path, distrust(path, Others::All))?;
    why.map_or(Ok(()), |why| Err(FleetError::Untrusted { path: path.to_owned(), why }))
}

/// SHA-256 of the published files of results.
pub fn digests(folder: &Path) -> FleetResult<Vec<(String, String)>> {
    CAMPAIGN_FILES.iter().map(|name| Ok(((*name).to_owned(), digest_of(&folder.join(name))?))).collect()
}

fn digest_of(path: &Path) -> FleetResult<String> {
    let bytes = at("read", path, fs::read(path))?;
    Ok(Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}

fn read_json<T: DeserializeOwned>(path: &Path) -> FleetResult<Option<T>> {
    let text = at("read", path, if_there(fs::read(path)))?;
    let parsed = text.map(|text| serde_json::from_slice(&text)).transpose();
    parsed.map_err(|error| FleetError::Malformed { path: path.to_owned(), error })
}

/// Creates a file atomically and durably. `false` if the name is taken.
fn link_json(path: &Path, value: &impl Serialize) -> FleetResult<bool> {
    let malformed = |error| FleetError::Malformed { path: path.to_owned(), error };
    let mut text = serde_json::to_vec_pretty(value).map_err(malformed)?;
    text.push(b'\n');
    let own = format!("new-{}-{:016x}", std::process::id(), fastrand::u64(..));
    let new = path.with_file_name(own);
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&new)?;
        file.write_all(&text)?;
        file.sync_all()
    };
    let linked = write().and_then(|()| match fs::hard_link(&new, path) {
        Ok(()) => Ok(true),
        Err(_) if fs::metadata(&new).is_ok_and(|facts| facts.nlink() == 2) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    });
    // The linked name stays.
    let _ = fs::remove_file(&new);
    at("write", path, linked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet(folder: &Path) -> Fleet {
        let target = |nth: u32| Target { name: format!("x86-{nth}"), machines: "x86".to_owned(), node: None };
        Fleet::new(&folder.join("fleet"), "plan", Vec::new(), vec![target(1), target(2)])
    }

    fn published(claim: &Claim, folder: &Path) -> PublishedTarget {
        PublishedTarget {
            at: Timestamp::now(),
            epoch: claim.epoch,
            job: claim.job.clone(),
            node: claim.node.clone(),
            folder: claim.node.clone(),
            runs: 1,
            good_cells: 1,
            cells: 1,
            digests: digests(folder).unwrap(),
        }
    }

    #[test]
    fn fleet_folder_is_created_and_locked_only_once() {
        let folder = tempfile::tempdir().unwrap();
        let first = fleet(folder.path()).create().unwrap();
        assert_eq!(Fleet::open(&first.folder).unwrap(), first);
        assert!(matches!(fleet(folder.path()).create(), Err(FleetError::Busy(_))));
        assert!(matches!(Fleet::open(folder.path()), Err(FleetError::NoFleet(_))));
        let held = first.lock().unwrap();
        assert!(matches!(first.lock(), Err(FleetError::Busy(_))));
        drop(held);
        assert!(first.lock().is_ok());
        let known = first.target("x86-3").unwrap_err().to_string();
        assert_eq!(known, "no machine `x86-3` in this plan (known: x86-1, x86-2)");
    }

    #[test]
    fn the_last_claim_owns_the_slot_and_publishes_once() {
        let folder = tempfile::tempdir().unwrap();
        let fleet = fleet(folder.path()).create().unwrap();
        let target = &fleet.targets[0];
        assert_eq!(fleet.last_claim(target).unwrap(), None);
        let orphan = fleet.claim(target, "7", "node1").unwrap();
        let owner = fleet.claim(target, "7", "node2").unwrap();
        assert_eq!((orphan.epoch, owner.epoch), (1, 2));
        assert_eq!(fleet.last_claim(target).unwrap(), Some(owner.clone()));
        for node in ["node1", "node2"] {
            let campaign = fleet.target_folder(target).join(node);
            fs::create_dir_all(&campaign).unwrap();
            CAMPAIGN_FILES.iter().for_each(|name| fs::write(campaign.join(name), node).unwrap());
        }
        let of = |claim: &Claim| published(claim, &fleet.target_folder(target).join(&claim.node));
        let refused = fleet.publish(target, &orphan, &of(&orphan));
        assert!(matches!(refused, Err(FleetError::Superseded { .. })), "{refused:?}");
        assert_eq!(fleet.published(target).unwrap(), None);
        assert!(fleet.publish(target, &owner, &of(&owner)).unwrap());
        // A job that is started again cannot publish a second time.
        let third = fleet.claim(target, "8", "node1").unwrap();
        assert!(!fleet.publish(target, &third, &of(&third)).unwrap());
        let kept = fleet.published(target).unwrap().unwrap();
        assert_eq!(kept.node, "node2");
        let campaign = fleet.verify(target, &kept).unwrap();
        fs::write(campaign.join("samples.jsonl"), "better").unwrap();
        assert!(matches!(fleet.verify(target, &kept), Err(FleetError::Changed { .. })));
        let names = fs::read_dir(fleet.target_folder(target)).unwrap().count();
        assert_eq!(names, 4, "claims, two campaigns, and what is published");
    }

    #[test]
    fn group_writable_fleet_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let fleet = fleet(folder.path()).create().unwrap();
        fs::create_dir_all(fleet.folder.join("jobs")).unwrap();
        let script = fleet.folder.join("jobs/x86.sh");
        fs::write(&script, "").unwrap();
        let set = |path: &Path, bits| {
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(bits)).unwrap();
        };
        let paths = [fleet.folder.join("jobs"), script, fleet.folder.join(FLEET_FILE), fleet.folder.clone()];
        for path in &paths {
            set(path, if path.is_dir() { 0o755 } else { 0o644 });
        }
        fleet.check_trust().unwrap();
        for path in &paths {
            set(path, 0o775);
            let refused = fleet.check_trust();
            assert!(
                matches!(&refused, Err(FleetError::Untrusted { path: at, .. }) if at == path),
                "{refused:?}"
            );
            set(path, 0o755);
        }
    }

    #[test]
    fn concurrent_claims_get_distinct_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let fleet = fleet(folder.path()).create().unwrap();
        let claim = |nth: u32| fleet.claim(&fleet.targets[0], &nth.to_string(), "node").unwrap().epoch;
        let mut epochs: Vec<u32> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|nth| scope.spawn(move || claim(nth))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        epochs.sort_unstable();
        assert_eq!(epochs, (1..=8).collect::<Vec<_>>());
    }

    #[test]
    fn submissions_are_appended_and_partial_lines_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let fleet = fleet(folder.path()).create().unwrap();
        assert!(fleet.submissions().unwrap().is_empty());
        let submission = |job: &str| Submission {
            at: Timestamp::now(),
            job: job.to_owned(),
            script: "x86.sh".to_owned(),
            targets: BTreeMap::from([(format!("{job}_1"), "x86-1".to_owned())]),
        };
        fleet.add_submission(&submission("1")).unwrap();
        fleet.add_submission(&submission("2")).unwrap();
        let path = fleet.folder.join(JOBS_FILE);
        let mut text = fs::read(&path).unwrap();
        text.extend(b"{\"at\":");
        fs::write(&path, text).unwrap();
        let jobs = || fleet.submissions().unwrap().into_iter().map(|one| one.job).collect::<Vec<_>>();
        assert_eq!(jobs(), ["1", "2"]);
        fleet.add_submission(&submission("3")).unwrap();
        assert_eq!(jobs(), ["1", "2", "3"]);
    }
}
