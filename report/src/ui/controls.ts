// The controls: number of tasks, metric, results, search and filters.

import { type Child, fill, h } from "../dom.ts";
import * as format from "../format.ts";
import { metricsOf } from "../metrics.ts";
import { campaignsOf, NO_FILTERS, type State, tasksOf, toggled } from "../state.ts";
import type { Entry } from "../types.ts";
import { entriesOf, kindOf, shownCampaigns } from "../view.ts";
import type { App, Section } from "./app.ts";
import { choice, keepFocus } from "./elements.ts";

export function controls(app: App): Section {
  const { data } = app;
  const sizes = h("div", { class: "segments", role: "group", "aria-label": "Number of tasks" });
  const metric = select("Compare by", (value) => app.set({ metric: value }));
  const search = h("input", {
    type: "search",
    class: "search",
    placeholder: "Search entries ( / )",
    "aria-label": "Search entries",
    "aria-keyshortcuts": "/",
    spellcheck: "false",
    oninput: () => app.set({ search: search.value }),
  });
  const filters = h("div", { class: "filters", id: "filters", hidden: true });
  const open = () => {
    filters.hidden = !filters.hidden;
    toggle.setAttribute("aria-expanded", String(!filters.hidden));
  };
  const attributes = { class: "button", "aria-expanded": "false", "aria-controls": "filters" };
  const toggle = h("button", { ...attributes, onclick: open });
  const campaigns = h("div", { class: "campaigns", role: "group", "aria-label": "Results" });
  const grow = h("span", { class: "grow" });
  const row = h("div", { class: "controls-row" }, sizes, metric.element, grow, search, toggle);
  const wrap = h("div", { class: "wrap" }, row, campaigns, filters);
  const element = h("div", { class: "controls", role: "search", "aria-label": "What is shown" }, wrap);
  const size = (n: number) => {
    const label = { "aria-label": format.tasks(n) };
    return choice(`n${n}`, n === app.state.n, () => app.set({ n }), label, format.count(n));
  };
  let offered = "";

  function update(): void {
    const { state } = app;
    keepFocus(sizes, () => fill(sizes, tasksOf(data, state.part).map(size)));
    if (offered !== state.part) {
      offered = state.part;
      const options = metricsOf(data, offered).map(({ name, title }) => h("option", { value: name }, title));
      fill(metric.input, options);
    }
    metric.input.value = state.metric;
    if (search.value !== state.search) search.value = state.search;
    campaigns.hidden = campaignsOf(data, state.part).length < 2;
    keepFocus(campaigns, () => fill(campaigns, campaignChoices(app)));
    keepFocus(filters, () => fill(filters, filterChoices(app)));
    const active = activeFilters(state);
    fill(toggle, "Filter", active > 0 && h("span", { class: "badge" }, String(active)));
  }
  return { element, update };
}

/** A menu, with its label around it. */
export function select(label: string, change: (value: string) => void) {
  const input = h("select", { onchange: () => change(input.value) });
  return { input, element: h("label", { class: "field" }, h("span", {}, label), input) };
}

export const activeFilters = ({ kinds, languages, styles, parallel, stackful }: State): number =>
  [...kinds, ...languages, ...styles, parallel, stackful].filter(Boolean).length;

function filterChoices(app: App): Child[] {
  const { data, state } = app;
  const entries = entriesOf(campaignsOf(data, state.part));
  const filter = (name: FilterName, title: string, of: (entry: Entry) => [string, string]) =>
    choices(app, name, title, new Map(entries.map(of)));
  const clear = { class: "button quiet", "data-key": "clear", onclick: () => app.set(NO_FILTERS) };
  return [
    filter("kinds", "Kind", ({ kind }) => [kind, kindOf(data, kind)?.title ?? kind]),
    filter("languages", "Language", ({ runtime, runtime_title }) => [runtime, runtime_title]),
    filter("styles", "Style", ({ style }) => [style, style]),
    filter("parallel", "CPUs", ({ parallel, tags }) => [parallel ? "yes" : "no", tags[0] ?? ""]),
    filter("stackful", "Stack", ({ stackful, tags }) => [stackful ? "yes" : "no", tags[1] ?? ""]),
    (activeFilters(state) > 0 || state.search !== "") && h("button", clear, "Clear all"),
  ];
}

const chip = (key: string, pressed: boolean, click: () => void, ...children: Child[]): HTMLElement =>
  choice(key, pressed, click, { class: "chip" }, ...children);

function group(title: string, chips: HTMLElement[]): HTMLElement {
  const name = h("span", { class: "filter-title", "aria-hidden": "true" }, title);
  return h("div", { class: "filter", role: "group", "aria-label": title }, name, chips);
}

type FilterName = "kinds" | "languages" | "styles" | "parallel" | "stackful";

function choices(app: App, name: FilterName, title: string, values: Map<string, string>): HTMLElement {
  const chosen = app.state[name];
  const sorted = [...values].sort((a, b) => a[1].localeCompare(b[1], "en"));
  const chips = sorted.map(([value, text]) => {
    const pressed = chosen.includes(value);
    const next = () => (Array.isArray(chosen) ? toggled(chosen, value) : pressed ? "" : value);
    return chip(`${name} ${value}`, pressed, () => app.set({ [name]: next() }), text);
  });
  return group(title, chips);
}

function campaignChoices(app: App): HTMLElement[] {
  const shown = shownCampaigns(app.data, app.state);
  return campaignsOf(app.data, app.state.part).map((campaign) => {
    const next = toggled(shown, campaign).map(({ position }) => position);
    // At least one is always shown.
    const click = () => next.length > 0 && app.set({ campaigns: next });
    const name = [h("b", {}, campaign.letter), ` ${campaign.label}`];
    return chip(`campaign ${campaign.position}`, shown.includes(campaign), click, ...name);
  });
}
