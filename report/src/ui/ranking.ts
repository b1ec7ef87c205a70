// The ranking: a row of bars for each entry, best first, and below it those without a figure, with the reason.

import { fill, h } from "../dom.ts";
import * as format from "../format.ts";
import { isBytes, isWhole, show } from "../metrics.ts";
import { type Scale, scale } from "../scale.ts";
import { campaignsOf, parts, type State, scenarioOf } from "../state.ts";
import type { Metric } from "../types.ts";
import {
  type Bar,
  extent,
  isLowerBound,
  kindOf,
  letter,
  type Ranking,
  type RankRow,
  ranking,
  sets,
  shownCampaigns,
} from "../view.ts";
import type { App } from "./app.ts";
import { NO_FILTERS } from "./controls.ts";
import { fellShort } from "./fell-short.ts";
import { FIRST, MANY, moreButton } from "./more.ts";
import { rankingSvg } from "./ranking-svg.ts";
import { spelled } from "./reason.ts";
import { saveButtons } from "./save.ts";
import { tip } from "./tip.ts";

const percent = (share: number) => `${(share * 100).toFixed(3)}%`;

export function rankingSection(app: App): { element: HTMLElement; update(): void } {
  const about = h("p", { class: "about" });
  const legend = h("div", { class: "legend" });
  const list = h("div", { class: "ranking" });
  const rest = h("div", { class: "fell-short" });
  const live = h("p", { class: "visually-hidden", role: "status" });
  const log = toggle("Logarithmic", () => app.set({ log: !app.state.log }));
  const published = toggle("Published values", () => app.set({ published: !app.state.published }));
  const together = toggle("All kinds together", () =>
    app.set({ rank: app.state.rank === "all" ? "kind" : "all" }),
  );
  const picture = (): SVGSVGElement => {
    const shown = ranking(app.data, app.state);
    const scaled = scale(shown.max, shown.min, app.state.log, isBytes(shown.metric), shown.unit);
    const labels = shownCampaigns(app.data, app.state).map(
      (position) => app.data.campaigns[position]?.label ?? "",
    );
    const { part } = app.state;
    if (parts(app.data).length > 1) labels.unshift(part);
    const scenario = shown.shape === "work" ? scenarioOf(app.data, part) : "";
    const subtitle = `taskscale · ${labels.join(" · ")}${scenario && ` · ${scenario}`}`;
    return rankingSvg(app.data, shown, scaled, byTitle(element).textContent ?? "", subtitle, app.state.rank);
  };
  /** Kinds of which all rows are shown. */
  const whole = new Set<string>();
  const element = h(
    "section",
    { class: "section", id: "ranking", "aria-labelledby": "ranking-title" },
    h(
      "div",
      { class: "section-head" },
      h("div", { class: "beside" }, h("h2", { id: "ranking-title" }, "Ranking"), about),
      h(
        "div",
        { class: "section-tools" },
        published,
        log,
        together,
        saveButtons("taskscale-ranking", picture),
      ),
    ),
    legend,
    list,
    rest,
    live,
  );

  function update(): void {
    const { state } = app;
    const shown = ranking(app.data, state);
    const of = shown.metric;
    const at = isWhole(of) ? "" : ` at ${format.tasks(state.n)}`;
    fill(byTitle(element), `${of.title}${at}`);
    const work = shown.shape === "work" && !isBytes(of);
    fill(about, work ? `${of.about} ${scenarioOf(app.data, state.part)}` : of.about);
    log.setAttribute("aria-pressed", String(state.log));
    published.setAttribute("aria-pressed", String(state.published));
    together.setAttribute("aria-pressed", String(state.rank === "all"));
    together.hidden = new Set(shown.rows.map((row) => row.entry.kind)).size < 2;
    published.hidden = !shown.hasPublished;
    const lists = listed(shown, state.rank, whole);
    // By what is seen: one giant among the rest would leave a few pixels for all others.
    const { max, min } = extent(
      lists.flatMap((list) => list.rows),
      state.published,
    );
    const scaled = scale(max, min, state.log, isBytes(of), shown.unit);
    const more = (kind: string) => {
      whole.add(kind);
      update();
    };
    fill(legend, legendItems(app, shown));
    const focused = document.activeElement?.getAttribute("data-entry");
    if (shown.rows.length > 0) {
      fill(list, axis(shown, scaled), gridlines(shown, scaled), ranked(app, shown, scaled, lists, more));
    } else {
      fill(list, nothing(app, shown));
    }
    fill(rest, fellShort(app, shown, whole, more));
    if (focused) element.querySelector<HTMLElement>(`[data-entry="${CSS.escape(focused)}"]`)?.focus();
    const text = `${format.counted(shown.shown, "entry")} of ${shown.entries} shown`;
    if (live.textContent !== text) live.textContent = text;
  }
  return { element, update };
}

