// The entries without a value, with the reason.

import { h } from "../dom.ts";
import type { Ranking } from "../view.ts";
import type { App } from "./app.ts";
import { entryName, opener } from "./elements.ts";
import { FIRST, MANY, moreButton } from "./more.ts";
import { spelled } from "./reason.ts";

/** Name of this list among the kinds whose rows are all shown. */
const REASONS = "reasons";

export function fellShort(
  app: App,
  shown: Ranking,
  whole: Set<string>,
  more: (kind: string) => void,
): (Node | false)[] {
  const missing = shown.failed.filter((row) => row.entry.gap);
  const failed = shown.failed.filter((row) => !row.entry.gap);
  const most = shown.rows.length + failed.length <= MANY || whole.has(REASONS) ? failed.length : FIRST;
  return [
    ...shortList(app, app.data.about.without_value, failed.slice(0, most)),
    moreButton(failed.length - most, " without a value", () => more(REASONS)),
    ...shortList(app, app.data.about.unavailable, missing),
  ];
}

function shortList(app: App, title: string, rows: Ranking["failed"]): HTMLElement[] {
  const items = rows.map(({ entry, status, reason }) => {
    const name = h("button", { class: "short-name", ...opener(app, entry) }, entryName(entry));
    const ended = h("span", { class: `status status-${status.replace(/[^a-z]/g, "-")}` }, status);
    const why = h("span", { class: "reason" }, spelled(reason));
    return h("li", {}, name, ended, why);
  });
  return items.length > 0 ? [h("h3", {}, title), h("ul", { class: "short-list" }, items)] : [];
}
