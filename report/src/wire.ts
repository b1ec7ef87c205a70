// The page's data as it is written. Made of schema/ by test/wire.test.ts: do not edit.

/** Which of two values is better. */
export type Better = "less" | "more";

/** Who measured, according to the submitter. */
export type By = "project" | "handed-in";

/** A part of a whole in a chart. */
export interface ChartPart {
  about: string;
  /** The fields of a row's `parts` that it sums up. Absent for phases and sources. */
  fields?: Array<string>;
  /** The end of its CSS class, such as `anon` in `part-anon`. */
  id: string;
  title: string;
}

/** How values of a column are written. */
export type ColumnUnit = "text" | "tasks" | "count" | "share" | "times" | Unit;

/** Facts about an entry, the same in every row. */
export interface Entry {
  /** Chat servers: how a message reaches the room. */
  fan_out?: FanOut;
  kind: Kind;
  /** `runtime/entry`. */
  name: string;
  /** Whether its tasks run on several CPUs at once. */
  parallel: boolean;
  /** A reference line such as a physical limit: shown, never ranked. */
  reference: boolean;
  /** The version in tables: `1.26`, or `1.14 (2022)` if support of that series had ended over a year before. */
  shown_version: string | null;
  style: Style;
  title: string;
  /** Why the entry could not be tested yet. */
  unverified?: string;
  /** The version string of its runtime. */
  version: string | null;
}

/** Facts about one entry of a campaign. */
export interface EntryFacts {
  /** Build commands. */
  build: Array<Array<string>>;
  /** SHA-256 over the runtime's files and the toolchain's version and folder: the key of the build cache. */
  digest?: string;
  /** Environment variables. */
  env: Record<string, string>;
  /** Chat servers: how a message reaches the room. */
  fan_out?: FanOut;
  /** What a task is. */
  kind: Kind;
  /** `runtime/entry`. */
  name: string;
  /** Further notes. */
  notes: Array<string>;
  /** Why the entry lacks the other workloads. */
  omitted?: string;
  /** Tasks run on several CPUs at once. */
  parallel: boolean;
  /** Measured by the original blog posts too. */
  posts: boolean;
  /** SHA-256 over this entry's own commands, variables, toolchain and files. Absent in old results. */
  program_digest?: string;
  /** A reference line: shown, never ranked. */
  reference: boolean;
  /** The command, without the appended arguments. */
  run: Array<string>;
  /** Name of the runtime. */
  runtime: string;
  /** Title of the runtime. */
  runtime_title: string;
  /** Files of the program when the measurement began. Absent in old results. */
  sources?: Array<Source>;
  /** `idiomatic` or `tuned`. */
  style: Style;
  /** Title of the entry. */
  title: string;
  /** Why the entry cannot run here. */
  unavailable?: string;
  /** Why the entry could not be tested yet. */
  unverified?: string;
  /** Home page. */
  url: string;
  /** Version that the toolchain printed. Absent if it is missing. */
  version?: string;
  /** Requested versions by name of the runtime or library, as found or resolved. */
  versions?: Record<string, string>;
  /** Why the entry is written this way. */
  why: string;
  /** Workload of the program, if there are several. */
  workload?: string;
}

/** The sheet of a program, with facts about the program and its runs. */
export interface Explanation {
  /** Name of the adapter, and why it was selected. */
  adapter?: [string, string] | [string, string];
  /** `runtime/entry`, or the name of a program. */
  entry: string;
  kind: Kind;
  /** What the program printed in `metric` lines, such as the size of a future. */
  metrics?: Record<string, Metric>;
  /** Change of the slope in the runs with the adapter, as a share. Absent without an adapter. */
  moved?: number;
  /** Caveats, one sentence each. */
  notes: Array<string>;
  repetitions: number;
  /** Sorted by group, then by size, the largest first. */
  rows: Array<SheetRow>;
  /** Slope of the footprint over N. */
  slope: PerTask;
  tasks: Array<number>;
  unexplained: PerTask;
  /** The version of the toolchain. */
  version?: string;
  workload: string;
}

/** How a chat server sends a message to the other members of a room. The designs differ in memory and CPU time. */
export type FanOut = "queue" | "direct" | "library";

/** Median, smallest and largest reading, median absolute deviation, and number of readings. */
export type Figure = [number, number, number, number, number];

