// The entries of which there is no figure, with the reason.

import { h } from "../dom.ts";
import type { Ranking } from "../view.ts";
import type { App } from "./app.ts";
import { FIRST, MANY, moreButton } from "./more.ts";
import { spelled } from "./reason.ts";

/** Stands for this list among the kinds of which all is shown. */
const REASONS = "reasons";

export function fellShort(
  app: App,
  shown: Ranking,
  whole: Set<string>,
  more: (kind: string) => void,
): (Node | false)[] {
  const missing = shown.failed.filter((row) => row.status === "unavailable");
  const failed = shown.failed.filter((row) => row.status !== "unavailable");
  const most = shown.rows.length + failed.length <= MANY || whole.has(REASONS) ? failed.length : FIRST;
  return [
    failed.length > 0 && h("h3", {}, "Without a value"),
    failed.length > 0 && shortList(app, failed.slice(0, most)),
    moreButton(failed.length - most, " without a value", () => more(REASONS)),
    missing.length > 0 && h("h3", {}, "Not available on this machine"),
    missing.length > 0 && shortList(app, missing),
  ];
}

function shortList(app: App, rows: Ranking["failed"]): HTMLElement {
  return h(
    "ul",
    { class: "short-list" },
    rows.map((row) =>
      h(
        "li",
        {},
        h(
          "button",
          {
            type: "button",
            class: "short-name",
            "aria-haspopup": "dialog",
            "data-entry": row.entry.name,
            "data-name": row.entry.name,
            onclick: () => app.set({ entry: row.entry.name }),
          },
          h("span", { class: "title" }, row.entry.title),
          h("span", { class: "id" }, row.entry.name),
          h("span", { class: "version" }, row.entry.shown_version ?? ""),
        ),
        h("span", { class: `status status-${row.status.replace(/[^a-z]/g, "-")}` }, row.status),
        h("span", { class: "reason" }, spelled(row.reason)),
      ),
    ),
  );
}
