// Keys: "/" searches. j, k and arrows move from row to row, or from entry to entry while one is open.

import type { App } from "./app.ts";

const LETTERS: Record<string, number> = { j: 1, k: -1 };
const UPRIGHT: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
const SIDEWAYS: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };

export function listenForKeys(app: App): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || types(event.target)) return;
    const { key } = event;
    if (key === "/" && !app.state.entry) {
      document.querySelector<HTMLElement>(".search")?.focus();
      event.preventDefault();
    } else if (app.state.entry ? nextEntry(app, key) : nextRow(key)) event.preventDefault();
  });
}

const types = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest("input, select, textarea, [contenteditable]") !== null;

const rows = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("#ranking [data-entry]")];

/** Moves the focus to another row. Arrows scroll the page unless a row has the focus. */
function nextRow(key: string): boolean {
  const step = LETTERS[key] ?? UPRIGHT[key];
  if (!step) return false;
  const all = rows();
  const at = all.indexOf(document.activeElement as HTMLElement);
  if (at < 0 && key in UPRIGHT) return false;
  const next = at < 0 ? all[0] : all[at + step];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return true;
}

/** Opens another entry while one is open. Arrows up and down scroll the details instead. */
function nextEntry(app: App, key: string): boolean {
  const step = LETTERS[key] ?? SIDEWAYS[key];
  if (!step) return false;
  const names = [...new Set(rows().map((row) => row.dataset.name ?? ""))];
  const at = names.indexOf(app.state.entry);
  const next = at < 0 ? undefined : names[at + step];
  if (next) app.set({ entry: next });
  return true;
}
