// The data of the page, as its parts use it. `data.ts` reads it from what schema/page.schema.json and
// schema/page-details.schema.json describe.

export interface PageData {
  schema: number;
  taskscale: string;
  campaigns: Campaign[];
  published: Published[];
}

/** Tasks wait, or operations are done as fast as they can be. */
export type Shape = "hold" | "work";

/** One campaign, or one part of it. */
export interface Campaign {
  label: string;
  taskscale: string;
  created_at: string;
  command: string;
  seed: string;
  plan_digest: string;
  workload: string;
  /** Workload, parameters and CPUs in a few words. */
  part: string;
  shape: Shape;
  /** What one operation is; of the shape `work` only. */
  operation?: string;
  tasks: number[];
  repetitions: number;
  hold: { rule: "chosen"; plateau_s: number } | { rule: "fixed"; seconds: number };
  machine: Machine;
  runs: number;
  measured_s: number;
  unmeasured_runs: number;
  notes: string[];
  memory_sources: { source: string; runs: number }[];
  warnings: { warning: string; text: string; runs: number }[];
  entries: Entry[];
  rows: Row[];
}

export interface Machine {
  hostname: string;
  os: string;
  kernel: string;
  architecture: string;
  cpu: string;
  cpus: number;
  memory_bytes: number;
  swap_bytes: number;
  page_bytes: number;
  transparent_huge_pages?: string;
  cpu_governor?: string;
  limits: Record<string, number>;
  warnings: string[];
}

export interface Entry {
  name: string;
  title: string;
  runtime: string;
  runtime_title: string;
  url: string;
  kind: string;
  stackful: boolean;
  parallel: boolean;
  style: string;
  reference: boolean;
  posts: boolean;
  unverified?: string;
  why: string;
  notes: string[];
  version?: string;
  unavailable?: string;
  build: string[];
  run: string;
  env: Record<string, string>;
  digest?: string;
  /** `text` is a position in `source_texts` of the campaign's details. */
  sources: { path: string; text: number }[];
  /** Whether they are those that were measured. */
  sources_recorded: boolean;
  growth?: Growth;
}

export interface Growth {
  base_bytes: number;
  base_bytes_interval?: [number, number];
  bytes_per_task: number;
  bytes_per_task_interval?: [number, number];
  /** Whether the medians lie on the line; unknown of two numbers of tasks. */
  straight?: boolean;
  /** The number of tasks whose median lies farthest off it, and by which share of it. */
  worst_tasks?: number;
  worst_off?: number;
  tasks: number[];
  /** Bytes that a task more took from each of `tasks` to the next. */
  steps: number[];
}

export interface Figure {
  median: number;
  min: number;
  max: number;
  mad: number;
  readings: number;
}

export type FigureName =
  | "footprint_bytes"
  | "kernel_bytes"
  | "peak_bytes"
  | "rss_peak_bytes"
  | "launch_s"
  | "wall_s"
  | "cpu_s"
  | "wall_ns_per_op"
  | "cpu_ns_per_op"
  | "ops_per_s"
  | "threads";

export interface Row {
  /** Position in `entries`. */
  entry: number;
  tasks: number;
  runs: number;
  ok_runs: number;
  status: string;
  ranked: boolean;
  short_alive?: number;
  memory_sources: string[];
  figures: Partial<Record<FigureName, Figure>>;
  parts?: Parts;
  time?: Phases;
  cpu?: Phases;
  shortfalls: { status: string; runs: number; reason: string }[];
  warnings: string[];
}

export interface Parts {
  anon_bytes: number;
  shmem_bytes: number;
  file_bytes: number;
  kernel_stack_bytes: number;
  page_tables_bytes: number;
  sock_bytes: number;
  kernel_rest_bytes: number;
}

export interface Phases {
  launch_s: number;
  plateau_s: number;
  drain_s: number;
}

/** What only the details of an entry show, of one campaign: read when it is first asked for. */
export interface Details {
  source_texts: string[];
  samples: Samples;
}

export interface Samples {
  count: number;
  entry: number[];
  tasks: number[];
  repetition: number[];
  attempt: number[];
  status: string[];
  started_at: string[];
  hold_s: number[];
  command: number[];
  version: (number | null)[];
  reason: (number | null)[];
  stderr_tail: (number | null)[];
  metrics: (number | null)[];
  warnings: string[][];
  memory_source: string[];
  numbers: Record<string, (number | null)[]>;
  texts: string[];
}

export interface Published {
  id: string;
  source: string;
  workload: string;
  /** The workload that stands for it here. */
  our_workload: string;
  hardware: string;
  os: string;
  figures: PublishedFigure[];
}

export interface PublishedFigure {
  entry: string;
  runtime: string;
  version: string;
  tasks: number;
  memory_bytes: number;
  wall_s: number;
}
