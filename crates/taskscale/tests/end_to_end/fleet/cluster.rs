//! A cluster of two nodes, started here (tests/fleet/cluster), and helpers for its tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{FakeEntry, Finished, World, skipped};
use taskscale::fleet::{Fleet, PublishedTarget};
use taskscale::record::{self, Sample};

pub const NODES: [&str; 2] = ["node1", "node2"];

/// A cluster, stopped when dropped.
pub struct Cluster {
    pub world: World,
}

impl Cluster {
    /// Starts a cluster. `None`, reported as skipped, without Slurm.
    pub fn start(entries: &[FakeEntry]) -> Option<Cluster> {
        Cluster::start_with(entries, &[])
    }

    /// Starts a cluster that takes nodes for lost after 5 s, even if the machine is only busy, and then restarts their jobs.
    pub fn start_hasty(entries: &[FakeEntry]) -> Option<Cluster> {
        Cluster::start_with(entries, &["hasty"])
    }

    fn start_with(entries: &[FakeEntry], words: &[&str]) -> Option<Cluster> {
        if !["/usr/sbin/slurmctld", "/usr/sbin/munged"].iter().all(|path| Path::new(path).exists()) {
            skipped("Slurm is not installed: apt install slurm-wlm munge");
            return None;
        }
        let mut world = World::new(entries);
        // Accessible for all, but writable for the owner only, which munged checks.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(world.path(""), open).expect("permissions");
        let conf = world.path("cluster/slurm.conf").display().to_string();
        world.env.insert("SLURM_CONF".to_owned(), conf);
        let cluster = Cluster { world };
        cluster.daemon(&[&["start"], words].concat());
        Some(cluster)
    }

