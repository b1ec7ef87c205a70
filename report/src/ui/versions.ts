// How the cost of a task changed from version to version: charts that are drawn with the data, as `report` writes them.

import { h } from "../dom.ts";
import type { App } from "./app.ts";

/** Nothing where no entry was measured in several versions. */
export function versionsSection(app: App): HTMLElement | undefined {
  const charts = app.data.versions ?? [];
  if (charts.length === 0) return undefined;
  return h(
    "section",
    { class: "section", id: "versions", "aria-labelledby": "versions-title" },
    h(
      "div",
      { class: "section-head" },
      h(
        "div",
        {},
        h("h2", { id: "versions-title" }, "Version by version"),
        h("p", { class: "about" }, "Bars are 95% intervals or the range of the repetitions."),
      ),
    ),
    charts.map((chart) => {
      const blob = new Blob([chart.svg], { type: "image/svg+xml" });
      const image = h("img", { src: URL.createObjectURL(blob), alt: chart.text });
      return h("div", { class: "versions", tabindex: "0" }, image);
    }),
  );
}
