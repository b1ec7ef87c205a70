// The ranking as a picture of its own, for a post or a README.

import { PARTS } from "../metrics.ts";
import type { Scale } from "../scale.ts";
import type { Ranking } from "../view.ts";
import { FONT, token } from "./chart.ts";

const SPACE = "http://www.w3.org/2000/svg";
const ROW = 26;
const NAMES = 300;
const BARS = 560;
const VALUES = 110;
const TOP = 64;

function make(name: string, attributes: Record<string, string | number>, text?: string): SVGElement {
  const element = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

/** What the ranking shows, first bars alone, as the text of an SVG file. */
export function rankingSvg(shown: Ranking, scaled: Scale, title: string, subtitle: string): string {
  const width = NAMES + BARS + VALUES + 24;
  const height = TOP + shown.rows.length * ROW + 16;
  const svg = make("svg", {
    xmlns: SPACE,
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    "font-family": FONT,
  });
  const ink = token("--ink");
  const faint = token("--ink-3");
  const add = (name: string, attributes: Record<string, string | number>, text?: string) =>
    svg.append(make(name, attributes, text));
  add("rect", { width, height, fill: token("--bg") });
  add("text", { x: 16, y: 28, "font-size": 18, "font-weight": 600, fill: ink }, title);
  add("text", { x: 16, y: 48, "font-size": 12, fill: faint }, subtitle);
  for (const tick of scaled.ticks) {
    const x = NAMES + scaled.at(tick) * BARS;
    add("line", { x1: x, x2: x, y1: TOP, y2: height - 16, stroke: token("--line-2"), "stroke-width": 0.5 });
  }
  for (const [position, row] of shown.rows.entries()) {
    const [bar] = row.bars;
    if (bar?.value === undefined) continue;
    const y = TOP + position * ROW;
    const middle = y + ROW / 2 + 4;
    const opacity = row.standing === "ranked" ? 1 : 0.55;
    add(
      "text",
      { x: NAMES - 12, y: middle, "font-size": 12.5, "text-anchor": "end", fill: ink },
      `${row.entry.name} · ${row.entry.kind}`,
    );
    const total = bar.parts?.reduce((sum, part) => sum + part, 0) ?? 0;
    const size = scaled.at(bar.value) * BARS;
    const segments =
      bar.parts && !scaled.log && total > 0
        ? PARTS.map((part, at) => ({
            share: (bar.parts?.[at] ?? 0) / total,
            color: token(`--part-${part.id}`),
          }))
        : [{ share: 1, color: token(shown.metric.binary ? "--part-anon" : "--phase-drain") }];
    let x = NAMES;
    for (const { share, color } of segments) {
      add("rect", {
        x,
        y: y + 6,
        width: Math.max(0.5, size * share),
        height: ROW - 12,
        fill: color,
        opacity,
      });
      x += size * share;
    }
    if (bar.low !== undefined && bar.high !== undefined) {
      const [from, to] = [NAMES + scaled.at(bar.low) * BARS, NAMES + scaled.at(bar.high) * BARS];
      add("path", {
        d: `M${from},${y + 9}v8M${from},${y + 13}H${to}M${to},${y + 9}v8`,
        stroke: ink,
        "stroke-width": 1.2,
        fill: "none",
      });
    }
    const value = {
      x: width - 16,
      y: middle,
      "font-size": 12.5,
      "text-anchor": "end",
      "font-weight": 600,
      fill: ink,
    };
    add("text", value, shown.metric.show(bar.value));
  }
  return new XMLSerializer().serializeToString(svg);
}
