// The table of every figure, as data: its columns, its rows, and how they are sorted.

import * as format from "./format.ts";
import { offLine, slope } from "./growth.ts";
import { headline } from "./metrics.ts";
import { type State, shapeOf } from "./state.ts";
import type { Entry, FigureName, PageData, Parts, Row, Shape } from "./types.ts";
import { entriesOf, entryOf, letter, passes, ranking, rowOf, shownCampaigns } from "./view.ts";

export interface Cell {
  entry: Entry;
  campaign: number;
  /** Of the campaign. */
  letter: string;
  row?: Row;
  timesBest?: number;
}

export interface Column {
  id: string;
  title: string;
  /** What the title leaves out. */
  about?: string;
  group: string;
  numeric: boolean;
  /** What is sorted by; unknown comes last either way. */
  key: (cell: Cell) => number | string | undefined;
  text: (cell: Cell) => string;
}

function numeric(
  id: string,
  group: string,
  title: string,
  key: (cell: Cell) => number | undefined,
  show: (value: number) => string,
  about?: string,
): Column {
  const text = (cell: Cell) => {
    const value = key(cell);
    return value === undefined ? "" : show(value);
  };
  return { id, title, group, numeric: true, key, text, ...(about ? { about } : {}) };
}

/** A lower bound where the clients were the limit. */
function atLeast(column: Column): Column {
  const text = (cell: Cell) => (cell.row?.client_limited ? `≥ ${column.text(cell)}` : column.text(cell));
  return { ...column, text };
}

function words(id: string, title: string, text: (cell: Cell) => string, about?: string): Column {
  return { id, title, group: "", numeric: false, key: text, text, ...(about ? { about } : {}) };
}

const median = (name: FigureName) => (cell: Cell) => cell.row?.figures[name]?.median;
const part = (name: keyof Parts) => (cell: Cell) => cell.row?.parts?.[name] ?? undefined;
/** By the place among `PHASES`. */
const phase = (of: "time" | "cpu", at: 0 | 1 | 2) => (cell: Cell) => cell.row?.[of]?.[at];
const worst = (cell: Cell) => {
  const off = cell.entry.growth?.worst?.off;
  return off == null ? undefined : Math.abs(off);
};
const share = (value: number) => `${format.grouped(value * 100, 1)}%`;

/** What an entry is, and how its runs went. */
const ENTRY: Column[] = [
  words("entry", "Entry", (cell) => cell.entry.name),
  words("kind", "Kind", (cell) => cell.entry.kind),
  words("style", "Style", (cell) => (cell.entry.reference ? "reference" : cell.entry.style)),
  words(
    "cpus",
    "Runs on",
    (cell) => (cell.entry.parallel ? "all CPUs" : "one CPU"),
    "of the CPUs available to the program",
  ),
  numeric("n", "", "N", (cell) => cell.row?.tasks, format.count, "number of tasks"),
  words(
    "status",
    "Status",
    (cell) => cell.row?.status ?? (cell.entry.unavailable ? "unavailable" : "not measured"),
  ),
  numeric("runs", "", "Runs ok", (cell) => cell.row?.ok_runs, String),
];

/** How far the runs lie apart in a figure. */
function spread(name: FigureName, group: string, of: string, show: (value: number) => string): Column[] {
  return [
    numeric(
      "mad",
      group,
      "± MAD",
      (cell) => {
        const figure = cell.row?.figures[name];
        return figure && figure.readings > 1 && figure.median > 0 ? figure.mad / figure.median : undefined;
      },
      share,
      `median absolute deviation of the ${of}`,
    ),
    numeric("min", group, "Smallest", (cell) => cell.row?.figures[name]?.min, show, `smallest ${of}`),
    numeric("max", group, "Largest", (cell) => cell.row?.figures[name]?.max, show, `largest ${of}`),
    numeric("times", group, "vs best", (cell) => cell.timesBest, format.times),
  ];
}

/** What the footprint is made of. */
const MADE_OF: Column[] = [
  numeric("anon", "Memory", "Anonymous", part("anon_bytes"), format.bytes),
  numeric("shmem", "Memory", "Shared", part("shmem_bytes"), format.bytes),
  numeric("file", "Memory", "File", part("file_bytes"), format.bytes),
  numeric("kernel", "Memory", "Kernel", median("kernel_bytes"), format.bytes, "kernel memory of all kinds"),
  numeric("stacks", "Memory", "Kernel stacks", part("kernel_stack_bytes"), format.bytes),
  numeric("tables", "Memory", "Page tables", part("page_tables_bytes"), format.bytes),
  numeric("sockets", "Memory", "Sockets", part("sock_bytes"), format.bytes),
  numeric("slab", "Memory", "Slab", part("slab_bytes"), format.bytes, "objects of the kernel"),
  numeric(
    "rest",
    "Memory",
    "Other",
    part("kernel_other_bytes"),
    format.bytes,
    "kernel memory of other kinds",
  ),
];

