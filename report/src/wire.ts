// The page's data as it is written. Made of schema/ by test/wire.test.ts: do not edit.

/** Which of two values is better. */
export type Better = "less" | "more";

/** Who measured, according to the submitter. */
export type By = "project" | "handed-in";

/** A part of a whole in a chart. */
export interface ChartPart {
  about: string;
  /** The fields of a row's `parts` that it sums up; none for others. */
  fields?: Array<string>;
  /** Its class in the style sheet. */
  id: string;
  title: string;
}

/** How values of a column are written. */
export type ColumnUnit = "text" | "tasks" | "count" | "share" | "times" | Unit;

/** Facts on an entry, the same in every row. */
export interface Entry {
  /** Of a chat server. */
  fan_out?: FanOut;
  kind: Kind;
  /** `runtime/entry`. */
  name: string;
  /** Whether its tasks run on several CPUs at once. */
  parallel: boolean;
  /** A reference line such as a physical limit: shown, never ranked. */
  reference: boolean;
  /** The version as tables have it: `1.26`, or `1.14 (2022)` where support of the series had ended over a year before. */
  shown_version: string | null;
  style: Style;
  title: string;
  /** Why the entry's authors could not run it, if so. */
  unverified?: string;
  /** The version string of its runtime. */
  version: string | null;
}

/** Facts on one entry of a campaign. */
export interface EntryFacts {
  /** Build commands. */
  build: Array<Array<string>>;
  /** SHA-256 over the runtime's folder, version and place: the key of the build cache. */
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
  /** SHA-256 over what this entry alone consists of: commands, variables, toolchain and its files. Absent in old results. */
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
  /** Versions that were asked for, by the name of a runtime or a library: those that were found or resolved. */
  versions?: Record<string, string>;
  /** Why the entry is written this way. */
  why: string;
  /** Workload of the program, if there are several. */
  workload?: string;
}

/** A sheet, and what it is of. */
export interface Explanation {
  /** The adapter that was asked, and why that one. */
  adapter?: [string, string] | [string, string];
  /** `runtime/entry`, or the name of a program. */
  entry: string;
  kind: Kind;
  /** What the program printed in `metric` lines, such as the size of a future. */
  metrics?: Record<string, Metric>;
  /** How far the adapter moved the slope, as a share of it; absent without an adapter. */
  moved?: number;
  /** What a reader must know, a sentence each. */
  notes: Array<string>;
  repetitions: number;
  /** By group, the largest of each first. */
  rows: Array<SheetRow>;
  /** Of the footprint. */
  slope: PerTask;
  tasks: Array<number>;
  unexplained: PerTask;
  /** The version of the toolchain. */
  version?: string;
  workload: string;
}

/** How a chat server sends a message to the other members of a room; the designs differ in memory and CPU time. */
export type FanOut = "queue" | "direct" | "library";

/** Median, smallest and largest reading, median absolute deviation, and how many readings there were. */
export type Figure = [number, number, number, number, number];

/** How the footprint of one entry grows with N: `base + tasks * bytes per task`, if it is linear. */
export interface Growth {
  /** Footprint of the program before its first task; absent where fewer than two numbers of tasks were ok. */
  base_bytes: number | null;
  /** 95% interval; absent with fewer than two repetitions that have every N, and where memory is not linear. */
  base_bytes_interval: Interval | null;
  /** Bytes per task above those that the program was asked to keep; absent where the workload does not specify them. */
  bytes_beyond?: number;
  bytes_per_task: number | null;
  /** 95% interval; absent with fewer than two repetitions that have every N, and where memory is not linear. */
  bytes_per_task_interval: Interval | null;
  entry: Entry;
  /** Runs that the line goes through: those that were ok with all tasks alive, of one memory source. */
  points: number;
  /** The cost from each N to the next, for nonlinear memory. */
  steps: Array<Step>;
  /** Whether memory is linear: every median is within 10% of the line. Absent with only two N. */
  straight: boolean | null;
  /** The numbers of tasks of these runs, ascending. */
  tasks: Array<number>;
  /** The N whose median deviates most from the line; absent likewise. */
  worst: WorstPoint | null;
}

/** The answer at one N, with what its readers must know. */
export interface Headline {
  /** In pieces: every second one stands out. */
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
  /** From the scheduled send time, in microseconds; unknown in the closed loop, where the rate was not reached, or where the clients sent late. */
  latency_p50_us?: number;
  latency_p99_us?: number;
  /** Messages per second. */
  per_s: number;
  /** Share of the capacity that was offered; 1 for the closed loop, which finds the capacity. */
  share: number;
}

