// What is shown for a state: pure, so that it can be tested as data. Knows nothing of the document.

import * as format from "./format.ts";
import { bent, noLine } from "./growth.ts";
import { kindPlace } from "./kinds.ts";
import { headline, type Metric, metric, parts, type Value } from "./metrics.ts";
import { campaignsOf, placeOf, type State, shapeOf, workloadOf } from "./state.ts";
import type { Campaign, Entry, PageData, PublishedFigure, Row, Shape } from "./types.ts";
import type { Warning } from "./wire.ts";

/** One entry in one campaign at the chosen number of tasks. */
export interface Bar {
  /** Position of the campaign. */
  campaign: number;
  entry: Entry;
  row?: Row;
  value?: number;
  low?: number;
  high?: number;
  /** The footprint's parts, where that is what is looked at. */
  parts?: number[];
  /** How many times the best of those ranked and shown is better: of the same kind, unless all are ranked together. */
  timesBest?: number;
  /** Against the first campaign that is shown: 0.1 is 10% more. */
  change?: number;
  /** Whether it takes part in the comparison. */
  ranked: boolean;
}

export type Standing = "ranked" | "reference" | "other-source" | "partial" | "lower-bound";

/** One entry, with a bar for each campaign that is shown. */
export interface RankRow {
  entry: Entry;
  standing: Standing;
  /** From 1, among those of its kind unless all are ranked together. */
  place?: number;
  bars: Bar[];
  published?: PublishedFigure;
  /** Why it stands where it stands, where it is not ranked or not all went well. */
  remarks: string[];
}

/** An entry without a figure to show, and why. */
export interface FellShort {
  entry: Entry;
  status: string;
  reason: string;
}

export interface Ranking {
  metric: Metric;
  /** How its figures are written: all in one unit, of this size. */
  show: (value: number) => string;
  unit: number;
  shape: Shape;
  rows: RankRow[];
  failed: FellShort[];
  /** Of bars, whiskers and marks. */
  max: number;
  min: number;
  /** Whether some mark of published figures is shown. */
  hasPublished: boolean;
  /** Entries that the filters let through. */
  shown: number;
  entries: number;
}

/** Campaigns that are looked at, by position. */
export function shownCampaigns(data: PageData, state: State): number[] {
  const there = campaignsOf(data, state.part);
  const chosen = state.campaigns.filter((position) => there.includes(position));
  return chosen.length > 0 ? chosen : there;
}

/** Every entry of the campaigns that are looked at, each once. */
export function entriesOf(data: PageData, positions: number[]): Entry[] {
  const seen = new Map<string, Entry>();
  for (const position of positions) {
    for (const entry of data.campaigns[position]?.entries ?? []) {
      if (!seen.has(entry.name)) seen.set(entry.name, entry);
    }
  }
  return [...seen.values()];
}

/** Whether the filters and the search let an entry through. */
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

const rowsByCampaign = new WeakMap<Campaign, Map<string, Row>>();

/** The row of an entry at a number of tasks. */
export function rowOf(campaign: Campaign, name: string, tasks: number): Row | undefined {
  let rows = rowsByCampaign.get(campaign);
  if (!rows) {
    rows = new Map(campaign.rows.map((row) => [`${row.tasks} ${campaign.entries[row.entry]?.name}`, row]));
    rowsByCampaign.set(campaign, rows);
  }
  return rows.get(`${tasks} ${name}`);
}

export function entryOf(campaign: Campaign, name: string): Entry | undefined {
  return campaign.entries.find((entry) => entry.name === name);
}

/** Whether the clients were the limit of a rate: the server may be able to do more. */
export function isLowerBound(bar: Bar, of: Metric): boolean {
  return of.id === "messages" && bar.row?.client_limited === true;
}

function standing(bar: Bar, of: Metric): Standing {
  const { entry, row } = bar;
  if (entry.reference) return "reference";
  if (of.whole) return "ranked";
  if (row && row.ok_runs === 0) return "partial";
  if (of.memory && row && !row.ranked) return "other-source";
  if (isLowerBound(bar, of)) return "lower-bound";
  return "ranked";
}

