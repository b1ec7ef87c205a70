// The table of all results, as data: its columns, its rows, and how they are sorted.

import * as format from "./format.ts";
import { headline, metricsOf } from "./metrics.ts";
import { campaignsOf, type State } from "./state.ts";
import type { Campaign, Column, Entry, PageData, Row } from "./types.ts";
import { entriesOf, exception, passes, programsOf, ranking, rowOf, shownCampaigns } from "./view.ts";
import type { ColumnUnit } from "./wire.ts";

/** One row of the table, where the paths of columns start. */
export interface Cell {
  entry: Entry;
  /** The campaign's letter. Absent if the series has only one. */
  letter?: string;
  row?: Row;
  status: string;
  times_best?: number | undefined;
}

type Key = number | string | undefined;

/** The key that a column sorts by, at the end of its path. Undefined sorts last in both directions. */
export function key({ path }: Column, cell: Cell): Key {
  const step = (from: unknown, name: string) => (from as Record<string, unknown> | null | undefined)?.[name];
  const found = path.split(".").reduce<unknown>(step, cell);
  return Array.isArray(found) ? found.join(", ") : ((found ?? undefined) as Key);
}

/** Writes a value of a column with this unit. */
export const writer = (unit: ColumnUnit): ((value: number) => string) =>
  WRITE[unit] as (value: number) => string;

const WRITE: Record<ColumnUnit, (value: never) => string> = {
  ...format.UNITS,
  text: (value: string) => value,
  tasks: format.count,
  count: (value: number) => format.grouped(value),
  share: format.percent,
  times: format.times,
};

/** By column: texts of the fit, marked if memory is not linear. */
const WORDS: Record<string, (cell: Cell) => string | undefined> = {
  bytes_per_task: (cell) => cell.entry.scaling?.slope,
  off_line: (cell) => cell.entry.scaling?.deviation,
};

export function text(column: Column, cell: Cell): string {
  const value = key(column, cell);
  if (value === undefined) return "";
  const written = WORDS[column.id]?.(cell) ?? WRITE[column.unit](value as never) ?? "";
  return `${exception(cell.row, column.metric)?.sign ?? ""}${written}`;
}

/** Whether values of a column are numbers, which are right-aligned. */
export const isNumber = (column: Column): boolean => column.unit !== "text";

/** The columns of a series that have a value. */
export function columnsOf(data: PageData, part: string): Column[] {
  const offered = metricsOf(data, part).map((metric) => metric.name);
  const all = allCells(data, part, campaignsOf(data, part));
  const isOf = ({ metric }: Column) => metric === undefined || offered.includes(metric);
  return data.columns.filter((column) => isOf(column) && all.some((cell) => key(column, cell) !== undefined));
}

/** All entries of these campaigns at every N, or at `n`. An entry without a row has one cell. */
function allCells(data: PageData, part: string, campaigns: Campaign[], n?: number): Cell[] {
  const several = campaignsOf(data, part).length > 1;
  const programs = entriesOf(campaigns).flatMap(({ name }) => programsOf(campaigns, name));
  return programs.flatMap(({ campaign, entry }): Cell[] => {
    const sizes = n === undefined ? campaign.tasks : [n];
    const rows = sizes.flatMap((tasks) => rowOf(campaign, entry.name, tasks) ?? []);
    const cell = { entry, ...(several ? { letter: campaign.letter } : {}) };
    if (rows.length === 0) return [{ ...cell, status: (entry.gap ?? data.not_measured)[0] }];
    // 1 only shows `columnsOf` that there is a value: `cells` replaces it.
    return rows.map((row) => ({ ...cell, row, status: row.status, times_best: 1 }));
  });
}

/** The cells that pass the filters, sorted. */
export function cells(data: PageData, state: State): Cell[] {
  const all = allCells(data, state.part, shownCampaigns(data, state), state.everyN ? undefined : state.n);
  const found = all.filter((cell) => passes(cell.entry, state));
  const metric = headline(data, state.part).name;
  for (const n of new Set(found.flatMap((cell) => cell.row?.tasks ?? []))) {
    const bars = ranking(data, { ...state, metric, n }).rows.flatMap((row) => row.bars);
    const times = new Map(bars.map((bar) => [bar.row, bar.timesBest]));
    for (const cell of found.filter((cell) => cell.row?.tasks === n)) cell.times_best = times.get(cell.row);
  }
  return sorted(found, state, data.columns);
}

function sorted(found: Cell[], state: State, columns: Column[]): Cell[] {
  const column = columns.find((known) => known.id === state.sort) ?? columns[0];
  if (!column) return found;
  const sign = state.descending ? -1 : 1;
  const keyed = found.map((cell) => ({ cell, key: key(column, cell) }));
  keyed.sort((a, b) => {
    if (a.key === undefined || b.key === undefined)
      return Number(a.key === undefined) - Number(b.key === undefined);
    if (typeof a.key === "number" && typeof b.key === "number") return sign * (a.key - b.key);
    return sign * String(a.key).localeCompare(String(b.key), "en");
  });
  return keyed.map(({ cell }) => cell);
}
