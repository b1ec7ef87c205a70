// What the page shows for a state, as data: pure functions without the DOM, so that tests can call them.

import * as format from "./format.ts";
import { headline, isWhole, leadOf, metric, type Part, parts, readingOf, type Value } from "./metrics.ts";
import { campaignsOf, type State } from "./state.ts";
import type { Campaign, Entry, Metric, PageData, PublishedFigure, Row } from "./types.ts";
import type { Headline, PageChange, PageGap, PageKind, PageRanking, Standing } from "./wire.ts";

/** An entry as one campaign has it. */
export interface Program {
  campaign: Campaign;
  entry: Entry;
}

/** One entry in one campaign at the chosen number of tasks. */
export interface Bar extends Value, Program {
  row: Row | undefined;
  /** The footprint's parts. Empty for other metrics. */
  parts: Part[];
  /** Multiple of the best of the same campaign and kind, or of all kinds if ranked together. At least 1. */
  timesBest: number | undefined;
  /** How its value differs from the one of the series' first campaign, if that is shown. */
  change?: PageChange | undefined;
  /** Whether the value takes part in the comparison. */
  ranked: boolean;
}

/** One entry, with a bar for each campaign that is shown. */
export interface RankRow {
  entry: Entry;
  standing: Standing;
  /** Within its kind or among all. Absent if the first campaign shown does not rank it. */
  place?: number;
  bars: Bar[];
  published: PublishedFigure | undefined;
  /** Caveats, such as why the row is not ranked or why runs failed. */
  remarks: string[];
}

/** An entry without a value, and why. */
export interface FellShort {
  entry: Entry;
  status: string;
  reason: string;
}

export interface Ranking {
  metric: Metric;
  /** Writes a tick of the axis. All ticks have one unit, of size `unit`. */
  tick: (value: number) => string;
  unit: number;
  rows: RankRow[];
  failed: FellShort[];
  /** Largest of bars, whiskers and marks. `min`: the smallest above 0. */
  max: number;
  min: number;
  /** Whether any row has a published value. */
  hasPublished: boolean;
  /** Number of entries that pass the filters. */
  shown: number;
  entries: number;
}

export function shownCampaigns(data: PageData, state: State): Campaign[] {
  const there = campaignsOf(data, state.part);
  const chosen = there.filter((campaign) => state.campaigns.includes(campaign.position));
  return chosen.length > 0 ? chosen : there;
}

/** Every entry of these campaigns, each once. */
export function entriesOf(campaigns: Campaign[]): Entry[] {
  const first = new Map<string, Entry>();
  for (const entry of campaigns.flatMap((campaign) => campaign.entries))
    if (!first.has(entry.name)) first.set(entry.name, entry);
  return [...first.values()];
}

/** An entry in each of the campaigns that have it. */
export function programsOf(campaigns: Campaign[], name: string): Program[] {
  return campaigns.flatMap((campaign) => {
    const entry = campaign.entries.find((entry) => entry.name === name);
    return entry ? [{ campaign, entry }] : [];
  });
}

/** Whether an entry passes the filters and the search. */
export function passes(entry: Entry, state: State): boolean {
  const among = (chosen: string[], value: string) => chosen.length === 0 || chosen.includes(value);
  const agrees = (asked: "" | "yes" | "no", value: boolean) => asked === "" || (asked === "yes") === value;
  const text = `${entry.name} ${entry.title} ${entry.kind} ${entry.runtime_title}`.toLowerCase();
  return (
    among(state.kinds, entry.kind) &&
    among(state.languages, entry.runtime) &&
    among(state.styles, entry.style) &&
    agrees(state.parallel, entry.parallel) &&
    agrees(state.stackful, entry.stackful) &&
    state.search
      .toLowerCase()
      .split(/\s+/)
      .every((word) => text.includes(word))
  );
}

/** The row of an entry at a number of tasks. */
export const rowOf = ({ rowByCase }: Campaign, name: string, tasks: number): Row | undefined =>
  rowByCase.get(`${tasks} ${name}`);

/** Why a row is not ranked by this metric, although it may be by others. */
export const exception = (row: Row | undefined, metric: string | undefined) =>
  row?.exceptions?.find((exception) => exception.metrics.includes(metric ?? ""));

function standing({ entry, row }: Pick<Bar, "entry" | "row">, of: Metric): Standing {
  if (isWhole(of) || !row) return entry.reference ? "reference" : "ranked";
  return exception(row, of.name)?.standing ?? row.standing ?? "ranked";
}

/** Why an entry has no value. */
function why(data: PageData, entry: Entry, programs: Program[], n: number, of: Metric): PageGap {
  const rows = programs.flatMap(({ campaign }) => rowOf(campaign, entry.name, n) ?? []);
  const own = rows.length > 0 ? (rows[0]?.gap ?? data.no_value) : data.not_measured;
  return entry.gap ?? (isWhole(of) ? data.no_fit : own);
}

