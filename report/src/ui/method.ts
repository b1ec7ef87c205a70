// How it was measured: machine, plan, command, what to keep in mind, and what differs from the posts.

import { fill, h, link } from "../dom.ts";
import * as format from "../format.ts";
import { campaignsOf, shapeOf, workloadOf } from "../state.ts";
import type { Campaign } from "../types.ts";
import { letter } from "../view.ts";
import type { App } from "./app.ts";
import { commands, definitions } from "./drawer.ts";

const DOCS = "https://github.com/taskscale/taskscale/blob/main/docs";

/** What readers of the posts missed, and what is done here. */
const DIFFERENCES: [string, string][] = [
  [
    "All alive at once",
    "Every program proves that its N tasks live at the same time. With fewer the row says so and is not ranked.",
  ],
  [
    "The whole cost",
    "The footprint holds the kernel's part as well: thread stacks, page tables, sockets. RSS leaves it out.",
  ],
  [
    "The right moment",
    "Memory is read while all N tasks wait. Peaks, which the posts report, stand beside it.",
  ],
  [
    "Unlike things are told apart",
    "Threads, tasks, futures and timers are marked as such, as is what shares one CPU or was tuned.",
  ],
  ["Failures stay", "A run that failed keeps its row, with its reason and the limit that it met."],
  ["Spread", "Runs are repeated in random order. Medians and intervals instead of one figure."],
];

export function methodSection(app: App): { element: HTMLElement; update(): void } {
  const element = h("section", { class: "section", id: "method", "aria-labelledby": "method-title" });
  let drawn: string | undefined;
  function update(): void {
    if (drawn === app.state.part) return;
    drawn = app.state.part;
    fill(element, content(app));
  }
  update();
  return { element, update };
}

function content(app: App): (Node | null)[] {
  const { data, state } = app;
  const positions = campaignsOf(data, state.part);
  const campaigns = positions.flatMap((position) => data.campaigns[position] ?? []);
  return [
    h("div", { class: "section-head" }, h("h2", { id: "method-title" }, "How it was measured")),
    ...campaigns.flatMap((campaign, at) => [
      campaigns.length > 1
        ? h("h3", { class: "campaign-title" }, `${letter(data, positions[at] ?? 0)} ${campaign.label}`)
        : null,
      h("div", { class: "method" }, facts(campaign), notes(campaign)),
    ]),
    // The posts let tasks wait and had them do nothing: of work they say nothing.
    ...(shapeOf(data, state.part) === "hold" ? posts(app, campaigns) : []),
    h(
      "p",
      { class: "small" },
      "In full: ",
      link(`${DOCS}/methodology.md`, "methodology"),
      ", ",
      link(`${DOCS}/results-format.md`, "format of results"),
      ".",
    ),
  ];
}

function posts(app: App, campaigns: Campaign[]): (Node | null)[] {
  return [
    h("h3", {}, "What differs from the posts"),
    h(
      "p",
      { class: "about" },
      "Three posts (",
      link("https://pkolaczk.github.io/memory-consumption-of-async/", "2023"),
      ", ",
      link("https://hez2010.github.io/async-runtimes-benchmarks-2024/", "2024"),
      ", ",
      link("https://hez2010.github.io/async-runtimes-benchmarks-2024/take2.html", "2024, take 2"),
      ") launch N tasks that each wait 10 s, and compare peak memory. ",
      ...holdDifference(campaigns),
    ),
    h(
      "dl",
      { class: "differences" },
      DIFFERENCES.flatMap(([what, how]) => h("div", {}, h("dt", {}, what), h("dd", {}, how))),
    ),
    published(app),
  ];
}

function holdDifference(campaigns: Campaign[]): string[] {
  const classic = campaigns.filter((campaign) => campaign.hold.rule === "fixed").length;
  if (classic === campaigns.length) return ["This campaign waits as they did."];
  return [
    "Here the wait is chosen so that all N are alive together, also where launching takes longer than 10 s.",
  ];
}

function published(app: App): HTMLElement | null {
  const workload = workloadOf(app.data, app.state.part);
  const source = app.data.published.find((known) => known.our_workload === workload);
  if (!source) return null;
  return h(
    "p",
    { class: "small" },
    `Published figures: ${source.source}; ${source.workload}; on ${source.hardware}, ${source.os}. Peak memory as its authors measured it, with other versions and on another machine: to be compared by eye.`,
  );
}

