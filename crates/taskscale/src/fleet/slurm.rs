//! Slurm's own commands and their output, the only source of facts on the cluster.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{FleetError, FleetResult, NodeSelector};

/// How long to wait for a free node that tests a folder, in seconds.
const ASKED_WITHIN_S: u32 = 20;

/// Slurm's messages about nodes that are busy, down or drained.
const NOT_NOW: [&str; 4] = ["immediate", "busy", "not available", "Unable to allocate resources"];

/// A job, or an element of an array, as the queue knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// `PENDING`, `RUNNING`, `COMPLETED`, `NODE_FAIL` and so on.
    pub state: String,
    /// Empty before the job has one.
    pub node: String,
    /// Why it waits or has ended, if Slurm gives a reason.
    pub reason: Option<String>,
}

/// The facts on a node that matter for submission.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// As in `uname -m`. Absent for a node that has never been up.
    pub architecture: Option<String>,
    /// Neither down nor drained.
    pub is_up: bool,
}

/// The reason of a job that Slurm failed to start on its node, and holds until `scontrol release`.
const LAUNCH_FAILED: &str = "launch failed requeued held";

impl Job {
    pub fn has_ended(&self) -> bool {
        const ENDED: [&str; 10] = [
            "BOOT_FAIL",
            "CANCELLED",
            "COMPLETED",
            "DEADLINE",
            "FAILED",
            "NODE_FAIL",
            "OUT_OF_MEMORY",
            "PREEMPTED",
            "REVOKED",
            "TIMEOUT",
        ];
        ENDED.contains(&&*self.state)
    }

    /// Whether Slurm holds the job because its node failed to start it.
    pub fn is_held(&self) -> bool {
        let reason = self.reason.as_ref().map(|reason| reason.replace('_', " "));
        self.state == "PENDING" && reason.as_deref() == Some(LAUNCH_FAILED)
    }

    /// Whether it may still measure something without `fleet resume`.
    pub fn is_active(&self) -> bool {
        !self.has_ended() && !self.is_held()
    }
}

/// Has Slurm validate a batch script without submitting it. `false` if no node can start it now. One may later.
pub fn test(script: &Path) -> FleetResult<bool> {
    let asked = ["--test-only".into(), script.display().to_string()];
    Ok(ask_unless(&["configuration is not available"], "sbatch", &asked)?.is_some())
}

/// Submits a batch script, and returns the job's number.
pub fn submit(script: &Path, options: &[String]) -> FleetResult<String> {
    let arguments = [&["--parsable".to_owned()], options, &[script.display().to_string()]].concat();
    let said = ask("sbatch", &arguments)?;
    // NUMBER;CLUSTER if there are several clusters.
    Ok(said.trim().split(';').next().unwrap_or_default().to_owned())
}

pub fn cancel(jobs: &[String]) -> FleetResult<()> {
    ask("scancel", jobs).map(drop)
}

pub fn release(jobs: &[String]) -> FleetResult<()> {
    ask("scontrol", &[&["release".to_owned()], jobs].concat()).map(drop)
}

/// The jobs of these numbers that Slurm still knows, elements of arrays by `NUMBER_ELEMENT`. One query for all.
pub fn queue(jobs: &[String]) -> FleetResult<BTreeMap<String, Job>> {
    if jobs.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut asked =
        ["--noheader", "--array", "--states=all", "--format=%i|%T|%N|%r"].map(str::to_owned).to_vec();
    asked.push(format!("--jobs={}", jobs.join(",")));
    // Slurm forgets jobs some time after their end (MinJobAge).
    let said = ask_unless(&["Invalid job id"], "squeue", &asked)?;
    Ok(parse_queue(&said.unwrap_or_default()))
}

/// The names in a list such as `node[1-3,7]`.
pub fn expand(nodelist: &str) -> FleetResult<Vec<String>> {
    let said = ask("scontrol", &["show".into(), "hostnames".into(), nodelist.into()])?;
    Ok(said.lines().map(str::to_owned).collect())
}

/// The nodes that match `place`.
pub fn nodes(place: &NodeSelector) -> FleetResult<Vec<Node>> {
    let said = ask("scontrol", &["show".into(), "node".into(), "--oneliner".into()])?;
    let listed = place.nodelist.as_ref().map(|list| expand(list)).transpose()?;
    Ok(parse_nodes(&said, place, listed.as_deref()))
}

/// `seen` if a node of this place sees a file, or `not seen from NODE`. `None` if no node was free.
pub fn sees(place: &NodeSelector, file: &Path) -> FleetResult<Option<String>> {
    let test = "test -f \"$1\" && echo seen || echo \"not seen from ${SLURMD_NODENAME:-$(hostname)}\"";
    let mut asked = place.options();
    asked.push(format!("--immediate={ASKED_WITHIN_S}"));
    let words = ["--time=1", "--nodes=1", "--ntasks=1", "--quiet", "--chdir=/", "bash", "-c", test, "bash"];
    asked.extend(words.map(str::to_owned));
    asked.push(file.display().to_string());
    Ok(ask_unless(&NOT_NOW, "srun", &asked)?.map(|said| said.trim().to_owned()))
}

/// `None` if the command fails with a message that contains one of these texts.
fn ask_unless(words: &[&str], command: &'static str, arguments: &[String]) -> FleetResult<Option<String>> {
    match ask(command, arguments) {
        Err(FleetError::Slurm { said, .. }) if words.iter().any(|words| said.contains(words)) => Ok(None),
        said => said.map(Some),
    }
}