function remarks(bars: Bar[], of: Metric): string[] {
  const found = bars.flatMap(({ entry, row }) =>
    isWhole(of)
      ? (entry.scaling?.nonlinear ?? [])
      : [...(row?.remarks ?? []), exception(row, of.name)?.reason ?? []].flat(),
  );
  return [...new Set(found)];
}

/** All entries ranked by the selected metric, then filtered. `failed`: those without a value. */
export function ranking(data: PageData, state: State): Ranking {
  const of = metric(data, state.part, state.metric);
  const campaigns = shownCampaigns(data, state);
  const fromFirst = campaigns[0] === leadOf(data, state.part);
  const entries = entriesOf(campaigns);
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  // The order of the first campaign, then the entries that only others have.
  const order = new Set([
    ...campaigns.flatMap((campaign) => ordered(campaign, state.n, of)),
    ...byName.keys(),
  ]);
  const published = publishedAt(data, state, of);
  const ranked: RankRow[] = [];
  const failed: FellShort[] = [];
  for (const name of order) {
    const entry = byName.get(name);
    if (!entry) continue;
    const programs = programsOf(campaigns, entry.name);
    const bars = programs.flatMap((program) => bar(data, state, program, of) ?? []);
    const [first, ...others] = bars;
    if (!first) {
      const [status, reason] = why(data, entry, programs, state.n, of);
      failed.push({ entry, status, reason });
      continue;
    }
    if (fromFirst)
      for (const other of others) other.change = (isWhole(of) ? other.entry : other.row)?.changes?.[of.name];
    // One ranked bar is enough for a row to count as ranked.
    const counting = bars.find((bar) => bar.ranked) ?? first;
    ranked.push({
      entry,
      standing: standing(counting, of),
      bars,
      published: published.get(entry.name),
      remarks: remarks(bars, of),
    });
  }
  place(data, ranked, state.rank, campaigns[0]);
  const rows = ranked.filter((row) => passes(row.entry, state));
  const values = rows.flatMap((row) => row.bars.map((bar) => bar.value));
  return {
    metric: of,
    ...format.alike(of.unit, values),
    rows,
    failed: failed.filter((row) => passes(row.entry, state)),
    ...extent(rows, state.published),
    hasPublished: rows.some((row) => row.published),
    shown: entries.filter((entry) => passes(entry, state)).length,
    entries: entries.length,
  };
}

/** What must be known of the changes of these rows. The first note is of all changes that are numbers. */
export function changeNotes({ change_notes = [] }: PageData, rows: RankRow[]): string[] {
  const changes = rows.flatMap((row) => row.bars.flatMap((bar) => (bar.change ? [bar.change] : [])));
  const shown = new Set(changes.flatMap(([text, note]) => (text ? [0, note] : [note])));
  return change_notes.filter((_, at) => shown.has(at));
}

/** The largest of bars, whiskers and marks, and the smallest above 0. */
export function extent(rows: RankRow[], published: boolean): { max: number; min: number } {
  const sizes = rows.flatMap((row) => [
    ...row.bars.flatMap((bar) => [bar.value, bar.range?.high ?? 0]),
    published && row.published ? row.published.memory_bytes : 0,
  ]);
  return { max: Math.max(0, ...sizes), min: Math.min(...sizes.filter((size) => size > 0)) };
}

/** Each part's share of the bar, with its color name. A bar without parts is one segment, `plain`. */
export function segments({ parts }: Bar, plain: string): { name: string; share: number }[] {
  const total = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= 0) return [{ name: plain, share: 1 }];
  return parts.map(({ id, bytes }) => ({ name: `part-${id}`, share: bytes / total }));
}

/** The bar of an entry in one campaign; undefined without a value. */
function bar(data: PageData, state: State, program: Program, of: Metric): Bar | undefined {
  const { campaign, entry } = program;
  const row = rowOf(campaign, entry.name, state.n);
  const read = readingOf(of, entry, row);
  if (!read) return undefined;
  const ranked = standing({ entry, row }, of) === "ranked";
  const ranking = rankingOf(campaign, state.n, of);
  const best = ranking?.best[state.rank === "all" ? "all" : entry.kind];
  const compared = ranked && read.value > 0 && best;
  return {
    ...read,
    ...program,
    row,
    parts: of.name === "footprint" ? parts(data, row) : [],
    ranked,
    // At least 1, whether less or more is better.
    timesBest: compared ? Math.max(read.value / compared, compared / read.value) : undefined,
  };
}

const rankingOf = ({ rankings }: Campaign, n: number, of: Metric): PageRanking | undefined =>
  rankings.find((ranking) => ranking.tasks === n && ranking.metric === of.name);

/** The names of a campaign's entries with a value, the best first. */
function ordered(campaign: Campaign, n: number, of: Metric): string[] {
  const order = rankingOf(campaign, n, of)?.order ?? [];
  return order.flatMap((at) => campaign.entries[at]?.name ?? []);
}