/** Facts on the machine that matter for results. */
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

/** A metric that a program prints. */
export interface Metric {
  /** Its unit. */
  unit: string;
  /** The value. */
  value: number;
}

/** What a metric belongs to. */
export type MetricScope = "run" | "slope" | "base";

/** One campaign, or one series of it: its report, with rows in place of groups. */
export interface PageCampaign {
  /** Who measured; absent for results that were never submitted. */
  by?: By;
  /** The name of the results folder, to distinguish it from others; may be empty. */
  campaign: string;
  /** The command line that made the results. */
  command: Array<string>;
  /** The command that was run, and one that repeats it. */
  commands: [string, string];
  /** What was measured where and when, in a line. */
  context: string;
  /** On how many CPUs programs were let run; absent where on all. */
  cpus?: number;
  created_at: string;
  /** In the catalog's order. */
  entries: Array<PageEntry>;
  /** Name and text of each fact. */
  facts: Array<[string, string]>;
  /** How the footprint of each entry grows; by kind, unless all are ranked together, the cheapest task first. */
  growth: Array<Growth>;
  /** The answer at each N, of kinds and of all together. */
  headlines: Array<Headline>;
  hold: Hold;
  /** Bytes that each task was asked to keep; absent where the workload does not specify them. */
  holds_bytes?: number;
  machine: Machine;
  /** Wall-clock time of these runs together, in seconds. */
  measured_s: number;
  /** Memory sources, the most frequent first. Values of different sources are not comparable to the byte. */
  memory_sources: Array<SourceCount>;
  /** Names of the metrics that entries are compared by, in the order of a row's figures; the first is what they are ranked by. */
  metrics: Array<string>;
  /** The notes below the tables. */
  notes: Array<string>;
  /** What one operation is; only for the shape `work`. */
  operation?: string;
  /** The N that stands for the series in an overview. */
  overview_tasks?: number;
  /** Parameters that differ from the workload's defaults. */
  params?: Record<string, string>;
  /** Workload, parameters and CPUs in a few words: campaigns are compared by series. */
  part: string;
  /** What of each is shown per task. */
  per_task: Array<PerTaskShown | null>;
  plan_digest: string;
  /** How the plateaus of the runs that count were found, the most frequent way first. Empty for old results. */
  plateaus: Array<PlateauCount>;
  /** Among whom rows are ranked. */
  rank: Rank;
  /** The order of entries at each N by each metric. */
  rankings: Array<PageRanking>;
  repetitions: number;
  /** One for each entry and number of tasks that was run, in the order of the report: by tasks, then as ranked. */
  rows: Array<PageRow>;
  /** Runs recorded, repeated attempts included. */
  runs: number;
  /** How tasks waited, or what an operation is. */
  scenario: string;
  schema: number;
  seed: number;
  /** The workload's shape; `hold` if absent. */
  shape?: Shape;
  /** Samples of other entries or workloads, which are ignored. */
  stray_samples: number;
  /** The numbers of tasks, ascending. */
  tasks: Array<number>;
  /** Version of the taskscale that planned the runs. */
  taskscale: string;
  /** Entries that could not run on this machine; they have no rows. */
  unavailable: Array<Unavailable>;
  /** Planned runs without a sample: measuring was interrupted, or is still running. */
  unmeasured_runs: number;
  /** The version string of each runtime. */
  versions: Array<Version>;
  warnings: Array<WarningCount>;
  workload: string;
}

/** One column. Its path leads from an entry's `entry`, `row`, `letter`, `status` or `times_best` to what is sorted by. */
export interface PageColumn {
  /** What the title leaves out. */
  about?: string;
  /** Its name in the CSV of a report, where that has it. */
  id: string;
  /** The metric that it is of: results that lack it have no such column. */
  metric?: string;
  path: string;
  title: string;
  unit: ColumnUnit;
}