/** How the footprint of one entry grows with N: `base + tasks * bytes per task`, if it is linear. */
export interface Growth {
  /** Fixed cost: the line at 0 tasks. Null if no line could be fitted. */
  base_bytes: number | null;
  /** 95% interval. Null with fewer than two repetitions that have every N, and if memory is not linear. */
  base_bytes_interval: Interval | null;
  /** Bytes per task above those that a task is asked to keep. Absent if the workload does not specify them. */
  bytes_beyond?: number;
  bytes_per_task: number | null;
  /** 95% interval. Null with fewer than two repetitions that have every N, and if memory is not linear. */
  bytes_per_task_interval: Interval | null;
  entry: Entry;
  /** Number of runs that the line is fitted to: ok, with all tasks alive, of one memory source. */
  points: number;
  /** Bytes per task from each N to the next, ascending. */
  steps: Array<Step>;
  /** Whether memory is linear: every median is within 10% of the line. Null with fewer than three N. */
  straight: boolean | null;
  /** The numbers of tasks of these runs, ascending. */
  tasks: Array<number>;
  /** The N whose median deviates most from the line. Null with fewer than three N. */
  worst: WorstPoint | null;
}

/** The answer at one N, with its caveats. */
export interface Headline {
  /** The sentence in pieces. Every second piece is bold. */
  answer: Array<string>;
  detail: string;
  rank: Rank;
  tasks: number;
}

/** How long tasks wait. */
export type Hold =
  | {
      plateau_s: number;
      rule: "chosen";
    }
  | {
      rule: "fixed";
      seconds: number;
    };

/** The bounds of a 95% interval, in the unit of the estimate. */
export interface Interval {
  high: number;
  low: number;
}

/** What one task is in its runtime. */
export type Kind = "thread" | "process" | "stackful" | "stackless" | "future" | "timer" | "program";

/** One load of a server, as medians over repetitions. */
export interface LoadPoint {
  /** CPU time of the server per message, in microseconds. */
  cpu_us_per_message?: number;
  /** From the scheduled send time, in microseconds. Absent for the closed loop, if the rate was not reached, or if the clients sent late. */
  latency_p50_us?: number;
  latency_p99_us?: number;
  /** Messages per second. */
  per_s: number;
  /** Offered share of the capacity. 1 for the closed loop, which finds the capacity. */
  share: number;
}

/** Facts about the machine that matter for results. */
export interface Machine {
  /** Such as `x86_64`. */
  architecture: string;
  /** Model of the processor. */
  cpu: string;
  /** CPU frequency governor. */
  cpu_governor?: string;
  /** CPUs that taskscale may use. */
  cpus: number;
  /** Host name. In submitted results the class of the machine, such as `xeon-2-5ghz-2cpu`. */
  hostname: string;
  /** Release of the kernel. */
  kernel: string;
  /** System limits that bound tasks, by name. */
  limits: Record<string, number>;
  /** Memory of the machine. */
  memory_bytes: number;
  /** PRETTY_NAME of /etc/os-release. */
  os: string;
  /** Size of a page. */
  page_bytes: number;
  /** Size of swap. */
  swap_bytes: number;
  /** `always`, `madvise` or `never`. */
  transparent_huge_pages?: string;
  /** Findings of `taskscale doctor` at the start. */
  warnings: Array<string>;
}

/** The source of memory values. Values of different sources are not comparable to the byte. */
export type MemorySource = "cgroup-v2" | "cgroup-v1" | "proc";

/** A value that a program printed in a `metric` line. */
export interface Metric {
  /** Its unit. */
  unit: string;
  /** The value. */
  value: number;
}

/** What a metric belongs to. */
export type MetricScope = "run" | "slope" | "base";

/** The first rows of an overview. */
export interface OverviewRows {
  /** Names of entries with two or more series, in the order of the rows. Others are shown on request. */
  order: Array<string>;
  rank: Rank;
  /** The selected N. Absent for the N that represents each series. */
  tasks?: number;
}