const PEAKS: Column[] = [
  numeric("peak", "Memory", "Peak", median("peak_bytes"), format.bytes),
  numeric("rss", "Memory", "Peak RSS", median("rss_peak_bytes"), format.bytes),
];

const LAUNCH = numeric("launch", "Time", "Launch", median("launch_s"), format.seconds);

const END: Column[] = [
  words("source", "Memory source", (cell) => cell.row?.memory_sources.join(", ") ?? ""),
  words("version", "Version", (cell) => cell.entry.version ?? ""),
];

const threads = (when: string) =>
  numeric(
    "threads",
    "",
    "Threads",
    (cell) => cell.row?.threads,
    (value) => format.grouped(value),
    when,
  );

/** Of tasks that say how late they woke. */
const TICKS: Column[] = [
  numeric(
    "cpu-tick",
    "Tick",
    "CPU/wake-up",
    median("cpu_ns_per_tick"),
    format.nanoseconds,
    "CPU time per wake-up",
  ),
  numeric(
    "late-p50",
    "Tick",
    "Late p50",
    median("late_p50_us"),
    format.microseconds,
    "delay of wake-ups: median",
  ),
  numeric(
    "late-p99",
    "Tick",
    "Late p99",
    median("late_p99_us"),
    format.microseconds,
    "delay of wake-ups: 99th percentile",
  ),
  numeric(
    "late-max",
    "Tick",
    "Late max",
    median("late_max_us"),
    format.microseconds,
    "delay of wake-ups: maximum",
  ),
];

/** Of tasks that wait. */
const HOLD: Column[] = [
  ...ENTRY,
  numeric("footprint", "Memory", "Footprint", median("footprint_bytes"), format.bytes),
  ...spread("footprint_bytes", "Memory", "footprint", format.bytes),
  ...MADE_OF,
  ...PEAKS,
  {
    ...numeric(
      "task",
      "Growth",
      "Bytes per task",
      (cell) => cell.entry.growth?.bytes_per_task,
      format.perTask,
    ),
    text: (cell) => (cell.entry.growth ? slope(cell.entry.growth) : ""),
  },
  numeric(
    "task-low",
    "Growth",
    "from",
    (cell) => cell.entry.growth?.bytes_per_task_interval?.low,
    format.perTask,
    "95% interval of bytes per task",
  ),
  numeric(
    "task-high",
    "Growth",
    "to",
    (cell) => cell.entry.growth?.bytes_per_task_interval?.high,
    format.perTask,
    "95% interval of bytes per task",
  ),
  {
    ...numeric(
      "task-off",
      "Growth",
      "Deviation",
      (cell) => worst(cell),
      share,
      "largest deviation from the fit",
    ),
    text: (cell) => (cell.entry.growth ? offLine(cell.entry.growth) : ""),
  },
  numeric("base", "Growth", "Fixed cost", (cell) => cell.entry.growth?.base_bytes, format.bytes),
  LAUNCH,
  numeric("plateau", "Time", "Plateau", phase("time", 1), format.seconds),
  numeric("drain", "Time", "Drain", phase("time", 2), format.seconds),
  numeric("wall", "Time", "Wall", median("wall_s"), format.seconds),
  numeric("cpu", "CPU", "CPU", median("cpu_s"), format.seconds, "user and system time"),
  numeric("cpu-launch", "CPU", "CPU launch", phase("cpu", 0), format.seconds),
  numeric("cpu-plateau", "CPU", "CPU plateau", phase("cpu", 1), format.seconds),
  numeric("cpu-drain", "CPU", "CPU drain", phase("cpu", 2), format.seconds),
  threads("number of threads at the plateau"),
  ...END,
];

/** Of work. How long a run took is no figure of the entry: taskscale chose how many operations it had. */
const WORK: Column[] = [
  ...ENTRY,
  numeric(
    "wall-op",
    "Operation",
    "Wall/op",
    median("wall_ns_per_op"),
    format.nanoseconds,
    "wall time per operation",
  ),
  ...spread("wall_ns_per_op", "Operation", "wall time per operation", format.nanoseconds),
  numeric(
    "cpu-op",
    "Operation",
    "CPU/op",
    median("cpu_ns_per_op"),
    format.nanoseconds,
    "CPU time per operation",
  ),
  numeric("ops", "Rate", "Ops/s", median("ops_per_s"), format.perSecond, "operations per second"),
  numeric(
    "footprint",
    "Memory",
    "When ready",
    median("footprint_bytes"),
    format.bytes,
    "footprint when the work begins",
  ),
  ...MADE_OF,
  ...PEAKS,
  LAUNCH,
  threads("number of threads when memory was read"),
  ...END,
];

