// The sortable table of all results.

import { fill, h, offer } from "../dom.ts";
import * as format from "../format.ts";
import { type Cell, cells, columnsOf, isNumber, key, text } from "../table.ts";
import type { Column } from "../types.ts";
import type { App, Section } from "./app.ts";
import { keepFocus, scrollable, section, tableHead, toggle } from "./elements.ts";

/** Rows shown at first. A button shows the rest. */
const PAGE = 40;

export function tableSection(app: App): Section {
  let most = PAGE;
  const every = toggle("Every N", () => app.set({ everyN: !app.state.everyN }));
  const title = h("span");
  const table = h("table", { class: "figures" });
  const more = h("p", { class: "small" });
  const download = () => offer("taskscale.csv", new Blob([csv(app)], { type: "text/csv" }));
  const save = h("button", { class: "button quiet", onclick: download }, "Save as CSV");
  const showAll = () => {
    most = Number.POSITIVE_INFINITY;
    update();
  };
  const about = `${app.data.about.table} Click a heading to sort.`;
  const scroll = scrollable("Table of results", table);
  const element = section("table", title, about, [every, save], scroll, more);

  function update(): void {
    fill(title, app.state.everyN ? "All results" : `All results at ${format.tasks(app.state.n)}`);
    every.setAttribute("aria-pressed", String(app.state.everyN));
    const found = cells(app.data, app.state);
    const columns = columnsOf(app.data, app.state.part);
    const rows = found.slice(0, most).map((cell) => tableRow(app, cell, columns));
    const heads = columns.map((column) => heading(app, column));
    const caption = h("caption", { class: "visually-hidden" }, "All results of the entries shown");
    keepFocus(table, () => fill(table, caption, tableHead(...heads), h("tbody", {}, rows)));
    const count = `${most} of ${format.grouped(found.length)} rows. `;
    const button = h("button", { class: "button quiet", onclick: showAll }, "Show all");
    fill(more, found.length > most && [count, button]);
  }
  return { element, update };
}

function heading({ state, set }: App, column: Column): HTMLElement {
  const active = state.sort === column.id;
  const [arrow, order] = state.descending ? ["↓", "descending"] : ["↑", "ascending"];
  const sort = () => set({ sort: column.id, descending: active && !state.descending });
  const attributes = { "data-key": column.id, title: column.about, onclick: sort };
  const mark = h("span", { class: "arrow", "aria-hidden": "true" }, active && arrow);
  const button = h("button", attributes, column.title, mark);
  const name = isNumber(column) ? "number" : "";
  return h("th", { scope: "col", class: name, "aria-sort": active && order }, button);
}

function tableRow({ set }: App, cell: Cell, columns: Column[]): HTMLElement {
  const open = () => set({ entry: cell.entry.name });
  const cells = columns.map((column, position) => {
    const written = text(column, cell);
    if (position > 0) return h("td", { class: isNumber(column) ? "number" : "" }, written);
    const name = h("button", { class: "id", onclick: open }, written);
    return h("th", { scope: "row" }, name, h("span", { class: "version" }, cell.entry.shown_version));
  });
  return h("tr", { class: cell.row && cell.row.ok_runs > 0 ? "" : "fell" }, cells);
}

/** All rows that pass the filters, sorted, in base units, with the column names of a report's CSV. */
function csv(app: App): string {
  const columns = columnsOf(app.data, app.state.part);
  const field = (value: unknown) => {
    // Spreadsheets read a text with such a beginning as a formula.
    const text = String(value ?? "").replace(/^[=+\-@\t\r]/, (start) =>
      typeof value === "number" ? start : `'${start}`,
    );
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const rows = cells(app.data, app.state).map((cell) => columns.map((column) => field(key(column, cell))));
  return [columns.map((column) => column.id), ...rows].map((row) => `${row.join(",")}\n`).join("");
}
