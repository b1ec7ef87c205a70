// Where the bytes of a task are: a stacked bar for each entry that `taskscale explain` has a sheet of.

import { h } from "../dom.ts";
import * as format from "../format.ts";
import { kindPlace } from "../view.ts";
import type { App } from "./app.ts";
import { tip } from "./tip.ts";

type Sheet = NonNullable<App["data"]["anatomy"]>[number];

/** Nothing where there are no sheets. */
export function anatomySection(app: App): HTMLElement | undefined {
  const sheets = app.data.anatomy ?? [];
  if (sheets.length === 0) return undefined;
  const kinds = [...new Set(sheets.map((sheet) => sheet.kind))].sort(
    (a, b) => kindPlace(app.data, a) - kindPlace(app.data, b),
  );
  return h(
    "section",
    { class: "section", id: "anatomy", "aria-labelledby": "anatomy-title" },
    h(
      "div",
      { class: "section-head" },
      h(
        "div",
        {},
        h("h2", { id: "anatomy-title" }, "Anatomy of a task"),
        h("p", { class: "about" }, "Bytes per task by part: the slope over N. Hatched: unexplained."),
      ),
    ),
    legend(),
    kinds.flatMap((kind) => ofKind(app, kind, sheets)),
  );
}

const GROUPS = { live: "in use", unused: "unused", mapped: "mapped", kernel: "kernel" };

function legend(): HTMLElement {
  const keys = [...Object.entries(GROUPS), ["unexplained", "unexplained"]];
  return h(
    "div",
    { class: "legend" },
    keys.map(([group, text]) =>
      h("span", { class: "key" }, h("i", { class: `swatch of-${group}` }), text ?? ""),
    ),
  );
}

/** Bars of a kind have one scale. */
function ofKind(app: App, kind: string, all: Sheet[]): (Node | string)[] {
  const sheets = all.filter((sheet) => sheet.kind === kind).sort((a, b) => a.slope.bytes - b.slope.bytes);
  const most = Math.max(...sheets.map((sheet) => sheet.slope.bytes));
  const title = app.data.kinds.find((known) => known.name === kind)?.title ?? kind;
  return [h("h3", {}, title), ...sheets.map((sheet) => bar(sheet, most))];
}

function bar(sheet: Sheet, most: number): HTMLElement {
  const parts = [
    ...sheet.rows.map((row) => ({ name: row.name, group: row.group as string, bytes: row.bytes })),
    { name: "unexplained", group: "unexplained", bytes: sheet.unexplained.bytes },
  ];
  const shown = parts.filter((part) => part.bytes > 0);
  const share = (bytes: number) => `${((bytes / sheet.slope.bytes) * 100).toFixed(0)}%`;
  const bytes = (value: number) => `${format.grouped(Math.round(value))} B`;
  return h(
    "div",
    { class: "anatomy" },
    h(
      "div",
      { class: "anatomy-name" },
      h("b", {}, sheet.entry),
      ` ${sheet.workload} · ${bytes(sheet.slope.bytes)} per task`,
    ),
    h(
      "div",
      {
        class: "anatomy-bar",
        role: "img",
        "aria-label": shown.map((part) => `${part.name}: ${share(part.bytes)}`).join(", "),
      },
      shown.map((part) => {
        const piece = h("span", { class: `of-${part.group}`, style: `width: ${(part.bytes / most) * 100}%` });
        tip(piece, () => [
          h("div", { class: "tip-title" }, part.name),
          h(
            "div",
            { class: "tip-line" },
            h("i"),
            h("span", {}, share(part.bytes)),
            h("b", {}, bytes(part.bytes)),
          ),
        ]);
        return piece;
      }),
    ),
    h(
      "div",
      { class: "anatomy-parts" },
      shown.map((part) => `${part.name} ${format.grouped(Math.round(part.bytes))}`).join(" · "),
    ),
  );
}