const byTitle = (element: HTMLElement): HTMLElement => element.querySelector("h2") as HTMLElement;

/** Rows that stand in one list, and how many more it has. */
interface Listed {
  /** Empty where all kinds are in one. */
  kind: string;
  rows: RankRow[];
  left: number;
}

/** All rows in one list, or, where they are ranked by kind, in a list for each. */
function listed(shown: Ranking, rank: State["rank"], whole: Set<string>): Listed[] {
  const found = sets(shown.rows, rank);
  return found.map((rows) => {
    const kind = found.length < 2 ? "" : (rows[0]?.entry.kind ?? "");
    const most = shown.rows.length <= MANY || whole.has(kind) ? rows.length : kind ? FIRST : MANY;
    return { kind, rows: rows.slice(0, most), left: Math.max(0, rows.length - most) };
  });
}

function ranked(
  app: App,
  shown: Ranking,
  scaled: Scale,
  lists: Listed[],
  more: (kind: string) => void,
): (Node | false)[] {
  return lists.flatMap(({ kind, rows, left }) => {
    const of = kindOf(app.data, kind);
    return [
      kind !== "" && h("h3", { class: "kind-head" }, of?.title, h("small", {}, of?.about)),
      h(
        "ol",
        { class: "rows" },
        rows.map((row) => rankRow(app, shown, row, scaled)),
      ),
      moreButton(left, of ? ` ${of.in_sentence}` : "", () => more(kind)),
    ];
  });
}

export function toggle(text: string, click: () => void): HTMLButtonElement {
  const attributes = { type: "button", class: "switch", "aria-pressed": "false", onclick: click };
  return h("button", attributes, h("span", { class: "switch-track", "aria-hidden": "true" }), text);
}

function nothing(app: App, shown: Ranking): HTMLElement {
  const filtered = shown.shown < shown.entries;
  return h(
    "div",
    { class: "nothing" },
    h("p", {}, filtered ? "No entry that matches the filters has this metric." : "No entry has this metric."),
    filtered &&
      h(
        "button",
        { type: "button", class: "button", onclick: () => app.set(NO_FILTERS) },
        "Clear filters and search",
      ),
  );
}

function legendItems(app: App, shown: Ranking): (Node | false)[] {
  const stacked = shown.metric.name === "footprint" && !app.state.log;
  const sources = app.data.published.map((known) => `${known.source}, ${known.hardware}`);
  return [
    ...(stacked
      ? app.data.parts.map((part) =>
          h(
            "span",
            { class: "key", title: part.about },
            h("i", { class: `swatch part-${part.id}` }),
            part.title,
          ),
        )
      : []),
    app.state.log && shown.metric.name === "footprint"
      ? h("span", { class: "key" }, "A logarithmic scale cannot show stacked parts.")
      : false,
    h(
      "span",
      { class: "key" },
      h("i", { class: "swatch whisker-key" }),
      isWhole(shown.metric) ? "95% interval" : "smallest to largest run",
    ),
    app.state.published && shown.hasPublished
      ? h(
          "span",
          { class: "key", title: sources.join("; ") },
          h("i", { class: "swatch mark-key" }),
          "published by others, on another machine",
        )
      : false,
  ];
}

/** Drawn once behind all rows. */
function gridlines(shown: Ranking, scaled: Scale): HTMLElement {
  return h(
    "div",
    { class: `gridlines ${columns(shown)}`, "aria-hidden": "true" },
    h(
      "span",
      { class: "track" },
      scaled.ticks.map((value) => h("i", { class: "gridline", "--at": percent(scaled.at(value)) })),
    ),
  );
}

function columns(shown: Ranking): string {
  return `row-grid${sharing(shown) ? "" : " without-task"}`;
}

function axis(shown: Ranking, scaled: Scale): HTMLElement {
  const text = (value: number) => (value === 0 ? "0" : tick(shown, value));
  const noisy = shown.rows.some((row) => row.bars.some((bar) => spread(shown, bar)));
  return h(
    "div",
    { class: `axis ${columns(shown)}`, "aria-hidden": "true" },
    h("span", { class: "place" }),
    h("span", { class: "name" }),
    h(
      "span",
      { class: "track" },
      scaled.ticks.map((value) =>
        h("span", { class: "tick", "--at": percent(scaled.at(value)) }, text(value)),
      ),
    ),
    h("span", { class: "value" }, shown.metric.short),
    h("span", { class: "per-task" }, "per task"),
    h("span", { class: "spread" }, noisy ? (isWhole(shown.metric) ? "interval" : "± MAD") : ""),
  );
}

