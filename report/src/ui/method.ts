// How it was measured: machine, plan, command, notes, and differences from the original blog posts.

import { byId, type Child, fill, h } from "../dom.ts";
import { leadOf } from "../metrics.ts";
import { campaignsOf } from "../state.ts";
import type { Campaign } from "../types.ts";
import type { App, Section } from "./app.ts";
import { campaignTitle, commands, copied, definitions, list, section } from "./elements.ts";

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
  const campaigns = campaignsOf(data, state.part);
  const { shape, workload } = leadOf(data, state.part);
  // The original blog posts measured only tasks that wait.
  const posts = shape === "hold";
  const published = data.published.filter((known) => known.our_workload === workload);
  return [
    ...campaigns.flatMap((campaign) => [
      campaigns.length > 1 && campaignTitle(campaign),
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
