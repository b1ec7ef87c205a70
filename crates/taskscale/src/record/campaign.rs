//! `campaign.json`: what a reader needs to interpret the samples, and what taskscale needs to resume.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Machine, MemorySource, Sample, Series, SeriesKey, Timestamp};
use crate::catalog::{Entry, FanOut, Kind, Runtime, Shape, Source, Style, sources};

/// The cases measured together on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Campaign {
    /// Version of this format: 1.
    pub schema: u32,
    /// Version of the taskscale that planned the measurement.
    pub taskscale: String,
    /// RFC 3339, UTC.
    #[cfg_attr(test, schemars(with = "String"))]
    pub created_at: Timestamp,
    /// The command line.
    pub command: Vec<String>,
    /// The machine.
    pub machine: Machine,
    /// The plan of the first series.
    pub plan: Plan,
    /// The plans of further series.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_plans: Vec<Plan>,
    /// SHA-256 of the plans: equal plans have equal digests on all machines.
    pub plan_digest: String,
    /// Seed of the random order, up to 2^64 − 1.
    pub seed: u64,
    /// Facts of each entry, in the catalog's order.
    pub entries: Vec<EntryFacts>,
    /// Unique: the time and 16 random digits. Absent in old results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What all runs share besides plan and machine. Absent in old results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Conditions>,
    /// Where submitted results come from. Absent before `taskscale submit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// The origin of published results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Origin {
    /// `project`, or `handed-in` by a contributor.
    pub by: By,
    /// Checksum of both files as submitted: SHA-256 of the length of `campaign.json` (8 bytes, little-endian), its text
    /// with 64 zeros in place of the checksum, and `samples.jsonl`.
    #[serde(rename = "seal")]
    pub checksum: String,
}

/// Who measured, according to the submitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// The project itself.
    #[strum(serialize = "maintainers")]
    Project,
    /// The community.
    #[strum(serialize = "community")]
    HandedIn,
}

named!(By);

/// Conditions of all runs outside the plan. A campaign can be resumed only under the same conditions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Conditions {
    /// Where memory is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_source: Option<MemorySource>,
    /// Memory that a run may use (`--memory-cap`, or 80% of what was available at the start). Absent for `taskscale
    /// limit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_cap_bytes: Option<u64>,
    /// `--timeout`. Absent if it follows from the wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_cap_s: Option<f64>,
    /// Clients of servers ran on another machine (`--clients`), so their memory and CPU are in no sample.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clients_elsewhere: bool,
}

/// The plan of one series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Plan {
    /// The workload.
    pub workload: String,
    /// Parameters that differ from their defaults.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// Number of CPUs programs are pinned to. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Its shape. Absent: `hold`.
    #[serde(default, skip_serializing_if = "Shape::is_hold")]
    pub shape: Shape,
    /// Shape `work`: what one operation is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Bytes that each task keeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds_bytes: Option<u64>,
    /// Full names, `runtime/entry`.
    pub entries: Vec<String>,
    /// All N, ascending.
    pub tasks: Vec<u64>,
    /// Repetitions of each case.
    pub repetitions: u32,
    /// How long tasks wait.
    pub hold: Hold,
}

/// The plans of a campaign by series, each with its position. Of several for one series, the first.
pub type PlansBySeries<'a> = BTreeMap<SeriesKey<'a>, (usize, &'a Plan)>;

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

    /// The series that all of its cases belong to.
    pub fn series(&self) -> Series {
        Series { workload: self.workload.clone(), params: self.params.clone(), cpus: self.cpus }
    }

    /// Whether these are the facts of a program of this series.
    pub fn has(&self, facts: &EntryFacts) -> bool {
        let workload = facts.workload.as_ref();
        self.entries.contains(&facts.name) && workload.is_none_or(|workload| *workload == self.workload)
    }

    /// Runs of each case: work takes two per repetition, as a cost is their difference.
    pub fn runs_a_cell(&self) -> u64 {
        u64::from(self.repetitions) * if self.shape == Shape::Work { 2 } else { 1 }
    }
}

impl Campaign {
    /// The plans of all series.
    pub fn plans(&self) -> impl Iterator<Item = &Plan> {
        std::iter::once(&self.plan).chain(&self.further_plans)
    }

    /// The plans by series.
    pub fn plans_by_series(&self) -> PlansBySeries<'_> {
        let mut plans = PlansBySeries::new();
        for (position, plan) in self.plans().enumerate() {
            plans.entry((&plan.workload, &plan.params, plan.cpus)).or_insert((position, plan));
        }
        plans
    }

    /// The number of runs of all programs that can run here.
    pub fn runs(&self) -> u64 {
        let ready = || self.entries.iter().filter(|facts| facts.unavailable.is_none());
        let cells = |plan: &Plan| (ready().filter(|facts| plan.has(facts)).count() * plan.tasks.len()) as u64;
        self.plans().map(|plan| cells(plan) * plan.runs_a_cell()).sum()
    }

    /// Each series as a campaign of its own, with its samples. Samples outside all series go to the first.
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
        let plans = self.plans_by_series();
        for sample in samples {
            let (series, _) = sample.run();
            parts[plans.get(&series).map_or(0, |(position, _)| *position)].1.push(sample);
        }
        parts
    }
}