/** One series of a campaign: its report, with `rows` in place of `groups`. */
export interface PageCampaign {
  /** Origin of submitted results. Absent if they were never submitted. */
  by?: By;
  /** Name of the results folder. May be empty. */
  campaign: string;
  /** The command line that made the results. */
  command: Array<string>;
  /** The command that was run, and one that repeats it. */
  commands: [string, string];
  /** One line: what was measured, where and when. */
  context: string;
  /** Number of CPUs programs are pinned to. Absent: all. */
  cpus?: number;
  created_at: string;
  /** In the catalog's order. */
  entries: Array<PageEntry>;
  /** Name and text of each fact. */
  facts: Array<[string, string]>;
  /** How the footprint of each entry grows: by `rank`, fewest bytes per task first. */
  growth: Array<Growth>;
  /** The answer at each N, by kind and for all kinds together. */
  headlines: Array<Headline>;
  hold: Hold;
  /** Bytes that each task is asked to keep. Absent if the workload does not specify them. */
  holds_bytes?: number;
  /** What distinguishes it from other campaigns of its series: A, B and so on. */
  letter: string;
  /** Names of all entries. If not all lines fit, the scaling chart shows the first ones. */
  lines: Array<string>;
  machine: Machine;
  /** Total wall time of these runs, in seconds. Of runs whose end was not recorded, the time up to the end of their plateau. */
  measured_s: number;
  /** Memory sources, the most frequent first. Values of different sources are not comparable to the byte. */
  memory_sources: Array<SourceCount>;
  /** Names of the metrics to compare entries by, in the order of a row's `figures`. The first is the headline. */
  metrics: Array<string>;
  /** The notes below the tables. */
  notes: Array<string>;
  /** Shape `work`: what one operation is. */
  operation?: string;
  /** The N that represents the series in an overview. */
  overview_tasks?: number;
  /** Parameters that differ from the workload's defaults. */
  params?: Record<string, string>;
  /** The series: workload, parameters and CPUs. Campaigns are compared within it. */
  part: string;
  /** For each metric, how it is shown per task. Null if it is not. */
  per_task: Array<PerTaskShown | null>;
  plan_digest: string;
  /** How the plateaus of the runs that count were found, most frequent first. Empty for old results. */
  plateaus: Array<PlateauCount>;
  /** How rows are ranked. */
  rank: Rank;
  /** The order of entries at each N by each metric. */
  rankings: Array<PageRanking>;
  repetitions: number;
  /** The results folder that it is a series of: a position in the page's `overviews`. */
  results: number;
  /** One per entry and N that was run, in the order of the report: by N, then as ranked. */
  rows: Array<PageRow>;
  /** Runs recorded, repeated attempts included. */
  runs: number;
  /** How tasks waited, or what an operation is. */
  scenario: string;
  schema: number;
  seed: number;
  /** The workload's shape. Absent: `hold`. */
  shape?: Shape;
  /** Number of samples of other entries or workloads, which are ignored. */
  stray_samples: number;
  /** The numbers of tasks, ascending. */
  tasks: Array<number>;
  /** Version of the taskscale that planned the runs. */
  taskscale: string;
  /** Entries that could not run on this machine. They have no rows. */
  unavailable: Array<Unavailable>;
  /** Planned runs without a sample: the measurement was interrupted, or is still running. */
  unmeasured_runs: number;
  /** The version string of each runtime. */
  versions: Array<Version>;
  warnings: Array<WarningCount>;
  workload: string;
}

/** A change such as `+4.7%`, empty if the values cannot be compared, and the position of its note in `change_notes`. */
export type PageChange = [string, number];

/** One column. `path` leads from a cell's `entry`, `row`, `letter`, `status` or `times_best` to the sort key. */
export interface PageColumn {
  /** Explains the title. */
  about?: string;
  /** Its name in the CSV of a report, if that has the column. */
  id: string;
  /** Its metric. Results without the metric lack the column. */
  metric?: string;
  path: string;
  title: string;
  unit: ColumnUnit;
}

