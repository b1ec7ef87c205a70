//! A fleet on a cluster of two nodes, started here: nothing is lost or counted twice, whatever happens to jobs, nodes and
//! the shared folder.

mod cluster;
mod faults;

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{FakeEntry, is_root, list, skipped};
use cluster::Cluster;
use taskscale::fleet::{Fleet, FleetError};
use taskscale::record;

/// About ten seconds of measuring, so that faults happen in the middle of it.
fn several() -> [FakeEntry; 2] {
    [FakeEntry::new("one", ""), FakeEntry::new("two", "")]
}
const SEVERAL: &str = "tasks = \"1,2\"\nrepetitions = 2\n";

#[test]
fn machines_are_measured_in_parallel_and_compared() {
    let Some(cluster) = Cluster::start(&several()) else { return };
    // A node with another version than the rest.
    let manifest = cluster.world.manifest();
    let text = fs::read_to_string(&manifest).expect("a manifest");
    let version = text.lines().find(|line| line.starts_with("version")).expect("a version").to_owned();
    let other = "version = [\"sh\", \"-c\", \"echo fake ${FAKE_ENV_VERSION:-1.0}\"]";
    fs::write(&manifest, text.replace(&version, other)).expect("a manifest");
    let path = cluster.plan("tasks = \"1\"\nrepetitions = 1\n[machines.x86]\nnodelist = \"node[1-2]\"\n");
    let text = fs::read_to_string(&path)
        .expect("a plan")
        .replace("setup = [", "setup = ['[ $SLURMD_NODENAME = node1 ] || export FAKE_ENV_VERSION=2.0', ");
    fs::write(&path, text).expect("a plan");
    let path = path.display().to_string();

    let dry = cluster.fleet(&[&path, "--dry-run"]);
    dry.expect_code(0).expect_said("nothing was");
    assert!(!cluster.world.path("shared").exists(), "a dry run writes nothing");
    for wanted in ["#SBATCH --nodelist=node1", "#SBATCH --nodelist=node2", "#SBATCH --exclusive"] {
        assert!(dry.stdout.contains(wanted), "{wanted}:\n{}", dry.stdout);
    }
    let submitted = cluster.fleet(&[&path]);
    submitted.expect_code(0);
    let fleet = cluster.opened();
    let names: Vec<&str> = fleet.targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names, ["x86-node1", "x86-node2"]);
    let published = cluster.finish(&fleet);
    assert_eq!((published[0].node.as_str(), published[1].node.as_str()), ("node1", "node2"));

    let status = cluster.fleet(&["status", &path, "--json"]);
    let machines: serde_json::Value = serde_json::from_str(&status.stdout).expect("JSON");
    assert_eq!(
        (&machines["machines"][0]["state"], &machines["machines"][1]["node"]),
        (&"complete".into(), &"node2".into())
    );
    let status = cluster.fleet(&["status", &path]);
    assert!(status.stdout.contains("2 of 2 machines complete"), "{}", status.stdout);
    // The last job gathers by itself.
    let summary = fs::read_to_string(cluster.world.path("shared/gathered.md")).expect("gathered");
    assert!(summary.contains("Results of 2 machines"), "{summary}");
    for wanted in ["Scripted version", "fake 1.0", "fake 2.0", "fake/one", "2 of 2"] {
        assert!(summary.contains(wanted), "{wanted}:\n{summary}");
    }
    let differs = summary.find("differences").expect("differences");
    assert!(differs < summary.find("fake/one").expect("an entry"), "differences come first");
    assert!(cluster.world.path("shared/report.html").exists());

    // Another fleet with the same program needs no copy.
    let other = cluster.world.path("other.toml");
    let text = fs::read_to_string(&path).expect("a plan").replace("\"shared\"", "\"other\"");
    fs::write(&other, text).expect("a plan");
    let other = other.display().to_string();
    cluster.fleet(&[&other]).expect_code(0);
    cluster.fleet(&["cancel", &other]).expect_code(0);
    let program = list(&cluster.world.path("other/bin")).remove(0).join("taskscale");
    let facts = fs::metadata(program).expect("a program");
    assert_eq!(std::os::unix::fs::MetadataExt::nlink(&facts), 2);
    // Scripts that another user could have changed are not submitted.
    let script = list(&cluster.world.path("other/jobs")).remove(0);
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o666)).expect("permissions");
    for words in [&["resume", other.as_str()][..], &[&other], &[&other, "--dry-run"]] {
        cluster.fleet(words).expect_code(2).expect_said("every user can write to it");
    }

    // Nothing is left to do, and nothing is done twice.
    let again = cluster.fleet(&["resume", &path]);
    again.expect_code(0).expect_said("nothing to submit");
    // Results that changed after publication are not gathered.
    let campaign = fleet.verify(&fleet.targets[0], &published[0]).expect("unchanged");
    let samples = fs::read_to_string(campaign.join("samples.jsonl")).expect("samples");
    fs::write(campaign.join("samples.jsonl"), samples.replace("\"ok\"", "\"ok\" ")).expect("edited");
    cluster.fleet(&["gather", &path]).expect_code(1).expect_said("changed after publication");
}

