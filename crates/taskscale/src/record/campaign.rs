//! `campaign.json`: what a reader needs to interpret the samples, and what taskscale needs to resume.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{MemorySource, Part, Sample, Timestamp};
use crate::catalog::{FanOut, Kind, Shape, Style};

/// The cases measured together on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Campaign {
    /// Version of this record's shape.
    pub schema: u32,
    /// Version of the taskscale that planned the runs.
    pub taskscale: String,
    #[cfg_attr(test, schemars(with = "String"))]
    pub created_at: Timestamp,
    /// The command line that made the results.
    pub command: Vec<String>,
    pub machine: Machine,
    /// What is measured; with several series, the first.
    pub plan: Plan,
    /// The plans of further parts: other workloads, other parameters, other numbers of CPUs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_plans: Vec<Plan>,
    /// SHA-256 of the plan in hexadecimal digits, the same for results of the same plan.
    pub plan_digest: String,
    /// The seed that put the cases of each N in random order.
    pub seed: u64,
    /// The facts of each entry of the plan, in the catalog's order.
    pub entries: Vec<EntryFacts>,
    /// A unique id, which the samples carry. Absent in old results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The conditions that all runs share, besides plan and machine. Absent in old results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Conditions>,
    /// Who measured, set by `taskscale submit`. Absent before submission, and in the project's own old results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// The origin of published results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Origin {
    pub by: By,
    /// Checksum: SHA-256 in hexadecimal digits of both files as submitted, with zeros in place of these digits.
    pub seal: String,
}

/// Who measured, according to the submitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// The project itself.
    Project,
    /// The community.
    HandedIn,
}

impl By {
    /// As tables have it.
    pub fn name(self) -> &'static str {
        match self {
            By::Project => "maintainers",
            By::HandedIn => "community",
        }
    }
}

/// Conditions of all runs outside the plan. A campaign can be resumed only under the same conditions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Conditions {
    /// The source of memory values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_source: Option<MemorySource>,
    /// Memory cap of a run. Absent if there is none, or each run has its own (`taskscale limit`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_cap_bytes: Option<u64>,
    /// Timeout of a run, in seconds. Absent where it follows from the wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_cap_s: Option<f64>,
    /// Whether the clients of servers ran on another machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clients_elsewhere: bool,
}

/// The plan of one series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Plan {
    pub workload: String,
    /// Parameters of the workload that differ from its defaults.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// On how many CPUs programs are let run; absent where on all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// The workload's shape; `hold` if absent.
    #[serde(default, skip_serializing_if = "Shape::is_hold")]
    pub shape: Shape,
    /// What one operation is; only for the shape `work`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Bytes that each task was asked to keep; absent where the workload does not specify them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds_bytes: Option<u64>,
    /// Full names of the entries, `runtime/entry`.
    pub entries: Vec<String>,
    /// The numbers of tasks, ascending.
    pub tasks: Vec<u64>,
    pub repetitions: u32,
    pub hold: Hold,
}

impl Plan {
    /// A plan of tasks that wait.
    pub fn of_holds(
        workload: impl Into<String>,
        entries: Vec<String>,
        tasks: Vec<u64>,
        repetitions: u32,
        hold: Hold,
    ) -> Plan {
        Plan {
            workload: workload.into(),
            params: BTreeMap::new(),
            cpus: None,
            shape: Shape::Hold,
            operation: None,
            holds_bytes: None,
            entries,
            tasks,
            repetitions,
            hold,
        }
    }

    /// What all of its cases have in common.
    pub fn part(&self) -> Part {
        Part { workload: self.workload.clone(), params: self.params.clone(), cpus: self.cpus }
    }

    /// Whether these are the facts of a program of this part.
    pub fn has(&self, facts: &EntryFacts) -> bool {
        let workload = facts.workload.as_ref();
        self.entries.contains(&facts.name) && workload.is_none_or(|workload| *workload == self.workload)
    }

    /// Runs per case and repetition: a cost is the difference of two.
    pub fn runs_a_cell(&self) -> u64 {
        u64::from(self.repetitions) * if self.shape == Shape::Work { 2 } else { 1 }
    }
}

impl Campaign {
    /// The plans of all parts.
    pub fn plans(&self) -> impl Iterator<Item = &Plan> {
        std::iter::once(&self.plan).chain(&self.further_plans)
    }

    /// Each series as a campaign of its own, with its samples. Samples of no series go with the first.
    pub fn parts<'a>(&self, samples: &'a [Sample]) -> Vec<(Campaign, Vec<&'a Sample>)> {
        if self.further_plans.is_empty() {
            return vec![(self.clone(), samples.iter().collect())];
        }
        let bare = Campaign { entries: Vec::new(), further_plans: Vec::new(), ..self.clone() };
        let part = |plan: &Plan| Campaign {
            plan: plan.clone(),
            entries: self.entries.iter().filter(|facts| plan.has(facts)).cloned().collect(),
            ..bare.clone()
        };
        let mut parts: Vec<_> = self.plans().map(|plan| (part(plan), Vec::new())).collect();
        let mut positions = BTreeMap::new();
        for (position, plan) in self.plans().enumerate() {
            positions.entry((&plan.workload, &plan.params, plan.cpus)).or_insert(position);
        }
        for sample in samples {
            let part = (&sample.workload, &sample.params, sample.cpus);
            parts[positions.get(&part).copied().unwrap_or(0)].1.push(sample);
        }
        parts
    }
}

