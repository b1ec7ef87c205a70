// The ranking: a row of bars for each entry, best first, and below it the entries without a value.

import { type Child, fill, h } from "../dom.ts";
import * as format from "../format.ts";
import { isBytes, isWhole, leadOf, show } from "../metrics.ts";
import { type Scale, scale } from "../scale.ts";
import { campaignsOf, NO_FILTERS, parts, type State } from "../state.ts";
import type { Metric } from "../types.ts";
import {
  type Bar,
  changeNotes,
  exception,
  extent,
  kindOf,
  type Ranking,
  type RankRow,
  ranking,
  segments,
  sets,
  shownCampaigns,
} from "../view.ts";
import type { App, Section } from "./app.ts";
import { entryName, keepFocus, key, opener, section, swatch, tipLine, tipTitle, toggle } from "./elements.ts";
import { fellShort } from "./fell-short.ts";
import { FIRST, MANY, moreButton } from "./more.ts";
import { rankingSvg } from "./ranking-svg.ts";
import { spelled } from "./reason.ts";
import { saveButtons } from "./save.ts";
import { tip } from "./tip.ts";

const percent = (share: number) => `${(share * 100).toFixed(3)}%`;

export function rankingSection(app: App): Section {
  // Elements, not texts: a browser that translates the page replaces text nodes.
  const title = h("span", {}, "Ranking");
  const about = h("span");
  const legend = h("div", { class: "legend" });
  const list = h("div", { class: "ranking" });
  const notes = h("ul", { class: "notes" });
  const rest = h("div", { class: "fell-short" });
  const live = h("p", { class: "visually-hidden", role: "status" });
  const log = toggle("Logarithmic", () => app.set({ log: !app.state.log }));
  const published = toggle("Published values", () => app.set({ published: !app.state.published }));
  const turn = () => app.set({ rank: app.state.rank === "all" ? "kind" : "all" });
  const together = toggle("All kinds together", turn);
  const picture = (): SVGSVGElement => {
    const shown = ranking(app.data, app.state);
    const scaled = scale(shown.max, shown.min, app.state.log, isBytes(shown.metric), shown.unit);
    const { part, scenario, shape } = leadOf(app.data, app.state.part);
    const labels = shownCampaigns(app.data, app.state).map((campaign) => campaign.label);
    if (parts(app.data).length > 1) labels.unshift(part);
    if (shape === "work") labels.push(scenario);
    const subtitle = ["taskscale", ...labels].join(" · ");
    return rankingSvg(app, shown, scaled, title.textContent ?? "", subtitle);
  };
  /** Kinds whose rows are all shown. */
  const whole = new Set<string>();
  const tools = [published, log, together, ...saveButtons("taskscale-ranking", picture)];
  const element = section("ranking", title, about, tools, legend, list, notes, rest, live);

  function update(): void {
    const { state } = app;
    const shown = ranking(app.data, state);
    const of = shown.metric;
    fill(title, isWhole(of) ? of.title : `${of.title} at ${format.tasks(state.n)}`);
    const { scenario, shape } = leadOf(app.data, state.part);
    fill(about, shape === "work" && !isBytes(of) ? `${of.about} ${scenario}` : of.about);
    log.setAttribute("aria-pressed", String(state.log));
    published.setAttribute("aria-pressed", String(state.published));
    together.setAttribute("aria-pressed", String(state.rank === "all"));
    together.hidden = new Set(shown.rows.map((row) => row.entry.kind)).size < 2;
    published.hidden = !shown.hasPublished;
    const lists = listed(shown, state.rank, whole);
    // Scaled to the rows shown: a huge hidden one would leave them a few pixels.
    const seen = lists.flatMap((list) => list.rows);
    const { max, min } = extent(seen, state.published);
    const scaled = scale(max, min, state.log, isBytes(of), shown.unit);
    const more = (kind: string) => {
      whole.add(kind);
      update();
    };
    fill(legend, legendItems(app, shown));
    fill(
      notes,
      changeNotes(app.data, seen).map((text) => h("li", {}, text)),
    );
    const draw = () => {
      const layout = { app, shown, scaled };
      const rows = [axis(layout), gridlines(layout), ...ranked(layout, lists, more)];
      fill(list, shown.rows.length > 0 ? rows : nothing(app, shown));
      fill(rest, fellShort(app, shown, whole, more));
    };
    keepFocus(element, draw, "data-entry");
    const text = `${format.counted(shown.shown, "entry")} of ${shown.entries} shown`;
    if (live.textContent !== text) live.textContent = text;
  }
  return { element, update };
}

/** What all rows of the ranking depend on. */
interface Layout {
  app: App;
  shown: Ranking;
  scaled: Scale;
}

/** The rows shown of one list, and the number left out. */
interface Listed {
  /** Empty if all kinds are in one list. */
  kind: string;
  rows: RankRow[];
  left: number;
}

