// Keys: "/" searches; j and k, or the arrows, go from row to row, and from entry to entry while one is open.

import type { App } from "./app.ts";

const STEPS: Record<string, number> = {
  j: 1,
  ArrowDown: 1,
  ArrowRight: 1,
  k: -1,
  ArrowUp: -1,
  ArrowLeft: -1,
};

export function listenForKeys(app: App): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || types(event.target)) return;
    if (event.key === "/" && !app.state.entry) {
      document.querySelector<HTMLElement>(".search")?.focus();
      event.preventDefault();
      return;
    }
    const step = STEPS[event.key];
    const upright = event.key === "ArrowDown" || event.key === "ArrowUp";
    if (step && (app.state.entry ? nextEntry(app, upright ? 0 : step) : nextRow(event, step)))
      event.preventDefault();
  });
}

const types = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest("input, select, textarea, [contenteditable]") !== null;

const rows = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("#ranking [data-entry]")];

/** Arrows scroll the page, unless a row has the focus. */
function nextRow(event: KeyboardEvent, step: number): boolean {
  const all = rows();
  const at = all.indexOf(document.activeElement as HTMLElement);
  const letters = event.key === "j" || event.key === "k";
  const upright = event.key === "ArrowDown" || event.key === "ArrowUp";
  if (at < 0 && !letters) return false;
  if (!letters && !upright) return false;
  const next = at < 0 ? all[0] : all[at + step];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return true;
}

/** While details are open arrows up and down scroll them. */
function nextEntry(app: App, step: number): boolean {
  if (step === 0) return false;
  const names = [...new Set(rows().map((row) => row.dataset.name ?? ""))];
  const at = names.indexOf(app.state.entry);
  const next = at < 0 ? undefined : names[at + step];
  if (next) app.set({ entry: next });
  return true;
}
