// Where the bytes of a task are: a stacked bar for each entry that `taskscale explain` has a sheet of.

import { h } from "../dom.ts";
import * as format from "../format.ts";
import { kindOf, kindPlace } from "../view.ts";
import type { Explanation } from "../wire.ts";
import type { App } from "./app.ts";
import { key, section, swatch, tipLine, tipTitle } from "./elements.ts";
import { tip } from "./tip.ts";

const GROUPS = {
  live: "in use",
  unused: "unused",
  mapped: "mapped",
  kernel: "kernel",
  unexplained: "unexplained",
};

/** Nothing where there are no sheets. */
export function anatomySection(app: App): HTMLElement | undefined {
  const sheets = app.data.anatomy ?? [];
  if (sheets.length === 0) return undefined;
  const kinds = [...new Set(sheets.map((sheet) => sheet.kind))].sort(
    (a, b) => kindPlace(app.data, a) - kindPlace(app.data, b),
  );
  const about = "Bytes per task by part: the slope over N. Hatched: unexplained.";
  const keys = Object.entries(GROUPS).map(([group, text]) => key(swatch(`of-${group}`), text));
  return section(
    "anatomy",
    "Anatomy of a task",
    about,
    [],
    h("div", { class: "legend" }, keys),
    kinds.flatMap((kind) => ofKind(app, kind, sheets)),
  );
}

/** Bars of a kind have one scale. */
function ofKind(app: App, kind: string, all: Explanation[]): Node[] {
  const sheets = all.filter((sheet) => sheet.kind === kind).sort((a, b) => a.slope.bytes - b.slope.bytes);
  const most = Math.max(...sheets.map((sheet) => sheet.slope.bytes));
  const title = kindOf(app.data, kind)?.title ?? kind;
  return [h("h3", {}, title), ...sheets.map((sheet) => bar(sheet, most))];
}

function bar(sheet: Explanation, most: number): HTMLElement {
  const parts = [...sheet.rows, { name: "unexplained", group: "unexplained", ...sheet.unexplained }];
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
  return h(
    "div",
    { class: "anatomy" },
    h("div", { class: "anatomy-name" }, h("b", {}, sheet.entry), about),
    h("div", { class: "anatomy-bar", role: "img", "aria-label": label }, pieces),
    h("div", { class: "anatomy-parts" }, text),
  );
}
