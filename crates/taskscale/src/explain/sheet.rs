//! The balance sheet of one task: the slope over N of each part of a program's memory, and of the whole.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use taskscale_measure::Plateau;

use super::mappings::{MappingClass, Mappings};
use crate::stats::{Interval, interval_of};

/// Anonymous mappings of one size get their own row if there are at least this many per task.
const OWN_ROW_PER_TASK: f64 = 0.05;
/// Rows below this share of the slope are summed up in one row.
const MIN_SHARE: f64 = 0.005;
/// Most rows of a group, besides that of the rest.
const MAX_ROWS_OF_GROUP: usize = 8;

/// Name of the row with the rest of the slope.
pub const UNEXPLAINED: &str = "unexplained";

/// A part of memory: the source of its size, and its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartName {
    pub group: PartSource,
    pub name: String,
}

/// The source of a part's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PartSource {
    /// Memory in use, as an adapter of the runtime or allocator reports it.
    Live,
    /// Memory that the runtime or allocator keeps unused, from the same adapter.
    Unused,
    /// Mappings that no adapter explains.
    Mapped,
    /// The cgroup's account of kernel memory.
    Kernel,
}

impl PartSource {
    /// A short label for tables.
    pub const fn text(self) -> &'static str {
        match self {
            PartSource::Live => "in use",
            PartSource::Unused => "unused",
            PartSource::Mapped => "mapped",
            PartSource::Kernel => "kernel",
        }
    }

    pub(super) fn rest(self) -> &'static str {
        match self {
            PartSource::Live => "other objects",
            PartSource::Unused => "other unused",
            PartSource::Mapped => "other mappings",
            PartSource::Kernel => "other kernel memory",
        }
    }
}

/// Bytes of each part in one run.
pub type PartBytes = BTreeMap<PartName, f64>;

pub fn add_bytes(parts: &mut PartBytes, group: PartSource, name: impl Into<String>, bytes: f64) {
    *parts.entry(PartName { group, name: name.into() }).or_default() += bytes;
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct AdapterAnswer {
    pub parts: PartBytes,
    /// The heap whose live objects are in `parts`. The rest of it depends on when a collector ran, and an
    /// adapter makes it run, so the rest is taken from the runs without an adapter.
    pub heap: Option<ReservedHeap>,
}

impl AdapterAnswer {
    pub fn of(parts: PartBytes) -> AdapterAnswer {
        AdapterAnswer { parts, heap: None }
    }
}

/// Addresses reserved for a heap, and the bytes of its live objects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReservedHeap {
    pub low: u64,
    pub high: u64,
    pub live_bytes: f64,
}

/// One run at its plateau.
#[derive(Debug, Clone)]
pub struct RunParts {
    pub repetition: u32,
    pub tasks: u64,
    pub plateau: Plateau,
    pub mappings: Mappings,
    /// The adapter's answer; empty without an adapter.
    pub known: AdapterAnswer,
}

/// A value per task, in bytes, over the repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PerTask {
    pub bytes: f64,
    /// 95% interval. Absent for one repetition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