/** The data that the page shows at first. Details of an entry are in separate blocks. */
export interface PageData {
  about: SectionTexts;
  /** Bytes of tasks by part, as `taskscale explain` found them. */
  anatomy?: Array<Explanation>;
  /** The name of the best, which values are compared with. */
  best: Record<string, string>;
  /** The campaigns in the given order, once per series. Others of a series are compared with its first. */
  campaigns: Array<PageCampaign>;
  /** What must be known of changes. The first is of all of them. */
  change_notes?: Array<string>;
  /** Columns of the table of all values. */
  columns: Array<PageColumn>;
  /** Facts about entries that are the same in all campaigns and series. */
  entries: Array<EntryFacts>;
  /** Multiples of the best at which the shade of a cell gets darker. */
  heat_steps: [number, number, number, number, number];
  kinds: Array<PageKind>;
  metrics: Array<PageMetric>;
  /** For entries without a fitted line. */
  no_fit: PageGap;
  /** For entries without a program for the series. */
  no_program: PageGap;
  /** For runs without the metric. */
  no_value: PageGap;
  /** For entries without a run at this N. */
  not_measured: PageGap;
  /** The rows of the overview of each results folder. Empty for results of one workload. */
  overviews: Array<Array<OverviewRows>>;
  /** The sources of the sizes of a task's parts. */
  part_sources: Array<ChartPart>;
  /** The parts of a footprint. */
  parts: Array<ChartPart>;
  /** The phases of a run. */
  phases: Array<ChartPart>;
  /** Values from other publications, shown as markers. */
  published: Array<Published>;
  /** Columns of the table of an entry's runs. */
  sample_fields: Array<SampleField>;
  schema: number;
  /** Spreads below this share of the value are not shown. */
  shown_spread: number;
  /** The texts in place of a multiple of the best, and in place of a rank. */
  standings: Record<string, [string, string]>;
  /** Version of the taskscale that made the page. */
  taskscale: string;
  /** A chart for each series with entries in several versions. */
  versions?: Array<VersionsChart>;
}

/** An entry's program for one series of a campaign. */
export interface PageEntry {
  /** Short labels of what is unusual for its kind. */
  badges?: Array<string>;
  /** The commands that build it, as written in the manifest. */
  build: Array<Array<string>>;
  /** Of the metrics of whole entries. */
  changes?: Record<string, PageChange>;
  /** Index of its language's color, the same in every chart. */
  color: number;
  digest?: string;
  /** Index into the page's `entries`. */
  entry: number;
  /** Why it could not run on this machine. */
  gap?: PageGap;
  /** The command that runs it, as written in the manifest, without the arguments that taskscale appends. */
  run: Array<string>;
  /** Absent for work, and without a fitted line. */
  scaling?: Scaling;
  /** The version as tables show it. */
  shown_version?: string;
  /** The files of its program. Empty if unknown. */
  sources: Array<PageFile>;
  /** Whether the sources were recorded with the results. If not, they are the catalog's at the time of the page. */
  sources_recorded: boolean;
  /** Properties besides kind and style. The first two: whether it runs on all CPUs, and whether a task has a stack. */
  tags: Array<string>;
}

/** Metrics that a row is not ranked by, and why. */
export interface PageException {
  metrics: Array<string>;
  reason: string;
  /** Text before the values, such as `≥ `. */
  sign?: string;
  standing: Standing;
}

/** A file of a program. */
export interface PageFile {
  /** Path inside the runtime's folder. */
  path: string;
  /** Position in the block of sources. Programs may share files. */
  text: number;
}

/** Why there is no value, in a word or two and in a sentence. */
export type PageGap = [string, string];

/** What one task is to an entry. */
export interface PageKind {
  about: string;
  /** The title within a sentence. */
  in_sentence: string;
  name: Kind;
  /** Whether a task has a stack of its own. */
  stackful: boolean;
  title: string;
}

/** A metric, as the page offers and shows it. */
export interface PageMetric {
  /** Description in one or two sentences. */
  about: string;
  better: Better;
  /** Its field in a report. */
  field: string;
  name: string;
  /** Title and description for work. Absent if they are the same. */
  of_work?: [string, string] | [string, string];
  /** Name of the bounds shown next to a value. */
  range: string;
  scope: MetricScope;
  shapes: Array<Shape>;
  /** Column head. */
  short: string;
  /** Column head of the spread, as a share of the value. */
  spread: string;
  title: string;
  unit: Unit;
}

/** How entries compare at one N by one metric. */
export interface PageRanking {
  /** The best ranked value of each kind, and of all as `all`. Only values above 0. */
  best: Record<string, number>;
  metric: string;
  /** Positions of the entries with a value, best first. Those with fewer than N alive are last. */
  order: Array<number>;
  tasks: number;
}

