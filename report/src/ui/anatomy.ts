// Where the bytes of a task are: a stacked bar for each entry with a sheet of `taskscale explain`.

import { h } from "../dom.ts";
import * as format from "../format.ts";
import type { ChartPart, Explanation } from "../wire.ts";
import type { App } from "./app.ts";
import { key, section, swatch, tipLine, tipTitle } from "./elements.ts";
import { tip } from "./tip.ts";

/** Undefined without sheets. */
export function anatomySection(app: App): HTMLElement | undefined {
  const { anatomy: sheets = [], kinds, part_sources: sources } = app.data;
  if (sheets.length === 0) return undefined;
  const keys = sources.map(({ id, title, about }) => key(swatch(`of-${id}`), title, about));
  const bars = kinds.flatMap(({ name, title }) => {
    const own = sheets.filter((sheet) => sheet.kind === name);
    // Bars of a kind share one scale.
    const most = Math.max(...own.map((sheet) => sheet.slope.bytes));
    return own.flatMap((sheet, at) => [at === 0 && h("h3", {}, title), bar(sources, sheet, most)]);
  });
  const legend = h("div", { class: "legend" }, keys);
  return section("anatomy", "Anatomy of a task", app.data.about.anatomy, [], legend, bars);
}

function bar(sources: ChartPart[], sheet: Explanation, most: number): HTMLElement {
  const rest = sources.find(({ id }) => id === "unexplained")?.title ?? "";
  const parts = [...sheet.rows, { ...sheet.unexplained, group: "unexplained", name: rest }];
  const shown = parts.filter((part) => part.bytes > 0);
  const share = (bytes: number) => `${((bytes / sheet.slope.bytes) * 100).toFixed(0)}%`;
  const size = format.perTask;
  const label = shown.map((part) => `${part.name}: ${share(part.bytes)}`).join(", ");
  const pieces = shown.map((part) => {
    const piece = h("span", { class: `of-${part.group}`, style: `width: ${(part.bytes / most) * 100}%` });
    tip(piece, () => [tipTitle(part.name), tipLine(share(part.bytes), size(part.bytes))]);
    return piece;
  });
  const text = shown.map((part) => `${part.name} ${size(part.bytes)}`).join(" · ");
  const about = ` ${sheet.workload} · ${size(sheet.slope.bytes)} per task`;
  const name = h("div", { class: "anatomy-name" }, h("b", {}, sheet.entry), about);
  const strip = h("div", { class: "anatomy-bar", role: "img", "aria-label": label }, pieces);
  return h("div", { class: "anatomy" }, name, strip, h("div", { class: "anatomy-parts" }, text));
}