impl PerTask {
    fn of(repetitions: &[f64]) -> PerTask {
        let bytes = repetitions.iter().sum::<f64>() / repetitions.len().max(1) as f64;
        PerTask { bytes, interval: interval_of(repetitions, bytes) }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SheetRow {
    pub name: String,
    pub group: PartSource,
    #[serde(flatten)]
    pub per_task: PerTask,
}

/// Bytes of a task by part. The rows and `unexplained` add up to `slope`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sheet {
    /// Slope of the footprint over N.
    pub slope: PerTask,
    /// Sorted by group, then by size, the largest first.
    pub rows: Vec<SheetRow>,
    pub unexplained: PerTask,
    /// Change of the slope in the runs with the adapter, as a share. Absent without an adapter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<f64>,
}

impl Sheet {
    /// Whether the rows add up to more than the slope, beyond the 95% interval, `lag_bytes` per task (the lag
    /// of the kernel's counters) and the memory that the adapter itself added to its runs.
    pub fn exceeds(&self, lag_bytes: f64) -> bool {
        let high = self.unexplained.interval.map_or(self.unexplained.bytes, |interval| interval.high);
        let moved_bytes = self.moved.map_or(0.0, |moved| (moved * self.slope.bytes).max(0.0));
        high < -lag_bytes - moved_bytes
    }
}

/// The least-squares slope of each repetition, per task, from points (repetition, tasks, value). The estimate
/// is linear, so slopes of parts add up to that of their sum. Skips repetitions with a single N.
fn slopes(points: impl Iterator<Item = (u32, u64, f64)>) -> Vec<f64> {
    let mut by_repetition: BTreeMap<u32, Vec<(u64, f64)>> = BTreeMap::new();
    for (repetition, tasks, bytes) in points {
        by_repetition.entry(repetition).or_default().push((tasks, bytes));
    }
    let slope = |points: &Vec<(u64, f64)>| {
        let n = points.len() as f64;
        let mean_tasks = points.iter().map(|(tasks, _)| *tasks as f64).sum::<f64>() / n;
        let mean_bytes = points.iter().map(|(_, bytes)| bytes).sum::<f64>() / n;
        let from_mean = |tasks: &u64| *tasks as f64 - mean_tasks;
        let squares = points.iter().map(|(tasks, _)| from_mean(tasks).powi(2)).sum::<f64>();
        let products =
            points.iter().map(|(tasks, bytes)| from_mean(tasks) * (bytes - mean_bytes)).sum::<f64>();
        (squares > 0.0).then(|| products / squares)
    };
    by_repetition.values().filter_map(slope).collect()
}

fn slopes_of(runs: &[RunParts], bytes: impl Fn(&RunParts) -> f64) -> Vec<f64> {
    slopes(runs.iter().map(|run| (run.repetition, run.tasks, bytes(run))))
}

/// The sheet of a program; `None` if no repetition has two numbers of tasks. `plain`: runs without an adapter.
/// `probed`: runs with an adapter, whose parts replace the mappings that `covers` accepts.
pub fn sheet(plain: &[RunParts], probed: &[RunParts], covers: fn(&MappingClass) -> bool) -> Option<Sheet> {
    let whole = slopes_of(plain, |run| run.plateau.footprint_bytes as f64);
    if whole.is_empty() {
        return None;
    }
    let own_rows = sizes_with_rows(plain);
    let outside: Vec<PartBytes> =
        plain.iter().map(|run| outside(run, &own_rows, probed.is_empty(), covers)).collect();
    let bytes_of = |parts: &PartBytes, name: &PartName| parts.get(name).copied().unwrap_or(0.0);
    let of_outside = |name: &PartName| {
        let runs = plain.iter().zip(&outside);
        slopes(runs.map(|(run, parts)| (run.repetition, run.tasks, bytes_of(parts, name))))
    };
    let names: BTreeSet<&PartName> = outside.iter().flat_map(BTreeMap::keys).collect();
    let mut rows: Vec<(PartName, Vec<f64>)> =
        names.into_iter().map(|name| (name.clone(), of_outside(name))).collect();
    let known: BTreeSet<&PartName> = probed.iter().flat_map(|run| run.known.parts.keys()).collect();
    let of_known = |name: &PartName| slopes_of(probed, |run| bytes_of(&run.known.parts, name));
    rows.extend(known.into_iter().map(|name| (name.clone(), of_known(name))));
    // Plain and probed repetitions are separate runs: pair the nth with the nth, or with the mean.
    let nth =
        |values: &[f64], at: usize| values.get(at).copied().unwrap_or_else(|| PerTask::of(values).bytes);
    if let Some(heap) = probed.iter().find_map(|run| run.known.heap) {
        let resident = slopes_of(plain, |run| run.mappings.resident_between(heap.low, heap.high));
        let live = slopes_of(probed, |run| run.known.heap.map_or(0.0, |heap| heap.live_bytes));
        let name =
            PartName { group: PartSource::Unused, name: "garbage and free space of the heap".to_owned() };
        let rest = resident.iter().enumerate().map(|(at, resident)| resident - nth(&live, at)).collect();
        // A heap with another address in the runs without an adapter stays unexplained.
        if resident.iter().any(|bytes| *bytes != 0.0) {
            rows.push((name, rest));
        }
    }
    // One value per repetition, so that the rows add up to the slope.
    for (_, values) in &mut rows {
        *values = (0..whole.len()).map(|at| nth(values, at)).collect();
    }
    let left: Vec<f64> = (0..whole.len())
        .map(|at| whole[at] - rows.iter().map(|(_, values)| values[at]).sum::<f64>())
        .collect();
    let slope = PerTask::of(&whole);
    let moved = (!probed.is_empty()).then(|| {
        let probed = PerTask::of(&slopes_of(probed, |run| run.plateau.footprint_bytes as f64)).bytes;
        probed / slope.bytes - 1.0
    });
    Some(Sheet { slope, rows: shown(rows, slope.bytes), unexplained: PerTask::of(&left), moved })
}

/// The classes of anonymous mappings of one size whose number grows with the number of tasks.
fn sizes_with_rows(runs: &[RunParts]) -> BTreeSet<&MappingClass> {
    let classes: BTreeSet<_> = runs.iter().flat_map(|run| run.mappings.classes.keys()).collect();
    let grows = |class: &&MappingClass| {
        let count = |run: &RunParts| run.mappings.classes.get(class).map_or(0, |of| of.mappings) as f64;
        PerTask::of(&slopes_of(runs, count)).bytes >= OWN_ROW_PER_TASK
    };
    classes.into_iter().filter(|class| matches!(class, MappingClass::Anonymous(_))).filter(grows).collect()
}

/// The parts that need no adapter: mappings (unless `all`, only those not covered) and kernel memory.
fn outside(
    run: &RunParts,
    own_rows: &BTreeSet<&MappingClass>,
    all: bool,
    covers: fn(&MappingClass) -> bool,
) -> PartBytes {
    let mut parts = PartBytes::new();
    for (class, memory) in run.mappings.classes.iter().filter(|(class, _)| all || !covers(class)) {
        let name = match class {
            MappingClass::Heap => "heap (brk)".to_owned(),
            MappingClass::MainStack => "stack of the first thread".to_owned(),
            MappingClass::ThreadStack => "thread stacks".to_owned(),
            MappingClass::Arena => "anonymous mappings at multiples of 64 MiB".to_owned(),
            MappingClass::Anonymous(size) if own_rows.contains(class) => {
                format!("anonymous mappings of {} KiB", size / 1024)
            }
            MappingClass::Anonymous(_) => "anonymous mappings".to_owned(),
            MappingClass::Named(name) => format!("anonymous mappings named {name:?}"),
            MappingClass::Shared => "shared memory".to_owned(),
            MappingClass::File => "mapped files".to_owned(),
        };
        add_bytes(&mut parts, PartSource::Mapped, name, memory.bytes as f64);
    }
    let plateau = &run.plateau;
    let divided = [
        ("kernel stacks", plateau.kernel_stack_bytes),
        ("page tables", plateau.page_tables_bytes),
        ("slab objects", plateau.slab_bytes),
        ("socket buffers", plateau.sock_bytes),
    ];
    let mut left = plateau.kernel_bytes;
    for (name, bytes) in divided {
        let bytes = bytes.unwrap_or(0).min(left);
        left -= bytes;
        add_bytes(&mut parts, PartSource::Kernel, name, bytes as f64);
    }
    add_bytes(&mut parts, PartSource::Kernel, "kernel objects, not divided further", left as f64);
    parts
}

/// The rows, with small ones summed up. The total stays the same.
fn shown(rows: Vec<(PartName, Vec<f64>)>, slope: f64) -> Vec<SheetRow> {
    let mut by_group: BTreeMap<PartSource, Vec<(String, Vec<f64>)>> = BTreeMap::new();
    for (name, values) in rows {
        by_group.entry(name.group).or_default().push((name.name, values));
    }
    let mut shown = Vec::new();
    for (group, mut rows) in by_group {
        rows.sort_by(|a, b| PerTask::of(&b.1).bytes.abs().total_cmp(&PerTask::of(&a.1).bytes.abs()));
        let large = |values: &[f64]| PerTask::of(values).bytes.abs() >= MIN_SHARE * slope.abs();
        let own = rows.iter().take_while(|(_, values)| large(values)).count().min(MAX_ROWS_OF_GROUP);
        let rest = rows.split_off(own);
        let add = |sum: Vec<f64>, values: Vec<f64>| sum.iter().zip(values).map(|(a, b)| a + b).collect();
        let sum = rest.into_iter().map(|(_, values)| values).reduce(add);
        let sum = sum.filter(|sum| sum.iter().any(|bytes| bytes.abs() >= 0.5));
        rows.extend(sum.map(|sum| (group.rest().to_owned(), sum)));
        let row =
            |(name, values): (String, Vec<f64>)| SheetRow { name, group, per_task: PerTask::of(&values) };
        shown.extend(rows.into_iter().map(row));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::super::mappings::MappedMemory;
    use super::*;

    /// A program whose tasks take 300 bytes of heap, half a mapping of 8 KiB and kernel memory each.
    fn run(repetition: u32, tasks: u64, known: &[(PartSource, &str, f64)]) -> RunParts {
        let memory = |mappings, bytes| MappedMemory { mappings, bytes };
        let heap = 1_000_000 + 300 * tasks + u64::from(repetition) * tasks;
        let classes = BTreeMap::from([
            (MappingClass::Heap, memory(1, heap)),
            (MappingClass::Anonymous(8192), memory(tasks / 2, 8192 * (tasks / 2))),
            (MappingClass::Anonymous(1 << 26), memory(1, 4096)),
            (MappingClass::File, memory(9, 2 << 20)),
        ]);
        let mapped: u64 = classes.values().map(|memory| memory.bytes).sum();
        let kernel_bytes = 50_000 + 64 * tasks;
        RunParts {
            repetition,
            tasks,
            plateau: Plateau {
                footprint_bytes: mapped + kernel_bytes + 10 * tasks,
                kernel_bytes,
                page_tables_bytes: Some(16 * tasks),
                ..Plateau::default()
            },
            mappings: Mappings { classes, ..Mappings::default() },
            known: AdapterAnswer::of(
                known
                    .iter()
                    .map(|(group, name, each)| {
                        (PartName { group: *group, name: (*name).to_owned() }, each * tasks as f64)
                    })
                    .collect(),
            ),
        }
    }

    fn runs(known: &[(PartSource, &str, f64)]) -> Vec<RunParts> {
        (1..=3).flat_map(|repetition| [10_000, 100_000].map(|tasks| run(repetition, tasks, known))).collect()
    }

    fn row<'s>(sheet: &'s Sheet, name: &str) -> &'s SheetRow {
        sheet.rows.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("{name}: {:?}", sheet.rows))
    }

    #[test]
    fn rows_and_the_unexplained_part_add_up_to_the_slope() {
        let sheet = sheet(&runs(&[]), &[], |_| false).unwrap();
        let sum: f64 = sheet.rows.iter().map(|row| row.per_task.bytes).sum();
        assert!((sum + sheet.unexplained.bytes - sheet.slope.bytes).abs() < 0.5, "{sheet:?}");
        assert!((sheet.unexplained.bytes - 10.0).abs() < 1e-6, "{sheet:?}");
        assert!((row(&sheet, "anonymous mappings of 8 KiB").per_task.bytes - 4096.0).abs() < 1e-6);
        let heap = row(&sheet, "heap (brk)").per_task;
        assert!(
            (heap.bytes - 302.0).abs() < 1e-6
                && heap.interval.is_some_and(|of| of.low < 301.0 && of.high > 303.0)
        );
        let kernel: f64 = sheet
            .rows
            .iter()
            .filter(|row| row.group == PartSource::Kernel)
            .map(|row| row.per_task.bytes)
            .sum();
        assert!((kernel - 64.0).abs() < 1e-6, "{sheet:?}");
    }

    #[test]
    fn adapters_replace_the_mappings_they_cover() {
        let known = [(PartSource::Live, "blocks of 264 B", 264.0), (PartSource::Unused, "headers", 8.0)];
        let sheet = sheet(&runs(&[]), &runs(&known), |class| *class == MappingClass::Heap).unwrap();
        assert!(sheet.rows.iter().all(|row| row.name != "heap (brk)"), "{sheet:?}");
        assert!((row(&sheet, "blocks of 264 B").per_task.bytes - 264.0).abs() < 1e-6);
        // The adapter knows 272 of 302 bytes of heap. 10 are in no part.
        assert!((sheet.unexplained.bytes - 40.0).abs() < 1e-6 && !sheet.exceeds(5.0), "{sheet:?}");
        assert_eq!(sheet.moved, Some(0.0));
    }

    #[test]
    fn heap_overhead_is_taken_from_runs_without_an_adapter() {
        let heap = |resident: u64, live: Option<f64>| {
            let mut runs = runs(&[(PartSource::Live, "objects", 120.0)]);
            for run in &mut runs {
                run.mappings.starts =
                    BTreeMap::from([(0x1000, resident * run.tasks), (0x9000, 7 * run.tasks)]);
                run.known.heap = live.map(|live| ReservedHeap {
                    low: 0x1000,
                    high: 0x2000,
                    live_bytes: live * run.tasks as f64,
                });
            }
            runs
        };
        let sheet = sheet(&heap(300, None), &heap(900, Some(120.0)), |class| *class == MappingClass::Heap);
        let rest = row(&sheet.unwrap(), "garbage and free space of the heap").per_task.bytes;
        assert!((rest - 180.0).abs() < 1e-6, "{rest}");
    }

    #[test]
    fn overcounting_adapters_are_detected() {
        let known = [(PartSource::Live, "blocks of 400 B", 400.0)];
        let sheet = sheet(&runs(&[]), &runs(&known), |class| *class == MappingClass::Heap).unwrap();
        assert!(sheet.unexplained.bytes < -80.0 && sheet.exceeds(5.0), "{sheet:?}");
        assert!(!sheet.exceeds(100.0));
        let moved = Sheet { moved: Some(100.0 / sheet.slope.bytes), ..sheet };
        assert!(!moved.exceeds(5.0));
    }

    #[test]
    fn small_parts_are_summed_and_one_task_count_yields_no_sheet() {
        let many: Vec<(String, f64)> =
            (0..20).map(|nth| (format!("class {nth}"), f64::from(100 - nth))).collect();
        let known: Vec<(PartSource, &str, f64)> =
            many.iter().map(|(name, bytes)| (PartSource::Live, &**name, *bytes)).collect();
        let sheet = sheet(&runs(&[]), &runs(&known), |_| false).unwrap();
        let live: Vec<&SheetRow> = sheet.rows.iter().filter(|row| row.group == PartSource::Live).collect();
        assert_eq!((live.len(), &*live[MAX_ROWS_OF_GROUP].name), (MAX_ROWS_OF_GROUP + 1, "other objects"));
        let sum: f64 = live.iter().map(|row| row.per_task.bytes).sum();
        assert!((sum - (81..=100).sum::<u32>() as f64).abs() < 1e-6);
        let single: Vec<RunParts> = (1..=3).map(|repetition| run(repetition, 10_000, &[])).collect();
        assert!(super::sheet(&single, &[], |_| false).is_none());
    }
}