/** One entry at one N, over its repetitions. Values are of the repetitions that were ok. If none was, of those that were partial (fewer than N alive). */
export interface PageRow {
  changes?: Record<string, PageChange>;
  /** CPU seconds by phase in the run with the median CPU time, or the mean of the two middle runs. */
  cpu?: [number, number, number] | [number, number, number];
  /** Position in `entries`. */
  entry: number;
  /** Metrics that the row is not ranked by, although it is by others. */
  exceptions?: Array<PageException>;
  /** Values over its repetitions, in the order of the campaign's `metrics`. */
  figures: Array<Figure | null>;
  /** Why values are missing, unless its runs just lack the metric. */
  gap?: PageGap;
  /** Servers: CPU and latency over load. */
  load_curve?: Array<LoadPoint>;
  memory_sources: Array<MemorySource>;
  /** Repetitions that were ok. */
  ok_runs: number;
  parts?: Parts;
  /** Caveats on its values. */
  remarks?: Array<string>;
  /** Repetitions recorded. */
  runs: number;
  /** The repetitions that were not ok, by status. */
  shortfalls?: Array<PageShortfall>;
  /** Why its values are not ranked. Absent if they are. */
  standing?: Standing;
  /** `ok`, `2/3 ok`, or how the runs ended, such as `limit`. */
  status: string;
  tasks: number;
  threads?: number;
  /** Seconds of launch, plateau and drain in the run with the median wall time, or the mean of the two middle runs. They add up to the median. */
  time?: [number, number, number] | [number, number, number];
}

/** Repetitions of a row that failed with the same status. */
export interface PageShortfall {
  reason: string;
  runs: number;
  status: Status;
}

/** The source of a part's size. */
export type PartSource = "live" | "unused" | "mapped" | "kernel";

/** The parts of a footprint, in bytes. From the repetition with the median footprint, or the mean of the two middle ones, so that they add up to the median footprint. */
export interface Parts {
  anon_bytes: number;
  file_bytes: number;
  /** Other kernel memory. */
  kernel_other_bytes: number;
  /** Kernel memory: thread stacks. Null if the kernel does not report them. */
  kernel_stack_bytes: number | null;
  /** Kernel memory: page tables. Null if the kernel does not report them. */
  page_tables_bytes: number | null;
  shmem_bytes: number;
  /** Kernel memory: slab objects. Null if the kernel does not report them. */
  slab_bytes: number | null;
  /** Kernel memory: socket buffers. Null if the kernel does not report them. */
  sock_bytes: number | null;
}

/** A value per task, in bytes, over the repetitions. */
export interface PerTask {
  bytes: number;
  /** 95% interval. Absent for one repetition. */
  interval?: Interval;
}

/** How a value is shown per task: by the slope of the line, or divided by N as bytes or nanoseconds. */
export type PerTaskShown = "slope" | "bytes-per-task" | "nanoseconds";

export interface PlateauCount {
  /** Number of these runs in which the number of live tasks is unknown. */
  alive_unknown: number;
  from: PlateauFrom;
  /** Number of runs that count. */
  runs: number;
}

/** How the start of the plateau was known. All but `protocol` are inferred: that all tasks were alive is proved only if `alive` is present. */
export type PlateauFrom =
  | "protocol"
  | "outside"
  | "ready-line"
  | "ready-tcp"
  | "ready-after"
  | "load-line"
  | "load-after";

/** Values from another publication. */
export interface Published {
  figures: Array<PublishedFigure>;
  hardware: string;
  /** Short name, such as `2024-take2`. */
  id: string;
  /** Names of the metrics that the values are comparable with. */
  metrics: Array<string>;
  /** Caveats on its values. */
  note: string;
  os: string;
  /** The corresponding workload here. */
  our_workload: string;
  source: string;
  /** The workload in its authors' words. */
  workload: string;
}

export interface PublishedFigure {
  /** The corresponding entry here. */
  entry: string;
  memory_bytes: number;
  /** The runtime's name in the publication. */
  runtime: string;
  tasks: number;
  version: string;
  wall_s?: number;
}

/** How entries are ranked. */
export type Rank = "kind" | "all";

/** A number of a sample, as the page shows it. */
export interface SampleField {
  /** Its name in the record, and in `numbers`. */
  name: string;
  title: string;
  unit: ColumnUnit;
}

