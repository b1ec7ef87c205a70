// The ranking as a picture for a blog post or a README.

import { isBytes, show } from "../metrics.ts";
import type { Scale } from "../scale.ts";
import type { PageData } from "../types.ts";
import { kindOf, type Ranking, type RankRow, segments, sets } from "../view.ts";
import type { App } from "./app.ts";
import { FONT, token } from "./chart.ts";

const SPACE = "http://www.w3.org/2000/svg";
const ROW = 26;
const HEAD = 34;
const NAMES = 270;
const BARS = 560;
const VALUES = 110;
const WIDTH = NAMES + BARS + VALUES + 24;
const TOP = 96;
const FOOT = 22;

type Attributes = Record<string, string | number>;

function make(name: string, attributes: Attributes, text?: string): SVGElement {
  const element = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

/** The ranking, with only the first bar of each row, and below it the entries whose runs have no value. */
export function rankingSvg(
  { data, state }: App,
  shown: Ranking,
  scaled: Scale,
  title: string,
  subtitle: string,
): SVGSVGElement {
  const groups = sets(shown.rows, state.rank);
  const heads = groups.length > 1 ? groups.length : 0;
  const fell = shown.failed.filter((row) => !row.entry.gap);
  const end = TOP + shown.rows.length * ROW + heads * HEAD;
  const height = end + fell.length * FOOT + 20;
  const size = { width: WIDTH, height, viewBox: `0 0 ${WIDTH} ${height}` };
  const svg = make("svg", { xmlns: SPACE, ...size, "font-family": FONT }) as SVGSVGElement;
  const [ink, faint] = [token("--ink"), token("--ink-3")];
  const add = (name: string, attributes: Attributes, text?: string) =>
    svg.append(make(name, attributes, text));
  const small = { "font-size": 11, fill: faint };
  add("rect", { width: WIDTH, height, fill: token("--bg") });
  add("text", { x: 16, y: 28, "font-size": 18, "font-weight": 600, fill: ink }, title);
  add("text", { x: 16, y: 47, "font-size": 12, fill: faint }, subtitle);
  if (shown.rows.some((row) => row.bars[0]?.parts.length) && !scaled.log) legend(data, add, small);
  for (const tick of scaled.ticks) {
    const x = NAMES + scaled.at(tick) * BARS;
    add("line", { x1: x, x2: x, y1: TOP - 6, y2: end, stroke: token("--line-2"), "stroke-width": 0.5 });
    add("text", { ...small, x, y: TOP - 10, "text-anchor": "middle" }, tick === 0 ? "0" : shown.tick(tick));
  }
  let y = TOP;
  for (const rows of groups) {
    const kind = rows[0]?.entry.kind ?? "";
    if (heads > 0) {
      const of = kindOf(data, kind);
      const place = { x: 16, y: y + 23, "font-size": 13, "font-weight": 600, fill: ink };
      const head = make("text", place, of?.title ?? kind);
      head.append(make("tspan", { ...small, dx: 10, "font-weight": 400 }, of?.about ?? ""));
      svg.append(head);
      y += HEAD;
    }
    for (const row of rows) {
      drawRow(add, shown, scaled, row, y);
      y += ROW;
    }
  }
  for (const row of fell) {
    const text = `${row.entry.name}: ${row.status}, ${row.reason}`;
    add("text", { ...small, x: 16, y: y + 16 }, text.length > 160 ? `${text.slice(0, 159)}…` : text);
    y += FOOT;
  }
  return svg;
}

type Add = (name: string, attributes: Attributes, text?: string) => void;

function legend(data: PageData, add: Add, small: Attributes): void {
  let x = NAMES;
  for (const part of data.parts) {
    add("rect", { x, y: 58, width: 10, height: 10, fill: token(`--part-${part.id}`) });
    add("text", { ...small, x: x + 15, y: 67 }, part.title);
    x += 40 + part.title.length * 6;
  }
}

function drawRow(add: Add, shown: Ranking, scaled: Scale, row: RankRow, y: number): void {
  const [bar] = row.bars;
  if (!bar) return;
  const ink = token("--ink");
  const middle = y + ROW / 2;
  const text = { y: middle + 4, "font-size": 12.5, "text-anchor": "end", fill: ink };
  const version = row.entry.shown_version ?? "";
  add("text", { ...text, x: NAMES - 12 }, `${row.entry.name} ${version}`.trim());
  add("text", { ...text, x: WIDTH - 16, "font-weight": 600 }, show(shown.metric)(bar.value));
  const plain = isBytes(shown.metric) ? "part-anon" : "phase-drain";
  const opacity = row.standing === "ranked" ? 1 : 0.55;
  const size = scaled.at(bar.value) * BARS;
  if (scaled.log) {
    add("circle", { cx: NAMES + size, cy: middle, r: 6, fill: token(`--${plain}`), opacity });
  } else {
    let x = NAMES;
    for (const { share, name } of segments(bar, plain)) {
      const width = Math.max(0.5, size * share);
      add("rect", { x, y: y + 6, width, height: ROW - 12, fill: token(`--${name}`), opacity });
      x += size * share;
    }
  }
  if (!bar.range) return;
  const [from, to] = [bar.range.low, bar.range.high].map((value) => NAMES + scaled.at(value) * BARS);
  const d = `M${from},${middle - 4}v8M${from},${middle}H${to}M${to},${middle - 4}v8`;
  add("path", { d, stroke: ink, "stroke-width": 1.2, fill: "none" });
}
