// How it was measured: machine, plan, command, what to keep in mind, and what differs from the posts.

import { byId, fill, h } from "../dom.ts";
import { campaignsOf, shapeOf, workloadOf } from "../state.ts";
import type { Campaign } from "../types.ts";
import { letter } from "../view.ts";
import type { App } from "./app.ts";
import { commands, definitions } from "./drawer.ts";

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

function content({ data, state }: App): (Node | null)[] {
  const positions = campaignsOf(data, state.part);
  const campaigns = positions.flatMap((position) => data.campaigns[position] ?? []);
  // The posts let tasks wait and had them do nothing: of work they say nothing.
  const posts = shapeOf(data, state.part) === "hold";
  const published = data.published.filter((known) => known.our_workload === workloadOf(data, state.part));
  return [
    h("div", { class: "section-head" }, h("h2", { id: "method-title" }, "How it was measured")),
    ...campaigns.flatMap((campaign, at) => [
      campaigns.length > 1
        ? h("h3", { class: "campaign-title" }, `${letter(data, positions[at] ?? 0)} ${campaign.label}`)
        : null,
      h("div", { class: "method" }, facts(campaign), notes(campaign)),
    ]),
    posts ? prepared("posts") : null,
    ...published.map((known) => (posts ? h("p", { class: "small" }, known.note) : null)),
    prepared("details"),
  ];
}

/** Text that is the same in every page, as page.html has it. */
const prepared = (id: string): Node => (byId(id) as HTMLTemplateElement).content.cloneNode(true);

function facts(campaign: Campaign): HTMLElement {
  const [ran, repeat] = campaign.commands;
  return definitions([
    ...campaign.facts,
    ["command", command(ran)],
    ["repeat", [command(repeat), h("small", {}, "runs in the same order; needs the same toolchains")]],
  ]);
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
