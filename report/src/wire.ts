// The page's data as it is written. Made of schema/ by test/wire.test.ts: do not edit.

/** Who measured a campaign, as whoever handed it in says. */
export type By = "project" | "handed-in";

/** What an entry is: the same in every row of it. */
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
  style: Style;
  title: string;
  /** Why the entry could not be tried by those who wrote it; absent where it was. */
  unverified?: string;
  /** What its runtime said of its version. */
  version: string | null;
}

/** What is known of one entry of a campaign. */
export interface EntryFacts {
  /** The commands that build it, as written in the manifest. */
  build: Array<Array<string>>;
  /** SHA-256 over the runtime's folder and version: changes when the program may have. */
  digest?: string;
  env: Record<string, string>;
  /** Of a chat server; absent in older campaigns. */
  fan_out?: FanOut;
  kind: Kind;
  /** `runtime/entry`. */
  name: string;
  notes: Array<string>;
  parallel: boolean;
  /** Measured by the posts as well. */
  posts: boolean;
  /** SHA-256 over what this entry alone is made of: its own files and those it shares, its commands and variables, the toolchain's version and place. Absent in older campaigns. */
  program_digest?: string;
  /** A reference line such as a physical limit: drawn, never ranked. */
  reference: boolean;
  /** The command that runs it, less the arguments that taskscale appends. */
  run: Array<string>;
  runtime: string;
  runtime_title: string;
  /** The files of its program, as they were when the campaign began; none where they were not recorded. */
  sources?: Array<Source>;
  style: Style;
  title: string;
  /** Why it cannot run on this machine. */
  unavailable?: string;
  /** Why nobody could check this entry yet. */
  unverified?: string;
  url: string;
  /** First line of the runtime's version output. */
  version?: string;
  why: string;
  /** The workload of the program that the facts are of. Absent where the campaign has one only. */
  workload?: string;
}

/** Who sends what one member of a chat room says to the others: designs that differ in memory and CPU. */
export type FanOut = "queue" | "direct" | "library";

/** Median, smallest and largest reading, median absolute deviation, and how many readings there were. */
export type Figure = [number, number, number, number, number];

