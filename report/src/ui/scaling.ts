// Footprint (for work: wall time per operation) over N on logarithmic axes: a line per entry with the range of
// its runs, the fitted line, and the floor.

import type { CustomSeriesOption, LineSeriesOption } from "echarts/charts";
import { fill, h } from "../dom.ts";
import * as format from "../format.ts";
import { headline, isBytes, leadOf, show } from "../metrics.ts";
import { campaignsOf, tasksOf, toggled } from "../state.ts";
import type { Entry, Metric } from "../types.ts";
import { entriesOf, first, type Line, lines } from "../view.ts";
import type { App, Section } from "./app.ts";
import {
  axisName,
  type Drawing,
  FONT,
  Lazy,
  type LineStyle,
  lineMarks,
  lineStyle,
  logAxis,
  saveChart,
  token,
} from "./chart.ts";
import { choice, keepFocus, section, swatch, tipLine, tipPanel, toggle } from "./elements.ts";

/** Most lines shown: more are hard to distinguish. */
const MOST = 24;

/** Most lines listed in a tooltip. */
const MOST_COMPARED = 16;

/** Width of a character of the names at the ends of lines, in pixels. */
const NAME_CHARACTER = 6.4;

interface Styled extends Line {
  style: LineStyle;
}

/** The lines shown, and the number left out. Styles follow the catalog: filters do not change them. */
function styled(app: App): { shown: Styled[]; left: number } {
  const all = lines(app.data, app.state);
  const campaigns = campaignsOf(app.data, app.state.part);
  const entries = entriesOf(app.data.campaigns);
  /** Place of an entry among those of its color. */
  const place = ({ name, color }: Entry) =>
    entries.filter((entry) => entry.color === color).findIndex((entry) => entry.name === name);
  const shown = first(all, MOST).map((line) => ({
    ...line,
    style: line.entry.reference
      ? { color: token("--ink-3"), symbol: "circle", glyph: "", dash: [1, 3] }
      : lineStyle(line.entry.color, place(line.entry) + campaigns.indexOf(line.campaign) * 3),
  }));
  return { shown, left: all.length - shown.length };
}

const metricOf = (app: App): Metric => headline(app.data, app.state.part);

export function scalingSection(app: App): Section {
  let shown: Styled[] = [];
  const label = () =>
    `${metricOf(app).title} over the number of tasks, both axes logarithmic. The table below has all values.`;
  const chart = new Lazy(label(), (width) => drawing(app, shown, width));
  chart.element.classList.add("chart-tall");
  const about = h("span");
  const fit = toggle("Fitted lines", () => app.set({ fit: !app.state.fit }));
  const legend = h("div", { class: "line-legend", role: "group", "aria-label": "Lines shown" });
  const note = h("p", { class: "small" });
  const tools = [fit, ...saveChart("taskscale-scaling", chart)];
  const drawn = h("div", { class: "scaling" }, chart.element, legend);
  const element = section("scaling", "Scaling", about, tools, drawn, note);

  function update(): void {
    const { shown: next, left } = styled(app);
    shown = next;
    fill(about, app.data.about.scaling[leadOf(app.data, app.state.part).shape]);
    chart.element.setAttribute("aria-label", label());
    fit.hidden = shown.every((line) => line.fitted.length === 0);
    fit.setAttribute("aria-pressed", String(app.state.fit));
    const items = shown.map((line) => legendItem(app, chart, line));
    keepFocus(legend, () => fill(legend, items));
    const count = `${shown.length} of ${shown.length + left} lines`;
    fill(note, left > 0 && `${count}: ${app.data.about.lines}. Filter or search to see others.`);
    chart.changed();
  }
  return { element, update };
}

function legendItem(app: App, chart: Lazy, line: Styled): HTMLElement {
  const hidden = app.state.hidden.includes(line.name);
  const hide = () => app.set({ hidden: toggled(app.state.hidden, line.name) });
  const name = h("span", {}, line.name);
  const button = choice(line.name, !hidden, hide, { class: "line-key" }, ...lineMarks(line.style), name);
  const highlight = (type: "highlight" | "downplay") => () => {
    if (!hidden) chart.now()?.dispatchAction({ type, seriesName: line.name });
  };
  button.addEventListener("pointerenter", highlight("highlight"));
  button.addEventListener("pointerleave", highlight("downplay"));
  return button;
}