/** The data that the page shows at first. Details of an entry are in separate blocks. */
export interface PageData {
  /** Where the bytes of tasks are, as `explain` found them. */
  anatomy?: Array<Explanation>;
  /** What multiples are of. */
  best: Record<string, string>;
  /** The campaigns in the given order, once for each series. The first of a series is the one that others are compared with. */
  campaigns: Array<PageCampaign>;
  /** Of the table of all values. */
  columns: Array<PageColumn>;
  /** Facts on entries that do not depend on campaign or series. */
  entries: Array<EntryFacts>;
  /** Multiples of the best from which on the shade of a cell is darker. */
  heat_steps: [number, number, number, number, number];
  kinds: Array<PageKind>;
  metrics: Array<PageMetric>;
  no_fit: PageGap;
  no_program: PageGap;
  /** Of runs without a metric, and of entries without a run at some N, without a line, and without a program for a series. */
  no_value: PageGap;
  not_measured: PageGap;
  /** Where parts of a task's memory are known from. */
  part_sources: Array<ChartPart>;
  /** What a footprint is made of. */
  parts: Array<ChartPart>;
  /** What a run consists of. */
  phases: Array<ChartPart>;
  /** Values from other publications, shown as markers. */
  published: Array<Published>;
  /** Of the table of an entry's runs. */
  sample_fields: Array<SampleField>;
  schema: number;
  /** A smaller deviation of repetitions, as a share, is not shown. */
  shown_spread: number;
  /** What stands in place of a multiple, and in place of a place. */
  standings: Record<string, [string, string]>;
  /** Version of the taskscale that made the page. */
  taskscale: string;
  /** A chart for each series with entries in several versions. */
  versions?: Array<VersionsChart>;
}

/** An entry's program for one series of a campaign. */
export interface PageEntry {
  /** What distinguishes it from a usual one of its kind, in short. */
  badges?: Array<string>;
  /** The commands that build it, as written in the manifest. */
  build: Array<Array<string>>;
  /** The color of its language, the same in every picture. */
  colour: number;
  digest?: string;
  /** Index into the page's `entries`. */
  entry: number;
  /** Why it could not run on this machine. */
  gap?: PageGap;
  /** The command that runs it, likewise, without the arguments that taskscale appends. */
  run: Array<string>;
  /** Absent for work, and where there is no line. */
  scaling?: Scaling;
  /** The version as tables have it. */
  shown_version?: string;
  /** The files of its program; empty where unknown. */
  sources: Array<PageFile>;
  /** Whether the sources are those that were measured, or else the catalog's when the page was made. */
  sources_recorded: boolean;
  /** What it is besides its kind and style; first of all whether it runs on all CPUs. */
  tags: Array<string>;
}

/** Metrics that a row is not ranked by, and why. */
export interface PageException {
  metrics: Array<string>;
  reason: string;
  /** Before their values. */
  sign?: string;
  standing: Standing;
}

/** A file of a program. */
export interface PageFile {
  /** Inside the runtime's folder. */
  path: string;
  /** Position in the block of sources: programs share files. */
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
  /** One sentence. */
  about: string;
  better: Better;
  /** The field of a report that has its values. */
  field: string;
  name: string;
  /** Title and sentence for work; absent where they are the same. */
  of_work?: [string, string] | [string, string];
  /** The bounds that are shown beside a value. */
  range: string;
  scope: MetricScope;
  shapes: Array<Shape>;
  /** Over a column. */
  short: string;
  /** Over a column of half their distance, as a share. */
  spread: string;
  title: string;
  unit: Unit;
}

/** How entries compare at one N by one metric. */
export interface PageRanking {
  /** The best ranked value of each kind, and of `all`. */
  best: Record<string, number>;
  metric: string;
  /** Positions of the entries with a value, the best first; those with fewer than N alive come last. */
  order: Array<number>;
  tasks: number;
}

/** One entry at one N, over its repetitions. Values include the repetitions that were ok, or else those that were partial (fewer than N alive). */
export interface PageRow {
  /** CPU time by phase, of the run with the median CPU time, likewise. */
  cpu?: [number, number, number] | [number, number, number];
  /** Position in `entries`. */
  entry: number;
  /** The metrics whose values do not. */
  exceptions?: Array<PageException>;
  /** Over its repetitions, in the order of the campaign's `metrics`. */
  figures: Array<Figure | null>;
  /** Why it lacks figures, where that is not for lack of the metric. */
  gap?: PageGap;
  /** Of a server: CPU and latency over load. */
  load_curve?: Array<LoadPoint>;
  memory_sources: Array<MemorySource>;
  /** Repetitions that were ok. */
  ok_runs: number;
  parts?: Parts;
  /** What a reader of any of its values must know. */
  remarks?: Array<string>;
  /** Repetitions recorded. */
  runs: number;
  /** The repetitions that were not ok, by status. */
  shortfalls?: Array<PageShortfall>;
  /** Why its values do not take part in the comparison. */
  standing?: Standing;
  /** `ok`, `2/3 ok`, or how it ended, such as `limit`. */
  status: string;
  tasks: number;
  threads?: number;
  /** Seconds of launch, plateau and drain in the run with the median wall time (the mean of the two middle ones): they add up to it. */
  time?: [number, number, number] | [number, number, number];
}

