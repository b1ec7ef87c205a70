// Wall time and CPU time of launch, plateau and drain.

import { fill, h } from "../dom.ts";
import * as format from "../format.ts";
import type { PageData, Phases } from "../types.ts";
import { nameIn, ranking } from "../view.ts";
import type { App, Section } from "./app.ts";
import { type Drawing, figure, Lazy, token } from "./chart.ts";
import { key, section, swatch, tipLine, tipPanel } from "./elements.ts";

/** Most bars shown. The table has all. */
const MOST = 40;

interface Bar {
  name: string;
  phases: Phases;
}

export function timeSection(app: App): Section {
  const bars: Record<"time" | "cpu", Bar[]> = { time: [], cpu: [] };
  const chart = (which: "time" | "cpu", what: string) =>
    new Lazy(
      `${what} of launch, plateau and drain for each entry. The table below has all values.`,
      (width) => drawing(app.data, bars[which], width),
    );
  const charts = { time: chart("time", "Seconds"), cpu: chart("cpu", "CPU seconds") };
  const title = h("span");
  const keys = app.data.phases.map(({ id, title, about }) =>
    key(swatch(`phase-${id}`), `${title}: ${about}`),
  );
  const note = h("p", { class: "small" });
  const legend = h("div", { class: "legend" }, keys);
  const left = figure("Wall time by phase", charts.time, "taskscale-time");
  const right = figure("CPU time by phase", charts.cpu, "taskscale-cpu");
  const pair = h("div", { class: "pair" }, left, right);
  const element = section("time", title, app.data.about.time, [], legend, pair, note);

  /** Draws the wall-time or CPU-time chart. Returns the number of bars before the cut to MOST. */
  function show(which: "time" | "cpu", metric: string): number {
    const all = ranking(app.data, { ...app.state, metric }).rows.flatMap((row) =>
      row.bars.flatMap((bar): Bar[] => {
        const phases = bar.row?.[which];
        return phases ? [{ name: nameIn(app.data, app.state, bar), phases }] : [];
      }),
    );
    bars[which] = all.slice(0, MOST);
    charts[which].element.style.height = `${Math.max(3, bars[which].length) * 24 + 44}px`;
    charts[which].changed();
    return all.length;
  }

  function update(): void {
    fill(title, `Time at ${format.tasks(app.state.n)}`);
    const [all, cpu] = [show("time", "wall"), show("cpu", "cpu")];
    // The phases of work are not recorded, and none of a run whose end was not.
    [left.hidden, right.hidden, element.hidden] = [all === 0, cpu === 0, all + cpu === 0];
    fill(note, all > MOST && `The first ${MOST} of ${all}. Filter or search to see others.`);
  }
  return { element, update };
}

function drawing(data: PageData, bars: Bar[], width: number): Drawing {
  const narrow = width < 480;
  const label = narrow ? 136 : 190;
  return {
    grid: { left: label + 10, right: 24, top: 28, bottom: 4 },
    tooltip: {
      trigger: "axis",
      axisPointer: { type: "shadow", shadowStyle: { color: token("--hover") } },
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
        formatter: (value: number) => format.withoutZeros(format.seconds(value)),
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
      type: "bar",
      stack: "all",
      name: phase.title,
      barWidth: 12,
      itemStyle: { color: token(`--phase-${phase.id}`) },
      emphasis: { disabled: true },
      data: bars.map((bar) => bar.phases[at] ?? 0),
    })),
  };
}

/** A name cut in the middle, as both of its ends distinguish it from others. */
function shortened(name: string, most: number): string {
  if (name.length <= most) return name;
  const head = Math.ceil((most - 1) / 2);
  return `${name.slice(0, head)}…${name.slice(name.length - (most - 1 - head))}`;
}

function told(data: PageData, bar: Bar | undefined): HTMLElement {
  if (!bar) return h("div");
  const { name, phases } = bar;
  const line = (title: string, seconds: number, mark?: Node) => tipLine(title, format.seconds(seconds), mark);
  return tipPanel(
    name,
    ...data.phases.map((phase, at) => line(phase.title, phases[at] ?? 0, swatch(`phase-${phase.id}`))),
    line("Total", phases[0] + phases[1] + phases[2]),
  );
}
