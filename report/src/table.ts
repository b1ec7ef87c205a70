// The table of every figure, as data: its columns, its rows, and how they are sorted.

import * as format from "./format.ts";
import { offLine, slope } from "./growth.ts";
import type { State } from "./state.ts";
import type { Entry, FigureName, PageData, Parts, Phases, Row } from "./types.ts";
import { entriesOf, entryOf, letter, passes, ranking, rowOf, shownCampaigns } from "./view.ts";

export interface Cell {
  entry: Entry;
  campaign: number;
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

function words(id: string, title: string, text: (cell: Cell) => string): Column {
  return { id, title, group: "", numeric: false, key: text, text };
}

const median = (name: FigureName) => (cell: Cell) => cell.row?.figures[name]?.median;
const part = (name: keyof Parts) => (cell: Cell) => cell.row?.parts?.[name];
const phase = (of: "time" | "cpu", name: keyof Phases) => (cell: Cell) => cell.row?.[of]?.[name];
const worst = (cell: Cell) => {
  const off = cell.entry.growth?.worst_off;
  return off === undefined ? undefined : Math.abs(off);
};
const share = (value: number) => `${format.grouped(value * 100, 1)} %`;

export const COLUMNS: Column[] = [
  words("entry", "Entry", (cell) => cell.entry.name),
  words("kind", "Kind", (cell) => cell.entry.kind),
  words("style", "Style", (cell) => (cell.entry.reference ? "reference" : cell.entry.style)),
  words("cpus", "Runs on", (cell) => (cell.entry.parallel ? "all CPUs" : "one CPU")),
  numeric("n", "", "N", (cell) => cell.row?.tasks, format.count, "number of tasks"),
  words(
    "status",
    "Status",
    (cell) => cell.row?.status ?? (cell.entry.unavailable ? "unavailable" : "not measured"),
  ),
  numeric("runs", "", "Runs ok", (cell) => cell.row?.ok_runs, String),
  numeric("footprint", "Memory", "Footprint", median("footprint_bytes"), format.bytes),
  numeric(
    "mad",
    "Memory",
    "± MAD",
    (cell) => {
      const figure = cell.row?.figures.footprint_bytes;
      return figure && figure.readings > 1 && figure.median > 0 ? figure.mad / figure.median : undefined;
    },
    share,
    "median absolute deviation of the footprint",
  ),
  numeric(
    "min",
    "Memory",
    "Smallest",
    (cell) => cell.row?.figures.footprint_bytes?.min,
    format.bytes,
    "smallest footprint",
  ),
  numeric(
    "max",
    "Memory",
    "Largest",
    (cell) => cell.row?.figures.footprint_bytes?.max,
    format.bytes,
    "largest footprint",
  ),
  numeric("times", "Memory", "× best", (cell) => cell.timesBest, format.times),
  numeric("anon", "Memory", "Anonymous", part("anon_bytes"), format.bytes),
  numeric("shmem", "Memory", "Shared", part("shmem_bytes"), format.bytes),
  numeric("file", "Memory", "File", part("file_bytes"), format.bytes),
  numeric("kernel", "Memory", "Kernel", median("kernel_bytes"), format.bytes, "kernel memory of all kinds"),
  numeric("stacks", "Memory", "Kernel stacks", part("kernel_stack_bytes"), format.bytes),
  numeric("tables", "Memory", "Page tables", part("page_tables_bytes"), format.bytes),
  numeric("sockets", "Memory", "Sockets", part("sock_bytes"), format.bytes),
  numeric("rest", "Memory", "Slab, other", part("kernel_rest_bytes"), format.bytes),
  numeric("peak", "Memory", "Peak", median("peak_bytes"), format.bytes),
  numeric("rss", "Memory", "Peak RSS", median("rss_peak_bytes"), format.bytes),
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
    (cell) => cell.entry.growth?.bytes_per_task_interval?.[0],
    format.perTask,
    "95 % interval of bytes per task",
  ),
  numeric(
    "task-high",
    "Growth",
    "to",
    (cell) => cell.entry.growth?.bytes_per_task_interval?.[1],
    format.perTask,
    "95 % interval of bytes per task",
  ),
  {
    ...numeric("task-off", "Growth", "Off the line", (cell) => worst(cell), share, "where it is farthest"),
    text: (cell) => (cell.entry.growth ? offLine(cell.entry.growth) : ""),
  },
  numeric("base", "Growth", "Base", (cell) => cell.entry.growth?.base_bytes, format.bytes),
  numeric("launch", "Time", "Launch", median("launch_s"), format.seconds),
  numeric("plateau", "Time", "Plateau", phase("time", "plateau_s"), format.seconds),
  numeric("drain", "Time", "Drain", phase("time", "drain_s"), format.seconds),
  numeric("wall", "Time", "Wall", median("wall_s"), format.seconds),
  numeric("cpu", "CPU", "CPU", median("cpu_s"), format.seconds, "user and system time"),
  numeric("cpu-launch", "CPU", "CPU launch", phase("cpu", "launch_s"), format.seconds),
  numeric("cpu-plateau", "CPU", "CPU plateau", phase("cpu", "plateau_s"), format.seconds),
  numeric("cpu-drain", "CPU", "CPU drain", phase("cpu", "drain_s"), format.seconds),
  numeric(
    "threads",
    "",
    "Threads",
    median("threads"),
    (value) => format.grouped(value),
    "threads at the plateau",
  ),
  words("source", "Memory by", (cell) => cell.row?.memory_sources.join(", ") ?? ""),
  words("version", "Version", (cell) => cell.entry.version ?? ""),
];

/** Only where there are several campaigns. */
export const CAMPAIGN_COLUMN: Column = words("campaign", "Campaign", (cell) => letter(cell.campaign));

/** The cells that the filters let through, sorted. */
export function cells(data: PageData, state: State): Cell[] {
  const positions = shownCampaigns(data, state);
  const found: Cell[] = [];
  for (const known of entriesOf(data, positions).filter((entry) => passes(entry, state))) {
    for (const position of positions) {
      const campaign = data.campaigns[position];
      const entry = campaign && entryOf(campaign, known.name);
      if (!campaign || !entry) continue;
      const rows = (state.everyN ? campaign.tasks : [state.n]).flatMap(
        (tasks) => rowOf(campaign, entry.name, tasks) ?? [],
      );
      if (rows.length === 0) found.push({ entry, campaign: position });
      for (const row of rows) found.push({ entry, campaign: position, row });
    }
  }
  for (const n of new Set(found.flatMap((cell) => cell.row?.tasks ?? []))) {
    const bars = ranking(data, { ...state, metric: "footprint", n }).rows.flatMap((row) => row.bars);
    const times = new Map(bars.map((bar) => [bar.row, bar.timesBest]));
    for (const cell of found.filter((cell) => cell.row?.tasks === n)) {
      const of_row = times.get(cell.row);
      if (of_row !== undefined) cell.timesBest = of_row;
    }
  }
  return sorted(found, state);
}

function sorted(found: Cell[], state: State): Cell[] {
  const column = [...COLUMNS, CAMPAIGN_COLUMN].find((known) => known.id === state.sort) ?? COLUMNS[0];
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
