// All that is known of one entry: why it is there, its program, how it was built and run, and each single sample.

import { fill, h, link } from "../dom.ts";
import * as format from "../format.ts";
import { hasArrived, INCOMPLETE, program, samplesOf, sourceTexts, whenArrived } from "../later.ts";
import { metricsOf, show } from "../metrics.ts";
import type { Campaign, Entry, Metric, PageData, Row, Samples } from "../types.ts";
import { entryOf, kindOf, letter, shownCampaigns } from "../view.ts";
import type { App } from "./app.ts";

export interface Drawer {
  element: HTMLDialogElement;
  update(): void;
}

/** Samples that are drawn at once. */
const PAGE = 40;

export function drawer(app: App): Drawer {
  const body = h("div", { class: "drawer-body" });
  const title = h("h2", { id: "drawer-title", tabindex: "-1" });
  const id = h("p", { class: "id" });
  const close = h("button", { type: "button", class: "button", onclick: () => element.close() }, "Close");
  const element: HTMLDialogElement = h(
    "dialog",
    { class: "drawer", "aria-labelledby": "drawer-title" },
    h("div", { class: "drawer-head" }, h("div", {}, title, id), close),
    body,
  );
  element.addEventListener("close", () => {
    // The event comes a moment after the closing: "forward" may have opened the drawer again by then.
    if (!element.open && app.state.entry) app.set({ entry: "" });
  });
  element.addEventListener("click", (event) => {
    // What is clicked beside the panel is the dialog itself.
    if (event.target === element) element.close();
  });

  let drawn = "";
  function update(): void {
    const { state, data } = app;
    if (state.entry && !hasArrived()) {
      whenArrived(update);
      return;
    }
    const positions = shownCampaigns(data, state).filter((position) => {
      const campaign = data.campaigns[position];
      return campaign && entryOf(campaign, state.entry);
    });
    const campaign = data.campaigns[positions[0] ?? -1];
    const entry = campaign && entryOf(campaign, state.entry);
    if (!entry) {
      drawn = "";
      if (element.open) element.close();
      return;
    }
    const wanted = `${state.entry} ${positions.join()}`;
    if (wanted !== drawn) {
      drawn = wanted;
      fill(title, entry.title);
      fill(id, entry.name);
      fill(body, content(app, entry, positions));
      body.scrollTop = 0;
    }
    if (!element.open) {
      element.showModal();
      title.focus();
    }
  }
  return { element, update };
}

function content(app: App, entry: Entry, positions: number[]): (Node | false)[] {
  const { data } = app;
  const notes = [...entry.notes, ...(entry.omitted ? [entry.omitted] : [])];
  const shared: (Node | false)[] = [
    h("p", { class: "why" }, entry.why),
    h(
      "p",
      { class: "tags" },
      [kindOf(data, entry.kind)?.in_sentence ?? "", entry.style, ...entry.tags].map((text) =>
        h("span", { class: "tag" }, text),
      ),
    ),
    entry.unverified
      ? h("p", { class: "callout warn" }, h("b", {}, "Unverified: "), entry.unverified)
      : false,
    notes.length > 0 &&
      h(
        "ul",
        { class: "notes" },
        notes.map((note) => h("li", {}, note)),
      ),
  ];
  const own = positions.flatMap((position): (Node | false)[] => {
    const campaign = data.campaigns[position];
    const of = campaign && entryOf(campaign, entry.name);
    if (!campaign || !of) return [];
    return [
      positions.length > 1
        ? h("h3", { class: "campaign-title" }, `${letter(data, position)} ${campaign.label}`)
        : false,
      of.unavailable
        ? h("p", { class: "callout" }, h("b", {}, "Not available on this machine: "), of.unavailable)
        : false,
      growth(of),
      byTasks(data, campaign, of),
      facts(of),
      samples(campaign, of, samplesOf(position)),
    ];
  });
  return [...shared, ...own, ...sources(entry)];
}

function growth({ scaling }: Entry): HTMLElement | false {
  if (!scaling) return false;
  const fact = ([name, value, more]: [string, string, string]) =>
    h("div", {}, h("span", {}, name), h("b", {}, value), more !== "" && h("small", {}, more));
  return h("div", { class: "big-figures" }, scaling.facts.map(fact));
}