function drawing(app: App, all: Styled[], width: number): Drawing {
  const visible = all.filter((line) => !app.state.hidden.includes(line.name));
  const narrow = width < 560;
  const longest = Math.max(0, ...visible.map((line) => line.name.length));
  const of = metricOf(app);
  const values = visible.flatMap((line) =>
    // Times vary more than footprints: the axis must fit their bars too.
    line.points.flatMap((point) => (isBytes(of) ? point.value : [point.low, point.value, point.high])),
  );
  const sizes = visible.flatMap((line) => line.points.map((point) => point.tasks));
  // Times per operation often span less than a power of ten.
  const base = isBytes(of) ? 4 : Math.max(...values) / Math.min(...values) > 50 ? 10 : 2;
  const power = (value: number, round: (power: number) => number) =>
    base ** round(Math.log(value) / Math.log(base));
  const tick = (value: number) =>
    isBytes(of)
      ? format.withoutZeros(format.bytes(value))
      : `${value < 1 ? format.significant(value) : format.grouped(value)} ns`;
  return {
    grid: {
      left: narrow ? 58 : 70,
      right: narrow ? 18 : Math.min(width / 3, 24 + longest * NAME_CHARACTER),
      top: 12,
      bottom: 46,
    },
    tooltip: {
      trigger: "axis",
      axisPointer: { type: "line", lineStyle: { color: token("--ink-3") }, label: { show: false } },
      formatter: (found: unknown) => comparison(app, visible, found),
    },
    xAxis: {
      ...logAxis(10, { formatter: format.count }),
      ...axisName("tasks", 30),
      min: Math.min(...sizes, 1),
      max: Math.max(...sizes, 10),
    },
    yAxis: {
      ...logAxis(base, { formatter: tick }),
      min: power(Math.min(...values), Math.floor),
      max: power(Math.max(...values), Math.ceil),
    },
    series: visible.flatMap((line) => series(app, line, !narrow)),
  };
}

function series(app: App, line: Styled, named: boolean): (LineSeriesOption | CustomSeriesOption)[] {
  const { color, symbol, dash } = line.style;
  // On these axes the fit is a curve. Between distant N it is more accurate than a straight line from median to
  // median.
  const byFit = app.state.fit && !line.entry.reference && line.fitted.length > 0;
  const last = line.points.at(-1)?.tasks === tasksOf(app.data, app.state.part).at(-1);
  const stroke = { color, width: line.entry.reference ? 1.5 : 1.75, type: dash };
  const measured: LineSeriesOption = {
    type: "line",
    name: line.name,
    data: line.points.map((point) => ({
      value: [point.tasks, point.value],
      // Faded: fewer than N tasks were alive, so it is not comparable.
      ...(point.ok ? {} : { itemStyle: { opacity: 0.35 } }),
    })),
    symbol,
    symbolSize: line.entry.reference ? 4 : 8,
    showAllSymbol: true,
    lineStyle: byFit ? { width: 0 } : stroke,
    itemStyle: { color },
    emphasis: { scale: 1.5, lineStyle: { width: byFit ? 0 : 4 } },
    // The name at the end of the line. Names that would overlap are shifted.
    endLabel: {
      show: named,
      formatter: line.name,
      color,
      fontFamily: FONT,
      fontSize: 11,
      lineHeight: 14,
      padding: [2, 0],
      distance: 8,
    },
    ...(last ? { labelLayout: { moveOverlap: "shiftY" as const } } : {}),
    z: 3,
  };
  const intervals: CustomSeriesOption = {
    type: "custom",
    name: line.name,
    silent: true,
    z: 2,
    itemStyle: { color },
    tooltip: { show: false },
    data: line.points
      .filter((point) => point.high > point.low)
      .map((point) => [point.tasks, point.low, point.high]),
    encode: { x: 0, y: [1, 2] },
    renderItem: (_, api) => {
      const [x = 0, low = 0] = api.coord([api.value(0), api.value(1)]);
      const [, high = 0] = api.coord([api.value(0), api.value(2)]);
      const pathData = `M${x - 4},${low}h8M${x},${low}V${high}M${x - 4},${high}h8`;
      return { type: "path", shape: { pathData }, style: { stroke: color, lineWidth: 1.5, fill: "none" } };
    },
  };
  const fitted: LineSeriesOption = {
    type: "line",
    name: line.name,
    data: line.fitted,
    symbol: "none",
    silent: true,
    z: 1,
    tooltip: { show: false },
    lineStyle: stroke,
    emphasis: { lineStyle: { width: 4 } },
  };
  return byFit ? [measured, intervals, fitted] : [measured, intervals];
}

/** The values of all lines at the N under the pointer, the smallest first. */
function comparison(app: App, visible: Styled[], found: unknown): HTMLElement {
  const hits = Array.isArray(found) ? found : [found];
  const tasks = hits.map((hit) => Number((hit as { value?: unknown[] }).value?.[0])).find(Number.isInteger);
  const of = metricOf(app);
  const known = tasksOf(app.data, app.state.part);
  // Fitted lines have points between the numbers of tasks that were run.
  const away = (at: number) => Math.abs(Math.log(at / (tasks ?? 1)));
  const n = [...known].sort((a, b) => away(a) - away(b))[0] ?? 1;
  const at = visible
    .flatMap((line) => line.points.filter((point) => point.tasks === n).map((point) => ({ line, point })))
    .sort((a, b) => a.point.value - b.point.value);
  const lines = at.slice(0, MOST_COMPARED).map(({ line, point }) => {
    const doubt = point.ok ? "" : ` (${app.data.standings.partial?.[0]})`;
    return tipLine(line.name + doubt, show(of)(point.value), swatch("", line.style.color));
  });
  const left = at.length - lines.length;
  return tipPanel(format.tasks(n), ...lines, left > 0 && h("div", { class: "tip-sub" }, `and ${left} more`));
}
