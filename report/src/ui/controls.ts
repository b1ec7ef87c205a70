// The bar of controls: what is compared, by what, and which entries take part.

import { fill, h } from "../dom.ts";
import * as format from "../format.ts";
import { metricsOf } from "../metrics.ts";
import { campaignsOf, type State, tasksOf } from "../state.ts";
import { entriesOf, kindOf, letter, shownCampaigns } from "../view.ts";
import type { App } from "./app.ts";

type ListName = "kinds" | "languages" | "styles";

export interface Controls {
  element: HTMLElement;
  update(): void;
}

export function controls(app: App): Controls {
  const { data } = app;
  const sizes = h("div", { class: "segments", role: "group", "aria-label": "Number of tasks" });
  const metric = select("Compare by", [], (value) => app.set({ metric: value }));
  const search = h("input", {
    type: "search",
    class: "search",
    placeholder: "Search entries ( / )",
    "aria-label": "Search entries",
    "aria-keyshortcuts": "/",
    spellcheck: "false",
    oninput: (event) => app.set({ search: (event.target as HTMLInputElement).value }),
  });
  const filters = h("div", { class: "filters", id: "filters", hidden: true });
  const toggle = h(
    "button",
    {
      type: "button",
      class: "button",
      "aria-expanded": "false",
      "aria-controls": "filters",
      onclick: () => {
        filters.hidden = !filters.hidden;
        toggle.setAttribute("aria-expanded", String(!filters.hidden));
      },
    },
    "Filter",
  );
  const campaigns = h("div", { class: "campaigns", role: "group", "aria-label": "Results" });
  const element = h(
    "div",
    { class: "controls", role: "search", "aria-label": "What is shown" },
    h(
      "div",
      { class: "wrap" },
      h(
        "div",
        { class: "controls-row" },
        sizes,
        metric.element,
        h("span", { class: "grow" }),
        search,
        toggle,
      ),
      campaigns,
      filters,
    ),
  );
  const choices = filterChoices(app);
  let offered = "";

  function update(): void {
    const { state } = app;
    keepFocus(sizes, () =>
      fill(
        sizes,
        tasksOf(data, state.part).map((n) =>
          h(
            "button",
            {
              type: "button",
              "data-key": `n${n}`,
              "aria-pressed": String(n === state.n),
              "aria-label": format.tasks(n),
              onclick: () => app.set({ n }),
            },
            format.count(n),
          ),
        ),
      ),
    );
    if (offered !== state.part) {
      offered = state.part;
      fill(metric.input, options(metricsOf(data, offered).map((known) => [known.name, known.title])));
    }
    metric.input.value = state.metric;
    if (search.value !== state.search) search.value = state.search;
    campaigns.hidden = campaignsOf(data, state.part).length < 2;
    keepFocus(campaigns, () => fill(campaigns, campaignChoices(app)));
    keepFocus(filters, () => fill(filters, choices()));
    const active = activeFilters(state);
    fill(toggle, "Filter", active > 0 && h("span", { class: "badge" }, String(active)));
  }
  return { element, update };
}

const options = (values: [string, string][]) => values.map(([value, text]) => h("option", { value }, text));

export function select(
  label: string,
  values: [string, string][],
  change: (value: string) => void,
): { element: HTMLElement; input: HTMLSelectElement } {
  const input = h(
    "select",
    { onchange: (event) => change((event.target as HTMLSelectElement).value) },
    options(values),
  );
  return { element: h("label", { class: "field" }, h("span", {}, label), input), input };
}

/** Draws controls anew and gives the focus back to the one that had it. */
export function keepFocus(element: HTMLElement, draw: () => void): void {
  const focused = document.activeElement;
  const key = focused && element.contains(focused) ? focused.getAttribute("data-key") : null;
  draw();
  if (key) element.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

export function activeFilters(state: State): number {
  return (
    state.kinds.length +
    state.languages.length +
    state.styles.length +
    Number(state.parallel !== "") +
    Number(state.stackful !== "")
  );
}

export const NO_FILTERS: Partial<State> = {
  kinds: [],
  languages: [],
  styles: [],
  parallel: "",
  stackful: "",
  search: "",
};

function filterChoices(app: App): () => (Node | false)[] {
  return () => {
    const entries = entriesOf(app.data, campaignsOf(app.data, app.state.part));
    const values = (of: (entry: (typeof entries)[number]) => [string, string]) =>
      [...new Map(entries.map(of))].sort((a, b) => a[1].localeCompare(b[1], "en"));
    return [
      several(
        app,
        "kinds",
        "Kind",
        values((entry) => [entry.kind, kindOf(app.data, entry.kind)?.title ?? entry.kind]),
      ),
      several(
        app,
        "languages",
        "Language",
        values((entry) => [entry.runtime, entry.runtime_title]),
      ),
      several(
        app,
        "styles",
        "Style",
        values((entry) => [entry.style, entry.style]),
      ),
      one(app, "parallel", "Tasks run on", [
        ["yes", "all CPUs"],
        ["no", "one CPU"],
      ]),
      one(app, "stackful", "A stack per task", [
        ["yes", "stackful"],
        ["no", "stackless"],
      ]),
      (activeFilters(app.state) > 0 || app.state.search !== "") &&
        h(
          "button",
          { type: "button", class: "button quiet", "data-key": "clear", onclick: () => app.set(NO_FILTERS) },
          "Clear all",
        ),
    ];
  };
}

function chip(key: string, text: string, pressed: boolean, click: () => void): HTMLElement {
  const attributes = {
    type: "button",
    class: "chip",
    "data-key": key,
    "aria-pressed": String(pressed),
    onclick: click,
  };
  return h("button", attributes, text);
}

function group(title: string, chips: HTMLElement[]): HTMLElement {
  return h(
    "div",
    { class: "filter", role: "group", "aria-label": title },
    h("span", { class: "filter-title", "aria-hidden": "true" }, title),
    chips,
  );
}

function several(app: App, name: ListName, title: string, values: [string, string][]): HTMLElement {
  return group(
    title,
    values.map(([value, text]) => {
      const pressed = app.state[name].includes(value);
      return chip(`${name} ${value}`, text, pressed, () => {
        const others = app.state[name].filter((other) => other !== value);
        app.set({ [name]: pressed ? others : [...others, value] });
      });
    }),
  );
}

function one(
  app: App,
  name: "parallel" | "stackful",
  title: string,
  values: ["yes" | "no", string][],
): HTMLElement {
  return group(
    title,
    values.map(([value, text]) => {
      const pressed = app.state[name] === value;
      return chip(`${name} ${value}`, text, pressed, () => app.set({ [name]: pressed ? "" : value }));
    }),
  );
}

function campaignChoices(app: App): HTMLElement[] {
  const shown = shownCampaigns(app.data, app.state);
  return campaignsOf(app.data, app.state.part).map((position) => {
    const campaign = app.data.campaigns[position];
    const pressed = shown.includes(position);
    return h(
      "button",
      {
        type: "button",
        class: "chip",
        "data-key": `campaign ${position}`,
        "aria-pressed": String(pressed),
        onclick: () => {
          const others = shown.filter((other) => other !== position);
          // One is always shown.
          const next = pressed ? others : [...others, position].sort((a, b) => a - b);
          if (next.length > 0) app.set({ campaigns: next });
        },
      },
      h("b", {}, letter(app.data, position)),
      ` ${campaign?.label ?? ""}`,
    );
  });
}
