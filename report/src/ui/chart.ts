// Charts in the page's colors. The chart library runs when the first one is drawn.

import type { ECharts, EChartsCoreOption } from "echarts/core";
import { fill, h } from "../dom.ts";
import { hasArrived, INCOMPLETE, program } from "../later.ts";
import { saveButtons } from "./save.ts";

/** Symbols, with their characters in legends. All are filled: hollow ones vanish among many lines. */
const SYMBOLS: [string, string][] = [
  ["circle", "●"],
  ["rect", "■"],
  ["triangle", "▲"],
  ["diamond", "◆"],
  ["path://M-3,-2.6H3L0,2.6Z", "▼"],
  ["path://M-1,-3H1V-1H3V1H1V3H-1V1H-3V-1H-1Z", "✚"],
  ["path://M-3,-2L-2,-3L0,-1L2,-3L3,-2L1,0L3,2L2,3L0,1L-2,3L-3,2L-1,0Z", "✖"],
  ["path://M0,-4L1,-1L4,0L1,1L0,4L-1,1L-4,0L-1,-1Z", "✦"],
];
type Dash = "solid" | number[];
const DASHES: Dash[] = ["solid", [6, 3], [2, 3]];

/** The value of one of the page's colors. */
export function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export interface LineStyle {
  color: string;
  symbol: string;
  /** The symbol as a character. */
  glyph: string;
  dash: Dash;
}

/** The color is the language's, so that its entries look alike. Symbol and dashes depend on `among`. */
export function lineStyle(color: number, among: number): LineStyle {
  const [symbol, glyph] = SYMBOLS[among % SYMBOLS.length] ?? ["circle", "●"];
  return {
    color: token(`--runtime-${color}`),
    symbol,
    glyph,
    dash: DASHES[Math.floor(among / 2) % DASHES.length] ?? "solid",
  };
}

/** A line and its symbol, for a legend. */
export const lineMarks = ({ color, dash, glyph }: LineStyle): HTMLElement[] => [
  h("i", { class: "line-mark", "--color": color, "data-dash": String(dash !== "solid") }),
  h("i", { class: "line-symbol", "--color": color, "aria-hidden": "true" }, glyph),
];

export const FONT =
  "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif";

const LABEL = { fontFamily: FONT, fontSize: 12 };

/** The options of one chart, without those that all share. */
export interface Drawing extends EChartsCoreOption {
  tooltip: object;
}

function options(drawing: Drawing): EChartsCoreOption {
  const tooltip = {
    confine: true,
    className: "chart-tip",
    backgroundColor: token("--panel"),
    borderColor: token("--line-2"),
    textStyle: { ...LABEL, color: token("--ink") },
  };
  return {
    animation: false,
    textStyle: { fontFamily: FONT },
    ...drawing,
    tooltip: { ...tooltip, ...drawing.tooltip },
  };
}

/** A logarithmic axis. */
export function logAxis(logBase: number, label: object) {
  return {
    type: "log",
    logBase,
    axisLine: { lineStyle: { color: token("--line-2") } },
    axisTick: { show: false },
    axisLabel: { ...LABEL, color: token("--ink-2"), ...label },
    splitLine: { lineStyle: { color: token("--line") } },
    minorSplitLine: { show: false },
  };
}

/** Options that name the axis below a chart. */
export const axisName = (name: string, nameGap: number) => ({
  name,
  nameLocation: "middle",
  nameGap,
  nameTextStyle: { color: token("--ink-2") },
});

/** A chart is drawn at most this late, visible or not: prints and screenshots show all charts. */
const LATEST_MS = 1_000;

/** A chart that is drawn once it is visible or the browser is idle, and so after each change. */
export class Lazy {
  readonly element: HTMLElement;
  #chart: ECharts | undefined;
  #stale = true;
  #seen = false;
  readonly #draw: (width: number) => Drawing;

  constructor(label: string, draw: (width: number) => Drawing) {
    this.element = h("div", { class: "chart", role: "img", "aria-label": label });
    this.#draw = draw;
    new IntersectionObserver(
      (seen) => {
        this.#seen = seen.some((entry) => entry.isIntersecting);
        this.#refresh();
      },
      { rootMargin: "200px" },
    ).observe(this.element);
    new ResizeObserver(() => {
      if (this.#chart && this.element.clientWidth > 0) {
        this.#chart.resize();
        this.#stale = true;
        this.#refresh();
      }
    }).observe(this.element);
    addEventListener("beforeprint", () => this.now());
  }

  /** Call after a change of what it shows. */
  changed(): void {
    this.#stale = true;
    this.#refresh();
  }

  /** Draws now, visible or not. Undefined while the page is loading, and if it is incomplete. */
  now(): ECharts | undefined {
    if (!this.#chart) {
      if (!hasArrived(() => this.#refresh())) return undefined;
      const library = program<typeof import("../charts.ts")>("charts");
      if (!library) {
        fill(this.element, h("p", { class: "callout" }, INCOMPLETE));
        return undefined;
      }
      this.#chart = library.init(this.element, null, { renderer: "svg" });
    }
    if (this.#stale) {
      this.#stale = false;
      this.#chart.resize();
      this.#chart.setOption(options(this.#draw(this.#chart.getWidth())), { notMerge: true });
    }
    return this.#chart;
  }

  #refresh(): void {
    if (!this.#stale) return;
    if (this.#seen) this.now();
    else whenIdle(() => this.#stale && this.now());
  }
}

/** Calls back when the browser is idle. Safari has no idle callbacks. */
function whenIdle(then: () => unknown): void {
  if ("requestIdleCallback" in window) requestIdleCallback(then, { timeout: LATEST_MS });
  else setTimeout(then, LATEST_MS);
}

/** Buttons that save a chart. */
export const saveChart = (file: string, chart: Lazy): HTMLElement[] =>
  saveButtons(file, () => {
    chart.now();
    const copy = chart.element.querySelector("svg")?.cloneNode(true) as SVGSVGElement | undefined;
    copy?.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy?.style.setProperty("background", token("--panel"));
    return copy;
  });

/** A chart under its title, with buttons that save it. */
export function figure(title: string, chart: Lazy, file: string): HTMLElement {
  const saves = h("span", { class: "saves" }, saveChart(file, chart));
  return h("figure", { class: "figure" }, h("figcaption", {}, h("span", {}, title), saves), chart.element);
}
