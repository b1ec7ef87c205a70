// The sortable table with every figure.

import { download, fill, h } from "../dom.ts";
import * as format from "../format.ts";
import { type Cell, cells, columnsOf, isNumber, key, text } from "../table.ts";
import type { Column } from "../types.ts";
import type { App } from "./app.ts";
import { toggle } from "./ranking.ts";

/** Rows that are drawn at once; more on demand, as nobody reads them all. */
const PAGE = 40;

export function tableSection(app: App): { element: HTMLElement; update(): void } {
  let most = PAGE;
  const every = toggle("Every N", () => app.set({ everyN: !app.state.everyN }));
  const title = h("h2", { id: "table-title" });
  const table = h("table", { class: "figures" });
  const more = h("p", { class: "small" });
  const save = h(
    "button",
    { type: "button", class: "button quiet", onclick: () => download("taskscale.csv", csv(app), "text/csv") },
    "Save as CSV",
  );
  const scroll = h(
    "div",
    { class: "table-scroll unseen", tabindex: "0", role: "region", "aria-label": "Table of results" },
    table,
  );
  const element = h(
    "section",
    { class: "section", id: "table", "aria-labelledby": "table-title" },
    h(
      "div",
      { class: "section-head" },
      h("div", {}, title, h("p", { class: "about" }, "Medians of the ok runs. Click a heading to sort.")),
      h("div", { class: "section-tools" }, every, save),
    ),
    h(
      "div",
      { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Table of results" },
      table,
    ),
    more,
  );

  function update(): void {
    fill(title, app.state.everyN ? "All results" : `All results at ${format.tasks(app.state.n)}`);
    every.setAttribute("aria-pressed", String(app.state.everyN));
    const found = cells(app.data, app.state);
    scroll.style.setProperty("--rows", String(Math.min(found.length, most) + 1));
    const columns = columnsOf(app.data, app.state.part);
    const focused = document.activeElement?.getAttribute("data-sort");
    fill(
      table,
      h("caption", { class: "visually-hidden" }, "All results of the entries shown"),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          columns.map((column) => heading(app, column)),
        ),
      ),
      h(
        "tbody",
        {},
        found.slice(0, most).map((cell) => tableRow(app, cell, columns)),
      ),
    );
    if (focused) table.querySelector<HTMLElement>(`[data-sort="${CSS.escape(focused)}"]`)?.focus();
    fill(
      more,
      found.length > most && [
        `${most} of ${format.grouped(found.length)} rows. `,
        h(
          "button",
          {
            type: "button",
            class: "button quiet",
            onclick: () => {
              most = Number.POSITIVE_INFINITY;
              update();
            },
          },
          "Show all",
        ),
      ],
    );
  }
  return { element, update };
}

function heading(app: App, column: Column): HTMLElement {
  const { state } = app;
  const active = state.sort === column.id;
  const sort = () => app.set({ sort: column.id, descending: active ? !state.descending : false });
  return h(
    "th",
    {
      scope: "col",
      class: isNumber(column) ? "number" : "",
      "aria-sort": active ? (state.descending ? "descending" : "ascending") : null,
    },
    h(
      "button",
      { type: "button", "data-sort": column.id, title: column.about, onclick: sort },
      column.title,
      h("span", { class: "arrow", "aria-hidden": "true" }, active ? (state.descending ? "↓" : "↑") : ""),
    ),
  );
}

function tableRow(app: App, cell: Cell, columns: Column[]): HTMLElement {
  const row = h("tr", { class: cell.row && cell.row.ok_runs > 0 ? "" : "fell" });
  for (const [position, column] of columns.entries()) {
    const written = text(column, cell);
    if (position === 0) {
      const open = () => app.set({ entry: cell.entry.name });
      row.append(
        h(
          "th",
          { scope: "row" },
          h("button", { type: "button", class: "id", onclick: open }, written),
          h("span", { class: "version" }, cell.entry.shown_version ?? ""),
        ),
      );
    } else {
      row.append(h("td", { class: isNumber(column) ? "number" : "" }, written));
    }
  }
  return row;
}

/** The table as it is shown, in base units, under the names of columns in the CSV of a report. */
function csv(app: App): string {
  const columns = columnsOf(app.data, app.state.part);
  const field = (value: unknown) => {
    // A spreadsheet takes what begins so for a formula.
    const text = String(value ?? "").replace(/^[=+\-@\t\r]/, (start) =>
      typeof value === "number" ? start : `'${start}`,
    );
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [columns.map((column) => column.id)];
  for (const cell of cells(app.data, app.state))
    lines.push(columns.map((column) => field(key(column, cell))));
  return `${lines.map((line) => line.join(",")).join("\n")}\n`;
}
