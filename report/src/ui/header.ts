// The head of the page: what was measured, and the answer in one sentence.

import { fill, h } from "../dom.ts";
import * as format from "../format.ts";
import { kindTitle } from "../kinds.ts";
import { answer, type RankRow } from "../view.ts";
import type { App } from "./app.ts";

export function header(app: App, retheme: () => void): { element: HTMLElement; update(): void } {
  const sentence = h("h1", { class: "answer" });
  const detail = h("p", { class: "answer-detail" });
  const element = h(
    "header",
    { class: "header wrap" },
    h(
      "div",
      { class: "masthead" },
      h("span", { class: "wordmark" }, "taskscale"),
      h("span", { class: "grow" }),
      themeButton(retheme),
    ),
    sentence,
    detail,
    h("p", { class: "context" }, context(app)),
  );

  function update(): void {
    const found = answer(app.data, app.state);
    if (!found) {
      fill(sentence, `What ${format.tasks(app.state.n)} cost`);
      fill(detail, "No entry shown here has a footprint at this number of tasks.");
      return;
    }
    const { best, bests, worst } = found;
    const n = h("span", { class: "nowrap" }, format.tasks(found.n));
    const timers = bests.find((row) => row.entry.kind === "timer");
    const tasks = bests.filter((row) => row !== timers);
    if (bests.length > 1) {
      // Unlike things: no factor lies between them.
      fill(
        sentence,
        n,
        found.n === 1 ? " takes at least " : " take at least ",
        tasks.flatMap((row, at) => [
          at === 0 ? "" : at === tasks.length - 1 ? " or " : ", ",
          size(row),
          ` as ${kindTitle(row.entry.kind).toLowerCase()}`,
        ]),
        ".",
      );
    } else if (best === worst) {
      fill(sentence, n, found.n === 1 ? " takes " : " take ", size(best), ` in ${best.entry.title}.`);
    } else {
      fill(
        sentence,
        n,
        found.n === 1 ? " takes from " : " take from ",
        size(best),
        ` in ${best.entry.title} to `,
        size(worst),
        ` in ${worst.entry.title}.`,
      );
    }
    const all =
      found.held === found.ran ? `All ${found.ran} entries` : `${found.held} of ${found.ran} entries`;
    fill(
      detail,
      bests.length > 1 && timers ? ["Timers, which are no tasks, take ", size(timers), ". "] : false,
      bests.length === 1 && found.times > 1.005 && `A factor of ${format.digits(found.times)}. `,
      `${all} held ${found.n === 1 ? "it" : `all ${format.count(found.n)}`}`,
      found.held < found.ran && "; the others are shown last, with the reason",
      ".",
      bests.length === 1 &&
        best.entry.kind !== worst.entry.kind &&
        ` The first is of kind ${best.entry.kind}, the last ${worst.entry.kind}: not the same offer.`,
    );
  }
  return { element, update };
}

function size(row: RankRow): HTMLElement {
  const value = row.bars.find((bar) => bar.ranked)?.value ?? 0;
  return h("b", {}, format.bytes(value));
}

function context(app: App): string {
  const [first, ...others] = app.data.campaigns;
  if (!first) return "";
  const { machine } = first;
  const parts = [
    machine.cpu,
    format.counted(machine.cpus, "CPU"),
    format.bytes(machine.memory_bytes),
    `Linux ${machine.kernel}`,
    format.day(first.created_at).slice(0, 10),
    format.counted(first.repetitions, "repetition"),
  ];
  const text = parts.join(" · ");
  return others.length > 0 ? `${text} · and ${format.counted(others.length, "other campaign")}` : text;
}

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

function stored(): Theme {
  try {
    const found = localStorage.getItem("taskscale-theme");
    return THEMES.find((theme) => theme === found) ?? "auto";
  } catch {
    // No storage for this page: nothing is kept.
    return "auto";
  }
}

const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function apply(theme: Theme): void {
  const dark = theme === "auto" ? prefersDark.matches : theme === "dark";
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

function themeButton(retheme: () => void): HTMLElement {
  let theme = stored();
  apply(theme);
  prefersDark.addEventListener("change", () => {
    apply(theme);
    retheme();
  });
  const name = h("span", {}, theme);
  return h(
    "button",
    {
      type: "button",
      class: "button quiet theme",
      onclick: () => {
        theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
        apply(theme);
        fill(name, theme);
        try {
          localStorage.setItem("taskscale-theme", theme);
        } catch {
          // It holds until the page is left.
        }
        retheme();
      },
    },
    "Theme: ",
    name,
  );
}