/** A round figure without the zeros that only unrounded ones need. */
function tick(shown: Ranking, value: number): string {
  return shown
    .show(value)
    .replace(/\.0+(?= |$)/, "")
    .replace(/(\.\d*?)0+(?= )/, "$1");
}

function rankRow(app: App, shown: Ranking, row: RankRow, scaled: Scale): HTMLElement {
  const { entry } = row;
  const several = shownCampaigns(app.data, app.state).length > 1;
  const place = row.place ?? (row.standing === "reference" ? "ref" : "–");
  const mark = app.state.published ? row.published : undefined;
  return h(
    "li",
    { class: `rank-row is-${row.standing}` },
    row.bars.map((bar, position) => {
      const first = position === 0;
      const content = [
        h("span", { class: "place" }, first ? String(place) : ""),
        h(
          "span",
          { class: "name" },
          first && h("span", { class: "title" }, entry.title),
          first &&
            h(
              "span",
              { class: "sub" },
              h("span", { class: "id" }, entry.name),
              h("span", { class: "version" }, entry.shown_version ?? ""),
              badges(bar),
              several && h("span", { class: "campaign-tag" }, letter(app.data, bar.campaign)),
            ),
          several &&
            !first &&
            h("span", { class: "campaign-tag" }, letter(app.data, bar.campaign), change(bar)),
        ),
        track(app, shown, bar, scaled, first ? mark?.memory_bytes : undefined),
        h("span", { class: "value" }, valueText(shown, bar)),
        h("span", { class: "per-task" }, perTask(shown, bar, app.state.n)),
        h("span", { class: "spread" }, spread(shown, bar)),
      ];
      const line = h(
        "button",
        {
          type: "button",
          class: `rank-line ${columns(shown)}`,
          "aria-haspopup": "dialog",
          "data-entry": `${entry.name} ${bar.campaign}`,
          "data-name": entry.name,
          onclick: () => app.set({ entry: entry.name }),
        },
        content,
        h("span", { class: "visually-hidden" }, spoken(app, row, bar, several)),
      );
      tip(line, () => barTip(app, shown, row, bar));
      return line;
    }),
    row.remarks.length > 0 &&
      h(
        "p",
        { class: "remark" },
        row.remarks.slice(0, 3).flatMap((remark, at) => [at > 0 ? " · " : "", ...spelled(remark)]),
      ),
  );
}

/** What the column `per task` has: the slope of the footprint, or the figure that is compared, divided by N. */
function sharing({ metric, shape }: Ranking): "slope" | "bytes" | "time" | undefined {
  if (shape === "work" || isWhole(metric)) return undefined;
  if (metric.name === "footprint") return shape === "hold" ? "slope" : undefined;
  if (metric.unit === "bytes") return "bytes";
  // Of the wall time the wait is the most.
  return metric.unit === "seconds" && metric.name !== "wall" ? "time" : undefined;
}

function perTask(shown: Ranking, bar: Bar, n: number): string {
  const what = sharing(shown);
  if (what === "slope") return bar.entry.scaling?.slope ?? "";
  if (!what || n === 1) return "";
  return what === "bytes" ? format.perTask(bar.value / n) : format.nanoseconds((bar.value / n) * 1e9);
}

function valueText(shown: Ranking, bar: Bar): string {
  if (shown.metric.scope === "slope") return bar.entry.scaling?.slope ?? "";
  return `${isLowerBound(bar, shown.metric) ? "≥ " : ""}${shown.show(bar.value)}`;
}

function change(bar: Bar): Node | false {
  if (bar.change === undefined) return false;
  const text = `${bar.change < 0 ? "−" : "+"}${Math.abs(bar.change * 100).toFixed(1)}%`;
  return h("span", { class: "change" }, ` ${text}`);
}

function badges({ entry }: Bar): (Node | false)[] {
  return [
    h("span", { class: "tag" }, [entry.kind, ...(entry.badges ?? [])].join(" · ")),
    entry.unverified !== undefined && h("span", { class: "tag warn" }, "unverified"),
  ];
}

/** Noise below this share of the figure is none that anybody need look at. */
const QUIET = 0.01;