/** Every run, repeated attempts included: one list per field, with one item per run, in the order of the record. Texts that recur are positions in `texts`. */
export interface Samples {
  attempt: Array<number>;
  /** Position in `commands`: the exact command line. */
  command: Array<number>;
  commands: Array<Array<string>>;
  count: number;
  /** Position in `entries`. */
  entry: Array<number>;
  hold_s: Array<number>;
  memory_source: Array<MemorySource>;
  metrics: Array<number | null>;
  /** The other fields of a sample by name. Nested fields have a dot: `memory.peak_bytes`. A field that no sample has is absent. */
  numbers: Record<string, Array<number | null>>;
  reason: Array<number | null>;
  repetition: Array<number>;
  /** Seconds since 1970 in UTC. */
  started_at: Array<number>;
  status: Array<Status>;
  stderr_tail: Array<number | null>;
  tasks: Array<number>;
  texts: Array<string>;
  /** Position in `texts`, as are `reason`, `stderr_tail` and `metrics`. */
  version: Array<number | null>;
  warnings: Array<Array<Warning>>;
}

/** How the footprint of an entry grows, in words. */
export interface Scaling {
  base: string;
  /** The largest deviation from the line. */
  deviation?: string;
  /** Name, value, and interval or explanation, which may be empty. */
  facts: Array<[string, string, string]>;
  /** Why memory is not linear. */
  nonlinear?: string;
  /** Bytes per task and fixed cost, marked if memory is not linear. */
  slope: string;
}

/** What sections of the page show, in sentences. */
export interface SectionTexts {
  anatomy: string;
  /** Which lines the scaling chart shows if not all fit. Within a sentence. */
  lines: string;
  load: string;
  overview: Record<string, string>;
  scaling: Record<string, string>;
  table: string;
  time: string;
  /** Title of the entries that could not run. */
  unavailable: string;
  versions: string;
  /** Title of the entries that failed or have no value. */
  without_value: string;
}

/** How a program is started, what it prints, and what is measured: docs/reference/protocol.md. */
export type Shape = "hold" | "work" | "serve";

/** A value per task, in bytes, over the repetitions. */
export interface SheetRow {
  bytes: number;
  group: PartSource;
  /** 95% interval. Absent for one repetition. */
  interval?: Interval;
  name: string;
}

/** One file of an entry's program. */
export interface Source {
  /** Path inside the runtime's folder. */
  path: string;
  /** Content. */
  text: string;
}

export interface SourceCount {
  /** Number of runs that count. */
  runs: number;
  source: MemorySource;
}

/** Whether a value is ranked, or why not. */
export type Standing = "ranked" | "reference" | "partial" | "other-source" | "lower-bound";

/** How a run ended. */
export type Status =
  | "ok"
  | "partial"
  | "no-plateau"
  | "failed"
  | "crashed"
  | "killed-oom"
  | "timed-out"
  | "limit"
  | "unavailable";

/** Bytes per task between the medians at two consecutive numbers of tasks. */
export interface Step {
  bytes_per_task: number;
  from_tasks: number;
  to_tasks: number;
}

/** Whether an entry is written as users of the language would write it, or tuned for the benchmark. */
export type Style = "idiomatic" | "tuned";

export interface Unavailable {
  entry: Entry;
  reason: string;
}

/** The unit of a metric. */
export type Unit = "bytes" | "bytes-per-task" | "seconds" | "nanoseconds" | "microseconds" | "per-second";

export interface Version {
  runtime: string;
  version: string;
}

/** A chart over versions. */
export interface VersionsChart {
  svg: string;
  /** Alternative text. */
  text: string;
}

/** A caveat on a run that is otherwise valid. */
export type Warning =
  | "plateau-not-quiet"
  | "plateau-short"
  | "work-short"
  | "work-unsettled"
  | "rate-not-reached"
  | "client-limited"
  | "sockets-uncharged"
  | "plateau-grew"
  | "plateau-fell"
  | "cpu-starved"
  | "no-control-group"
  | "swapped"
  | "processes-unreadable"
  | "memory-uncertain"
  | "peak-sampled"
  | "left-processes"
  | "left-shared-memory"
  | "kernel-account-stale"
  | "stray-output"
  | "machine-busy"
  | "machine-not-locked";

export interface WarningCount {
  /** Names of the entries it occurred with, in the plan's order. */
  entries: Array<string>;
  runs: number;
  text: string;
  warning: Warning;
}

/** The footprint at one number of tasks, compared with the fitted line. */
export interface WorstPoint {
  /** Median of the runs. */
  footprint_bytes: number;
  /** Value of the line. */
  line_bytes: number;
  /** Deviation of the median from the line, as a share of the line. Negative if below. Null if the line is not above 0. */
  off: number | null;
  tasks: number;
}