#[test]
fn invalid_fleets_are_refused_before_submission() {
    let Some(cluster) = Cluster::start(&several()) else { return };
    let refused_text = |text: &str, said: &[&str]| {
        let plan = cluster.world.path("other.toml");
        fs::write(&plan, text).expect("a plan");
        let finished = cluster.fleet(&[&plan.display().to_string()]);
        finished.expect_code(2);
        said.iter().for_each(|words| {
            finished.expect_said(words);
        });
    };
    // A dry run refuses the same.
    let refused = |more: &str, said: &[&str]| {
        let plan = cluster.plan(more).display().to_string();
        for words in [&[plan.as_str()][..], &[&plan, "--dry-run"]] {
            let finished = cluster.fleet(words);
            finished.expect_code(2);
            for words in said {
                finished.expect_said(words);
            }
        }
        assert!(!cluster.world.path("shared").exists(), "{more}: something was written");
        assert!(cluster.submitted().is_empty(), "{more}: something was submitted");
    };
    refused("[machines.x]\npartition = \"tank\"\n", &["tank", "sinfo --summarize"]);
    refused("[machines.x]\nconstraint = \"gpu\"\n", &["feature", "sinfo --format"]);
    refused("[machines.x]\nnodelist = \"node9\"\n", &["node9"]);
    refused("[machines.x]\ntime = \"99:00:00\"\n", &["time limit"]);
    refused("[machines.x]\npartitoin = \"bench\"\n", &["line 6", "partitoin"]);
    refused("", &["machines"]);
    refused_text("folder = \"a b\"\n[machines.x]\n", &["invalid folder"]);
    refused_text("folder = \"x\"\narguments = [\"-o\", \"y\"]\n[machines.x]\n", &["taskscale fleet sets it"]);
    refused("[machines.x]\npartition = \"a b\"\n", &["invalid Slurm option"]);
    refused("[machines.x]\ncount = 0\n", &["1 to "]);
    refused("[machines.x]\ncount = 2\nnodelist = \"node1\"\n", &["count with nodelist"]);
    refused("tasks = \"many\"\n[machines.x]\n", &["plan.toml", "many"]);
    refused("workloads = [\"slep\"]\n[machines.x]\n", &["plan.toml", "slep", "sleep"]);
    refused("[machines.x]\ntaskscale = \"plan.toml\"\n", &["not a program for Linux"]);
    // With a PATH without Slurm's commands.
    let plan = cluster.plan("[machines.x]\n").display().to_string();
    let mut command = cluster.world.command(&["fleet", &plan]);
    let nothing = cluster.world.path("nothing");
    fs::create_dir(&nothing).expect("a folder");
    command.env("PATH", &nothing);
    cluster.world.run(command).expect_code(2).expect_said("apt install slurm-client");
    let mut command = cluster.world.command(&["fleet", &plan, "--dry-run"]);
    command.env("PATH", &nothing);
    assert!(cluster.world.run(command).expect_code(0).stdout.contains("#SBATCH --exclusive"));
    let nowhere = cluster.world.path("nowhere").display().to_string();
    cluster.fleet(&["status", &nowhere]).expect_code(2).expect_said("fleet.json");
    assert!(list(&cluster.world.path("shared")).is_empty());
}

/// A node that does not see the folder: its daemon runs where something else is mounted in its place.
#[test]
fn folders_invisible_to_a_node_are_refused() {
    let Some(cluster) = Cluster::start(&several()) else { return };
    if !is_root() {
        skipped("only root can hide a folder from a node");
        return;
    }
    let hidden = cluster.world.path("shared");
    fs::create_dir(&hidden).expect("a folder");
    cluster.kill("slurmd.node2");
    let script = format!(
        "mount -t tmpfs tmpfs {} && exec slurmd -f {} -N node2",
        hidden.display(),
        cluster.world.path("cluster/slurm.conf").display()
    );
    let status = Command::new("unshare")
        .args(["--mount", "bash", "-c", &script])
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .envs(&cluster.world.env)
        .status();
    assert!(status.is_ok_and(|status| status.success()), "slurmd in a place of its own");
    cluster.until("the node is back", || {
        cluster.slurm(&["sinfo", "--noheader", "--nodes=node2", "--format=%T"]).trim() == "idle"
    });
    let plan = cluster.plan("[machines.a]\nnodelist = \"node1\"\n[machines.b]\nnodelist = \"node2\"\n");
    let plan = plan.display().to_string();
    let refused = cluster.fleet(&[&plan]);
    refused.expect_code(2).expect_said("missing on node2");
    assert_eq!(cluster.submitted(), "");
    assert!(matches!(Fleet::open(&hidden), Err(FleetError::NoFleet(_))));
}

