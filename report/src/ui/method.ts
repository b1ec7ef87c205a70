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
    "All tasks alive at once",
    "Every program proves that its N tasks are alive at the same time. Runs with fewer are marked partial and are not ranked.",
  ],
  [
    "Kernel memory",
    "The footprint includes kernel memory: thread stacks, page tables, sockets. RSS excludes it.",
  ],
  [
    "Memory at steady state",
    "Memory is read while all N tasks wait. Peak memory, which the posts report, is shown as well.",
  ],
  [
    "Grouped by concurrency model",
    "OS threads, green threads, async tasks, futures and timers are ranked separately. Entries that use one CPU or are tuned are marked.",
  ],
  ["Failures are shown", "A failed run keeps its row, with the reason and the limit that it hit."],
  ["Variation", "Runs are repeated in random order. Medians and intervals replace single values."],
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
      "Details: ",
      link(`${DOCS}/methodology.md`, "methodology"),
      ", ",
      link(`${DOCS}/results-format.md`, "results format"),
      ".",
    ),
  ];
}

function posts(app: App, campaigns: Campaign[]): (Node | null)[] {
  return [
    h("h3", {}, "Differences from the original blog posts"),
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
  if (classic === campaigns.length) return ["These results use the same wait."];
  return [
    "Here the wait is long enough that all N are alive at once, even if the launch takes more than 10 s.",
  ];
}

function published(app: App): HTMLElement | null {
  const workload = workloadOf(app.data, app.state.part);
  const source = app.data.published.find((known) => known.our_workload === workload);
  if (!source) return null;
  return h(
    "p",
    { class: "small" },
    `Published values: ${source.source}; ${source.workload}; on ${source.hardware}, ${source.os}. They are peak memory as measured by the authors, with other versions and on another machine: compare by eye only.`,
  );
}

function facts(campaign: Campaign): HTMLElement {
  const { machine } = campaign;
  const wait =
    campaign.hold.rule === "chosen"
      ? `long enough that all tasks are alive at once for at least ${campaign.hold.plateau_s} s`
      : `fixed at ${campaign.hold.seconds} s, regardless of the launch time`;
  const course =
    campaign.shape === "work"
      ? `an operation: ${campaign.operation ?? "unknown"}; a first run does enough operations for ${lasts(campaign)} s, a second run twice that number`
      : campaign.shape === "serve"
        ? "all clients connect and rest, then send at fixed rates (open loops), then with one message in flight per sending connection (closed loop)"
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
      "Memory source",
      campaign.memory_sources
        .map((source) => `${source.source} (${format.counted(source.runs, "run")})`)
        .join(", ") || "none",
    ],
    ["Date", `${format.day(campaign.created_at)}, by taskscale ${campaign.taskscale}`],
    ["Workload", `${campaign.part}; ${course}`],
    [
      "Plan",
      `${campaign.tasks.map(format.count).join(", ")} tasks, ${format.counted(campaign.repetitions, "repetition")}; ${format.counted(campaign.runs, "run")} in ${format.seconds(campaign.measured_s)}${campaign.unmeasured_runs > 0 ? `; ${format.counted(campaign.unmeasured_runs, "run")} not measured yet` : ""}`,
    ],
    ["Seed, plan digest", `${seed(campaign)}, ${campaign.plan_digest.slice(0, 12)}`],
    ["Command", command(format.command(campaign.command))],
    [
      "Repeat",
      [
        command(format.command(repeat(campaign))),
        h("small", {}, "runs in the same order; needs the same toolchains"),
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
          () => said.replaceChildren("not allowed: select the text"),
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
    h("h3", {}, "Notes"),
    h(
      "ul",
      { class: "notes" },
      campaign.notes.filter((note) => !note.startsWith("This machine: ")).map((note) => h("li", {}, note)),
    ),
  );
}