/// How long tasks wait.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, strum::Display)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "rule")]
pub enum Hold {
    /// Long enough that all tasks are alive for a plateau of at least `plateau_s` seconds.
    #[strum(to_string = "chosen for a plateau of {plateau_s} s")]
    Chosen { plateau_s: f64 },
    /// The same wait for every case, as in the original blog posts.
    #[strum(to_string = "{seconds} s")]
    Fixed { seconds: u64 },
}

impl Hold {
    /// Minimum time in which all tasks should be alive together, in seconds.
    pub fn plateau_s(self) -> f64 {
        match self {
            Hold::Chosen { plateau_s } => plateau_s,
            Hold::Fixed { .. } => 1.0,
        }
    }

    /// Whether the results are a first look (`--quick`).
    fn is_quick(self) -> bool {
        self.plateau_s() < 1.0
    }

    /// Minimum time of work, in seconds. Less than a plateau with `--quick`, as nothing has to become idle.
    pub fn work_s(self) -> f64 {
        if self.is_quick() { 0.3 } else { self.plateau_s() }
    }

    /// Time of the open loop, in seconds.
    pub fn open_s(self) -> f64 {
        if self.is_quick() { 1.0 } else { 5.0 }
    }

    /// Time of the closed loop, in seconds.
    pub fn closed_s(self) -> f64 {
        if self.is_quick() { 1.0 } else { 3.0 }
    }

    /// The default timeout of a run of work, in seconds.
    pub fn work_cap_s(self) -> f64 {
        if self.is_quick() { 30.0 } else { 120.0 }
    }
}

/// Facts about one entry of a campaign.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EntryFacts {
    /// `runtime/entry`.
    pub name: String,
    /// Workload of the program, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// Title of the entry.
    pub title: String,
    /// Name of the runtime.
    pub runtime: String,
    /// Title of the runtime.
    pub runtime_title: String,
    /// Home page.
    pub url: String,
    /// What a task is.
    pub kind: Kind,
    /// Tasks run on several CPUs at once.
    pub parallel: bool,
    /// `idiomatic` or `tuned`.
    pub style: Style,
    /// Chat servers: how a message reaches the room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fan_out: Option<FanOut>,
    /// A reference line: shown, never ranked.
    #[serde(default)]
    pub reference: bool,
    /// Measured by the original blog posts too.
    #[serde(default)]
    pub posts: bool,
    /// Why the entry could not be tested yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unverified: Option<String>,
    /// Why the entry is written this way.
    pub why: String,
    /// Further notes.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Why the entry lacks the other workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted: Option<String>,
    /// Version that the toolchain printed. Absent if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Requested versions by name of the runtime or library, as found or resolved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
    /// Why the entry cannot run here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// Build commands.
    #[serde(default)]
    pub build: Vec<Vec<String>>,
    /// The command, without the appended arguments.
    #[serde(default)]
    pub run: Vec<String>,
    /// Environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// SHA-256 over the runtime's files and the toolchain's version and folder: the key of the build cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// SHA-256 over this entry's own commands, variables, toolchain and files. Absent in old results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_digest: Option<String>,
    /// Files of the program when the measurement began. Absent in old results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
}

impl EntryFacts {
    /// The facts from the catalog. Version, digest and availability are still unknown.
    pub fn of(runtime: &Runtime, entry: &Entry, workload: &str) -> EntryFacts {
        let recipe = &entry.workloads[workload];
        EntryFacts {
            name: entry.full_name.clone(),
            workload: Some(workload.to_owned()),
            title: entry.title.clone(),
            runtime: runtime.name.clone(),
            runtime_title: runtime.title.clone(),
            url: runtime.url.clone(),
            kind: entry.kind,
            parallel: entry.parallel,
            style: entry.style,
            fan_out: recipe.fan_out,
            reference: entry.reference,
            posts: !entry.posts.is_empty(),
            unverified: entry.unverified.clone(),
            why: entry.why.clone(),
            notes: entry.notes.clone(),
            omitted: entry.omitted.clone(),
            build: recipe.build.clone(),
            run: recipe.run.clone(),
            env: entry.env.clone(),
            sources: sources(runtime, entry, workload),
            ..EntryFacts::default()
        }
    }

    /// The name of the entry in the catalog, without requested versions.
    pub fn base_name(&self) -> &str {
        self.name.split('@').next().unwrap_or(&self.name)
    }

    /// Whether both belong to the same program. Old records of campaigns with one workload do not include its
    /// name.
    pub fn is_of(&self, other: &EntryFacts) -> bool {
        let workloads = self.workload.as_ref().zip(other.workload.as_ref());
        self.name == other.name && workloads.is_none_or(|(own, others)| own == others)
    }
}

/// Memory of one machine may differ by this share between boots, as the kernel reserves more or less of it (its
/// own code, crash kernel, memory maps). No memory module is that small.
const SAME_MEMORY: f64 = 0.01;

/// Whether two records are of the same machine.
pub fn same_machine(a: &Machine, b: &Machine) -> bool {
    (&a.hostname, &a.cpu, &a.architecture, a.cpus) == (&b.hostname, &b.cpu, &b.architecture, b.cpus)
        && same_memory(a.memory_bytes, b.memory_bytes)
}

/// Whether two readings of MemTotal may be of one machine.
pub fn same_memory(then: u64, now: u64) -> bool {
    then.abs_diff(now) as f64 <= then.max(now) as f64 * SAME_MEMORY
}
