// The head of the page: what was measured, and the answer in one sentence.

import { fill, h } from "../dom.ts";
import * as format from "../format.ts";
import { kindName } from "../kinds.ts";
import { headline, type Metric } from "../metrics.ts";
import { campaignsOf, operationOf, shapeOf } from "../state.ts";
import type { Shape } from "../types.ts";
import { type Answer, answer, type RankRow } from "../view.ts";
import type { App } from "./app.ts";
import { partChoice } from "./parts.ts";

export function header(app: App, retheme: () => void): { element: HTMLElement; update(): void } {
  const sentence = h("h1", { class: "answer" });
  const detail = h("p", { class: "answer-detail" });
  const measured = h("p", { class: "context" });
  const choice = partChoice(app);
  const element = h(
    "header",
    { class: "header wrap" },
    h(
      "div",
      { class: "masthead" },
      h("span", { class: "wordmark" }, "taskscale"),
      measured,
      h("span", { class: "grow" }),
      themeButton(retheme),
    ),
    choice?.element ?? false,
    sentence,
    detail,
  );

  function update(): void {
    choice?.update();
    fill(measured, context(app));
    const found = answer(app.data, app.state);
    const shape = shapeOf(app.data, app.state.part);
    const work = shape === "work";
    if (!found) {
      const n = counted(app.state.n, shape);
      const title = headline(shape).title.toLowerCase();
      fill(sentence, work ? `What an operation costs with ${n}` : `What ${n} cost`);
      fill(detail, `No entry shown has a value for ${title} at this number of tasks.`);
      return;
    }
    fill(sentence, answered(found, shape));
    fill(detail, told(found, work, operationOf(app.data, app.state.part)));
  }
  return { element, update };
}

/** `10k tasks`, which are connections where that is what a task serves. */
function counted(n: number, shape: Shape): string {
  if (shape !== "serve") return format.tasks(n);
  return `${format.count(n)} ${n === 1 ? "connection" : "connections"}`;
}

/** The answer in a sentence: what N tasks take, or, of work, what an operation takes with so many. */
function answered({ n, metric, bests, best, worst }: Answer, shape: Shape): (Node | string)[] {
  const work = shape === "work";
  const tasks = h("span", { class: "nowrap" }, counted(n, shape));
  const subject = work ? ["With ", tasks, " an operation"] : [tasks];
  const takes = work || n === 1 ? "takes" : "take";
  if (bests.length > 1) {
    // Unlike things: no factor lies between them. Timers, which are no tasks, are told of below.
    const kinds = bests.filter((row) => row.entry.kind !== "timer");
    const each = kinds.flatMap((row, at) => [
      at === 0 ? "" : at === kinds.length - 1 ? " or " : ", ",
      size(row, metric),
      ` as ${kindName(row.entry.kind)}`,
    ]);
    return [...subject, ` ${takes} at least `, ...each, "."];
  }
  if (best === worst) return [...subject, ` ${takes} `, size(best, metric), ` in ${best.entry.title}.`];
  return [
    ...subject,
    ` ${takes} from `,
    size(best, metric),
    ` in ${best.entry.title} to `,
    size(worst, metric),
    ` in ${worst.entry.title}.`,
  ];
}

/** What a reader of the answer must know. */
function told(found: Answer, work: boolean, operation: string): (Node | string | false)[] {
  const { n, metric, bests, best, worst } = found;
  const timers = bests.length > 1 && bests.find((row) => row.entry.kind === "timer");
  const all = found.held === found.ran ? `All ${found.ran} entries` : `${found.held} of ${found.ran} entries`;
  const held = work ? "completed the work" : `reached ${format.count(n)}`;
  return [
    operation && `${operation} `,
    ...(timers ? ["Timers without tasks take ", size(timers, metric), ". "] : []),
    bests.length === 1 && found.times > 1.005 && `A factor of ${format.digits(found.times)}. `,
    `${all} ${held}`,
    found.held < found.ran &&
      `; the ${found.ran - found.held === 1 ? "other is" : "others are"} listed last, with the reason`,
    ".",
    work && found.slowed > 0 && " Other work shared the CPUs: times are inflated.",
    bests.length === 1 &&
      best.entry.kind !== worst.entry.kind &&
      ` The first uses ${kindName(best.entry.kind)}, the last ${kindName(worst.entry.kind)}: different concurrency models.`,
  ];
}

function size(row: RankRow, metric: Metric): HTMLElement {
  const value = row.bars.find((bar) => bar.ranked)?.value ?? 0;
  return h("b", {}, metric.show(value));
}

function context(app: App): string {
  const { data, state } = app;
  const [first, ...others] = campaignsOf(data, state.part).flatMap(
    (position) => data.campaigns[position] ?? [],
  );
  if (!first) return "";
  const { machine } = first;
  const words = [
    // Said here as well where there is a choice of several: that is not on paper.
    state.part,
    machine.cpu,
    format.counted(machine.cpus, "CPU"),
    format.bytes(machine.memory_bytes),
    `Linux ${machine.kernel}`,
    format.day(first.created_at).slice(0, 10),
    format.counted(first.repetitions, "repetition"),
  ];
  const text = words.join(" · ");
  return others.length > 0 ? `${text} · and ${format.counted(others.length, "other results folder")}` : text;
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