/** All rows in one list, or in a list per kind if they are ranked by kind. */
function listed(shown: Ranking, rank: State["rank"], whole: Set<string>): Listed[] {
  const found = sets(shown.rows, rank);
  return found.map((rows) => {
    const kind = found.length < 2 ? "" : (rows[0]?.entry.kind ?? "");
    const most = shown.rows.length <= MANY || whole.has(kind) ? rows.length : kind ? FIRST : MANY;
    return { kind, rows: rows.slice(0, most), left: Math.max(0, rows.length - most) };
  });
}

function ranked(layout: Layout, lists: Listed[], more: (kind: string) => void): (Node | false)[] {
  return lists.flatMap(({ kind, rows, left }) => {
    const of = kindOf(layout.app.data, kind);
    const items = rows.map((row) => rankRow(layout, row, kind));
    return [
      kind !== "" && h("h3", { class: "kind-head" }, of?.title, h("small", {}, of?.about)),
      h("ol", { class: "rows" }, items),
      moreButton(left, of ? ` ${of.in_sentence}` : "", () => more(kind)),
    ];
  });
}

function nothing(app: App, shown: Ranking): HTMLElement {
  const filtered = shown.shown < shown.entries;
  const text = filtered ? "No entry that matches the filters has this metric." : "No entry has this metric.";
  const attributes = { class: "button", onclick: () => app.set(NO_FILTERS) };
  const clear = h("button", attributes, "Clear filters and search");
  return h("div", { class: "nothing" }, h("p", {}, text), filtered && clear);
}

function legendItems({ data, state }: App, shown: Ranking): Child[] {
  const footprint = shown.metric.name === "footprint";
  return [
    ...data.parts.map(
      (part) => footprint && !state.log && key(swatch(`part-${part.id}`), part.title, part.about),
    ),
    footprint && state.log && h("span", { class: "key" }, "A logarithmic scale cannot show stacked parts."),
    key(swatch("whisker-key"), shown.metric.range),
    state.published &&
      shown.hasPublished &&
      key(swatch("mark-key"), "Published values", data.published.map(({ note }) => note).join(" ")),
  ];
}

/** The grid, drawn once behind all rows. */
function gridlines({ shown, scaled }: Layout): HTMLElement {
  const lines = scaled.ticks.map((value) => h("i", { class: "gridline", "--at": percent(scaled.at(value)) }));
  const attributes = { class: `gridlines ${columns(shown)}`, "aria-hidden": "true" };
  return h("div", attributes, h("span", { class: "track" }, lines));
}

function columns(shown: Ranking): string {
  return `row-grid${shown.metric.per_task ? "" : " without-task"}`;
}

function axis({ app, shown, scaled }: Layout): HTMLElement {
  const text = (value: number) => (value === 0 ? "0" : format.withoutZeros(shown.tick(value)));
  const noisy = shown.rows.some((row) => row.bars.some((bar) => spread(app, shown, bar)));
  const ticks = scaled.ticks.map((value) =>
    h("span", { class: "tick", "--at": percent(scaled.at(value)) }, text(value)),
  );
  return h(
    "div",
    { class: `axis ${columns(shown)}`, "aria-hidden": "true" },
    h("span", { class: "place" }),
    h("span", { class: "name" }),
    h("span", { class: "track" }, ticks),
    h("span", { class: "value" }, shown.metric.short),
    h("span", { class: "per-task" }, "per task"),
    h("span", { class: "spread" }, noisy && shown.metric.spread),
  );
}

/** A row, below the heading of its kind unless that is empty. */
function rankRow(layout: Layout, row: RankRow, heading: string): HTMLElement {
  const remarks = row.remarks.slice(0, 3).flatMap((remark, at) => [at > 0 && " · ", ...spelled(remark)]);
  const lines = row.bars.map((bar) => rankLine(layout, row, bar, heading));
  const remark = remarks.length > 0 && h("p", { class: "remark" }, remarks);
  return h("li", { class: `rank-row is-${row.standing}` }, lines, remark);
}

/** One of a row's bars; the first has the entry's name. */
function rankLine(layout: Layout, row: RankRow, bar: Bar, heading: string): HTMLElement {
  const { app, shown } = layout;
  const { entry } = row;
  const several = shownCampaigns(app.data, app.state).length > 1;
  const first = bar === row.bars[0];
  const place = row.place ?? app.data.standings[row.standing]?.[1];
  const mark = first && app.state.published ? row.published?.memory_bytes : undefined;
  const tag = (more?: Node | false) =>
    several && h("span", { class: "campaign-tag" }, bar.campaign.letter, more);
  const name = first ? entryName(entry, ...badges(app, bar, heading), tag()) : tag(change(bar));
  const line = h(
    "button",
    { class: `rank-line ${columns(shown)}`, ...opener(app, entry, ` ${bar.campaign.position}`) },
    h("span", { class: "place" }, first && String(place)),
    h("span", { class: "name" }, name),
    track(layout, bar, mark),
    h("span", { class: "value" }, valueText(shown, bar)),
    h("span", { class: "per-task" }, perTask(shown, bar, app.state.n)),
    h("span", { class: "spread" }, spread(app, shown, bar)),
    h("span", { class: "visually-hidden" }, spoken(app, row, bar, several)),
  );
  tip(line, () => barTip(app, shown, row, bar));
  return line;
}

