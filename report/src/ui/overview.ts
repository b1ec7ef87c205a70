// The overview: a table of entries by series or by number of tasks, colored by the multiple of the best.

import { fill, h } from "../dom.ts";
import * as format from "../format.ts";
import { type Cell, type Column, isShown, type Overview, type OverviewRow, overview } from "../overview.ts";
import { parts, pin, toHash } from "../state.ts";
import { kindOf } from "../view.ts";
import type { App, Section } from "./app.ts";
import {
  choice,
  keepFocus,
  key,
  scrollable,
  section,
  swatch,
  tableHead,
  tipLine,
  tipTitle,
} from "./elements.ts";
import { tip } from "./tip.ts";

/** Rows of a kind shown at first. */
const MOST = 6;

/** Undefined if there is only one series with one number of tasks. */
export function overviewSection(app: App): Section | undefined {
  if (!overview(app.data, app.state)) return undefined;
  const several = parts(app.data).length > 1;
  let all = false;
  const about = h("span");
  const table = h("table", { class: "heat" });
  const turn = () => {
    all = !all;
    update();
  };
  const more = h("button", { class: "button quiet", onclick: turn });
  const scroll = scrollable("Entries side by side", table);
  const looked = () => `${app.state.part} ${several ? "" : app.state.n}`;
  let seen = looked();
  const element = section("overview", "Overview", about, [], legend(app), scroll, more);

  function update(): void {
    const found = overview(app.data, app.state);
    element.hidden = !found || found.sets.length === 0;
    if (!found || element.hidden) return;
    const of = found.campaign ? ` Results: ${found.campaign}.` : "";
    fill(about, `${app.data.about.overview[app.state.rank]} Pin two rows (◇) to compare them.${of}`);
    const rows = found.sets.reduce((sum, set) => sum + set.length, 0);
    const first = (set: OverviewRow[]) => set.filter((row) => !row.onRequest).slice(0, MOST);
    const drawn = all ? found.sets : found.sets.map(first).filter((set) => set.length > 0);
    more.hidden = found.sets.flatMap(first).length === rows;
    fill(more, all ? "Show fewer entries" : `Show all ${format.grouped(rows)} entries`);
    const bodies = drawn.map((set) => body(app, found, set));
    keepFocus(table, () => fill(table, head(app, found, several), pinned(app, found), ...bodies));
    if (seen !== looked()) {
      seen = looked();
      // On a narrow screen, scroll this column into view, next to the names.
      const names = table.querySelector<HTMLElement>("thead th");
      const current = table.querySelector<HTMLElement>("[aria-current]");
      scroll.scrollLeft = (current?.offsetLeft ?? 0) - (names?.offsetWidth ?? 0);
    }
  }
  return { element, update };
}

function legend({ data: { heat_steps } }: App): HTMLElement {
  const texts = [`below ×${heat_steps[0]}`, ...heat_steps.map((step) => `×${step} or more`)];
  const keys = texts.map((text, at) => key(swatch(`heat-${at}`), text));
  return h("div", { class: "legend" }, keys);
}

/** A link to the state of a column. */
function link(app: App, column: Column, content: Node | string, then = () => {}): HTMLAnchorElement {
  const go = (event: Event) => {
    if (event instanceof MouseEvent && (event.ctrlKey || event.metaKey || event.shiftKey)) return;
    event.preventDefault();
    app.set(column.state);
    then();
  };
  return h("a", { href: `#${toHash(app.data, column.state)}`, onclick: go }, content);
}

function head(app: App, { columns }: Overview, several: boolean): HTMLElement {
  const heads = columns.map((column) => {
    const what = column.metric.short;
    const of = several ? `${what}, ${format.count(column.n)}` : what;
    const way = link(app, column, column.title);
    way.setAttribute("data-key", column.title);
    const current = isShown(column, several, app.state) && "true";
    return h("th", { scope: "col", "aria-current": current }, way, h("small", {}, of));
  });
  return tableHead(h("th", { scope: "col" }, "Entry"), ...heads);
}

const groupHead = (title: string | undefined): HTMLElement =>
  h("tr", {}, h("th", { scope: "rowgroup", class: "kind" }, title));

function body(app: App, { columns }: Overview, rows: OverviewRow[]): HTMLElement {
  const kind = kindOf(app.data, rows[0]?.entry.kind ?? "")?.title;
  const lines = rows.map((row) => line(app, columns, row, ""));
  return h("tbody", {}, app.state.rank === "kind" && groupHead(kind), lines);
}

/** The pinned entries, and the first ÷ the second. */
function pinned(app: App, { columns, pinned, ratios }: Overview): HTMLElement | false {
  if (pinned.length === 0) return false;
  const [a, b] = pinned.map((row) => row.entry.name);
  const lines = pinned.map((row) => line(app, columns, row, "pinned "));
  const cells = ratios.map((ratio) => h("td", {}, ratio !== undefined && format.times(ratio)));
  const compared = h("tr", { class: "ratio" }, h("th", { scope: "row" }, `${a} ÷ ${b}`), cells);
  return h("tbody", { class: "pinned" }, groupHead("Pinned"), lines, ratios.length > 0 && compared);
}

/** The row of an entry. `place` distinguishes the two rows of a pinned entry. */
function line(app: App, columns: Column[], row: OverviewRow, place: string): HTMLElement {
  const { name } = row.entry;
  const isPinned = app.state.pinned.includes(name);
  const toggle = () => app.set({ pinned: pin(app.state.pinned, name) });
  const title = isPinned ? "Unpin" : "Pin to compare";
  const attributes = { class: "heat-pin", "aria-label": `Pin ${name}`, title };
  const pinButton = choice(`${place}pin ${name}`, isPinned, toggle, attributes, isPinned ? "◆" : "◇");
  const open = () => app.set({ ...row.state, entry: name });
  const opener = h("button", { class: "heat-name", "aria-haspopup": "dialog", onclick: open }, name);
  const version = h("span", { class: "version" }, row.entry.shown_version);
  const cells = columns.map((column, at) => cell(app, column, row, row.cells[at] ?? { said: "" }));
  return h("tr", {}, h("th", { scope: "row" }, pinButton, opener, version), cells);
}

function cell(app: App, column: Column, { entry }: OverviewRow, { times, said, absent }: Cell): HTMLElement {
  const text = times === undefined ? said : format.times(times);
  // The best by its rounded text. Bold, as not everyone sees colors.
  const best = text === format.times(1);
  const to = link(app, column, best ? h("b", {}, text) : text, () => {
    // `NAME CAMPAIGN` if the entry has a bar, otherwise `NAME`.
    const name = CSS.escape(entry.name);
    const line = document.querySelector<HTMLElement>(
      `#ranking [data-entry^="${name} "], #ranking [data-entry="${name}"]`,
    );
    (line ?? document.getElementById("ranking"))?.scrollIntoView({ block: "center" });
    line?.focus({ preventScroll: true });
  });
  // By keyboard, one link per column is enough: the one in its head.
  to.tabIndex = -1;
  tip(to, () => [
    tipTitle(entry.title),
    h("div", { class: "tip-sub" }, [...new Set([column.title, format.tasks(column.n)])].join(", ")),
    tipLine(column.metric.title, said),
    absent && tipLine(entry.omitted ?? app.data.no_program[1]),
  ]);
  const level = app.data.heat_steps.filter((step) => (times ?? 0) >= step).length;
  return h("td", { class: times === undefined ? "without" : `heat-${level}` }, to);
}
