// How it was measured: machine, plan, command, notes, and differences from the original blog posts.

import { byId, type Child, fill, h } from "../dom.ts";
import { campaignsOf, shapeOf, workloadOf } from "../state.ts";
import type { Campaign } from "../types.ts";
import { letter } from "../view.ts";
import type { App, Section } from "./app.ts";
import { commands, copied, definitions, list, section } from "./elements.ts";

export function methodSection(app: App): Section {
  const body = h("div");
  const element = section("method", "How it was measured", false, [], body);
  let drawn: string | undefined;
  function update(): void {
    if (drawn === app.state.part) return;
    drawn = app.state.part;
    fill(body, content(app));
  }
  update();
  return { element, update };
}

function content({ data, state }: App): Child[] {
  const positions = campaignsOf(data, state.part);
  const campaigns = positions.flatMap((position) => data.campaigns[position] ?? []);
  // The original blog posts measured only tasks that wait.
  const posts = shapeOf(data, state.part) === "hold";
  const published = data.published.filter((known) => known.our_workload === workloadOf(data, state.part));
  return [
    ...campaigns.flatMap((campaign, at) => [
      campaigns.length > 1 &&
        h("h3", { class: "campaign-title" }, `${letter(data, positions[at] ?? 0)} ${campaign.label}`),
      h("div", { class: "method" }, facts(campaign), notes(campaign)),
    ]),
    posts && prepared("posts"),
    ...published.map((known) => posts && h("p", { class: "small" }, known.note)),
    prepared("details"),
  ];
}

/** A copy of a template in page.html. */
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
  const onclick = async () => fill(said, (await copied(text)) ? "copied" : "not allowed: select the text");
  const copy = h("button", { class: "button quiet", "aria-label": "Copy the command", onclick }, "Copy");
  return h("div", { class: "command" }, commands([text]), copy, said);
}

function notes(campaign: Campaign): HTMLElement {
  const { warnings } = campaign.machine;
  const machine = h("div", { class: "callout warn" }, h("b", {}, "This machine"), list("", warnings));
  return h("div", {}, warnings.length > 0 && machine, h("h3", {}, "Notes"), list("notes", campaign.notes));
}