function spread({ metric }: Ranking, bar: Bar): string {
  if (isWhole(metric) && bar.entry.scaling?.nonlinear) return "not linear";
  const share = noise(metric, bar);
  return share === undefined || share < QUIET ? "" : `± ${format.percent(share)}`;
}

/** As a share of the figure: half of an interval's width, or the median absolute deviation. */
function noise(metric: Metric, { row, value, low, high }: Bar): number | undefined {
  if (!isWhole(metric)) return row?.figures[metric.field]?.mad;
  const known = low !== undefined && high !== undefined && value;
  return known ? Math.max(high - value, value - low) / Math.abs(value) : undefined;
}

function track(app: App, shown: Ranking, bar: Bar, scaled: Scale, mark: number | undefined): HTMLElement {
  const { value } = bar;
  const stacked = bar.parts && value > 0;
  const total = bar.parts?.reduce((sum, part) => sum + part, 0) ?? 0;
  const plain = isBytes(shown.metric) ? "part-anon" : "part-time";
  return h(
    "span",
    { class: "track", "aria-hidden": "true" },
    // A logarithmic axis has no zero for a bar to begin at.
    scaled.log
      ? h("i", { class: `dot ${plain}`, "--at": percent(scaled.at(value)) })
      : h(
          "span",
          { class: "bar", "--size": percent(scaled.at(value)) },
          stacked && total > 0
            ? app.data.parts.map((part, position) => {
                const share = (bar.parts?.[position] ?? 0) / total;
                return (
                  share > 0.0005 && h("i", { class: `segment part-${part.id}`, "--size": percent(share) })
                );
              })
            : h("i", { class: `segment ${plain}`, "--size": "100%" }),
        ),
    bar.low !== undefined &&
      bar.high !== undefined &&
      h("i", {
        class: "whisker",
        "--from": percent(scaled.at(bar.low)),
        "--to": percent(scaled.at(bar.high)),
      }),
    mark !== undefined && app.state.published && h("i", { class: "mark", "--at": percent(scaled.at(mark)) }),
  );
}

function barTip(app: App, shown: Ranking, row: RankRow, bar: Bar): Node[] {
  const campaign = app.data.campaigns[bar.campaign];
  const line = (text: string, value: string, swatch?: string) =>
    h(
      "div",
      { class: "tip-line" },
      swatch ? h("i", { class: `swatch ${swatch}` }) : h("i"),
      h("span", {}, text),
      h("b", {}, value),
    );
  const lines: Node[] = [h("div", { class: "tip-title" }, bar.entry.title)];
  if (campaignsOf(app.data, app.state.part).length > 1 && campaign)
    lines.push(h("div", { class: "tip-sub" }, campaign.label));
  if (bar.parts) {
    for (const [position, part] of app.data.parts.entries()) {
      lines.push(line(part.title, format.bytes(bar.parts[position] ?? 0), `part-${part.id}`));
    }
  }
  const write = show(shown.metric);
  lines.push(line(shown.metric.title, write(bar.value)));
  if (bar.low !== undefined && bar.high !== undefined) {
    const name = isWhole(shown.metric)
      ? "95% interval"
      : `of ${bar.row?.figures[shown.metric.field]?.readings ?? 0} runs`;
    lines.push(line(name, `${write(bar.low)} to ${write(bar.high)}`));
  }
  if (bar.timesBest !== undefined && row.standing === "ranked")
    lines.push(line(`vs best ${among(app)}`, format.times(bar.timesBest)));
  const { scaling } = bar.entry;
  if (scaling?.nonlinear) lines.push(line("Not linear: largest deviation", scaling.deviation ?? ""));
  if (row.published && app.state.published) {
    const { published } = row;
    lines.push(
      line(`Published: ${published.runtime}, ${published.version}`, format.bytes(published.memory_bytes)),
    );
  }
  return lines;
}

const among = (app: App): string => (app.state.rank === "kind" ? "of its kind" : "of all");

/** What the bar shows, for who does not see it. */
function spoken(app: App, row: RankRow, bar: Bar, several: boolean): string {
  const texts: string[] = [];
  if (several) texts.push(`results ${letter(app.data, bar.campaign)}`);
  if (bar.parts) {
    const [...sizes] = bar.parts;
    texts.push(
      ...app.data.parts.map((part, position) => `${part.title} ${format.bytes(sizes[position] ?? 0)}`),
    );
  }
  if (bar.timesBest !== undefined && row.standing === "ranked")
    texts.push(`${format.times(bar.timesBest)} the best ${among(app)}`);
  return texts.length > 0 ? `; ${texts.join(", ")}` : "";
}