/** Of servers whose clients talk. */
const LOAD: Column[] = [
  numeric(
    "cpu-message",
    "Message",
    "CPU/message",
    median("cpu_us_per_message"),
    format.microseconds,
    "CPU time of the server per message, at 50% of capacity or at --rate",
  ),
  numeric(
    "cpu-capacity",
    "Message",
    "CPU/message at capacity",
    median("cpu_us_at_capacity"),
    format.microseconds,
    "CPU time of the server per message in the closed loop",
  ),
  numeric(
    "cpu-delivery",
    "Message",
    "CPU/delivery",
    median("cpu_us_per_delivery"),
    format.microseconds,
    "CPU time of the server per delivery to a member",
  ),
  numeric("latency-p50", "Latency", "p50", median("latency_p50_us"), format.microseconds, "median"),
  numeric("latency-p90", "Latency", "p90", median("latency_p90_us"), format.microseconds),
  numeric("latency-p99", "Latency", "p99", median("latency_p99_us"), format.microseconds),
  numeric("latency-p999", "Latency", "p99.9", median("latency_p999_us"), format.microseconds),
  numeric("latency-max", "Latency", "max", median("latency_max_us"), format.microseconds),
  atLeast(
    numeric(
      "messages",
      "Rate",
      "Messages/s",
      median("messages_per_s"),
      format.perSecond,
      "the capacity; ≥: limited by the clients",
    ),
  ),
  numeric(
    "connects",
    "Rate",
    "Connects/s",
    median("connects_per_s"),
    format.perSecond,
    "connections accepted per second",
  ),
  numeric(
    "loaded",
    "Memory",
    "After use",
    median("loaded_bytes"),
    format.bytes,
    "footprint right after the open loops",
  ),
  numeric(
    "client-kernel",
    "Memory",
    "Clients' kernel",
    median("client_kernel_bytes"),
    format.bytes,
    "kernel memory of the clients' ends",
  ),
];

/** The columns of a shape of workload. */
export function columnsOf(shape: Shape): Column[] {
  if (shape === "wake") return [...ENTRY, ...TICKS, ...HOLD.slice(ENTRY.length)];
  if (shape === "serve") return [...ENTRY, ...LOAD, ...HOLD.slice(ENTRY.length)];
  return shape === "work" ? WORK : HOLD;
}

/** Only where there are several campaigns. */
export const CAMPAIGN_COLUMN: Column = words("campaign", "Results", (cell) => cell.letter);

/** The cells that the filters let through, sorted. */
export function cells(data: PageData, state: State): Cell[] {
  const positions = shownCampaigns(data, state);
  const shape = shapeOf(data, state.part);
  const found: Cell[] = [];
  for (const known of entriesOf(data, positions).filter((entry) => passes(entry, state))) {
    for (const position of positions) {
      const campaign = data.campaigns[position];
      const entry = campaign && entryOf(campaign, known.name);
      if (!campaign || !entry) continue;
      const rows = (state.everyN ? campaign.tasks : [state.n]).flatMap(
        (tasks) => rowOf(campaign, entry.name, tasks) ?? [],
      );
      const of_campaign = { entry, campaign: position, letter: letter(data, position) };
      if (rows.length === 0) found.push(of_campaign);
      for (const row of rows) found.push({ ...of_campaign, row });
    }
  }
  for (const n of new Set(found.flatMap((cell) => cell.row?.tasks ?? []))) {
    const bars = ranking(data, { ...state, metric: headline(shape).id, n }).rows.flatMap((row) => row.bars);
    const times = new Map(bars.map((bar) => [bar.row, bar.timesBest]));
    for (const cell of found.filter((cell) => cell.row?.tasks === n)) {
      const of_row = times.get(cell.row);
      if (of_row !== undefined) cell.timesBest = of_row;
    }
  }
  return sorted(found, state, columnsOf(shape));
}

function sorted(found: Cell[], state: State, columns: Column[]): Cell[] {
  const column = [...columns, CAMPAIGN_COLUMN].find((known) => known.id === state.sort) ?? columns[0];
  if (!column) return found;
  const sign = state.descending ? -1 : 1;
  const keyed = found.map((cell) => ({ cell, key: column.key(cell) }));
  keyed.sort((a, b) => {
    if (a.key === undefined || b.key === undefined)
      return Number(a.key === undefined) - Number(b.key === undefined);
    if (typeof a.key === "number" && typeof b.key === "number") return sign * (a.key - b.key);
    return sign * String(a.key).localeCompare(String(b.key), "en");
  });
  return keyed.map(({ cell }) => cell);
}
