// The head of the page: what was measured, and the answer in one sentence.

import { fill, h } from "../dom.ts";
import * as format from "../format.ts";
import { campaignsOf } from "../state.ts";
import { answer } from "../view.ts";
import type { App, Section } from "./app.ts";
import { partChoice } from "./parts.ts";

export function header(app: App, retheme: () => void): Section {
  const sentence = h("h1", { class: "answer" });
  const detail = h("p", { class: "answer-detail" });
  const measured = h("p", { class: "context" });
  const choice = partChoice(app);
  const wordmark = h("span", { class: "wordmark" }, "taskscale");
  const masthead = h("div", { class: "masthead" }, wordmark, measured, themeButton(retheme));
  const element = h("header", { class: "header wrap" }, masthead, choice?.element, sentence, detail);

  function update(): void {
    choice?.update();
    fill(measured, context(app));
    const found = answer(app.data, app.state);
    const pieces = found?.answer.map((piece, at) => (at % 2 === 1 ? h("b", {}, piece) : piece));
    fill(sentence, pieces);
    fill(detail, found?.detail);
  }
  return { element, update };
}

function context({ data, state }: App): string {
  const [first, ...others] = campaignsOf(data, state.part);
  const text = first?.context ?? "";
  return others.length > 0 ? `${text} · and ${format.counted(others.length, "other results folder")}` : text;
}

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

function stored(): Theme {
  try {
    const found = localStorage.getItem("taskscale-theme");
    return THEMES.find((theme) => theme === found) ?? "auto";
  } catch {
    // The browser denies this page storage.
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
  const turn = () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
    apply(theme);
    fill(name, theme);
    try {
      localStorage.setItem("taskscale-theme", theme);
    } catch {
      // Without storage, the choice lasts until the page is closed.
    }
    retheme();
  };
  return h("button", { class: "button quiet theme", onclick: turn }, "Theme: ", name);
}
