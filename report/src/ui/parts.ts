// Which part of what was measured the page shows: a workload with its parameters on so many CPUs.

import { fill, h } from "../dom.ts";
import { ofPart, parts } from "../state.ts";
import type { App } from "./app.ts";
import { keepFocus, select } from "./controls.ts";

/** More than this would be a wall of buttons. */
const MOST = 6;

/** Nothing where there is only one. */
export function partChoice(app: App): { element: HTMLElement; update(): void } | undefined {
  const all = parts(app.data);
  if (all.length < 2) return undefined;
  const choose = (part: string) => app.set(ofPart(app.data, app.state, part));
  if (all.length > MOST) {
    const field = select(
      "Series",
      all.map((part) => [part, part]),
      choose,
    );
    return {
      element: h("div", { class: "parts" }, field.element),
      update: () => {
        field.input.value = app.state.part;
      },
    };
  }
  const segments = h("div", { class: "segments", role: "group", "aria-label": "Series" });
  const button = (part: string, position: number) =>
    h(
      "button",
      {
        type: "button",
        "data-key": `part ${position}`,
        "aria-pressed": String(part === app.state.part),
        onclick: () => choose(part),
      },
      part,
    );
  const update = () => keepFocus(segments, () => fill(segments, all.map(button)));
  return { element: h("div", { class: "parts" }, segments), update };
}
