// The choice of the series: a workload with its parameters and CPUs.

import { fill, h } from "../dom.ts";
import { ofPart, parts } from "../state.ts";
import type { App, Section } from "./app.ts";
import { select } from "./controls.ts";
import { choice, keepFocus } from "./elements.ts";

/** Most series with a button each. More are in a menu. */
const MOST = 6;

/** Undefined if there is only one series. */
export function partChoice(app: App): Section | undefined {
  const all = parts(app.data);
  if (all.length < 2) return undefined;
  const choose = (part: string) => app.set(ofPart(app.data, app.state, part));
  if (all.length > MOST) {
    const field = select("Series", choose);
    const options = all.map((value) => h("option", { value }, value));
    fill(field.input, options);
    const show = () => {
      field.input.value = app.state.part;
    };
    return { element: h("div", { class: "parts" }, field.element), update: show };
  }
  const segments = h("div", { class: "segments", role: "group", "aria-label": "Series" });
  const button = (part: string, position: number) =>
    choice(`part ${position}`, part === app.state.part, () => choose(part), {}, part);
  const update = () => keepFocus(segments, () => fill(segments, all.map(button)));
  return { element: h("div", { class: "parts" }, segments), update };
}