/** What came of it at each number of tasks. */
function byTasks(data: PageData, campaign: Campaign, entry: Entry): HTMLElement | false {
  const rows = campaign.rows.filter((row) => campaign.entries[row.entry] === entry);
  if (rows.length === 0) return false;
  const metrics = metricsOf(data, campaign.part).filter((of) => rows.some((row) => row.figures[of.field]));
  const cell = (row: Row, of: Metric) => {
    const figure = row.figures[of.field];
    return h("td", { class: "number" }, figure && show(of)(figure.median));
  };
  const heads = ["N", "Status", ...metrics.map((of) => of.short)];
  return h(
    "div",
    { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Results by number of tasks" },
    h(
      "table",
      { class: "figures" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          heads.map((head, at) => h("th", { scope: "col", class: at === 1 ? "" : "number" }, head)),
        ),
      ),
      h(
        "tbody",
        {},
        rows.flatMap((row) => [
          h(
            "tr",
            {},
            h("th", { scope: "row", class: "number" }, format.count(row.tasks)),
            h("td", {}, row.status),
            metrics.map((of) => cell(row, of)),
          ),
          ...(row.shortfalls ?? []).map((shortfall) =>
            h(
              "tr",
              { class: "fell" },
              h(
                "td",
                { colspan: heads.length, class: "wide" },
                h("b", {}, `${shortfall.status}: `),
                shortfall.reason,
              ),
            ),
          ),
        ]),
      ),
    ),
  );
}

function facts(entry: Entry): HTMLElement {
  const env = Object.entries(entry.env);
  const pairs: [string, Node | string][] = [];
  pairs.push(["Version", entry.version ?? "unknown"]);
  if (entry.build.length > 0) pairs.push(["Build", commands(entry.build.map(format.command))]);
  pairs.push(["Run", commands([format.command(entry.run)])]);
  if (env.length > 0) pairs.push(["Environment", commands(env.map(([name, value]) => `${name}=${value}`))]);
  pairs.push(["Home page", link(entry.url)]);
  if (entry.digest) pairs.push(["Digest", h("code", { class: "break" }, entry.digest)]);
  return definitions(pairs);
}

export function definitions(pairs: [string, Node | string | Node[]][]): HTMLElement {
  return h(
    "dl",
    { class: "facts" },
    pairs.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
  );
}

export function commands(lines: string[]): HTMLElement {
  return h("code", { class: "commands" }, lines.join("\n"));
}

function sources(entry: Entry): (HTMLElement | false)[] {
  const title = h("h3", {}, "Source");
  if (entry.sources.length === 0) {
    return [
      title,
      h("p", { class: "small" }, "Not recorded in these results: see the entry's folder in runtimes/."),
    ];
  }
  const texts = sourceTexts();
  if (!texts) return [title, missing()];
  return [
    title,
    !entry.sources_recorded &&
      h(
        "p",
        { class: "small" },
        "Not recorded in these results: this is the catalog's program at the time of the report.",
      ),
    ...entry.sources.map((file, position) => {
      const pre = h("pre", { tabindex: "0", "aria-label": file.path, role: "region" });
      const folder = h(
        "details",
        { class: "source", open: position === 0 },
        h("summary", {}, `${entry.runtime}/${file.path}`),
        pre,
      );
      const text = texts[file.text] ?? "";
      const show = () => {
        if (folder.open && !pre.firstChild) {
          pre.append(h("code", {}, text));
          // In colour when it has been painted: a click is not kept waiting for that.
          requestAnimationFrame(() => setTimeout(() => colour(pre, file.path, text)));
        }
      };
      folder.addEventListener("toggle", show);
      show();
      return folder;
    }),
  ];
}

function colour(pre: HTMLElement, path: string, text: string): void {
  const library = program<typeof import("../highlight.ts")>("highlight");
  if (library) fill(pre, library.code(path, text));
}

/** In the place of what stands at the end of the page, where the page has been cut off. */
function missing(): HTMLElement {
  return h("p", { class: "callout warn" }, INCOMPLETE);
}

interface SampleColumn {
  title: string;
  number: boolean;
  text: (at: number) => string;
}