fn ask(command: &'static str, arguments: &[String]) -> FleetResult<String> {
    let asked = Command::new(command).args(arguments).stdin(Stdio::null()).output();
    let output = asked.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => FleetError::NoSlurm(command),
        _ => FleetError::Slurm { command: command.to_owned(), said: error.to_string() },
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(FleetError::Slurm { command: command.to_owned(), said: in_a_line(&said, command) })
}

/// The messages of a command in one line, without its own name.
fn in_a_line(said: &str, command: &str) -> String {
    let lines = said.lines().map(|line| {
        let line = line.trim().strip_prefix(command).map_or(line, |rest| rest.trim_start_matches(':'));
        line.trim().trim_start_matches("error: ").trim_start_matches("fatal: ")
    });
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { "no message".to_owned() } else { lines.join("; ") }
}

fn parse_queue(said: &str) -> BTreeMap<String, Job> {
    let jobs = said.lines().filter_map(|line| {
        let [id, state, node, reason] = line.trim().splitn(4, '|').collect::<Vec<_>>()[..] else {
            return None;
        };
        let reason = Some(reason.trim()).filter(|reason| !["", "None"].contains(reason));
        let job = Job { state: state.to_owned(), node: node.to_owned(), reason: reason.map(str::to_owned) };
        // In a job of two parts, the first one measures: `12+0`.
        Some((id.strip_suffix("+0").unwrap_or(id).to_owned(), job))
    });
    jobs.collect()
}

/// From `NodeName=node1 Arch=x86_64 … AvailableFeatures=x86,bare … State=IDLE+DRAIN … Partitions=bench …`.
fn parse_nodes(said: &str, place: &NodeSelector, listed: Option<&[String]>) -> Vec<Node> {
    let of_line = |line: &str| {
        let fields: BTreeMap<&str, &str> =
            line.split_whitespace().filter_map(|field| field.split_once('=')).collect();
        let has = |field: &str, wanted: &str| {
            fields.get(field).is_some_and(|values| values.split(',').any(|value| value == wanted))
        };
        let listed = listed.is_none_or(|listed| listed.iter().any(|name| has("NodeName", name)));
        let partition = place.partition.as_ref().is_none_or(|name| has("Partitions", name));
        // Only plain constraints: the meaning of other expressions is left to Slurm.
        let plain = place.constraint.as_ref().filter(|constraint| {
            constraint.chars().all(|c| c.is_ascii_alphanumeric() || ['_', '-', '&'].contains(&c))
        });
        let features = plain.is_none_or(|all| all.split('&').all(|one| has("AvailableFeatures", one)));
        let away = ["DOWN", "DRAIN", "FAIL", "MAINT", "NOT_RESPONDING"];
        let state = fields.get("State").copied().unwrap_or_default();
        (listed && partition && features).then(|| Node {
            architecture: fields.get("Arch").map(|name| (*name).to_owned()),
            is_up: !away.iter().any(|word| state.contains(word)),
        })
    };
    said.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_lines_parse_and_malformed_ones_are_skipped() {
        let jobs = parse_queue(
            "3_1|RUNNING|node1|None\n3_2|PENDING||Resources\n4|NODE_FAIL|node2|None\n5+0|RUNNING|node1|None\n\
             6|PENDING||launch failed requeued held\nnonsense\n",
        );
        assert_eq!(jobs.len(), 5);
        assert_eq!(
            jobs["3_2"],
            Job { state: "PENDING".into(), node: String::new(), reason: Some("Resources".into()) }
        );
        let of = |wanted: fn(&Job) -> bool| {
            jobs.iter().filter(|(_, job)| wanted(job)).map(|(id, _)| id.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(of(Job::is_active), ["3_1", "3_2", "5"]);
        assert_eq!((of(Job::is_held), of(Job::has_ended)), (vec!["6"], vec!["4"]));
    }

    #[test]
    fn node_selectors_filter_by_partition_constraint_and_list() {
        let said = "NodeName=n1 Arch=x86_64 CoresPerSocket=1 AvailableFeatures=x86,bare State=IDLE Partitions=bench,all \n\
                    NodeName=n2 Arch=aarch64 AvailableFeatures=arm State=IDLE+DRAIN Partitions=bench\n\
                    NodeName=n3 AvailableFeatures=arm Partitions=bench State=DOWN*\n";
        let of = |partition: Option<&str>, constraint: Option<&str>, listed: Option<&[String]>| {
            let place = NodeSelector {
                partition: partition.map(str::to_owned),
                constraint: constraint.map(str::to_owned),
                nodelist: None,
            };
            let nodes = parse_nodes(said, &place, listed);
            let shown = |node: Node| {
                let name = node.architecture.unwrap_or_else(|| "unknown".to_owned());
                if node.is_up { name } else { format!("{name}:away") }
            };
            nodes.into_iter().map(shown).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of(None, None, None), "x86_64 aarch64:away unknown:away");
        assert_eq!(of(Some("all"), None, None), "x86_64");
        assert_eq!(of(Some("bench"), Some("arm"), None), "aarch64:away unknown:away");
        assert_eq!(of(Some("bench"), Some("x86&bare"), None), "x86_64");
        assert_eq!(of(None, Some("[x86|arm]"), None), "x86_64 aarch64:away unknown:away");
        assert_eq!(of(None, None, Some(&["n2".to_owned()])), "aarch64:away");
        assert_eq!(of(Some("none"), None, None), "");
    }

    #[test]
    fn command_errors_are_quoted_without_the_command_name() {
        let said = "sbatch: error: invalid partition specified: tank\nsbatch: error: Batch job submission failed: Invalid partition name specified\n";
        assert_eq!(
            in_a_line(said, "sbatch"),
            "invalid partition specified: tank; Batch job submission failed: Invalid partition name specified"
        );
        assert_eq!(in_a_line("", "sbatch"), "no message");
    }
}
