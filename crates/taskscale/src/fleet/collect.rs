//! The results of all machines together: differences between machines first, then each case over all of them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Fleet, FleetError, FleetResult, PublishedTarget, Target};
use crate::catalog::Shape;
use crate::document::{Column, Document, DocumentRow, Emphasis, Table, TableCell, first_few};
use crate::metrics::{self, MetricDef};
use crate::record::{self, Loaded, Series};
use crate::report::Report;
use crate::report::facts::facts as facts_of_report;
use crate::stats;
use crate::units;

/// The most machines that are named before "and N more".
const NAMED: usize = 3;

/// The results of all machines.
#[derive(Debug, Default)]
pub struct Collected {
    /// The complete ones, in the plan's order.
    pub machines: Vec<(Target, PublishedTarget)>,
    pub missing: Vec<Target>,
    facts: Vec<BTreeMap<String, String>>,
    /// A table for each metric, by its index in `metrics::ALL`, as a metric has no order of its own.
    tables: BTreeMap<usize, BTreeMap<Cases, EntryValues>>,
}

/// The cases of a section: a series, and the number of tasks. It is absent for a metric of whole entries.
type Cases = (Series, Option<u64>);

/// The values of each entry.
type EntryValues = BTreeMap<String, Vec<MachineValue>>;

/// The value of one machine.
#[derive(Debug, Clone, PartialEq)]
struct MachineValue {
    /// Index in `machines`.
    machine: usize,
    /// The value, or the status in its place.
    value: Result<f64, String>,
}

/// Reads the results one by one, and keeps only their medians, as there may be a thousand machines.
pub fn collect(fleet: &Fleet) -> FleetResult<Collected> {
    let mut collected = Collected::default();
    for target in &fleet.targets {
        let Some(published) = fleet.published(target)? else {
            collected.missing.push(target.clone());
            continue;
        };
        let folder = fleet.verify(target, &published)?;
        let changed = |what: String| FleetError::Changed { folder: folder.clone(), what };
        let loaded = record::load(&folder).map_err(|error| changed(error.to_string()))?;
        collected.machines.push((target.clone(), published));
        collected.add(&loaded);
    }
    Ok(collected)
}

