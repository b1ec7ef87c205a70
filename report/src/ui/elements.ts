// Elements shared by several sections.

import { type Child, h } from "../dom.ts";
import type { Campaign, Entry } from "../types.ts";
import type { App } from "./app.ts";

/** A section with a title, a description and tools. */
export function section(
  id: string,
  title: Child,
  about: Child,
  tools: Child[],
  ...children: (Child | Child[])[]
): HTMLElement {
  const text = about && h("p", { class: "about" }, about);
  const titled = h("div", {}, h("h2", { id: `${id}-title` }, title), text);
  const head = h("div", { class: "section-head" }, titled);
  if (tools.length > 0) head.append(h("div", { class: "section-tools" }, tools));
  return h("section", { class: "section", id, "aria-labelledby": `${id}-title` }, head, ...children);
}

/** A color sample: colored by a CSS class, or by `color`. */
export const swatch = (name: string, color?: string): HTMLElement =>
  h("i", { class: `swatch ${name}`.trimEnd(), "--color": color });

/** An item of a legend. `more`: its tooltip. */
export const key = (mark: Node, text: string, more?: string): HTMLElement =>
  h("span", { class: "key", title: more }, mark, text);

/** A line of a tooltip: a mark, a name, and a value if there is one. */
export const tipLine = (name: string, value?: string, mark: Node = h("i")): HTMLElement =>
  h("div", { class: "tip-line" }, mark, h("span", {}, name), value !== undefined && h("b", {}, value));

export const tipTitle = (text: string): HTMLElement => h("div", { class: "tip-title" }, text);

/** The tooltip of a chart. */
export const tipPanel = (title: string, ...lines: Child[]): HTMLElement =>
  h("div", { class: "compare" }, tipTitle(title), lines);

/** A container that scrolls sideways if its content is too wide. */
export function scrollable(label: string, content: Node, name = ""): HTMLElement {
  const attributes = { tabindex: "0", role: "region", "aria-label": label };
  return h("div", { class: `table-scroll ${name}`.trimEnd(), ...attributes }, content);
}

/** The title above what belongs to one of several campaigns. */
export const campaignTitle = ({ letter, label }: Campaign): HTMLElement =>
  h("h3", { class: "campaign-title" }, `${letter} ${label}`);

export const tableHead = (...cells: Child[]): HTMLElement => h("thead", {}, h("tr", {}, cells));

export function list(name: string, texts: string[]): HTMLElement {
  const items = texts.map((text) => h("li", {}, text));
  return h("ul", { class: name }, items);
}

/** Names with what they mean. Those without a value are left out. */
export function definitions(pairs: [string, Child | Child[]][]): HTMLElement {
  const items = pairs.flatMap(([name, value]) => (value ? [h("dt", {}, name), h("dd", {}, value)] : []));
  return h("dl", { class: "facts" }, items);
}

export const commands = (lines: string[]): HTMLElement => h("code", { class: "commands" }, lines.join("\n"));

/** An entry's title and name, and `more` on it. */
export const entryName = ({ title, name, shown_version }: Entry, ...more: Child[]): HTMLElement[] => {
  const version = h("span", { class: "version" }, shown_version);
  const sub = h("span", { class: "sub" }, h("span", { class: "id" }, name), version, more);
  return [h("span", { class: "title" }, title), sub];
};

/** Attributes of a button that opens the details of an entry. `row`: what tells it from others of that entry. */
export const opener = (app: App, { name }: Entry, row = "") => ({
  "aria-haspopup": "dialog",
  "data-entry": `${name}${row}`,
  "data-name": name,
  onclick: () => app.set({ entry: name }),
});

/** A button that is on or off. `keepFocus` finds it by `key` after a redraw. */
export function choice(
  key: string,
  pressed: boolean,
  onclick: () => void,
  attributes: Record<string, string>,
  ...children: Child[]
): HTMLElement {
  const state = { "data-key": key, "aria-pressed": String(pressed), onclick };
  return h("button", { ...attributes, ...state }, children);
}

/** Redraws controls and gives the focus back to the one that had it. */
export function keepFocus(element: HTMLElement, draw: () => void, name = "data-key"): void {
  const focused = document.activeElement;
  const key = focused && element.contains(focused) ? focused.getAttribute(name) : null;
  draw();
  if (key) element.querySelector<HTMLElement>(`[${name}="${CSS.escape(key)}"]`)?.focus();
}

/** A switch, off at first. */
export function toggle(text: string, click: () => void): HTMLButtonElement {
  const attributes = { class: "switch", "aria-pressed": "false", onclick: click };
  return h("button", attributes, h("span", { class: "switch-track", "aria-hidden": "true" }), text);
}

/** Copies a text to the clipboard. Returns whether the browser allowed it. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
