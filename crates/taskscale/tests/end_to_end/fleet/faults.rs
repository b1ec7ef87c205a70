//! Slow faults of a cluster: nodes, controllers, jobs and the shared folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::cluster::{Cluster, NODES};
use super::{SEVERAL, several};
use crate::support::{is_root, skipped};
use taskscale::record;

/// A lost node: Slurm requeues its job on another node. What still runs on the lost node comes too late to publish.
#[test]
#[ignore = "nightly: a slow fault of a cluster"]
fn jobs_of_a_lost_node_restart_on_another() {
    let Some(cluster) = Cluster::start_hasty(&several()) else { return };
    let fleet = cluster.submit(&format!("{SEVERAL}[machines.x86]\ncount = 1\n"));
    let lost = cluster.under_way(&fleet, 0);
    let last_claim = || fleet.last_claim(&fleet.targets[0]).expect("readable").expect("a claim");
    let orphan = last_claim().pid as i32;
    // SAFETY: a plain system call, on a job that is measuring.
    let signal = |signal| assert_eq!(unsafe { libc::kill(orphan, signal) }, 0);
    signal(libc::SIGSTOP);
    cluster.kill(&format!("slurmd.{lost}"));
    // Slurm itself needs half a minute to notice.
    cluster.slurm(&["scontrol", "update", &format!("nodename={lost}"), "state=down", "reason=test"]);
    cluster.until("another node has its job", || last_claim().node != lost);
    signal(libc::SIGCONT);
    let published = cluster.finish(&fleet);
    assert_ne!(published[0].node, lost);
    assert!(published[0].epoch >= 2, "{published:?}");
    assert_eq!(last_claim().epoch, published[0].epoch);
    // Samples of the lost node are kept, but not published.
    let folder = fleet.target_folder(&fleet.targets[0]).join(&lost);
    assert!(record::load(&folder).expect("a campaign").samples.len() >= 2);
}

#[test]
#[ignore = "nightly: a slow fault of a cluster"]
fn a_killed_controller_loses_nothing() {
    let Some(cluster) = Cluster::start(&several()) else { return };
    let fleet = cluster.submit(&format!("{SEVERAL}[machines.x86]\ncount = 2\n"));
    cluster.under_way(&fleet, 0);
    cluster.under_way(&fleet, 1);
    cluster.saved(&fleet);
    cluster.kill("slurmctld");
    let path = cluster.world.path("shared").display().to_string();
    // Slurm's commands wait this long for a controller that is away: ten seconds by default.
    let (conf, hasty) = (cluster.world.path("cluster/slurm.conf"), cluster.world.path("hasty.conf"));
    let text = fs::read_to_string(conf).expect("a configuration");
    fs::write(&hasty, text + "MessageTimeout=2\n").expect("a configuration");
    let mut status = cluster.world.command(&["fleet", "status", &path]);
    status.env("SLURM_CONF", &hasty);
    cluster.world.run(status).expect_code(1).expect_said("scontrol ping");
    cluster.daemon(&["controller"]);
    let published = cluster.finish(&fleet);
    assert!(published.iter().all(|published| published.epoch == 1), "a job was started again: {published:?}");
    assert!(cluster.world.path("shared/gathered.md").exists());
}

/// Slurm saves the state of its jobs up to 5 s late. A controller killed in that time starts running jobs a second time,
/// drains their nodes ("Duplicate jobid") and holds the jobs.
#[test]
#[ignore = "nightly: a slow fault of a cluster"]
fn a_controller_with_lost_state_loses_no_result() {
    let Some(cluster) = Cluster::start_hasty(&several()) else { return };
    cluster.drain_nodes();
    let fleet = cluster.submit(&format!("{SEVERAL}[machines.x86]\ncount = 2\n"));
    cluster.saved(&fleet);
    let state = cluster.world.path("cluster/state/job_state");
    let before = fs::read(&state).expect("the state before the jobs start");
    cluster.return_nodes();
    cluster.under_way(&fleet, 0);
    cluster.under_way(&fleet, 1);
    cluster.kill("slurmctld");
    fs::write(&state, before).expect("the state before the jobs start");
    cluster.daemon(&["controller"]);
    let path = cluster.world.path("shared").display().to_string();
    cluster.until("all is measured and no job is left", || {
        // The remedy of docs/guides/fleet.md: the first line is the administrator's, the second the user's.
        cluster.return_nodes();
        cluster.fleet(&["resume", &path]).expect_code(0);
        std::thread::sleep(Duration::from_millis(500));
        (0..2).all(|nth| cluster.published(&fleet, nth).is_some()) && cluster.queue_is_empty()
    });
    cluster.finish(&fleet);
}

