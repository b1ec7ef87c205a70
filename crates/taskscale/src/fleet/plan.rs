//! `plan.toml`: which machines of a cluster measure what. From its text to a validated plan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{FleetError, FleetResult};

/// The most machines of a table: more jobs than any controller takes (MaxArraySize is 1,001 by default).
const MAX_MACHINES: u32 = 10_000;

/// What to measure, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetPlan {
    /// On a file system that all nodes share.
    pub folder: PathBuf,
    /// The arguments of `taskscale run` on every machine.
    pub arguments: Vec<String>,
    /// The arguments of `taskscale build`.
    pub build_arguments: Vec<String>,
    pub machines: Vec<Machines>,
}

/// Machines that are alike for Slurm.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Machines {
    /// Their name in the plan.
    #[serde(skip)]
    pub name: String,
    // As in `NodeSelector`, which cannot be flattened: unknown fields would no longer be refused.
    partition: Option<String>,
    constraint: Option<String>,
    nodelist: Option<String>,
    /// Number of machines. By default each node of the list, or one.
    pub count: Option<u32>,
    /// The machines of servers' clients. By default the server's machine.
    pub clients: Option<NodeSelector>,
    /// Time limit of a job, as sbatch takes it.
    pub time: Option<String>,
    /// Further options of sbatch.
    pub sbatch: Vec<String>,
    /// Shell lines that run before anything else.
    pub setup: Vec<String>,
    /// The taskscale program for their architecture.
    pub taskscale: Option<PathBuf>,
}

/// The properties that Slurm chooses nodes by.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeSelector {
    pub partition: Option<String>,
    pub constraint: Option<String>,
    pub nodelist: Option<String>,
}

impl NodeSelector {
    /// As options of sbatch and srun.
    pub fn options(&self) -> Vec<String> {
        let given =
            [("partition", &self.partition), ("constraint", &self.constraint), ("nodelist", &self.nodelist)];
        let option = |(name, value): (&str, &Option<String>)| Some(format!("--{name}={}", value.as_ref()?));
        given.into_iter().filter_map(option).collect()
    }
}

/// The plan as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanToml {
    folder: PathBuf,
    #[serde(default)]
    entries: Vec<String>,
    #[serde(default)]
    workloads: Vec<String>,
    tasks: Option<String>,
    repetitions: Option<u32>,
    #[serde(default)]
    params: Vec<String>,
    #[serde(default)]
    cpus: Vec<u32>,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    setup: Vec<String>,
    machines: BTreeMap<String, Machines>,
}

impl Machines {
    pub fn at(&self) -> NodeSelector {
        let (partition, constraint) = (self.partition.clone(), self.constraint.clone());
        NodeSelector { partition, constraint, nodelist: self.nodelist.clone() }
    }

    /// Why the table is invalid, if so.
    fn fault(&self) -> Option<String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if self.name.is_empty() || !self.name.chars().all(plain) {
            return Some("invalid name (use letters, digits, - and _)".into());
        }
        if self.count.is_some_and(|count| !(1..=MAX_MACHINES).contains(&count)) {
            return Some(format!("count out of range (1 to {MAX_MACHINES})"));
        }
        if self.count.is_some() && self.nodelist.is_some() {
            return Some("count with nodelist (every node of a list is measured)".into());
        }
        if self.clients.is_some() && (self.count.is_some() || self.nodelist.is_some()) {
            let one = "clients with count or nodelist (servers and clients are one pair of machines: write a table for \
                       each pair)";
            return Some(one.into());
        }
        // Slurm splits each line into words.
        let is_word = |value: &str| {
            !value.is_empty() && !value.chars().any(|c| c.is_whitespace() || c.is_control() || c == '#')
        };
        let options =
            [self.at().options(), self.clients.iter().flat_map(NodeSelector::options).collect()].concat();
        let time = self.time.iter().map(|time| format!("--time={time}"));
        let mut all = options.into_iter().chain(time).chain(self.sbatch.iter().cloned());
        all.find(|option| !is_word(option) || !option.starts_with("--") || option.ends_with('='))
            .map(|option| format!("invalid Slurm option: {option:?} (write --name=value without spaces)"))
    }
}

impl FleetPlan {
    /// Parses and validates a plan. Relative paths start from `beside`, the plan's folder.
    pub fn parse(text: &str, path: &Path, beside: &Path) -> FleetResult<FleetPlan> {
        let wrong = |message: String| FleetError::Plan { path: path.to_owned(), message };
        let wire: PlanToml = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            wrong(format!("line {line}: {}", error.message()))
        })?;
        if wire.machines.is_empty() {
            return Err(wrong("no machines (add a table such as [machines.x86] with a partition)".into()));
        }
        let folder = beside.join(wire.folder);
        let plain = |c: char| c.is_alphanumeric() || "/._-+@:".contains(c);
        if let Some(odd) = folder.to_string_lossy().chars().find(|c| !plain(*c)) {
            let what =
                format!("invalid folder: {} ({odd:?} has another meaning for Slurm)", folder.display());
            return Err(wrong(what));
        }
        let mut machines = Vec::new();
        for (name, toml) in wire.machines {
            let setup = [&wire.setup[..], &toml.setup].concat();
            let taskscale = toml.taskscale.as_ref().map(|path| beside.join(path));
            let own = Machines { name, setup, taskscale, ..toml };
            if let Some(what) = own.fault() {
                return Err(wrong(format!("[machines.{}]: {what}", own.name)));
            }
            machines.push(own);
        }
        let mut build_arguments = wire.entries;
        if !wire.workloads.is_empty() {
            build_arguments.push(format!("--workload={}", wire.workloads.join(",")));
        }
        let mut arguments = build_arguments.clone();
        arguments.extend(wire.tasks.map(|tasks| format!("--tasks={tasks}")));
        arguments.extend(wire.repetitions.map(|repetitions| format!("--repetitions={repetitions}")));
        arguments.extend(wire.params.iter().map(|param| format!("--param={param}")));
        if !wire.cpus.is_empty() {
            let cpus: Vec<String> = wire.cpus.iter().map(u32::to_string).collect();
            arguments.push(format!("--cpus={}", cpus.join(",")));
        }
        arguments.extend(wire.arguments);
        if let Some(argument) = arguments.iter().find(|argument| is_ours(argument)) {
            return Err(wrong(format!("invalid argument: {argument} (taskscale fleet sets it)")));
        }
        Ok(FleetPlan { folder, arguments, build_arguments, machines })
    }
}

/// Whether this option of `run` is set by the job itself.
fn is_ours(argument: &str) -> bool {
    let name = argument.split('=').next().unwrap_or(argument);
    ["-o", "--output", "--catalog", "--dry-run", "--clients", "--listen", "--json"].contains(&name)
}