/// How long tasks wait.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "rule")]
pub enum Hold {
    /// Long enough that all tasks are alive for a plateau of at least `plateau_s` seconds.
    Chosen { plateau_s: f64 },
    /// The same wait for every case, as in the original blog posts.
    Fixed { seconds: u64 },
}

impl Hold {
    /// How long all tasks should be alive together at least, in seconds.
    pub fn plateau_s(self) -> f64 {
        match self {
            Hold::Chosen { plateau_s } => plateau_s,
            Hold::Fixed { .. } => 1.0,
        }
    }

    /// Whether a first table is wanted (`--quick`).
    fn is_quick(self) -> bool {
        self.plateau_s() < 1.0
    }

    /// How long work should last at least, in seconds. A first table is content with less than a plateau needs, as
    /// nothing has to come to rest.
    pub fn work_s(self) -> f64 {
        if self.is_quick() { 0.3 } else { self.plateau_s() }
    }

    /// How long the clients of a server talk at a rate, in seconds.
    pub fn open_s(self) -> f64 {
        if self.is_quick() { 1.0 } else { 5.0 }
    }

    /// How long they talk as fast as they can, in seconds.
    pub fn closed_s(self) -> f64 {
        if self.is_quick() { 1.0 } else { 3.0 }
    }

    /// The default timeout of a run of work, in seconds.
    pub fn work_cap_s(self) -> f64 {
        if self.is_quick() { 30.0 } else { 120.0 }
    }
}

/// Facts on one entry of a campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EntryFacts {
    /// `runtime/entry`.
    pub name: String,
    /// The workload that the facts belong to. Absent if the campaign has only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    pub title: String,
    pub runtime: String,
    pub runtime_title: String,
    pub url: String,
    pub kind: Kind,
    pub parallel: bool,
    pub style: Style,
    /// For a chat server; absent in old results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fan_out: Option<FanOut>,
    /// A reference line such as a physical limit: drawn, never ranked.
    #[serde(default)]
    pub reference: bool,
    /// Also measured in the original blog posts.
    #[serde(default)]
    pub posts: bool,
    /// Why this entry has not been checked yet, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unverified: Option<String>,
    pub why: String,
    #[serde(default)]
    pub notes: Vec<String>,
    /// First line of the runtime's version output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Why it cannot run on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// The commands that build it, as written in the manifest.
    #[serde(default)]
    pub build: Vec<Vec<String>>,
    /// The command that runs it, less the arguments that taskscale appends.
    #[serde(default)]
    pub run: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// SHA-256 over the runtime's folder and version: changes when the program may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// SHA-256 over what this entry is made of: its own files and shared ones, its commands and variables, the
    /// toolchain's version and path. Absent in old results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_digest: Option<String>,
    /// The files of its program as they were when measuring began; empty where not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
}

impl EntryFacts {
    /// Whether both belong to the same program. Old records of campaigns with one workload do not name it.
    pub fn is_of(&self, other: &EntryFacts) -> bool {
        let workloads = self.workload.as_ref().zip(other.workload.as_ref());
        self.name == other.name && workloads.is_none_or(|(own, others)| own == others)
    }
}

/// One file of an entry's program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Source {
    /// Inside the runtime's folder.
    pub path: String,
    pub text: String,
}

/// Memory of one machine may differ by this share from boot to boot: the kernel keeps more or less of it for itself
/// (its own code, crash kernel, memory maps). No module of memory is that small.
const SAME_MEMORY: f64 = 0.01;

/// Whether two readings of MemTotal may be of one machine.
pub fn same_memory(then: u64, now: u64) -> bool {
    then.abs_diff(now) as f64 <= then.max(now) as f64 * SAME_MEMORY
}

/// Facts on the machine that matter for results.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Machine {
    pub hostname: String,
    /// PRETTY_NAME of /etc/os-release.
    pub os: String,
    pub kernel: String,
    pub architecture: String,
    pub cpu: String,
    /// CPUs that taskscale may use.
    pub cpus: u64,
    pub memory_bytes: u64,
    pub swap_bytes: u64,
    pub page_bytes: u64,
    /// Transparent huge pages: always, madvise or never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transparent_huge_pages: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_governor: Option<String>,
    /// System limits that bound tasks, by their usual names.
    #[serde(default)]
    pub limits: BTreeMap<String, u64>,
    /// The warnings of `taskscale doctor` when measuring began.
    #[serde(default)]
    pub warnings: Vec<String>,
}