impl Collected {
    fn add(&mut self, loaded: &Loaded) {
        let machine = self.facts.len();
        let reports = Report::of_parts(&loaded.campaign, &loaded.samples);
        self.facts.push(facts(&reports));
        for report in &reports {
            let mut add = |figure: &'static MetricDef, tasks, entry: &str, value| {
                let place = metrics::ALL.iter().position(|one| std::ptr::eq(*one, figure)).unwrap_or(0);
                let sections = self.tables.entry(place).or_default();
                let found = sections.entry((report.series(), tasks)).or_default();
                found.entry(entry.to_owned()).or_default().push(MachineValue { machine, value });
            };
            let headline = metrics::headline(report.shape);
            for row in report.rows() {
                let value = row.headline.as_ref().map(|spread| spread.median);
                let value = value.filter(|_| row.ok_runs > 0).ok_or_else(|| row.status.clone());
                add(headline, Some(row.tasks), &row.entry.name, value);
            }
            if report.shape == Shape::Hold {
                for growth in &report.growth {
                    let value = growth.bytes_per_task.filter(|_| growth.linear != Some(false));
                    let value = value.ok_or_else(|| "not linear".to_owned());
                    add(&metrics::BYTES_PER_TASK, None, &growth.entry.name, value);
                }
            }
        }
    }

    fn name(&self, machine: usize) -> String {
        let (target, published) = &self.machines[machine];
        match target.node.is_some() {
            true => target.name.clone(),
            false => format!("{} on {}", target.name, published.node),
        }
    }

    fn names(&self, machines: &[usize]) -> String {
        first_few(machines, NAMED, ", ", |&machine| self.name(machine))
    }

    /// Facts that differ between machines: each value with the machines that have it.
    fn differing(&self) -> Vec<(String, Vec<(String, String)>)> {
        let known: BTreeSet<&String> = self.facts.iter().flat_map(BTreeMap::keys).collect();
        let of_fact = |fact: &String| {
            let mut by_value: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            for (machine, facts) in self.facts.iter().enumerate() {
                by_value.entry(facts.get(fact).map_or("none", String::as_str)).or_default().push(machine);
            }
            let mut values: Vec<_> = by_value.into_iter().collect();
            values.sort_by_key(|(_, machines)| std::cmp::Reverse(machines.len()));
            let shown = |(value, machines): &(&str, Vec<usize>)| (self.names(machines), (*value).to_owned());
            (values.len() > 1).then(|| (fact.clone(), values.iter().map(shown).collect()))
        };
        known.into_iter().filter_map(of_fact).collect()
    }

    pub fn document(&self, fleet: &Fleet) -> Document {
        let mut document =
            Document::new(format!("Results of {}", units::counted(self.machines.len(), "machine")));
        if !self.missing.is_empty() {
            let names = first_few(&self.missing, NAMED, ", ", |target| target.name.clone());
            document.text(format!("incomplete, so left out: {names}"), Emphasis::Bad);
        }
        for (node, machines) in self.measured_twice() {
            let (times, names) = (machines.len(), self.names(&machines));
            let text = format!("{node} counts {times} times: it was measured as {names}");
            document.text(text, Emphasis::Doubtful);
        }
        let differing = self.differing();
        if differing.is_empty() && self.machines.len() > 1 {
            document.text("no recorded difference between the machines", Emphasis::Good);
        }
        document.table(Table::of_facts(differing.iter().map(|(fact, values)| {
            let values = values.iter().map(|(whose, value)| (whose.clone(), value.as_str()));
            (fact.as_str(), values.collect())
        })));
        for (figure, sections) in &self.tables {
            let figure = metrics::ALL[*figure];
            let mut table = Table::new(vec![
                Column::words("entry"),
                Column::figures(figure.heading),
                Column::figures("least"),
                Column::words("on"),
                Column::figures("most"),
                Column::words("on"),
                Column::figures("machines"),
            ]);
            for ((part, tasks), entries) in sections {
                let tasks = tasks.map(|tasks| format!(", {}", units::tasks(tasks))).unwrap_or_default();
                let section = table.section(format!("{part}{tasks}"));
                section.rows = entries.iter().map(|(entry, found)| self.row(figure, entry, found)).collect();
            }
            document.table(table);
        }
        document.notes.push(
            "Values are medians over machines, of the medians of their repetitions. Least and most are single machines. \
             Different machines are not repetitions of each other."
                .to_owned(),
        );
        document.provenance = Some(format!("{} (fleet {})", fleet.folder.display(), fleet.id));
        document
    }

    fn row(&self, figure: &MetricDef, entry: &str, found: &[MachineValue]) -> DocumentRow {
        let good = |one: &MachineValue| Some((*one.value.as_ref().ok()?, one.machine));
        let mut values: Vec<(f64, usize)> = found.iter().filter_map(good).collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let numbers: Vec<f64> = values.iter().map(|(value, _)| *value).collect();
        let shown = |value: Option<f64>| value.map(|value| figure.show(value));
        let (least, most) = (values.first(), values.last());
        let where_ = |one: Option<&(f64, usize)>| one.map(|(_, machine)| self.name(*machine));
        let row = DocumentRow::of(vec![
            TableCell::name(entry),
            TableCell::figure(shown(stats::median(&numbers)), Emphasis::Strong),
            TableCell::figure(shown(least.map(|one| one.0)), Emphasis::Plain),
            TableCell::figure(where_(least), Emphasis::Quiet),
            TableCell::figure(shown(most.map(|one| one.0)), Emphasis::Plain),
            TableCell::figure(where_(most), Emphasis::Quiet),
            TableCell::plain(format!("{} of {}", values.len(), self.machines.len())),
        ]);
        let mut fell: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for one in found {
            if let Err(status) = &one.value {
                fell.entry(status).or_default().push(one.machine);
            }
        }
        fell.into_iter().fold(row, |row, (status, machines)| {
            row.note(status, format!("on {}", self.names(&machines)), Emphasis::Bad)
        })
    }

    /// Nodes that were measured as several machines, as Slurm had too few.
    fn measured_twice(&self) -> Vec<(String, Vec<usize>)> {
        let mut by_node: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (machine, (_, published)) in self.machines.iter().enumerate() {
            by_node.entry(&published.node).or_default().push(machine);
        }
        let several = by_node.into_iter().filter(|(_, machines)| machines.len() > 1);
        several.map(|(node, machines)| (node.to_owned(), machines)).collect()
    }
}

