// The details of one entry: why it is there, its results and program, how it was built and run, every sample.

import { type Child, fill, h, link } from "../dom.ts";
import * as format from "../format.ts";
import { hasArrived, INCOMPLETE, program, samplesOf, sourceTexts } from "../later.ts";
import { metricsOf, show } from "../metrics.ts";
import { writer } from "../table.ts";
import type { Campaign, Entry, PageData, Row } from "../types.ts";
import { kindOf, type Program, programsOf, shownCampaigns } from "../view.ts";
import type { SampleField, Samples } from "../wire.ts";
import type { App, Section } from "./app.ts";
import { campaignTitle, commands, definitions, list, scrollable, tableHead } from "./elements.ts";

/** Number of samples shown at first. */
const PAGE = 40;

export function drawer(app: App): Section {
  const body = h("div", { class: "drawer-body" });
  const title = h("h2", { id: "drawer-title", tabindex: "-1" });
  const id = h("p", { class: "id" });
  const close = h("button", { class: "button", onclick: () => element.close() }, "Close");
  const head = h("div", { class: "drawer-head" }, h("div", {}, title, id), close);
  const attributes = { class: "drawer", "aria-labelledby": "drawer-title" };
  const element: HTMLDialogElement = h("dialog", attributes, head, body);
  element.addEventListener("close", () => {
    // The event comes after the dialog has closed: "forward" may have opened it again by then.
    if (!element.open && app.state.entry) app.set({ entry: "" });
  });
  element.addEventListener("click", (event) => {
    // A click outside the panel hits the dialog itself.
    if (event.target === element) element.close();
  });

  let drawn = "";
  function update(): void {
    const { state, data } = app;
    if (state.entry && !hasArrived(update)) return;
    const programs = programsOf(shownCampaigns(data, state), state.entry);
    const [first] = programs;
    if (!first) {
      drawn = "";
      if (element.open) element.close();
      return;
    }
    const wanted = `${state.entry} ${programs.map(({ campaign }) => campaign.position).join()}`;
    if (wanted !== drawn) {
      drawn = wanted;
      fill(title, first.entry.title);
      fill(id, first.entry.name);
      fill(body, content(data, first.entry, programs));
      body.scrollTop = 0;
    }
    if (!element.open) {
      element.showModal();
      title.focus();
    }
  }
  return { element, update };
}

function content(data: PageData, entry: Entry, programs: Program[]): Child[] {
  const notes = [...entry.notes, ...(entry.omitted ? [entry.omitted] : [])];
  const tags = [kindOf(data, entry.kind)?.in_sentence ?? "", entry.style, ...entry.tags].map((text) =>
    h("span", { class: "tag" }, text),
  );
  const parts = programs.flatMap(({ campaign, entry: own }) => [
    programs.length > 1 && campaignTitle(campaign),
    callout("callout", `${own.gap?.[0]}: `, own.gap?.[1]),
    growth(own),
    byTasks(data, campaign, own),
    facts(own),
    samples(data, campaign, own, samplesOf(campaign.position)),
  ]);
  return [
    h("p", { class: "why" }, entry.why),
    h("p", { class: "tags" }, tags),
    callout("callout warn", "Unverified: ", entry.unverified),
    notes.length > 0 && list("notes", notes),
    ...parts,
    ...sources(entry),
  ];
}

const callout = (name: string, title: string, text: string | undefined): Child =>
  text ? h("p", { class: name }, h("b", {}, title), text) : false;

function growth({ scaling }: Entry): Child {
  const facts = scaling?.facts.map(([name, value, more]) =>
    h("div", {}, h("span", {}, name), h("b", {}, value), more !== "" && h("small", {}, more)),
  );
  return facts && h("div", { class: "big-figures" }, facts);
}

/** Results of an entry at each number of tasks. */
function byTasks(data: PageData, campaign: Campaign, entry: Entry): Child {
  const rows = campaign.rows.filter((row) => campaign.entries[row.entry] === entry);
  if (rows.length === 0) return false;
  const metrics = metricsOf(data, campaign.part).filter((of) => rows.some((row) => row.figures[of.field]));
  const number = (text: Child) => h("td", { class: "number" }, text);
  const line = (row: Row) => {
    const values = metrics.map((of) => {
      const figure = row.figures[of.field];
      return number(figure && show(of)(figure.median));
    });
    const tasks = h("th", { scope: "row", class: "number" }, format.count(row.tasks));
    return h("tr", {}, tasks, h("td", {}, row.status), values);
  };
  const shortfalls = (row: Row) =>
    (row.shortfalls ?? []).map(({ status, reason }) => {
      const attributes = { colspan: metrics.length + 2, class: "wide" };
      return h("tr", { class: "fell" }, h("td", attributes, h("b", {}, `${status}: `), reason));
    });
  const head = tableHead(
    columnHead("N", true),
    columnHead("Status", false),
    ...metrics.map((of) => columnHead(of.short, true)),
  );
  const body = rows.flatMap((row) => [line(row), ...shortfalls(row)]);
  const table = h("table", { class: "figures" }, head, h("tbody", {}, body));
  return scrollable("Results by number of tasks", table);
}