/** Why rows have no figure, in their own words; `meaning` says what a warning means. */
function why(
  entry: Entry,
  rows: Row[],
  meaning: (warning: string) => string | undefined,
): { status: string; reason: string } {
  const shortfall = rows.flatMap((row) => row.shortfalls)[0];
  if (shortfall) return { status: shortfall.status, reason: shortfall.reason };
  if (entry.unavailable) return { status: "unavailable", reason: entry.unavailable };
  const warned = rows.flatMap((row) => row.warnings).find((warning) => warning === "work-short");
  if (rows.length > 0) {
    return { status: "no value", reason: meaning(warned ?? "") ?? "its runs do not have this metric" };
  }
  return { status: "not measured", reason: "no run at this number of tasks yet" };
}

function remarks(bars: Bar[], of: Metric, n: number): string[] {
  const found: string[] = [];
  for (const { entry, row } of bars) {
    if (entry.unverified) found.push(`unverified: ${entry.unverified}`);
    if (of.whole && entry.growth && bent(entry.growth)) found.push(noLine(entry.growth));
    if (!row || of.whole) continue;
    if (row.ok_runs > 0 && row.ok_runs < row.runs) found.push(`${row.ok_runs} of ${row.runs} runs ok`);
    if (row.ok_runs === 0 && row.short_alive !== undefined) {
      found.push(`${row.short_alive.toLocaleString("en-GB")} of ${n.toLocaleString("en-GB")} alive`);
    }
    for (const shortfall of row.shortfalls) found.push(`${shortfall.status}: ${shortfall.reason}`);
    if (of.id === "messages" && row.client_limited)
      found.push("limited by the clients: the server may handle more");
    if (of.memory && row.ok_runs > 0 && !row.ranked && !entry.reference) {
      found.push(`not comparable: memory source ${row.memory_sources.join(" and ")}`);
    }
  }
  return [...new Set(found)];
}

/** The entries that the filters let through, ranked by the chosen metric; what has no figure last, with its reason. */
export function ranking(data: PageData, state: State): Ranking {
  const shape = shapeOf(data, state.part);
  const of = metric(state.metric, shape);
  const positions = shownCampaigns(data, state);
  const entries = entriesOf(data, positions);
  const passing = entries.filter((entry) => passes(entry, state));
  const published = publishedAt(data, state, of);
  const meanings = positions.flatMap((position) => data.campaigns[position]?.warnings ?? []);
  const meaning = (warning: string) => meanings.find((known) => known.warning === warning)?.text;
  const rows: RankRow[] = [];
  const failed: FellShort[] = [];
  for (const known of passing) {
    const bars: Bar[] = [];
    const measured: Row[] = [];
    for (const position of positions) {
      const campaign = data.campaigns[position];
      const entry = campaign && entryOf(campaign, known.name);
      if (!campaign || !entry) continue;
      const row = rowOf(campaign, entry.name, state.n);
      if (row) measured.push(row);
      const value = of.of(entry, row);
      if (value) bars.push(bar(position, entry, row, value, of));
    }
    const first = bars[0];
    if (!first) {
      const reason = of.whole
        ? { status: "no fit", reason: "needs ok runs at two or more numbers of tasks" }
        : why(known, measured, meaning);
      failed.push({ entry: known, ...(known.unavailable ? why(known, [], meaning) : reason) });
      continue;
    }
    for (const other of bars.slice(1)) {
      if (first.value && other.value !== undefined) other.change = other.value / first.value - 1;
    }
    // One bar that counts is enough for a place; it is ranked by the first that does.
    const counting = bars.find((bar) => standing(bar, of) === "ranked") ?? first;
    const mark = published.get(known.name);
    rows.push({
      entry: known,
      standing: standing(counting, of),
      bars,
      ...(mark ? { published: mark } : {}),
      remarks: remarks(bars, of, state.n),
    });
  }
  place(rows, of, state.rank);
  failed.sort((a, b) => Number(a.status === "unavailable") - Number(b.status === "unavailable"));
  const values = rows.flatMap((row) => row.bars.map((bar) => bar.value ?? 0));
  return {
    metric: of,
    ...format.alike(of.show, values),
    shape,
    rows,
    failed,
    ...extent(rows, state.published),
    hasPublished: rows.some((row) => row.published),
    shown: passing.length,
    entries: entries.length,
  };
}