/** The sets in which rows are ranked: one per kind, or one of all. In the order of the rows. */
export function sets<R extends { entry: Entry }>(rows: R[], rank: State["rank"]): R[][] {
  const found = new Map<string, R[]>();
  for (const row of rows) {
    const set = rank === "kind" ? row.entry.kind : "";
    found.set(set, [...(found.get(set) ?? []), row]);
  }
  return [...found.values()];
}

/**
 * Groups rows by kind, unless they are ranked together, and numbers those that the first campaign shown ranks. Equal
 * values share a place.
 */
function place(data: PageData, rows: RankRow[], rank: State["rank"], first: Campaign | undefined): void {
  if (rank === "kind") rows.sort((a, b) => kindPlace(data, a.entry.kind) - kindPlace(data, b.entry.kind));
  for (const own of sets(rows, rank)) {
    const ranked = own.filter(({ standing, bars }) => standing === "ranked" && bars[0]?.campaign === first);
    const values = ranked.map((row) => row.bars[0]?.value);
    ranked.forEach((row, at) => {
      row.place = 1 + values.indexOf(values[at]);
    });
  }
}

/** Position of a kind in the order of display. */
export const kindPlace = (data: PageData, kind: string): number =>
  data.kinds.findIndex((known) => known.name === kind);

export const kindOf = (data: PageData, kind: string): PageKind | undefined =>
  data.kinds[kindPlace(data, kind)];

/** Published values at the selected N, by entry. Only for metrics that are comparable. */
function publishedAt(data: PageData, state: State, of: Metric): Map<string, PublishedFigure> {
  const { workload } = leadOf(data, state.part);
  const figures = data.published.flatMap(({ our_workload, metrics, figures }) =>
    our_workload === workload && metrics.includes(of.name) ? figures : [],
  );
  return new Map(figures.filter(({ tasks }) => tasks === state.n).map((figure) => [figure.entry, figure]));
}

/** The headline of the first campaign shown that has this N. */
export function answer(data: PageData, state: State): Headline | undefined {
  const all = shownCampaigns(data, state).flatMap((campaign) => campaign.headlines);
  return all.find((headline) => headline.tasks === state.n && headline.rank === state.rank);
}

/** One line of the scaling chart. */
export interface Line extends Program {
  /** Name of the entry, with the letter of its campaign if several are shown. */
  name: string;
  points: { tasks: number; value: number; low: number; high: number; ok: boolean }[];
  fitted: [number, number][];
}

/**
 * The headline metric over N (footprint, or wall time per operation) of the entries that pass the filters, in
 * the order of the ranking.
 */
export function lines(data: PageData, state: State): Line[] {
  const of = headline(data, state.part);
  const campaigns = shownCampaigns(data, state);
  const ranked = ranking(data, { ...state, metric: of.name }).rows.map((row) => row.entry);
  const rest = entriesOf(campaigns).filter((entry) => passes(entry, state));
  const names = new Set([...ranked, ...rest].map((entry) => entry.name));
  const programs = [...names].flatMap((name) => programsOf(campaigns, name));
  return programs.flatMap((program) => {
    const { campaign, entry } = program;
    const points = campaign.tasks.flatMap((tasks) => {
      const row = rowOf(campaign, entry.name, tasks);
      const figure = row?.figures[of.field];
      // A logarithmic axis has no 0.
      if (!figure || figure.median <= 0) return [];
      return [{ tasks, value: figure.median, low: figure.min, high: figure.max, ok: row.ok_runs > 0 }];
    });
    const line = { name: nameIn(data, state, program), ...program, points, fitted: fitted(entry) };
    return points.length > 0 ? [line] : [];
  });
}

/** At most `most` lines, in the same order. */
export function first(all: Line[], most: number): Line[] {
  const place = ({ campaign, entry }: Line) => campaign.lines.indexOf(entry.name);
  const kept = new Set([...all].sort((a, b) => place(a) - place(b)).slice(0, most));
  return all.filter((line) => kept.has(line));
}

/** The fitted line, in points dense enough for logarithmic axes. Empty for nonlinear memory and for work. */
function fitted({ growth, scaling }: Entry): [number, number][] {
  if (!growth || scaling?.nonlinear) return [];
  const [low = 0, high = 0] = [growth.tasks[0], growth.tasks.at(-1)];
  const steps = high > low ? [...Array(25).keys()] : [];
  const points = steps.map((step): [number, number] => {
    const tasks = low * (high / low) ** (step / 24);
    return [tasks, growth.base_bytes + tasks * growth.bytes_per_task];
  });
  return points.filter(([, bytes]) => bytes > 0);
}

/** An entry's name, with the letter of its campaign where several are shown. */
export const nameIn = (data: PageData, state: State, { entry, campaign }: Program): string =>
  shownCampaigns(data, state).length > 1 ? `${entry.name} ${campaign.letter}` : entry.name;