/** The value per task, as text. */
function perTask({ metric }: Ranking, bar: Bar, n: number): string {
  const what = metric.per_task;
  if (what === "slope") return bar.entry.scaling?.slope ?? "";
  if (!what || n === 1) return "";
  return format.UNITS[what]((bar.value / n) * (what === "nanoseconds" ? 1e9 : 1));
}

function valueText({ metric }: Ranking, bar: Bar): string {
  if (metric.scope !== "run") return bar.entry.scaling?.[metric.scope] ?? "";
  return `${exception(bar.row, metric.name)?.sign ?? ""}${show(metric)(bar.value)}`;
}

const change = ({ change }: Bar): Node | false =>
  change !== undefined && change[0] !== "" && h("span", { class: "change" }, ` ${change[0]}`);

function badges({ data }: App, { entry }: Bar, heading: string): (Node | false)[] {
  const kind = heading === "" && (kindOf(data, entry.kind)?.title ?? entry.kind);
  const texts = [kind, ...(entry.badges ?? [])].filter(Boolean);
  return [
    texts.length > 0 && h("span", { class: "tag" }, texts.join(" · ")),
    entry.unverified !== undefined && h("span", { class: "tag warn" }, "unverified"),
  ];
}

function spread({ data }: App, { metric }: Ranking, bar: Bar): string {
  const share = noise(metric, bar);
  return share === undefined || share < data.shown_spread ? "" : `± ${format.percent(share)}`;
}

/** Spread ÷ value: the larger half of the interval, or the median absolute deviation. */
function noise(metric: Metric, { row, value, range }: Bar): number | undefined {
  if (!isWhole(metric)) return row?.figures[metric.field]?.spread;
  return range && value ? Math.max(range.high - value, value - range.low) / Math.abs(value) : undefined;
}

function track({ shown, scaled }: Layout, bar: Bar, mark: number | undefined): HTMLElement {
  const at = (value: number) => percent(scaled.at(value));
  const { value, range } = bar;
  const plain = isBytes(shown.metric) ? "part-anon" : "part-time";
  const pieces = () =>
    segments(bar, plain).map(
      ({ name, share }) => share > 0.0005 && h("i", { class: `segment ${name}`, "--size": percent(share) }),
    );
  return h(
    "span",
    { class: "track", "aria-hidden": "true" },
    // A logarithmic axis has no zero for a bar to begin at.
    scaled.log
      ? h("i", { class: `dot ${plain}`, "--at": at(value) })
      : h("span", { class: "bar", "--size": at(value) }, pieces()),
    range && h("i", { class: "whisker", "--from": at(range.low), "--to": at(range.high) }),
    mark !== undefined && h("i", { class: "mark", "--at": at(mark) }),
  );
}

function barTip(app: App, shown: Ranking, row: RankRow, bar: Bar): Child[] {
  const { metric } = shown;
  const write = show(metric);
  const { scaling } = bar.entry;
  const { published } = row;
  return [
    tipTitle(bar.entry.title),
    campaignsOf(app.data, app.state.part).length > 1 && h("div", { class: "tip-sub" }, bar.campaign.label),
    ...bar.parts.map(({ id, title, bytes }) => tipLine(title, format.bytes(bytes), swatch(`part-${id}`))),
    tipLine(metric.title, write(bar.value)),
    bar.range && tipLine(metric.range, `${write(bar.range.low)} to ${write(bar.range.high)}`),
    bar.timesBest !== undefined &&
      row.standing === "ranked" &&
      tipLine(`vs ${app.data.best[app.state.rank]}`, format.times(bar.timesBest)),
    bar.change !== undefined && h("div", { class: "tip-sub" }, app.data.change_notes?.[bar.change[1]]),
    scaling?.nonlinear !== undefined && h("div", { class: "tip-sub" }, scaling.nonlinear),
    published &&
      app.state.published &&
      tipLine(`Published: ${published.runtime}, ${published.version}`, format.bytes(published.memory_bytes)),
  ];
}

/** What a screen reader reads in addition to the row's texts. */
function spoken(app: App, row: RankRow, bar: Bar, several: boolean): string {
  const texts: string[] = [];
  if (several) texts.push(`results ${bar.campaign.letter}`);
  texts.push(...bar.parts.map(({ title, bytes }) => `${title} ${format.bytes(bytes)}`));
  if (bar.timesBest !== undefined && row.standing === "ranked")
    texts.push(`${format.times(bar.timesBest)} the ${app.data.best[app.state.rank]}`);
  return texts.length > 0 ? `; ${texts.join(", ")}` : "";
}