    /// `tests/fleet/cluster WHAT DIR …`
    pub fn daemon(&self, words: &[&str]) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fleet/cluster");
        let mut command = Command::new(script);
        command.arg(words[0]).arg(self.world.path("cluster")).args(&words[1..]);
        let output = command.output().expect("the script of the cluster");
        assert!(output.status.success(), "{words:?}: {output:?}");
    }

    /// Kills a daemon by its pid file.
    pub fn kill(&self, daemon: &str) {
        let path = self.world.path(&format!("cluster/{daemon}.pid"));
        let pid = fs::read_to_string(path).expect("a number").trim().parse().expect("a number");
        let comm = fs::read_to_string(format!("/proc/{pid}/comm")).expect("a living daemon");
        assert!(daemon.starts_with(comm.trim()), "{daemon} is {comm}");
        // SAFETY: a plain system call, on the process that was just compared.
        assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
    }

    /// The output of a command of Slurm.
    pub fn slurm(&self, words: &[&str]) -> String {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).envs(&self.world.env);
        let output = command.output().expect("a command of Slurm's");
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// taskscale's jobs in the queue. Jobs that asked a node may still be ending, and are left out.
    pub fn submitted(&self) -> String {
        let names = self.slurm(&["squeue", "--noheader", "--format=%j"]);
        names.lines().filter(|name| name.starts_with("taskscale")).collect()
    }

    pub fn queue_is_empty(&self) -> bool {
        self.slurm(&["squeue", "--noheader"]).trim().is_empty()
    }

    pub fn drain_nodes(&self) {
        for node in NODES {
            let node = format!("nodename={node}");
            self.slurm(&["scontrol", "update", &node, "state=drain", "reason=test"]);
        }
    }

    /// Returns to service the nodes that were drained, by a test or by Slurm.
    pub fn return_nodes(&self) {
        for node in NODES {
            let mut command = Command::new("scontrol");
            command.args(["update", &format!("nodename={node}"), "state=resume"]).envs(&self.world.env);
            let output = command.output().expect("a command of Slurm's");
            // Slurm's error if the node is in service already.
            let is_in_service = String::from_utf8_lossy(&output.stderr).contains("Invalid node state");
            assert!(output.status.success() || is_in_service, "{output:?}");
        }
    }

    /// Waits until the controller has saved the state of the fleet's jobs as it is now.
    pub fn saved(&self, fleet: &Fleet) {
        let submissions = fleet.submissions().expect("readable");
        let job = &submissions.last().expect("a submission").job;
        self.slurm(&["scontrol", "update", &format!("jobid={job}"), "comment=is-saved"]);
        let state = self.world.path("cluster/state/job_state");
        let wanted = b"is-saved";
        self.until("the state is saved", || {
            fs::read(&state).is_ok_and(|bytes| bytes.windows(wanted.len()).any(|window| window == wanted))
        });
    }

    pub fn plan(&self, more: &str) -> PathBuf {
        let path = self.world.path("plan.toml");
        let base = "folder = \"shared\"\nentries = [\"@all\"]\narguments = [\"--quick\"]\n";
        // Two nodes on one host are two machines here, so they do not wait for each other.
        let lock = format!(
            "setup = ['export TASKSCALE_LOCK={}.$SLURMD_NODENAME']\n",
            self.world.path("lock").display()
        );
        fs::write(&path, format!("{base}{lock}{more}")).expect("a plan");
        path
    }

    pub fn fleet(&self, words: &[&str]) -> Finished {
        self.world.run(self.world.command(&[&["fleet"], words].concat()))
    }

    pub fn submit(&self, more: &str) -> Fleet {
        let plan = self.plan(more).display().to_string();
        self.fleet(&[&plan]).expect_code(0);
        self.opened()
    }

    pub fn opened(&self) -> Fleet {
        Fleet::open(&self.world.path("shared")).expect("a fleet")
    }

    pub fn published(&self, fleet: &Fleet, nth: usize) -> Option<PublishedTarget> {
        fleet.published(&fleet.targets[nth]).expect("a folder that can be read")
    }

    /// Waits until all targets are published, and checks their results.
    pub fn finish(&self, fleet: &Fleet) -> Vec<PublishedTarget> {
        self.until("all machines are complete", || {
            (0..fleet.targets.len()).all(|nth| self.published(fleet, nth).is_some())
        });
        let all: Vec<PublishedTarget> = fleet
            .targets
            .iter()
            .map(|target| {
                let published = fleet.published(target).expect("readable").expect("published");
                let folder = fleet.verify(target, &published).expect("unchanged");
                let loaded = record::load(&folder).expect("a campaign");
                assert!(loaded.rejected.is_empty(), "{:?}", loaded.rejected);
                let mut runs: Vec<String> = loaded
                    .samples
                    .iter()
                    .map(|sample| {
                        assert_eq!(
                            sample.campaign.as_deref(),
                            loaded.campaign.id.as_deref(),
                            "of another campaign"
                        );
                        let Sample { entry, tasks, repetition, attempt, .. } = sample;
                        format!("{entry} {tasks} {repetition} {attempt}")
                    })
                    .collect();
                runs.sort();
                let all = runs.len();
                runs.dedup();
                assert_eq!(runs.len(), all, "a run was counted twice");
                published
            })
            .collect();
        self.until("no job is left", || self.queue_is_empty());
        self.world.assert_no_processes();
        all
    }

    pub fn until(&self, what: &str, so: impl FnMut() -> bool) {
        self.world.until(what, so);
    }

    /// Waits until a target has some samples, and returns its node.
    pub fn under_way(&self, fleet: &Fleet, nth: usize) -> String {
        let mut node = String::new();
        self.until("it is under way", || {
            let claim = fleet.last_claim(&fleet.targets[nth]).expect("readable");
            node = claim.map(|claim| claim.node).unwrap_or_default();
            let folder = fleet.target_folder(&fleet.targets[nth]).join(&node);
            let text = fs::read_to_string(folder.join("samples.jsonl")).unwrap_or_default();
            text.matches('\n').count() >= 2
        });
        node
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.daemon(&["stop"]);
    }
}
