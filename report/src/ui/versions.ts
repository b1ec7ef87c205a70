// How the cost of a task changed from version to version: charts that taskscale drew, as `report` writes them.

import { h } from "../dom.ts";
import type { App } from "./app.ts";
import { section } from "./elements.ts";

/** Undefined if no entry was measured in several versions. */
export function versionsSection(app: App): HTMLElement | undefined {
  const charts = app.data.versions?.map((chart) => {
    const blob = new Blob([chart.svg], { type: "image/svg+xml" });
    const image = h("img", { src: URL.createObjectURL(blob), alt: chart.text });
    return h("div", { class: "versions", tabindex: "0" }, image);
  });
  return charts?.length
    ? section("versions", "Version by version", app.data.about.versions, [], charts)
    : undefined;
}
