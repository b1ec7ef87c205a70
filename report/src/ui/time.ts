// Where time goes: launch, plateau and drain, and the CPU time in each.

import type { ECharts } from "echarts/core";
import { fill, h } from "../dom.ts";
import * as format from "../format.ts";
import { shapeOf } from "../state.ts";
import type { PageData, Phases } from "../types.ts";
import { letter, ranking, shownCampaigns } from "../view.ts";
import type { App } from "./app.ts";
import { FONT, figure, Lazy, token } from "./chart.ts";

/** As many bars as fit a page; the table has all. */
const MOST = 40;

interface Bar {
  name: string;
  phases: Phases;
  total: number;
}

export function timeSection(app: App): { element: HTMLElement; update(): void; redraw(): void } {
  let time: Bar[] = [];
  let cpu: Bar[] = [];
  const timeChart = new Lazy(
    "Seconds of launch, plateau and drain for each entry. The table below has all values.",
    (chart) => draw(app, chart, time),
  );
  const cpuChart = new Lazy(
    "CPU seconds of launch, plateau and drain for each entry. The table below has all values.",
    (chart) => draw(app, chart, cpu),
  );
  const title = h("h2", { id: "time-title" });
  const note = h("p", { class: "small" });
  const element = h(
    "section",
    { class: "section", id: "time", "aria-labelledby": "time-title" },
    h(
      "div",
      { class: "section-head" },
      h(
        "div",
        {},
        title,
        h(
          "p",
          { class: "about" },
          "Launch ends when all tasks are alive, and drain begins when the first task is due. taskscale sets the length of the plateau in between, so it does not depend on the runtime.",
        ),
      ),
    ),
    h(
      "div",
      { class: "legend" },
      app.data.phases.map((phase) =>
        h(
          "span",
          { class: "key" },
          h("i", { class: `swatch phase-${phase.id}` }),
          `${phase.title}: ${phase.about}`,
        ),
      ),
    ),
    h(
      "div",
      { class: "pair" },
      figure("Wall time by phase", timeChart, "taskscale-time"),
      figure("CPU time by phase", cpuChart, "taskscale-cpu"),
    ),
    note,
  );

  function redraw(): void {
    // Work has no plateau, and lasts as long as taskscale makes it.
    element.hidden = shapeOf(app.data, app.state.part) === "work";
    if (element.hidden) return;
    fill(title, `Time at ${format.tasks(app.state.n)}`);
    const several = shownCampaigns(app.data, app.state).length > 1;
    const of = (which: "time" | "cpu", metric: string) =>
      ranking(app.data, { ...app.state, metric }).rows.flatMap((row) =>
        row.bars.flatMap((bar): Bar[] => {
          const phases = bar.row?.[which];
          if (!phases) return [];
          const name = several ? `${bar.entry.name} ${letter(app.data, bar.campaign)}` : bar.entry.name;
          return [{ name, phases, total: phases[0] + phases[1] + phases[2] }];
        }),
      );
    const all = of("time", "wall");
    time = all.slice(0, MOST);
    cpu = of("cpu", "cpu").slice(0, MOST);
    for (const [chart, bars] of [
      [timeChart, time],
      [cpuChart, cpu],
    ] as const) {
      chart.element.style.height = `${Math.max(3, bars.length) * 24 + 44}px`;
      chart.changed();
    }
    fill(note, all.length > MOST && `The first ${MOST} of ${all.length}. Filter or search to see others.`);
  }
  return { element, update: redraw, redraw };
}

function draw({ data }: App, chart: ECharts, bars: Bar[]): void {
  const narrow = chart.getWidth() < 480;
  const label = narrow ? 136 : 190;
  chart.setOption(
    {
      animation: false,
      textStyle: { fontFamily: FONT },
      grid: { left: label + 10, right: 24, top: 28, bottom: 4 },
      tooltip: {
        trigger: "axis",
        axisPointer: { type: "shadow", shadowStyle: { color: token("--hover") } },
        confine: true,
        className: "chart-tip",
        backgroundColor: token("--panel"),
        borderColor: token("--line-2"),
        textStyle: { color: token("--ink"), fontFamily: FONT, fontSize: 12 },
        formatter: (found: unknown) => {
          const hit = (Array.isArray(found) ? found[0] : found) as { dataIndex: number };
          return told(data, bars[hit.dataIndex]);
        },
      },
      xAxis: {
        type: "value",
        position: "top",
        axisLabel: {
          color: token("--ink-2"),
          hideOverlap: true,
          formatter: (value: number) =>
            format
              .seconds(value)
              .replace(/\.0+(?= )/, "")
              .replace(/(\.\d*?)0+(?= )/, "$1"),
        },
        splitLine: { lineStyle: { color: token("--line") } },
        splitNumber: narrow ? 3 : 5,
      },
      yAxis: {
        type: "category",
        inverse: true,
        data: bars.map((bar) => shortened(bar.name, narrow ? 21 : 30)),
        axisLine: { show: false },
        axisTick: { show: false },
        axisLabel: { color: token("--ink"), fontSize: narrow ? 11 : 12, interval: 0 },
      },
      series: data.phases.map((phase, at) => ({
        type: "bar" as const,
        stack: "all",
        name: phase.title,
        barWidth: 12,
        itemStyle: { color: token(`--phase-${phase.id}`) },
        emphasis: { disabled: true },
        data: bars.map((bar) => bar.phases[at] ?? 0),
      })),
    },
    { notMerge: true },
  );
}

/** Cut in the middle: both ends of a name tell it from others. */
function shortened(name: string, most: number): string {
  if (name.length <= most) return name;
  const head = Math.ceil((most - 1) / 2);
  return `${name.slice(0, head)}…${name.slice(name.length - (most - 1 - head))}`;
}

function told(data: PageData, bar: Bar | undefined): HTMLElement {
  if (!bar) return h("div");
  return h(
    "div",
    { class: "compare" },
    h("div", { class: "tip-title" }, bar.name),
    data.phases.map((phase, at) =>
      h(
        "div",
        { class: "tip-line" },
        h("i", { class: `swatch phase-${phase.id}` }),
        h("span", {}, phase.title),
        h("b", {}, format.seconds(bar.phases[at] ?? 0)),
      ),
    ),
    h("div", { class: "tip-line" }, h("i"), h("span", {}, "Total"), h("b", {}, format.seconds(bar.total))),
  );
}