/** The largest and the least of bars, whiskers and marks. */
export function extent(rows: RankRow[], published: boolean): { max: number; min: number } {
  const sizes = rows.flatMap((row) => [
    ...row.bars.flatMap((bar) => [bar.value ?? 0, bar.high ?? 0]),
    published && row.published ? row.published.memory_bytes : 0,
  ]);
  return { max: Math.max(0, ...sizes), min: Math.min(...sizes.filter((size) => size > 0)) };
}

function bar(campaign: number, entry: Entry, row: Row | undefined, value: Value, of: Metric): Bar {
  const made: Bar = { campaign, entry, value: value.value, ranked: false };
  if (row) made.row = row;
  if (value.low !== undefined) made.low = value.low;
  if (value.high !== undefined) made.high = value.high;
  const of_parts = of.id === "footprint" ? parts(row) : undefined;
  if (of_parts) made.parts = of_parts;
  made.ranked = standing(made, of) === "ranked";
  return made;
}

/** The sets in which rows are ranked: those of a kind, or all of them. In the order of the rows. */
export function sets(rows: RankRow[], rank: State["rank"]): RankRow[][] {
  const found = new Map<string, RankRow[]>();
  for (const row of rows) {
    const set = rank === "kind" ? row.entry.kind : "";
    found.set(set, [...(found.get(set) ?? []), row]);
  }
  return [...found.values()];
}

/**
 * Orders rows and gives places, by kind or all together. Those with fewer than N alive come after the others: they
 * cost less than N would.
 */
function place(rows: RankRow[], of: Metric, rank: State["rank"]): void {
  const sign = of.better === "more" ? -1 : 1;
  const lead = (row: RankRow) => {
    const value = (row.bars.find((bar) => bar.ranked) ?? row.bars[0])?.value;
    return value === undefined ? Number.POSITIVE_INFINITY : sign * value;
  };
  const last = (row: RankRow) => Number(row.standing === "partial");
  const set = (row: RankRow) => (rank === "kind" ? kindPlace(row.entry.kind) : 0);
  rows.sort((a, b) => set(a) - set(b) || last(a) - last(b) || lead(a) - lead(b));
  for (const rows_of_set of sets(rows, rank)) compare(rows_of_set, of);
}

/** Places, and multiples of the best, in one set. */
function compare(rows: RankRow[], of: Metric): void {
  let place = 0;
  for (const row of rows) {
    if (row.standing === "ranked") row.place = ++place;
  }
  const more = of.better === "more";
  const values = rows.flatMap((row) => row.bars.filter((bar) => bar.ranked).map((bar) => bar.value ?? 0));
  const best = more ? Math.max(...values) : Math.min(...values);
  for (const bar of rows.flatMap((row) => row.bars)) {
    if (bar.ranked && bar.value !== undefined && best > 0 && Number.isFinite(best))
      bar.timesBest = more ? best / bar.value : bar.value / best;
    if (of.id === "times") {
      // The same footprints, read as multiples.
      for (const name of ["value", "low", "high"] as const) {
        const size = bar[name];
        if (size !== undefined && best > 0 && Number.isFinite(best)) bar[name] = size / best;
      }
    }
  }
}

/** Published figures of the same number of tasks, by entry; only for metrics that they can stand beside. */
function publishedAt(data: PageData, state: State, of: Metric): Map<string, PublishedFigure> {
  const found = new Map<string, PublishedFigure>();
  if (!["footprint", "peak", "rss"].includes(of.id)) return found;
  const workload = workloadOf(data, state.part);
  for (const source of data.published.filter((source) => source.our_workload === workload)) {
    for (const figure of source.figures) {
      if (figure.tasks === state.n) found.set(figure.entry, figure);
    }
  }
  return found;
}

/** The answer in one sentence. */
export interface Answer {
  n: number;
  /** What is compared. */
  metric: Metric;
  /** The best of each kind that is shown; of all, where they are ranked together or are of one kind. */
  bests: RankRow[];
  best: RankRow;
  worst: RankRow;
  times: number;
  /** How many held all N, or did the work, of how many that ran. */
  held: number;
  ran: number;
  /** How many of those that are ranked had to share the CPUs with other work. */
  slowed: number;
}

