// The overview: entries by series or by N, as multiples of the best of their kind. Pure, like view.ts.

import { tasks } from "./format.ts";
import { headline, isWhole, metric as metricOf, show } from "./metrics.ts";
import { campaignsOf, initial, ofPart, parts, type State, tasksOf } from "./state.ts";
import type { Campaign, Entry, Metric, PageData } from "./types.ts";
import { kindPlace, type Ranking, ranking, sets, shownCampaigns } from "./view.ts";

/** One series at one number of tasks, by one metric. */
export interface Column {
  /** The name of the series, or the number of tasks if there is only one series. */
  title: string;
  part: string;
  n: number;
  metric: Metric;
  /** The view that a click leads to. */
  state: State;
}

export interface Cell {
  /** Multiple of the best of its kind, or of all if ranked together. */
  times?: number;
  /** The value that is compared, in the metric's unit. */
  value?: number;
  /** The value as text, or a word or two on why it is missing or not compared. */
  said: string;
  /** The entry has no program for this series. */
  absent?: true;
}

export interface OverviewRow {
  entry: Entry;
  /** The state that shows the entry: the current one, or that of another series if this one lacks it. */
  state: State;
  /** One for each column. */
  cells: Cell[];
  /** Hidden until requested. */
  onRequest: boolean;
}

export interface Overview {
  columns: Column[];
  /** One set per kind, or one if ranked together. */
  sets: OverviewRow[][];
  /** At most two. */
  pinned: OverviewRow[];
  /** By column: value of the first pinned row ÷ value of the second. */
  ratios: (number | undefined)[];
  /** Name of the campaign shown. Absent if each series has only one. */
  campaign?: string;
}

/** Another series of a campaign. Undefined if the campaign lacks it. */
const seriesOf = (data: PageData, { results }: Campaign, part: string): Campaign | undefined =>
  campaignsOf(data, part).find((campaign) => campaign.results === results);

/** The selected N. Undefined if it is the one that the series opens with. */
const selected = (data: PageData, { n, part }: State): number | undefined =>
  n === initial(data, part).n ? undefined : n;

/** The selected N if the series has it, otherwise the N that represents the series. */
function tasksAt(data: PageData, state: State, { tasks, overview_tasks }: Campaign): number {
  const n = selected(data, state);
  return tasks.find((known) => known === n) ?? overview_tasks ?? tasks.at(-1) ?? 1;
}

/** Names of the first rows. Empty for results of one workload: rows then have the order of the ranking. */
function firstRows(data: PageData, state: State, { results }: Campaign): string[] {
  const n = selected(data, state);
  const found = data.overviews[results]?.find(({ rank, tasks }) => rank === state.rank && tasks === n);
  return found?.order ?? [];
}

type Ranked = Column & { found?: Ranking };

/** A column per N of the only series, by the selected metric, or by the headline if that belongs to a fit. */
function byTasks(data: PageData, state: State, campaign: Campaign): Ranked[] {
  const { part } = state;
  const asked = metricOf(data, part, state.metric);
  const metric = isWhole(asked) ? headline(data, part) : asked;
  return campaign.tasks.map((n) => {
    const view = { ...state, n, metric: metric.name };
    const found = ranking(data, { ...view, campaigns: [campaign.position] });
    return { title: tasks(n), part, n, metric, state: view, found };
  });
}

function byPart(data: PageData, state: State, names: string[], lead: Campaign): Ranked[] {
  return names.map((part) => {
    const metric = headline(data, part);
    const campaign = part === state.part ? lead : seriesOf(data, lead, part);
    const n = campaign ? tasksAt(data, state, campaign) : (tasksOf(data, part).at(-1) ?? 1);
    const view = part === state.part ? state : ofPart(data, state, part);
    const column = { title: part, part, n, metric, state: { ...view, n, metric: metric.name } };
    if (!campaign) return column;
    const asked = { ...state, part, n, metric: metric.name, campaigns: [campaign.position] };
    return { ...column, found: ranking(data, asked) };
  });
}

/** Whether a column is the selected series, or the selected N of the only series. */
export const isShown = (column: Column, several: boolean, state: State): boolean =>
  several ? column.part === state.part : column.n === state.n;

/**
 * The overview of the first campaign shown: all series, or all N of the only series. Undefined if that has one
 * N, as the ranking shows it all.
 */
export function overview(data: PageData, state: State): Overview | undefined {
  const names = parts(data);
  const [lead] = shownCampaigns(data, state);
  if (!lead) return undefined;
  const columns = names.length > 1 ? byPart(data, state, names, lead) : byTasks(data, state, lead);
  if (columns.length < 2) return undefined;
  const entries = new Map<string, Pick<OverviewRow, "entry" | "state">>();
  const shown = columns.filter((column) => isShown(column, names.length > 1, state));
  for (const { found, ...column } of [...shown, ...columns]) {
    for (const { entry } of [...(found?.rows ?? []), ...(found?.failed ?? [])]) {
      if (entry.reference || entries.has(entry.name)) continue;
      entries.set(entry.name, { entry, state: column.part === state.part ? state : column.state });
    }
  }
  const order = firstRows(data, state, lead);
  const rows = [...new Set([...order, ...entries.keys()])].flatMap((name): OverviewRow[] => {
    const row = entries.get(name);
    const cells = columns.map((column) => cell(data, column.found, name));
    return row ? [{ ...row, cells, onRequest: order.length > 0 && !order.includes(name) }] : [];
  });
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