function facts(campaign: Campaign): HTMLElement {
  const { machine } = campaign;
  const wait =
    campaign.hold.rule === "chosen"
      ? `chosen so that all tasks are alive together for ${campaign.hold.plateau_s} s or longer`
      : `${campaign.hold.seconds} s, whether all tasks are alive by then or not`;
  const course =
    campaign.shape === "work"
      ? `an operation: ${campaign.operation ?? "unknown"}; so many operations that they last ${lasts(campaign)} s or longer, and then twice as many`
      : campaign.shape === "serve"
        ? "all clients connect, rest, talk at a rate, and then with one message in flight on each of some connections"
        : `the wait is ${wait}`;
  const limits = Object.entries(machine.limits);
  const pairs: [string, Node | string | Node[]][] = [
    ["Processor", `${machine.cpu}, ${format.counted(machine.cpus, "CPU")}, ${machine.architecture}`],
    [
      "Memory",
      `${format.bytes(machine.memory_bytes)}, ${machine.swap_bytes > 0 ? `${format.bytes(machine.swap_bytes)} of swap` : "no swap"}, pages of ${format.bytes(machine.page_bytes)}${machine.transparent_huge_pages ? `, huge pages ${machine.transparent_huge_pages}` : ""}`,
    ],
    [
      "System",
      `${machine.os}, Linux ${machine.kernel}${machine.cpu_governor ? `, governor ${machine.cpu_governor}` : ""}`,
    ],
    ["Host", machine.hostname],
    [
      "Memory by",
      campaign.memory_sources
        .map((source) => `${source.source} (${format.counted(source.runs, "run")})`)
        .join(", ") || "no figures",
    ],
    ["When", `${format.day(campaign.created_at)}, by taskscale ${campaign.taskscale}`],
    ["Workload", `${campaign.part}; ${course}`],
    [
      "Plan",
      `${campaign.tasks.map(format.count).join(", ")} tasks, ${format.counted(campaign.repetitions, "repetition")}; ${format.counted(campaign.runs, "run")} in ${format.seconds(campaign.measured_s)}${campaign.unmeasured_runs > 0 ? `; ${format.counted(campaign.unmeasured_runs, "run")} not measured yet` : ""}`,
    ],
    ["Seed, plan", `${seed(campaign)}, ${campaign.plan_digest.slice(0, 12)}`],
    ["Command", command(format.command(campaign.command))],
    [
      "To repeat it",
      [
        command(format.command(repeat(campaign))),
        h("small", {}, "with the same order of runs, on a machine with the same toolchains"),
      ],
    ],
  ];
  if (limits.length > 0) {
    pairs.push(["Limits", commands(limits.map(([name, value]) => `${name} = ${format.grouped(value)}`))]);
  }
  return definitions(pairs);
}

/** How long work lasts at least. */
function lasts({ hold }: Campaign): number {
  return hold.rule === "chosen" ? hold.plateau_s : 1;
}

/** As it was given: as a number it may be larger than what is kept exactly. */
function seed({ command, seed }: Campaign): string {
  const at = command.findIndex((word) => /^--seed(=|$)/.test(word));
  return command[at]?.split("=")[1] ?? (at < 0 ? undefined : command[at + 1]) ?? String(seed);
}

/** The command with its seed, without the folder, which is taken, and the way to the program. */
function repeat(campaign: Campaign): string[] {
  const [program = "", ...words] = campaign.command;
  const left = /^(-o|--output|--seed)$/;
  const kept = words.filter(
    (word, at) => !left.test(words[at - 1] ?? "") && !left.test(word) && !/^(-o|--(output|seed)=)/.test(word),
  );
  return [program.replace(/^.*\/(?=taskscale$)/, ""), ...kept, "--seed", seed(campaign)];
}

function command(text: string): HTMLElement {
  const said = h("span", { role: "status", class: "copied" });
  const copy = h(
    "button",
    {
      type: "button",
      class: "button quiet",
      "aria-label": "Copy the command",
      onclick: () => {
        navigator.clipboard?.writeText(text).then(
          () => said.replaceChildren("copied"),
          () => said.replaceChildren("select and copy it by hand"),
        );
      },
    },
    "Copy",
  );
  return h("div", { class: "command" }, commands([text]), copy, said);
}

function notes(campaign: Campaign): HTMLElement {
  const warnings = campaign.machine.warnings;
  return h(
    "div",
    {},
    warnings.length > 0 &&
      h(
        "div",
        { class: "callout warn" },
        h("b", {}, "This machine"),
        h(
          "ul",
          {},
          warnings.map((text) => h("li", {}, text)),
        ),
      ),
    h("h3", {}, "To keep in mind"),
    h(
      "ul",
      { class: "notes" },
      campaign.notes.filter((note) => !note.startsWith("This machine: ")).map((note) => h("li", {}, note)),
    ),
  );
}
