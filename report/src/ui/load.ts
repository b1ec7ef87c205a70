// CPU per message and latency of servers over load: a line per entry.

import { fill, h } from "../dom.ts";
import * as format from "../format.ts";
import { nameIn, ranking } from "../view.ts";
import type { LoadPoint } from "../wire.ts";
import type { App, Section } from "./app.ts";
import {
  axisName,
  type Drawing,
  figure,
  Lazy,
  type LineStyle,
  lineMarks,
  lineStyle,
  logAxis,
} from "./chart.ts";
import { section, tipLine, tipPanel } from "./elements.ts";

/** Most lines shown: more are hard to distinguish. */
const MOST = 16;

interface Line {
  name: string;
  points: LoadPoint[];
  style: LineStyle;
}

type Value = (point: LoadPoint) => number | undefined;

export function loadSection(app: App): Section {
  let lines: Line[] = [];
  const chart = (value: Value, what: string) =>
    new Lazy(`${what} over messages per second, a line per entry. The table below has both values.`, () =>
      drawing(lines, value),
    );
  const cpu = chart((point) => point.cpu_us_per_message, "CPU time per message");
  const latency = chart((point) => point.latency_p99_us, "Latency, 99th percentile,");
  const title = h("span");
  const legend = h("div", { class: "legend" });
  const note = h("p", { class: "small" });
  const left = figure("CPU per message over load", cpu, "taskscale-load-cpu");
  const right = figure("p99 latency over load", latency, "taskscale-load-latency");
  const pair = h("div", { class: "pair" }, left, right);
  const element = section("load", title, app.data.about.load, [], legend, pair, note);

  function update(): void {
    const bars = ranking(app.data, app.state).rows.flatMap((row) => row.bars);
    const all = bars.flatMap((bar, at): Line[] => {
      const points = bar.row?.load_curve ?? [];
      if (points.length === 0) return [];
      const name = nameIn(app.data, app.state, bar);
      return [{ name, points, style: lineStyle(bar.entry.color, at) }];
    });
    element.hidden = all.length === 0;
    if (element.hidden) return;
    lines = all.slice(0, MOST);
    fill(title, `Load at ${format.tasks(app.state.n)}`);
    fill(
      legend,
      lines.map((line) => h("span", { class: "key" }, ...lineMarks(line.style), line.name)),
    );
    fill(note, all.length > MOST && `The first ${MOST} of ${all.length}. Filter or search to see others.`);
    cpu.changed();
    latency.changed();
  }
  return { element, update };
}

function drawing(lines: Line[], value: Value): Drawing {
  const axis = (formatter: (value: number) => string) => logAxis(10, { hideOverlap: true, formatter });
  const formatter = ({ seriesIndex, dataIndex }: { seriesIndex: number; dataIndex: number }) => {
    const line = lines[seriesIndex];
    const point = line && drawn(line, value)[dataIndex];
    if (!point) return h("div");
    const share = `${format.significant(point.share * 100)}% of capacity`;
    const rate = tipLine(share, format.UNITS["per-second"](point.per_s));
    return tipPanel(line.name, rate, tipLine("", format.UNITS.microseconds(value(point) ?? 0)));
  };
  return {
    grid: { left: 64, right: 20, top: 12, bottom: 44 },
    tooltip: { trigger: "item", formatter },
    xAxis: { ...axis(format.count), ...axisName("messages per second", 28) },
    yAxis: axis(format.UNITS.microseconds),
    series: lines.map((line) => ({
      type: "line",
      name: line.name,
      data: drawn(line, value).map((point) => [point.per_s, value(point)]),
      symbol: line.style.symbol,
      symbolSize: 8,
      showAllSymbol: true,
      lineStyle: { color: line.style.color, width: 1.75, type: line.style.dash },
      itemStyle: { color: line.style.color },
    })),
  };
}

const drawn = (line: Line, value: Value): LoadPoint[] =>
  line.points.filter((point) => value(point) !== undefined && point.per_s > 0);
