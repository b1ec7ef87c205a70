// The entry point: reads the page's data, keeps the state and the URL in sync, and draws the sections.

import { decode } from "./data.ts";
import { byId, fill, h } from "./dom.ts";
import { fromHash, parts, type State, toHash } from "./state.ts";
import { forbidMarkup } from "./trusted.ts";
import { anatomySection } from "./ui/anatomy.ts";
import type { App, Section } from "./ui/app.ts";
import { controls } from "./ui/controls.ts";
import { drawer } from "./ui/drawer.ts";
import { header } from "./ui/header.ts";
import { listenForKeys } from "./ui/keys.ts";
import { loadSection } from "./ui/load.ts";
import { methodSection } from "./ui/method.ts";
import { overviewSection } from "./ui/overview.ts";
import { rankingSection } from "./ui/ranking.ts";
import { scalingSection } from "./ui/scaling.ts";
import { tableSection } from "./ui/table.ts";
import { timeSection } from "./ui/time.ts";
import { hide, mountTip } from "./ui/tip.ts";
import { versionsSection } from "./ui/versions.ts";

/** Delay of the rest of the page after the frame with the answer: a few frames, too short to notice. */
const LATER_MS = 80;

function update(sections: Section[]): void {
  for (const section of sections) section.update();
}

function start(): void {
  forbidMarkup();
  const data = decode(byId("data").textContent ?? "");
  const root = byId("app");
  if (data.campaigns.length === 0) {
    fill(root, h("p", { class: "wrap nothing" }, "This report has no results."));
    return;
  }
  const app: App = {
    data,
    state: fromHash(data, location.hash),
    set: (change) => apply({ ...app.state, ...change }),
  };
  // Registered before the charts' own listeners, so that they draw the updated state.
  addEventListener("beforeprint", () => drawRest());
  const head = header(app, () => update(charts));
  const bar = controls(app);
  const several = parts(data).length > 1;
  const glance = overviewSection(app);
  const ranked = rankingSection(app);
  const charts = [scalingSection(app), loadSection(app), timeSection(app)];
  /** Sections further down the page. */
  const rest = [...charts, tableSection(app), methodSection(app)];
  const details = drawer(app);

  /** The URL fragment without the open entry: what the sections depend on. */
  const seen = (state: State) => toHash(data, { ...state, entry: "" });

  let later = 0;
  function drawRest(): void {
    if (root.dataset.drawn === "yes") return;
    update(rest);
    root.dataset.drawn = "yes";
  }

  function draw(): void {
    hide();
    update(glance ? [head, bar, glance, ranked] : [head, bar, ranked]);
    // The rest is drawn after the paint, however long that takes on a busy machine: no click or key waits
    // for it, and fast typing draws it once.
    root.dataset.drawn = "no";
    clearTimeout(later);
    requestAnimationFrame(() => {
      later = window.setTimeout(drawRest, LATER_MS);
    });
  }

  function apply(next: State): void {
    const before = app.state;
    app.state = next;
    const hash = toHash(data, next);
    if (hash !== toHash(data, before)) {
      const address = hash ? `#${hash}` : location.href.split("#")[0];
      // "Back" closes a drawer, but does not undo a filter.
      if (next.entry && !before.entry) history.pushState(null, "", address);
      else history.replaceState(null, "", address);
    }
    if (seen(before) !== seen(next) || before.search !== next.search) draw();
    details.update();
  }

  for (const event of ["hashchange", "popstate"])
    addEventListener(event, () => apply(fromHash(data, location.hash)));

  // A campaign is listed once per series.
  const labels = new Set(data.campaigns.map((campaign) => campaign.label));
  document.title = `taskscale: ${[...labels].join(", ")}`;
  const main = h(
    "main",
    { id: "main", class: "wrap", tabindex: "-1" },
    // With a single series, the ranking comes before the overview of all N.
    several && glance?.element,
    ranked.element,
    !several && glance?.element,
    versionsSection(app),
    anatomySection(app),
    rest.map((section) => section.element),
  );
  const text = `taskscale ${data.taskscale} · this file contains all of its data and works offline`;
  const footer = h("footer", { class: "footer wrap" }, text);
  fill(root, head.element, bar.element, main, footer, details.element);
  mountTip();
  listenForKeys(app);
  draw();
  details.update();
}

start();