/// A node whose disk is full, for example: Slurm holds the job that it failed to start there.
#[test]
#[ignore = "nightly: a slow fault of a cluster"]
fn a_job_held_after_a_failed_launch_is_released_by_resume() {
    let Some(cluster) = Cluster::start_hasty(&several()) else { return };
    cluster.drain_nodes();
    let fleet = cluster.submit(&format!("{SEVERAL}[machines.x86]\ncount = 2\n"));
    let spools = NODES.map(|node| cluster.world.path(&format!("cluster/spool.{node}")));
    let away = |spool: &Path| PathBuf::from(format!("{}.away", spool.display()));
    for spool in &spools {
        fs::rename(spool, away(spool)).expect("away");
        fs::write(spool, "no folder").expect("a file in its place");
    }
    cluster.return_nodes();
    let path = cluster.world.path("shared").display().to_string();
    cluster.until("the job is held", || {
        let status = cluster.fleet(&["status", &path]);
        status.code() == 1 && status.stdout.contains("launch failed requeued held")
    });
    for spool in &spools {
        fs::remove_file(spool).expect("the file");
        fs::rename(away(spool), spool).expect("back");
    }
    cluster.return_nodes();
    cluster.fleet(&["resume", &path]).expect_code(0).expect_said("released after a failed start");
    cluster.finish(&fleet);
    assert!(cluster.world.path("shared/gathered.md").exists());
}

#[test]
#[ignore = "nightly: a slow fault of a cluster"]
fn cancelled_jobs_resume() {
    let Some(cluster) = Cluster::start(&several()) else { return };
    let fleet = cluster.submit(&format!("{SEVERAL}[machines.x86]\ncount = 1\n"));
    let node = cluster.under_way(&fleet, 0);
    let path = cluster.world.path("shared").display().to_string();
    cluster.fleet(&["cancel", &path]).expect_code(0);
    cluster.until("no job is left", || cluster.queue_is_empty());
    let folder = fleet.target_folder(&fleet.targets[0]).join(&node);
    let before = record::load(&folder).expect("a campaign").samples;
    assert!(cluster.published(&fleet, 0).is_none() && before.len() >= 2);
    let status = cluster.fleet(&["status", &path]);
    status.expect_code(1);
    assert!(status.stdout.contains("cancelled") && status.stdout.contains("resume"), "{}", status.stdout);
    cluster.fleet(&["cancel", &path]).expect_code(0).expect_said("nothing to cancel");

    // An edited plan is another fleet.
    let plan = cluster.world.path("plan.toml");
    let text = fs::read_to_string(&plan).expect("a plan");
    fs::write(&plan, text.replace("repetitions = 2", "repetitions = 3")).expect("a plan");
    let plan = plan.display().to_string();
    let refused = cluster.fleet(&[&plan]);
    refused.expect_code(2).expect_said("`repetitions = 2`, not `repetitions = 3`");

    // The campaign resumes only on the node that has it.
    let other = if node == "node1" { "node2" } else { "node1" };
    cluster.slurm(&["scontrol", "update", &format!("nodename={other}"), "state=drain", "reason=test"]);
    cluster.fleet(&["resume", &path]).expect_code(0);
    let published = cluster.finish(&fleet);
    assert_eq!(published[0].node, node);
    let after = record::load(&folder).expect("a campaign").samples;
    assert_eq!(after[..before.len()], before[..], "what was measured stays");
}

#[test]
#[ignore = "nightly: a slow fault of a cluster"]
fn drained_cluster_is_awaited_and_duplicate_jobs_are_harmless() {
    let Some(cluster) = Cluster::start(&several()) else { return };
    cluster.drain_nodes();
    let plan = cluster.plan(&format!("{SEVERAL}[machines.x86]\ncount = 1\n")).display().to_string();
    // No free node can be asked.
    cluster.fleet(&[&plan]).expect_code(0).expect_said("no free node");
    let fleet = cluster.opened();
    let path = cluster.world.path("shared").display().to_string();
    let status = cluster.fleet(&["status", &path]);
    status.expect_code(0);
    assert!(status.stdout.contains("pending"), "{}", status.stdout);
    // The script is also run by hand, as another scheduler might.
    let by_hand = || {
        let mut command = Command::new("bash");
        command.arg(cluster.world.path("shared/jobs/x86.sh")).arg("1").envs(&cluster.world.env);
        command.env("TASKSCALE_LOCK", cluster.world.path("lock")).env("SLURMD_NODENAME", "node1");
        command
    };
    let hand = cluster.world.start({
        let mut command = by_hand();
        command.stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        command
    });
    cluster.under_way(&fleet, 0);
    cluster.return_nodes();
    let published = cluster.finish(&fleet);
    let hand = hand.wait();
    // The later one took over. The other published nothing, and printed so.
    if published[0].job.starts_with("by hand") {
        hand.expect_code(0);
    } else {
        hand.expect_said("has taken over");
    }
    // Once more, when everything is complete.
    let third = cluster.world.run_plain(by_hand());
    third.expect_code(0).expect_said("was already complete");
}

