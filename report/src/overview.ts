// Everything at a glance: entries by parts or by numbers of tasks, and how many times the best of its kind each takes. Pure, as view.ts.

import { tasks } from "./format.ts";
import { headline, isWhole, metric as metricOf, show } from "./metrics.ts";
import { campaignsOf, initial, ofPart, parts, type State, tasksOf } from "./state.ts";
import type { Campaign, Entry, Metric, PageData } from "./types.ts";
import { kindPlace, type Ranking, ranking, sets, shownCampaigns } from "./view.ts";

/** One part, at one number of tasks, by what it is ranked by. */
export interface Column {
  /** The part's name, or, of a page of one part, the number of tasks. */
  title: string;
  part: string;
  n: number;
  metric: Metric;
  /** The view that a click leads to. */
  state: State;
}

export interface Cell {
  /** How many times the best: of its kind, unless all are ranked together. */
  times?: number;
  /** The figure that is compared. */
  value?: number;
  /** The figure itself, or why there is none or none to be compared, in a word or two. */
  said: string;
  /** The entry does not do it. */
  absent?: true;
}

export interface OverviewRow {
  entry: Entry;
  /** A view of a part that has it: the one that is shown, if it can be. */
  state: State;
  /** One for each column. */
  cells: Cell[];
}

export interface Overview {
  columns: Column[];
  /** By kind, unless all are ranked together; within that in the order of the part that is shown. */
  sets: OverviewRow[][];
  /** Those that are pinned, and, of two, how many times the second the first takes, by column. */
  pinned: OverviewRow[];
  ratios: (number | undefined)[];
  /** What the campaign that it is of is called, where there are several. */
  campaign?: string;
}

/** What is one campaign in all of its parts. */
const identity = ({ created_at, seed, machine }: Campaign) => `${created_at} ${seed} ${machine.hostname}`;

/** The position that a campaign has in a part; nothing where it has no such part. */
function positionIn(data: PageData, campaign: Campaign, part: string): number | undefined {
  return campaignsOf(data, part).find((position) => {
    const other = data.campaigns[position];
    return other && identity(other) === identity(campaign);
  });
}

/** The number of tasks that was chosen, where the part has it, or else that which stands for it. */
function tasksAt(data: PageData, state: State, { tasks, overview_tasks }: Campaign): number {
  const chosen = state.n !== initial(data, state.part).n && tasks.includes(state.n);
  return chosen ? state.n : (overview_tasks ?? tasks.at(-1) ?? 1);
}

type Ranked = Column & { found?: Ranking };

/** Every number of tasks of the only part, by what is compared, unless that is of an entry as a whole. */
function byTasks(data: PageData, state: State, position: number): Ranked[] {
  const { part } = state;
  const asked = metricOf(data, part, state.metric);
  const metric = isWhole(asked) ? headline(data, part) : asked;
  return (data.campaigns[position]?.tasks ?? []).map((n) => {
    const view = { ...state, n, metric: metric.name };
    const found = ranking(data, { ...view, campaigns: [position] });
    return { title: tasks(n), part, n, metric, state: view, found };
  });
}

function byPart(data: PageData, state: State, names: string[], lead: Campaign): Ranked[] {
  return names.map((part) => {
    const metric = headline(data, part);
    const position = part === state.part ? shownCampaigns(data, state)[0] : positionIn(data, lead, part);
    const campaign = data.campaigns[position ?? -1];
    const n = campaign ? tasksAt(data, state, campaign) : (tasksOf(data, part).at(-1) ?? 1);
    const view = part === state.part ? state : ofPart(data, state, part);
    const column = { title: part, part, n, metric, state: { ...view, n, metric: metric.name } };
    if (position === undefined) return column;
    const asked = { ...state, part, n, metric: metric.name, campaigns: [position] };
    return { ...column, found: ranking(data, asked) };
  });
}

/** Of columns that are parts, an entry with a single one has nothing beside it: it is drawn only if asked for. */
export const hasSeveral = ({ cells }: OverviewRow): boolean =>
  cells.filter((cell) => !cell.absent).length > 1;

/** The column that is looked at. */
export const isShown = (column: Column, several: boolean, state: State): boolean =>
  several ? column.part === state.part : column.n === state.n;

/**
 * The first campaign that is shown: in all parts, or, where there is one, at all numbers of tasks. Nothing where there is
 * one of those too: the ranking says it all.
 */
export function overview(data: PageData, state: State): Overview | undefined {
  const names = parts(data);
  const position = shownCampaigns(data, state)[0] ?? 0;
  const lead = data.campaigns[position];
  if (!lead) return undefined;
  const columns = names.length > 1 ? byPart(data, state, names, lead) : byTasks(data, state, position);
  if (columns.length < 2) return undefined;
  const entries = new Map<string, Omit<OverviewRow, "cells">>();
  const shown = columns.filter((column) => isShown(column, names.length > 1, state));
  for (const { found, ...column } of [...shown, ...columns]) {
    for (const { entry } of [...(found?.rows ?? []), ...(found?.failed ?? [])]) {
      if (entry.reference || entries.has(entry.name)) continue;
      entries.set(entry.name, { entry, state: column.part === state.part ? state : column.state });
    }
  }
  const rows = [...entries.values()].map((row) => ({
    ...row,
    cells: columns.map((column) => cell(data, column.found, row.entry.name)),
  }));
  const byKind = sets(rows, state.rank).sort((a, b) => setPlace(data, a) - setPlace(data, b));
  const several = names.some((part) => campaignsOf(data, part).length > 1);
  const pinned = state.pinned.flatMap((name) => rows.find((row) => row.entry.name === name) ?? []);
  const ratio = (at: number) => {
    const [a, b] = pinned.map((row) => row.cells[at]?.value);
    return a !== undefined && b !== undefined && b > 0 ? a / b : undefined;
  };
  return {
    pinned,
    ratios: pinned.length === 2 ? columns.map((_, at) => ratio(at)) : [],
    columns: columns.map(({ found: _, ...column }) => column),
    sets: byKind,
    ...(several ? { campaign: lead.label } : {}),
  };
}

const setPlace = (data: PageData, rows: OverviewRow[]): number => kindPlace(data, rows[0]?.entry.kind ?? "");

function cell(data: PageData, found: Ranking | undefined, name: string): Cell {
  if (!found) return { said: data.not_measured[0] };
  const row = found.rows.find((row) => row.entry.name === name);
  const bar = row?.bars[0];
  if (bar?.timesBest !== undefined)
    return { times: bar.timesBest, value: bar.value, said: show(found.metric)(bar.value) };
  if (row) return { said: data.standings[row.standing]?.[0] ?? "" };
  const failed = found.failed.find((row) => row.entry.name === name);
  return failed ? { said: failed.status } : { said: data.no_program[0], absent: true };
}