/** Every run of an entry, and below it what is only of one: its exact command, reason, warnings, standard error. */
function samples(campaign: Campaign, entry: Entry, all: Samples | undefined): HTMLElement {
  if (!all) return missing();
  const position = campaign.entries.indexOf(entry);
  const text = (at: number | null | undefined) => (at == null ? "" : (all.texts[at] ?? ""));
  const command = (at: number) => format.command(all.commands[all.command[at] ?? -1] ?? []);
  const own = all.entry.flatMap((of, at) => (of === position ? [at] : []));
  const numbers = Object.keys(all.numbers).filter((name) =>
    own.some((at) => all.numbers[name]?.[at] != null),
  );
  const show = (name: string): ((value: number) => string) =>
    name.endsWith("_bytes")
      ? format.bytes
      : name.endsWith("_s")
        ? format.seconds
        : (value) => format.grouped(value);
  const possible: SampleColumn[] = [
    { title: "N", number: true, text: (at) => format.count(all.tasks[at] ?? 0) },
    { title: "run", number: true, text: (at) => String(all.repetition[at] ?? "") },
    { title: "attempt", number: true, text: (at) => String(all.attempt[at] ?? "") },
    { title: "status", number: false, text: (at) => all.status[at] ?? "" },
    // Work is not told to wait.
    ...(campaign.shape === "hold"
      ? [{ title: "wait", number: true, text: (at: number) => format.seconds(all.hold_s[at] ?? 0) }]
      : []),
    ...order(numbers).map((name) => ({
      title: name
        .replace(/^(memory\.plateau|memory|time)\./, "")
        .replace(/_(bytes|s)$/, "")
        .replaceAll("_", " ")
        .replace(/^work\.operations/, "operations")
        .replace(/^work\./, "work ")
        .replace(/^cpu\./, "CPU ")
        .replace(/^work cpu/, "work CPU"),
      number: true,
      text: (at: number) => {
        const value = all.numbers[name]?.[at];
        return value == null ? "" : show(name)(value);
      },
    })),
    { title: "memory source", number: false, text: (at) => all.memory_source[at] ?? "" },
    { title: "warnings", number: false, text: (at) => (all.warnings[at] ?? []).join(", ") },
    { title: "metrics", number: false, text: (at) => text(all.metrics[at]) },
    { title: "reason", number: false, text: (at) => text(all.reason[at]) },
    { title: "standard error", number: false, text: (at) => text(all.stderr_tail[at]) },
    { title: "started", number: false, text: (at) => format.day(all.started_at[at] ?? "") },
    { title: "command", number: false, text: command },
  ];
  const columns = possible.filter((column) => own.some((at) => column.text(at) !== ""));
  const last = own.at(-1);
  const body = h("tbody");
  const line = (at: number) =>
    h(
      "tr",
      { class: all.status[at] === "ok" ? "" : "fell" },
      columns.map((column) =>
        h(
          "td",
          { class: column.number ? "number" : "clip", title: column.number ? null : column.text(at) },
          column.text(at),
        ),
      ),
    );
  fill(body, own.slice(0, PAGE).map(line));
  const more =
    own.length > PAGE &&
    h(
      "button",
      {
        type: "button",
        class: "button quiet",
        onclick: (event) => {
          body.append(...own.slice(PAGE).map(line));
          (event.target as HTMLElement).remove();
        },
      },
      `Show all ${format.grouped(own.length)}`,
    );
  return h(
    "div",
    {},
    h("h3", {}, format.counted(own.length, "sample")),
    last !== undefined && h("p", { class: "small" }, "Command of the last run:"),
    last !== undefined && commands([command(last)]),
    own.length > 0 &&
      h(
        "div",
        {
          class: "table-scroll samples",
          tabindex: "0",
          role: "region",
          "aria-label": `Samples of ${entry.name}`,
        },
        h(
          "table",
          { class: "figures" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              columns.map((column) =>
                h("th", { scope: "col", class: column.number ? "number" : "" }, column.title),
              ),
            ),
          ),
          body,
        ),
      ),
    more,
  );
}

/** The figures that are looked for first, then the others in their own order. */
function order(names: string[]): string[] {
  const first = [
    "alive",
    "work.operations",
    "work.wall_s",
    "work.cpu_s",
    "memory.plateau.footprint_bytes",
    "memory.plateau.anon_bytes",
    "memory.plateau.kernel_bytes",
    "memory.peak_bytes",
    "memory.rss_peak_bytes",
    "time.launch_s",
    "time.wall_s",
    "cpu.user_s",
    "cpu.system_s",
  ];
  return [...first.filter((name) => names.includes(name)), ...names.filter((name) => !first.includes(name))];
}