const SLOWED: readonly Warning[] = ["machine-busy", "cpu-starved"];

/** Of those shown, by what is asked first, whatever is looked at; nothing where there is nothing to compare. */
export function answer(data: PageData, state: State): Answer | undefined {
  const by = ranking(data, { ...state, metric: headline(shapeOf(data, state.part)).id });
  const ranked = by.rows.filter((row) => row.standing === "ranked");
  const bests = sets(ranked, state.rank).flatMap((set) => set[0] ?? []);
  const [best, worst] = [ranked[0], ranked.at(-1)];
  if (!best || !worst) return undefined;
  const low = best.bars.find((bar) => bar.ranked)?.value ?? 0;
  const high = worst.bars.find((bar) => bar.ranked)?.value ?? 0;
  const ran = by.rows.filter((row) => row.standing !== "reference");
  const held = ran.filter((row) => row.bars.some((bar) => (bar.row?.ok_runs ?? 0) > 0));
  const tried = by.failed.filter((row) => !["unavailable", "not measured"].includes(row.status));
  return {
    n: state.n,
    metric: by.metric,
    bests,
    best,
    worst,
    times: low > 0 ? high / low : 1,
    held: held.length,
    ran: ran.length + tried.length,
    slowed: ranked.filter((row) =>
      row.bars.some((bar) => bar.row?.warnings.some((warning) => SLOWED.includes(warning))),
    ).length,
  };
}

/** One line of the scaling chart. */
export interface Line {
  /** Of its entry, and of its campaign where there are several. */
  name: string;
  entry: Entry;
  campaign: number;
  points: { tasks: number; value: number; low: number; high: number; ok: boolean }[];
  fitted: [number, number][];
}

/**
 * What is asked first, over N: the footprint, or the time of an operation. Of the entries that the filters let through,
 * in the order of the ranking.
 */
export function lines(data: PageData, state: State): Line[] {
  const shape = shapeOf(data, state.part);
  const of = headline(shape);
  const order = ranking(data, { ...state, metric: of.id }).rows.map((row) => row.entry.name);
  const rest = entriesOf(data, shownCampaigns(data, state)).filter((entry) => passes(entry, state));
  for (const entry of rest) if (!order.includes(entry.name)) order.push(entry.name);
  const several = shownCampaigns(data, state).length > 1;
  const found: Line[] = [];
  for (const name of order) {
    for (const position of shownCampaigns(data, state)) {
      const campaign = data.campaigns[position];
      const entry = campaign && entryOf(campaign, name);
      if (!campaign || !entry) continue;
      const points = campaign.tasks.flatMap((tasks) => {
        const row = rowOf(campaign, name, tasks);
        const figure = of.of(entry, row)?.figure;
        if (!row || !figure) return [];
        return [{ tasks, value: figure.median, low: figure.min, high: figure.max, ok: row.ok_runs > 0 }];
      });
      if (points.length === 0) continue;
      found.push({
        name: several ? `${name} ${letter(data, position)}` : name,
        entry,
        campaign: position,
        points,
        fitted: fitted(entry, shape),
      });
    }
  }
  return found;
}

/**
 * The line through footprints as points that lie close enough together for logarithmic axes; none where the line is
 * none. The cost of an operation has no such law.
 */
function fitted(entry: Entry, shape: Shape): [number, number][] {
  const growth = shape === "work" ? undefined : entry.growth;
  const [low, high] = [growth?.tasks[0], growth?.tasks.at(-1)];
  if (!growth || bent(growth) || low === undefined || high === undefined || high <= low) return [];
  const steps = 24;
  const found: [number, number][] = [];
  for (let step = 0; step <= steps; step += 1) {
    const tasks = low * (high / low) ** (step / steps);
    const value = growth.base_bytes + tasks * growth.bytes_per_task;
    if (value > 0) found.push([tasks, value]);
  }
  return found;
}

/** What a campaign is called where there is no room, among those of its part: A, B, … */
export function letter(data: PageData, position: number): string {
  const place = placeOf(data, position);
  return place < 26 ? String.fromCharCode(65 + place) : `#${place + 1}`;
}