/// Slurm warns a job before its time limit, and the job stores its last sample.
#[test]
#[ignore = "nightly: a slow fault of a cluster"]
fn a_time_limit_loses_no_result() {
    let Some(cluster) = Cluster::start(&several()) else { return };
    // The warning comes a minute before, and Slurm checks every half minute: after 1 to 1.5 minutes.
    let more = "tasks = \"1,2\"\nrepetitions = 300\n[machines.x86]\ncount = 1\ntime = \"2\"\n";
    let fleet = cluster.submit(more);
    cluster.under_way(&fleet, 0);
    cluster.until("its time is over", || {
        cluster.slurm(&["squeue", "--noheader", "--name=taskscale-x86"]).trim().is_empty()
    });
    assert!(cluster.published(&fleet, 0).is_none());
    let claim = fleet.last_claim(&fleet.targets[0]).expect("readable").expect("a claim");
    let loaded = record::load(&fleet.target_folder(&fleet.targets[0]).join(claim.node)).expect("a campaign");
    assert!(loaded.samples.len() >= 2 && loaded.rejected.is_empty());
    let log = fs::read_to_string(cluster.world.path("shared/log/x86.1.log")).expect("a log");
    assert!(log.contains("stopped: results are kept"), "{log}");
    let path = cluster.world.path("shared").display().to_string();
    let status = cluster.fleet(&["status", &path]);
    assert!(status.code() == 1 && status.stdout.contains("resume"), "{}", status.stdout);
}

/// Full, then read-only, each for a while.
#[test]
#[ignore = "nightly: a slow fault of a cluster"]
fn temporary_errors_of_the_shared_folder_lose_nothing() {
    let Some(cluster) = Cluster::start(&several()) else { return };
    let shared = cluster.world.path("shared");
    let mounted = is_root();
    fs::create_dir(&shared).expect("a folder");
    let mount = |words: &[&str]| {
        let status = Command::new("mount").args(words).arg(&shared).status().expect("mount");
        assert!(status.success(), "{words:?}");
    };
    if mounted {
        mount(&["-t", "tmpfs", "-o", "size=256m,mode=755", "tmpfs"]);
    } else {
        skipped("only root can mount a folder that is full or read-only");
    }
    // The log is elsewhere, as it would be open in the folder all the time, and must be readable.
    let log = cluster.world.path("job.log");
    let sbatch = format!("sbatch = [\"--output={}\"]\n", log.display());
    let plan = format!("tasks = \"1,2\"\nrepetitions = 4\n[machines.x86]\ncount = 1\n{sbatch}");
    let fleet = cluster.submit(&plan);
    cluster.under_way(&fleet, 0);
    let broken = |times: usize| {
        cluster.until("the campaign has broken off", || {
            fs::read_to_string(&log).is_ok_and(|text| text.matches("error: ").count() >= times)
        });
    };
    if mounted {
        // Full: a file takes all remaining space.
        let file = shared.join("filler");
        let filled = Command::new("dd")
            .args(["if=/dev/zero", "bs=64k", &format!("of={}", file.display())])
            .output()
            .expect("dd");
        assert!(!filled.status.success(), "the folder is not full: {filled:?}");
        broken(1);
        fs::remove_file(&file).expect("the filler");
        mount(&["-o", "remount,ro"]);
        broken(2);
        mount(&["-o", "remount,rw"]);
    }
    let published = cluster.finish(&fleet);
    assert_eq!(published[0].good_cells, published[0].cells);
    let umount = mounted.then(|| Command::new("umount").arg("-l").arg(&shared).status());
    assert!(umount.is_none_or(|status| status.is_ok_and(|status| status.success())));
}

#[test]
#[ignore = "nightly: a slow fault of a cluster"]
fn a_temporarily_missing_folder_is_awaited() {
    let Some(cluster) = Cluster::start(&several()) else { return };
    let fleet = cluster.submit("tasks = \"1,2\"\nrepetitions = 4\n[machines.x86]\ncount = 1\n");
    cluster.under_way(&fleet, 0);
    let (shared, away) = (cluster.world.path("shared"), cluster.world.path("away"));
    fs::rename(&shared, &away).expect("away");
    std::thread::sleep(Duration::from_secs(5));
    fs::rename(&away, &shared).expect("back");
    cluster.finish(&fleet);
}