/** Repetitions of a row that ended alike and not well. */
export interface PageShortfall {
  reason: string;
  runs: number;
  status: Status;
}

/** Where the size of a part is known from. */
export type PartSource = "live" | "unused" | "mapped" | "kernel";

/** The parts of a footprint, in bytes. Of the repetition with the median footprint, or the mean of the two middle ones if their number is even. So the parts add up to the median of the footprint, unlike medians of each part. */
export interface Parts {
  anon_bytes: number;
  file_bytes: number;
  /** Kernel memory outside the items above. */
  kernel_other_bytes: number;
  /** Items of kernel memory: absent where the kernel does not report them. */
  kernel_stack_bytes: number | null;
  page_tables_bytes: number | null;
  shmem_bytes: number;
  slab_bytes: number | null;
  sock_bytes: number | null;
}

/** A value per task, in bytes, over the repetitions. */
export interface PerTask {
  bytes: number;
  /** Of 95%; absent for one repetition. */
  interval?: Interval;
}

/** The part of a value that one task takes: the slope of the line, or a share of the bytes or of the time. */
export type PerTaskShown = "slope" | "bytes-per-task" | "nanoseconds";

export interface PlateauCount {
  /** Of these, runs whose number of live tasks is unknown. */
  alive_unknown: number;
  from: PlateauFrom;
  /** Number of runs that count. */
  runs: number;
}

/** How the beginning of the plateau was known. All but the first are taskscale's inference: that all tasks were alive then was not proved, unless `alive` is there. */
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
  /** Short name: `2024-take2`. */
  id: string;
  /** Names of the metrics that they may stand beside. */
  metrics: Array<string>;
  /** What a reader of its values must know. */
  note: string;
  os: string;
  /** The workload that corresponds to it here. */
  our_workload: string;
  source: string;
  /** As its authors put it. */
  workload: string;
}

export interface PublishedFigure {
  /** The entry that corresponds to it here. */
  entry: string;
  memory_bytes: number;
  /** As its authors call it. */
  runtime: string;
  tasks: number;
  version: string;
  wall_s?: number;
}

/** Among whom entries are ranked. */
export type Rank = "kind" | "all";

/** A number of a sample, as the page writes it. */
export interface SampleField {
  /** Its name in the record, and in `numbers`. */
  name: string;
  title: string;
  unit: ColumnUnit;
}

/** Every single run, repeated attempts included: one list for each field, all equally long, in the order of the record. A field that no sample has is left out. Texts that recur are positions in `texts`. */
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
  /** The other fields of a sample by their names, those of `time`, `cpu`, `work`, `memory` and `plateau` after a dot: `memory.peak_bytes`. */
  numbers: Record<string, Array<number | null>>;
  reason: Array<number | null>;
  repetition: Array<number>;
  /** Seconds since 1970 in UTC. */
  started_at: Array<number>;
  status: Array<Status>;
  stderr_tail: Array<number | null>;
  tasks: Array<number>;
  texts: Array<string>;
  /** Position in `texts`, as for all that follow until `warnings`. */
  version: Array<number | null>;
  warnings: Array<Array<Warning>>;
}

/** How the footprint of an entry grows, in words. */
export interface Scaling {
  base: string;
  /** The largest deviation from the line. */
  deviation?: string;
  /** Name, value and interval or explanation. */
  facts: Array<[string, string, string]>;
  /** Why memory is not linear. */
  nonlinear?: string;
  /** Bytes per task and fixed cost, marked if memory is not linear. */
  slope: string;
}

/** How a program is started, what it prints, and what is measured: docs/reference/protocol.md. */
export type Shape = "hold" | "work" | "serve";

/** A value per task, in bytes, over the repetitions. */
export interface SheetRow {
  bytes: number;
  group: PartSource;
  /** Of 95%; absent for one repetition. */
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

/** Whether a value takes part in the comparison, or why not. */
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

/** Growth from the median at one number of tasks to that at the next. */
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

/** A chart over versions, drawn. */
export interface VersionsChart {
  svg: string;
  /** For those who cannot see it. */
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

/** One number of tasks against the line. */
export interface WorstPoint {
  /** The median of its runs. */
  footprint_bytes: number;
  /** The value of the line. */
  line_bytes: number;
  /** Deviation of the median from the line, as a share of the line; negative if below. Absent if the line is not above 0. */
  off: number | null;
  tasks: number;
}