const columnHead = (title: string, number: boolean): HTMLElement =>
  h("th", { scope: "col", class: number ? "number" : "" }, title);

function facts(entry: Entry): HTMLElement {
  const env = Object.entries(entry.env);
  return definitions([
    ["Version", entry.version ?? "unknown"],
    ["Build", entry.build.length > 0 && commands(entry.build.map(format.command))],
    ["Run", commands([format.command(entry.run)])],
    ["Environment", env.length > 0 && commands(env.map(([name, value]) => `${name}=${value}`))],
    ["Home page", link(entry.url)],
    ["Digest", entry.digest && h("code", { class: "break" }, entry.digest)],
  ]);
}

function sources(entry: Entry): Child[] {
  const title = h("h3", {}, "Source");
  const small = (text: string) => h("p", { class: "small" }, text);
  if (entry.sources.length === 0)
    return [title, small("Not recorded in these results: see the entry's folder in runtimes/.")];
  const texts = sourceTexts();
  if (!texts) return [title, missing()];
  const note = "Not recorded in these results: this is the catalog's program at the time of the report.";
  return [
    title,
    !entry.sources_recorded && small(note),
    ...entry.sources.map((file, position) => {
      const pre = h("pre", { tabindex: "0", "aria-label": file.path, role: "region" });
      const text = texts[file.text] ?? "";
      const show = () => {
        if (folder.open && !pre.firstChild) {
          pre.append(h("code", {}, text));
          // Highlighted after the paint, so that the click does not wait for it.
          requestAnimationFrame(() => setTimeout(() => color(pre, file.path, text)));
        }
      };
      const summary = h("summary", {}, `${entry.runtime}/${file.path}`);
      const attributes = { class: "source", open: position === 0, ontoggle: show };
      const folder = h("details", attributes, summary, pre);
      show();
      return folder;
    }),
  ];
}

function color(pre: HTMLElement, path: string, text: string): void {
  const library = program<typeof import("../highlight.ts")>("highlight");
  if (library) fill(pre, library.code(path, text));
}

/** Replaces details that are missing because the page was cut off. */
const missing = (): HTMLElement => h("p", { class: "callout warn" }, INCOMPLETE);

/** The columns that a campaign's samples may have. */
function sampleColumns(fields: SampleField[], { shape }: Campaign, all: Samples) {
  const column = (title: string, text: (at: number) => string, number = false) => ({ title, number, text });
  const number = (title: string, values: (number | null)[], write: (value: number) => string) =>
    column(title, (at) => (values[at] == null ? "" : write(values[at])), true);
  const text = (title: string, places: (number | null)[]) =>
    column(title, (at) => all.texts[places[at] ?? -1] ?? "");
  return [
    number("N", all.tasks, format.count),
    number("run", all.repetition, String),
    number("attempt", all.attempt, String),
    column("status", (at) => all.status[at] ?? ""),
    // Only tasks of shape `hold` wait.
    ...(shape === "hold" ? [number("wait", all.hold_s, format.seconds)] : []),
    ...fields.map(({ name, title, unit }) => number(title, all.numbers[name] ?? [], writer(unit))),
    column("memory source", (at) => all.memory_source[at] ?? ""),
    column("warnings", (at) => (all.warnings[at] ?? []).join(", ")),
    text("metrics", all.metrics),
    text("reason", all.reason),
    text("standard error", all.stderr_tail),
    column("started", (at) => format.day(all.started_at[at] ?? 0)),
    column("command", (at) => commandOf(all, at)),
  ];
}

const commandOf = (all: Samples, at: number): string =>
  format.command(all.commands[all.command[at] ?? -1] ?? []);

/** The command of an entry's last run, and a table of all its runs. */
function samples(data: PageData, campaign: Campaign, entry: Entry, all: Samples | undefined): HTMLElement {
  if (!all) return missing();
  const position = campaign.entries.indexOf(entry);
  const own = all.entry.flatMap((of, at) => (of === position ? [at] : []));
  const columns = sampleColumns(data.sample_fields, campaign, all).filter(({ text }) =>
    own.some((at) => text(at) !== ""),
  );
  const line = (at: number) => {
    const cells = columns.map(({ number, text }) =>
      number ? h("td", { class: "number" }, text(at)) : h("td", { class: "clip", title: text(at) }, text(at)),
    );
    return h("tr", { class: all.status[at] === "ok" ? "" : "fell" }, cells);
  };
  const body = h("tbody", {}, own.slice(0, PAGE).map(line));
  const showAll = () => {
    body.append(...own.slice(PAGE).map(line));
    more.remove();
  };
  const attributes = { class: "button quiet", onclick: showAll };
  const more = h("button", attributes, `Show all ${format.grouped(own.length)}`);
  const heads = columns.map(({ title, number }) => columnHead(title, number));
  const table = h("table", { class: "figures" }, tableHead(...heads), body);
  const last = own.at(-1);
  const shown = last !== undefined && [
    h("p", { class: "small" }, "Command of the last run:"),
    commands([commandOf(all, last)]),
    scrollable(`Samples of ${entry.name}`, table, "samples"),
  ];
  return h("div", {}, h("h3", {}, format.counted(own.length, "sample")), shown, own.length > PAGE && more);
}