/** How the footprint of one entry grows with the number of tasks: `base + tasks * bytes per task`, where that is so. */
export interface Growth {
  /** Footprint of the program before its first task; absent where fewer than two numbers of tasks were ok. */
  base_bytes: number | null;
  /** 95% interval; absent with fewer than two repetitions that have every N, and where memory is not linear. */
  base_bytes_interval: Interval | null;
  /** What a task takes beyond the bytes that it was told to hold; absent where the workload says nothing of them. */
  bytes_beyond?: number;
  bytes_per_task: number | null;
  /** 95% interval; absent with fewer than two repetitions that have every N, and where memory is not linear. */
  bytes_per_task_interval: Interval | null;
  entry: Entry;
  /** Runs that the line goes through: those that were ok with all tasks alive, of one memory source. */
  points: number;
  /** From each number of tasks to the next: what is known where the line is none. */
  steps: Array<Step>;
  /** Whether the medians lie on the line, each within a tenth of it; absent where two numbers of tasks cannot tell. */
  straight: boolean | null;
  /** The numbers of tasks of these runs, ascending. */
  tasks: Array<number>;
  /** The number of tasks whose median lies farthest off the line; absent likewise. */
  worst: WorstPoint | null;
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

/** What one task is to its runtime. */
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

/** Facts of the machine that bear on the figures. */
export interface Machine {
  architecture: string;
  cpu: string;
  cpu_governor?: string;
  /** CPUs that taskscale may use. */
  cpus: number;
  hostname: string;
  kernel: string;
  /** System limits that bound tasks, by their usual names. */
  limits: Record<string, number>;
  memory_bytes: number;
  /** PRETTY_NAME of /etc/os-release. */
  os: string;
  page_bytes: number;
  swap_bytes: number;
  /** Transparent huge pages: always, madvise or never. */
  transparent_huge_pages?: string;
  /** What `taskscale doctor` had to say against this machine when the campaign began. */
  warnings: Array<string>;
}

/** Where memory figures come from. Figures of different sources are not comparable to the byte. */
export type MemorySource = "cgroup-v2" | "cgroup-v1" | "proc";

/** One campaign, or one part of it: its report, with rows in place of groups. */
export interface PageCampaign {
  /** Who measured it; absent where it was never handed in. */
  by?: By;
  /** What tells this campaign from others: the name of its folder. Empty where it has none. */
  campaign: string;
  /** The command line that made the campaign. */
  command: Array<string>;
  /** On how many CPUs programs were let run; absent where on all. */
  cpus?: number;
  created_at: string;
  /** In the catalogue's order. */
  entries: Array<PageEntry>;
  /** How the footprint of each entry grows; by kind, unless all are ranked together, the cheapest task first. */
  growth: Array<Growth>;
  hold: Hold;
  /** How many bytes each task was told to hold; absent where the workload says nothing of it. */
  holds_bytes?: number;
  machine: Machine;
  /** Wall-clock time of these runs together, in seconds. */
  measured_s: number;
  /** Where memory figures come from, the most usual source first. More than one: not comparable to the byte. */
  memory_sources: Array<SourceCount>;
  /** What a reader must know to read the figures right. */
  notes: Array<string>;
  /** What one operation is; of the shape `work` only. */
  operation?: string;
  /** What the workload was given on top of its defaults. */
  params?: Record<string, string>;
  /** Workload, parameters and CPUs in a few words: campaigns are compared part by part. */
  part: string;
  plan_digest: string;
  /** How the plateaus of the runs that feed figures were known, the most usual way first. Empty for campaigns of before this was recorded. */
  plateaus: Array<PlateauCount>;
  /** Among whom rows are ranked. */
  rank: Rank;
  repetitions: number;
  /** One for each entry and number of tasks that was run, in the order of the report: by tasks, then as ranked. */
  rows: Array<PageRow>;
  /** Runs recorded, repeated attempts included. */
  runs: number;
  schema: number;
  seed: number;
  /** The workload's shape; `hold` where absent. */
  shape?: Shape;
  /** Samples of entries or workloads that are not of this campaign; they are left out. */
  stray_samples: number;
  /** The numbers of tasks, ascending. */
  tasks: Array<number>;
  /** Version of the taskscale that planned the campaign. */
  taskscale: string;
  /** Entries that could not run on this machine; they have no rows. */
  unavailable: Array<Unavailable>;
  /** Runs of the plan that are not recorded yet: the campaign was cut off, or is going on. */
  unmeasured_runs: number;
  /** What each runtime said of its version. */
  versions: Array<Version>;
  warnings: Array<WarningCount>;
  workload: string;
}

/** All that a page shows at first. What only the details of an entry need stands in blocks of their own. */
export interface PageData {
  /** One or more, in the order in which they were given, a campaign of several parts once for each; the first of a part is the one that others of that part are compared with. */
  campaigns: Array<PageCampaign>;
  /** What entries are, whatever they do: the same for all campaigns and parts, and so each once. */
  entries: Array<EntryFacts>;
  /** The names of the figures of rows, as the report's fields are called, in their order there. */
  figures: Array<string>;
  /** Figures that others published, shown as marks. */
  published: Array<Published>;
  schema: number;
  /** Version of the taskscale that made the page. */
  taskscale: string;
}

/** An entry's program for one part of a campaign. */
export interface PageEntry {
  /** The commands that build it, as written in the manifest. */
  build: Array<Array<string>>;
  /** The colour of its language, the same in every picture. */
  colour: number;
  digest?: string;
  /** Position in the page's `entries`: what it is. */
  entry: number;
  /** The command that runs it, likewise, less the arguments that taskscale appends. */
  run: Array<string>;
  /** The files of its program; empty where they are not known. */
  sources: Array<PageFile>;
  /** Whether the sources are those that were measured. Else they are the catalogue's when the page was made. */
  sources_recorded: boolean;
}

/** A file of a program. */
export interface PageFile {
  /** Inside the runtime's folder. */
  path: string;
  /** Position in the block of sources: programs share files. */
  text: number;
}

/** One entry at one number of tasks, over its repetitions. Figures are of the repetitions that were ok; where none was, of those that were partial (fewer than N alive). */
export interface PageRow {
  /** The clients used up a CPU in the closed loop: the server may be able to do more messages per second. */
  client_limited?: boolean;
  /** CPU time by phase, of the run with the median CPU time, likewise. */
  cpu?: [number, number, number] | [number, number, number];
  /** Position in `entries`. */
  entry: number;
  /** Over its repetitions, in the order of the page's `figures`. */
  figures: Array<Figure | null>;
  /** Of a server: CPU and latency over load. */
  load_curve?: Array<LoadPoint>;
  memory_sources: Array<MemorySource>;
  /** Repetitions that were ok. */
  ok_runs: number;
  parts?: Parts;
  /** Whether it takes part in the comparison: see the report's rows. */
  ranked: boolean;
  /** Repetitions recorded. */
  runs: number;
  /** Fewest tasks alive at once in a repetition that fell short. */
  short_alive?: number;
  /** The repetitions that were not ok, by status. */
  shortfalls: Array<PageShortfall>;
  /** `ok`, `2/3 ok`, or what became of it, such as `limit`. */
  status: string;
  tasks: number;
  threads?: number;
  /** Seconds of launch, plateau and drain in the run with the median wall time (the mean of the two middle ones): they add up to it. */
  time?: [number, number, number] | [number, number, number];
  /** Warnings of its samples, each once. */
  warnings: Array<Warning>;
}

/** Repetitions of a row that ended alike and not well. */
export interface PageShortfall {
  reason: string;
  runs: number;
  status: Status;
}

/** What a footprint is made of, in bytes. Of the repetition whose footprint is the median; the mean of the two in the middle where their number is even. So the parts sum up to the median of the footprint, which medians of each part would not. */
export interface Parts {
  anon_bytes: number;
  file_bytes: number;
  /** Kernel memory that is none of the items above. */
  kernel_other_bytes: number;
  /** Items of kernel memory: absent where the kernel does not tell them. */
  kernel_stack_bytes: number | null;
  page_tables_bytes: number | null;
  shmem_bytes: number;
  slab_bytes: number | null;
  sock_bytes: number | null;
}

export interface PlateauCount {
  /** Of these, runs in which nobody said how many tasks were alive. */
  alive_unknown: number;
  from: PlateauFrom;
  /** Runs that feed figures. */
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

/** Figures that somebody published. */
export interface Published {
  figures: Array<PublishedFigure>;
  hardware: string;
  /** Short name: `2024-take2`. */
  id: string;
  os: string;
  /** The workload that stands for it here. */
  our_workload: string;
  source: string;
  /** As its authors put it. */
  workload: string;
}

export interface PublishedFigure {
  /** The entry that stands for it here. */
  entry: string;
  memory_bytes: number;
  /** As its authors call it. */
  runtime: string;
  tasks: number;
  version: string;
  wall_s: number;
}

/** Among whom entries are ranked. */
export type Rank = "kind" | "all";

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

/** How a program is started, what it says, and what is measured of it: docs/reference/protocol.md. */
export type Shape = "hold" | "work" | "serve";

/** One file of an entry's program. */
export interface Source {
  /** Inside the runtime's folder. */
  path: string;
  text: string;
}

export interface SourceCount {
  /** Runs that feed figures. */
  runs: number;
  source: MemorySource;
}

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

/** Whether an entry is what the language's users would write, or has been turned for the benchmark. */
export type Style = "idiomatic" | "tuned";

export interface Unavailable {
  entry: Entry;
  reason: string;
}

export interface Version {
  runtime: string;
  version: string;
}

/** What a reader of a sample's figures should know. */
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
  /** What the line says. */
  line_bytes: number;
  /** By which share of the line the median lies above it, or, negative, below; absent of a line not above zero. */
  off: number | null;
  tasks: number;
}
