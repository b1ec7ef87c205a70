// CPU per message and latency of servers over load: a line per entry.

import type { ECharts } from "echarts/core";
import { fill, h } from "../dom.ts";
import * as format from "../format.ts";
import { shapeOf } from "../state.ts";
import { letter, ranking, shownCampaigns } from "../view.ts";
import type { LoadPoint } from "../wire.ts";
import type { App } from "./app.ts";
import { FONT, figure, Lazy, type LineStyle, lineStyle, token } from "./chart.ts";

/** As many lines as can be told apart. */
const MOST = 16;

interface Line {
  name: string;
  points: LoadPoint[];
  style: LineStyle;
}

type Value = "cpu_us_per_message" | "latency_p99_us";

export function loadSection(app: App): { element: HTMLElement; update(): void; redraw(): void } {
  let lines: Line[] = [];
  const chart = (value: Value, what: string) =>
    new Lazy(`${what} over messages per second, a line per entry. The table below has both values.`, (made) =>
      draw(made, lines, value),
    );
  const cpu = chart("cpu_us_per_message", "CPU time per message");
  const latency = chart("latency_p99_us", "Latency, 99th percentile,");
  const title = h("h2", { id: "load-title" });
  const legend = h("div", { class: "legend" });
  const note = h("p", { class: "small" });
  const element = h(
    "section",
    { class: "section", id: "load", "aria-labelledby": "load-title" },
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
          "Open loops at 10%, 50% and 90% of each server's capacity. The last point of CPU per message is the closed loop at capacity. Latency is missing if the server missed the rate or the clients sent late.",
        ),
      ),
    ),
    legend,
    h(
      "div",
      { class: "pair" },
      figure("CPU per message over load", cpu, "taskscale-load-cpu"),
      figure("p99 latency over load", latency, "taskscale-load-latency"),
    ),
    note,
  );

  function redraw(): void {
    const several = shownCampaigns(app.data, app.state).length > 1;
    const bars = ranking(app.data, app.state).rows.flatMap((row) => row.bars);
    const all = bars.flatMap((bar, at): Line[] => {
      const points = bar.row?.load_curve ?? [];
      if (points.length === 0) return [];
      const name = several ? `${bar.entry.name} ${letter(app.data, bar.campaign)}` : bar.entry.name;
      return [{ name, points, style: lineStyle(bar.entry.colour, at) }];
    });
    element.hidden = shapeOf(app.data, app.state.part) !== "serve" || all.length === 0;
    if (element.hidden) return;
    lines = all.slice(0, MOST);
    fill(title, `Load at ${format.tasks(app.state.n)}`);
    fill(
      legend,
      lines.map((line) =>
        h("span", { class: "key" }, h("i", { class: "swatch", "--color": line.style.color }), line.name),
      ),
    );
    fill(note, all.length > MOST && `The first ${MOST} of ${all.length}. Filter or search to see others.`);
    cpu.changed();
    latency.changed();
  }
  return { element, update: redraw, redraw };
}

function draw(chart: ECharts, lines: Line[], value: Value): void {
  const axis = {
    type: "log" as const,
    logBase: 10,
    axisLine: { lineStyle: { color: token("--line-2") } },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: token("--line") } },
    minorSplitLine: { show: false },
  };
  const label = (show: (value: number) => string) => ({
    color: token("--ink-2"),
    fontFamily: FONT,
    fontSize: 12,
    hideOverlap: true,
    formatter: show,
  });
  chart.setOption(
    {
      animation: false,
      textStyle: { fontFamily: FONT },
      grid: { left: 64, right: 20, top: 12, bottom: 44 },
      tooltip: {
        trigger: "item",
        confine: true,
        className: "chart-tip",
        backgroundColor: token("--panel"),
        borderColor: token("--line-2"),
        textStyle: { color: token("--ink"), fontFamily: FONT, fontSize: 12 },
        formatter: (found: unknown) => {
          const { seriesIndex, dataIndex } = found as { seriesIndex: number; dataIndex: number };
          const line = lines[seriesIndex];
          const point = line && drawn(line, value)[dataIndex];
          if (!line || !point) return h("div");
          const share = `${format.significant(point.share * 100)}% of capacity`;
          return h(
            "div",
            { class: "compare" },
            h("div", { class: "tip-title" }, line.name),
            h(
              "div",
              { class: "tip-line" },
              h("i"),
              h("span", {}, share),
              h("b", {}, format.UNITS["per-second"](point.per_s)),
            ),
            h(
              "div",
              { class: "tip-line" },
              h("i"),
              h("span", {}, ""),
              h("b", {}, format.UNITS.microseconds(point[value] ?? 0)),
            ),
          );
        },
      },
      xAxis: {
        ...axis,
        name: "messages per second",
        nameLocation: "middle",
        nameGap: 28,
        nameTextStyle: { color: token("--ink-2") },
        axisLabel: label((at) => format.count(at)),
      },
      yAxis: { ...axis, axisLabel: label(format.UNITS.microseconds) },
      series: lines.map((line) => ({
        type: "line" as const,
        name: line.name,
        data: drawn(line, value).map((point) => [point.per_s, point[value]]),
        symbol: line.style.symbol,
        symbolSize: 8,
        showAllSymbol: true,
        lineStyle: { color: line.style.color, width: 1.75, type: line.style.dash },
        itemStyle: { color: line.style.color },
      })),
    },
    { notMerge: true },
  );
}

const drawn = (line: Line, value: Value): LoadPoint[] =>
  line.points.filter((point) => point[value] !== undefined && point.per_s > 0);