/// The facts of results that may explain why machines differ. Not the name of the machine, which always differs.
const OF_MACHINES: [&str; 9] =
    ["CPU", "OS", "kernel", "swap", "huge pages", "CPU governor", "warnings", "taskscale", "memory by"];

/// The facts on a machine that matter for results.
fn facts(reports: &[Report]) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut add = |name: &str, value: String| facts.insert(name.to_owned(), value);
    for report in reports {
        let machine = &report.machine;
        // The memory that the kernel leaves to programs varies from boot to boot.
        let memory = (machine.memory_bytes as f64 / f64::from(1 << 30)).round();
        add("memory", format!("{memory} GiB"));
        add("page size", units::bytes(machine.page_bytes));
        for (limit, value) in &machine.limits {
            add(&format!("limit {limit}"), value.to_string());
        }
        for (name, value) in facts_of_report(report) {
            if let Some(value) = value.filter(|_| OF_MACHINES.contains(&name)) {
                add(name, value);
            }
        }
        for version in &report.versions {
            add(&format!("{} version", version.runtime), version.version.clone());
        }
        for missing in &report.unavailable {
            add(&format!("{} is", missing.entry.name), format!("unavailable: {}", missing.reason));
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Kind;
    use crate::document::RenderOptions;
    use crate::record::{Status, Timestamp};
    use crate::report::fixture::{campaign, facts as entry, fell, sample};

    fn loaded(kernel: &str, version: &str, per_task: u64, crashes: bool) -> Loaded {
        let mut one = entry("go/goroutine", Kind::Stackful);
        one.version = Some(version.to_owned());
        let mut campaign = campaign(vec![one]);
        campaign.machine.kernel = kernel.to_owned();
        campaign.plan.tasks = vec![1, 10_000];
        let all = [1, 10_000].into_iter().flat_map(|tasks| (1..=3).map(move |nth| (tasks, nth)));
        let one = |(tasks, nth)| {
            let sample = sample("go/goroutine", tasks, nth, 2_000_000, per_task);
            match crashes && tasks > 1 {
                true => fell(sample, Status::Crashed, "it was ended by SIGSEGV"),
                false => sample,
            }
        };
        Loaded { campaign, samples: all.map(one).collect(), rejected: Vec::new() }
    }

    fn collected() -> (Fleet, Collected) {
        let target = |nth: u32, node: Option<&str>| Target {
            name: node.map_or(format!("x86-{nth}"), |node| format!("arm-{node}")),
            machines: "x86".to_owned(),
            node: node.map(str::to_owned),
        };
        let targets =
            vec![target(1, None), target(2, None), target(3, None), target(4, Some("n4")), target(5, None)];
        let mut fleet = Fleet::new("/shared/fleet".as_ref(), "", Vec::new(), targets.clone());
        fleet.id = "20260301T120000Z-1".to_owned();
        let campaigns = [
            loaded("6.1.0", "go1.26", 2_600, false),
            loaded("6.1.0", "go1.26", 2_700, false),
            loaded("6.12.9", "go1.25", 2_500, false),
            loaded("6.1.0", "go1.26", 2_600, true),
        ];
        let mut collected = Collected::default();
        for (nth, loaded) in campaigns.iter().enumerate() {
            let node = if nth < 2 { "n1".to_owned() } else { format!("n{}", nth + 1) };
            let published = PublishedTarget {
                at: Timestamp::UNIX_EPOCH,
                epoch: 1,
                job: "1".to_owned(),
                node: node.clone(),
                folder: node,
                runs: 6,
                good_cells: 2,
                cells: 2,
                digests: Vec::new(),
            };
            collected.machines.push((targets[nth].clone(), published));
            collected.add(loaded);
        }
        collected.missing.push(targets[4].clone());
        (fleet, collected)
    }

    #[test]
    fn machine_differences_precede_measurements() {
        let (fleet, collected) = collected();
        insta::assert_snapshot!(collected.document(&fleet).terminal(RenderOptions::default()));
    }
}