/// A clock that is an hour wrong: munge rejects messages of this machine.
#[test]
fn wrong_clocks_are_reported() {
    let Some(cluster) = Cluster::start(&several()) else { return };
    let folders = list(Path::new("/usr/lib/x86_64-linux-gnu/faketime"));
    let Some(library) = folders.iter().find(|path| path.ends_with("libfaketime.so.1")) else {
        skipped("libfaketime is not installed: apt install faketime");
        return;
    };
    // A second munged with the same key, whose clock is an hour behind.
    let cluster_dir = cluster.world.path("cluster");
    let late = cluster.world.path("late");
    fs::create_dir(&late).expect("a folder");
    let path = |name: &str| late.join(name).display().to_string();
    let key = cluster_dir.join("munge.key").display().to_string();
    let mut munged = Command::new("/usr/sbin/munged")
        .args(["--foreground", "--force"])
        .arg(format!("--key-file={key}"))
        .arg(format!("--socket={}", path("munge.sock")))
        .arg(format!("--pid-file={}", path("munged.pid")))
        .arg(format!("--log-file={}", path("munged.log")))
        .arg(format!("--seed-file={}", path("munged.seed")))
        .env("LD_PRELOAD", library)
        .env("FAKETIME", "-1h")
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("munged");
    cluster.until("it listens", || late.join("munge.sock").exists());
    let conf = fs::read_to_string(cluster_dir.join("slurm.conf")).expect("a configuration");
    let own = cluster_dir.join("munge.sock").display().to_string();
    fs::write(late.join("slurm.conf"), conf.replace(&own, &path("munge.sock"))).expect("a configuration");
    let plan = cluster.plan("[machines.x]\n").display().to_string();
    let mut command = cluster.world.command(&["fleet", &plan]);
    command.env("SLURM_CONF", late.join("slurm.conf"));
    let refused = cluster.world.run(command);
    munged.kill().and_then(|()| munged.wait()).expect("munged ends");
    refused.expect_code(2).expect_said("munge keys");
    assert!(!cluster.world.path("shared").exists());
}

/// The server on one node, its clients on the other: Slurm starts them, and they reach the server at its node's address.
#[test]
#[ignore = "nightly: a slow fault of a cluster"]
fn server_and_clients_run_on_two_machines() {
    let server =
        FakeEntry { waits: Some("echo"), ..FakeEntry::new("server", "--serve echo --op-cpu-us 100") };
    let Some(cluster) = Cluster::start(&[server]) else { return };
    let more = "workloads = [\"echo\"]\ntasks = \"1,200\"\nrepetitions = 1\nparams = [\"rate=100\"]\n\
                [machines.pair]\nconstraint = \"bare\"\nclients = { constraint = \"quiet\" }\n";
    let fleet = cluster.submit(more);
    let published = cluster.finish(&fleet);
    assert_eq!(published[0].node, "node1", "the server's machine is the campaign's");
    let loaded =
        record::load(&fleet.verify(&fleet.targets[0], &published[0]).expect("unchanged")).expect("one");
    assert!(loaded.campaign.conditions.is_some_and(|conditions| conditions.clients_elsewhere));
    for sample in &loaded.samples {
        assert_eq!(sample.status, record::Status::Ok, "{sample:?}");
        let load = sample.load.as_ref().expect("what its clients saw");
        assert_eq!((load.connected, load.client_cpu_s, load.client_bytes), (sample.tasks, None, None));
        let open = load.open.as_ref().expect("an open loop");
        assert_eq!(open.messages, 100);
        assert!(
            open.latency_from_send_us.is_some_and(|late| late.p50 >= 100.0)
                && open.server_cpu_s.is_some_and(|cpu| cpu >= 0.01),
            "{open:?}"
        );
        let started = sample.load_command.as_ref().expect("a command").join(" ");
        assert!(started.contains("/srun --het-group=1"), "{started}");
    }
    assert_eq!(record::last_attempts(&loaded.samples).len(), 2);
}
