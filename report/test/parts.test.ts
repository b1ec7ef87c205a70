// Campaigns of several series, and series of work, as data.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { decode } from "../src/data.ts";
import { headline, leadOf, metricsOf } from "../src/metrics.ts";
import { overview } from "../src/overview.ts";
import { fromHash, initial, ofPart, parts, type State, toHash } from "../src/state.ts";
import { cells, columnsOf } from "../src/table.ts";
import type { PageData } from "../src/types.ts";
import { answer, entriesOf, lines, ranking, shownCampaigns } from "../src/view.ts";

const folder = process.env.TEST_FOLDER ?? "test";
const ONE = "spawn, 1 CPU";
const TWO = "spawn, 2 CPUs";

/** A campaign of three series: tasks that sleep, and work on one CPU and on two. */
function three(): PageData {
  return decode(readFileSync(`${folder}/parts.json`, "utf8"));
}

/** Two such campaigns, the second without the last series and half as fast at work. */
function twice(): PageData {
  const data = three();
  const others = three().campaigns.slice(0, 2);
  for (const [at, campaign] of others.entries())
    Object.assign(campaign, { position: 3 + at, label: "elsewhere", letter: "B", results: 1 });
  for (const row of others[1]?.rows ?? []) {
    const figure = row.figures.wall_ns_per_op;
    if (figure) row.changes = { "wall-ns-per-op": ["+100.0%", 0] };
    if (figure) for (const name of ["median", "min", "max"] as const) figure[name] *= 2;
  }
  for (const { metric, best } of others[1]?.rankings ?? [])
    if (metric === "wall-ns-per-op") for (const kind of Object.keys(best)) best[kind] = 2 * (best[kind] ?? 0);
  data.campaigns.push(...others);
  return data;
}

const positions = (data: PageData, state: State) =>
  shownCampaigns(data, state).map((campaign) => campaign.position);

/** Place, name, values and multiples of each ranked entry. */
const told = (data: PageData, state: State) =>
  ranking(data, state).rows.map((row) => [
    row.place,
    row.entry.name,
    ...row.bars.map((bar) => [bar.value, Number(bar.timesBest?.toFixed(2))]),
  ]);

test("each part is shown alone, with its own numbers of tasks and its own figures", () => {
  const data = three();
  assert.deepEqual(parts(data), ["sleep", ONE, TWO]);
  assert.equal(initial(data).part, "sleep");
  // taskscale decides which series is first.
  const turned = three();
  turned.campaigns.reverse();
  assert.deepEqual(parts(turned), [TWO, ONE, "sleep"]);
  assert.equal(initial(turned).part, TWO);
  assert.equal(toHash(turned, initial(turned)), "");
  assert.equal(fromHash(turned, toHash(turned, initial(turned, ONE))).part, ONE);
  const state = initial(data, TWO);
  assert.deepEqual([state.n, state.metric, state.sort], [1_000, "wall-ns-per-op", "wall_ns_per_op_median"]);
  assert.deepEqual(positions(data, state), [2]);
  assert(!entriesOf(shownCampaigns(data, state)).some((entry) => entry.kind === "timer"));
  assert.deepEqual(told(data, { ...initial(data, ONE), rank: "all" }), [
    [1, "go/goroutine", [252, 1]],
    [2, "rust/tokio-spawn", [502, 1.99]],
    [3, "rust/tokio-current-thread", [752, 2.98]],
  ]);
  assert.deepEqual(told(data, { ...state, rank: "all" })[0], [1, "go/goroutine", [127, 1]]);
  // Campaigns of other series are ignored, even if an old state names them.
  assert.deepEqual(positions(data, { ...state, campaigns: [0, 1] }), [2]);
});

test("campaigns are compared part by part, and lettered so", () => {
  const data = twice();
  const state = initial(data, ONE);
  assert.deepEqual(positions(data, state), [1, 4]);
  assert.deepEqual(
    [0, 3, 1, 4, 2].map((position) => data.campaigns[position]?.letter),
    ["A", "B", "A", "B", "A"],
  );
  const [row] = ranking(data, state).rows;
  assert.deepEqual(
    row?.bars.map((bar) => bar.change?.[0]),
    [undefined, "+100.0%"],
  );
  assert.equal(ranking(data, initial(data, TWO)).rows[0]?.bars.length, 1);
  assert.deepEqual([...new Set(cells(data, state).map((cell) => cell.letter))].sort(), ["A", "B"]);
  // The URL counts within the series as well.
  assert.match(toHash(data, { ...state, campaigns: [4] }), /campaigns=2/);
  assert.deepEqual(fromHash(data, toHash(data, { ...state, campaigns: [4] })).campaigns, [4]);
});

test("the best has the least time and the most operations", () => {
  const data = three();
  const state: State = { ...initial(data, ONE), rank: "all" };
  const names = (metric: string) => ranking(data, { ...state, metric }).rows.map((row) => row.entry.name);
  const times = (metric: string) =>
    ranking(data, { ...state, metric }).rows.map((row) => row.bars[0]?.timesBest?.toFixed(1));
  assert.deepEqual(names("ops-per-s"), names("wall-ns-per-op"));
  assert.deepEqual(times("ops-per-s"), ["1.0", "2.0", "3.0"]);
  assert.deepEqual(times("wall-ns-per-op"), times("ops-per-s"));
  const sizes = ranking(data, { ...state, metric: "ops-per-s" }).rows.map((row) => row.bars[0]?.value ?? 0);
  assert.deepEqual(
    sizes,
    [...sizes].sort((a, b) => b - a),
  );
});

test("work has figures of work, and tasks that wait have none of them", () => {
  const data = three();
  const names = (part: string) => metricsOf(data, part).map((metric) => metric.name);
  assert.deepEqual(names(ONE), [
    "wall-ns-per-op",
    "cpu-ns-per-op",
    "ops-per-s",
    "footprint",
    "kernel",
    "peak",
    "rss-peak",
    "launch",
  ]);
  assert(!names("sleep").some((name) => name.endsWith("-op")));
  assert.equal(headline(data, "sleep").name, "footprint");
  for (const part of ["sleep", ONE]) {
    assert.equal(new Set(names(part)).size, names(part).length);
    const columns = columnsOf(data, part).map((column) => column.id);
    assert.equal(new Set(columns).size, columns.length);
    assert(columns.includes(`${headline(data, part).field}_median`));
  }
  const offered = metricsOf(data, ONE).map(({ title, about }) => `${title} ${about}`);
  const heads = columnsOf(data, ONE).map(({ title }) => title);
  const said = [...offered, ...heads].join(" ").toLowerCase();
  for (const word of ["alive", "plateau", "wait", "drain", "per task"]) {
    assert(!said.includes(word), `${word} is not of work`);
  }
  assert.match(leadOf(data, ONE).scenario, /^An operation: a task started, ended and joined\./);
  const bar = ranking(data, initial(data, ONE)).rows[0]?.bars[0];
  assert.deepEqual(bar?.parts, []);
  assert(
    (ranking(data, { ...initial(data, ONE), metric: "footprint" }).rows[0]?.bars[0]?.parts ?? []).length > 0,
  );
});

test("what was over too soon has no cost, and says why", () => {
  const data = three();
  const { failed, rows } = ranking(data, initial(data, ONE));
  assert(!rows.some((row) => row.entry.name === "rust/thread"));
  assert.deepEqual(
    failed.map((row) => [row.entry.name, row.status]),
    [["rust/thread", "no value"]],
  );
  assert.match(failed[0]?.reason ?? "", /no cost per operation/);
  assert.match(answer(data, initial(data, ONE))?.detail ?? "", / 3 of 4 entries completed the work\./);
});

test("times of an operation over N, without a fitted line", () => {
  const data = three();
  const found = lines(data, initial(data, ONE));
  const go = found.find((line) => line.name === "go/goroutine");
  assert.deepEqual(
    go?.points.map((point) => [point.tasks, point.value]),
    [
      [1, 252],
      [1_000, 252],
    ],
  );
  assert(found.every((line) => line.fitted.length === 0));
  assert(lines(data, initial(data)).some((line) => line.fitted.length > 0));
});

test("published figures stand beside the workload that they are of", () => {
  const data = three();
  const has = (part: string, n: number) =>
    ranking(data, { ...initial(data, part), metric: "peak", n }).hasPublished;
  assert.equal(has("sleep", 1), true);
  assert.equal(has(ONE, 1), false);
});

test("another part keeps what it has of the view", () => {
  const data = three();
  const from: State = {
    ...initial(data),
    kinds: ["stackful"],
    search: "go",
    n: 1,
    rank: "all",
    everyN: true,
  };
  const work = ofPart(
    data,
    { ...from, metric: "launch", sort: "drain_s", descending: true, entry: "x/y" },
    ONE,
  );
  assert.deepEqual(
    [work.part, work.n, work.kinds, work.search, work.rank, work.everyN, work.metric],
    [ONE, 1, ["stackful"], "go", "all", true, "launch"],
  );
  assert.deepEqual([work.sort, work.descending, work.entry], ["wall_ns_per_op_median", false, ""]);
  // Defaults, and selections that the series lacks, become the series' own defaults.
  assert.equal(ofPart(data, { ...initial(data), metric: "bytes-per-task" }, ONE).metric, "wall-ns-per-op");
  assert.deepEqual(ofPart(data, initial(data), ONE), initial(data, ONE));
  assert.deepEqual(ofPart(data, initial(data, ONE), TWO), initial(data, TWO));
});

test("the part stands in the address", () => {
  const data = three();
  assert.equal(toHash(data, initial(data)), "");
  assert.equal(toHash(data, initial(data, TWO)), "part=spawn,+2+CPUs");
  const state: State = {
    ...initial(data, TWO),
    metric: "ops-per-s",
    n: 1,
    sort: "ops_per_s_median",
    descending: true,
  };
  assert.deepEqual(fromHash(data, `#${toHash(data, state)}`), state);
  // Old links name a workload.
  assert.equal(fromHash(data, "#workload=spawn").part, ONE);
  for (const hash of ["#part=dance", "#metric=ops-per-s", "#workload=x&part="]) {
    assert.deepEqual(fromHash(data, hash), initial(data), hash);
  }
});

/** The texts of an overview's cells by entry, each with its multiple in front. */
function glance(data: PageData, state: State): Record<string, string[]> {
  const rows = overview(data, state)?.sets.flat() ?? [];
  const words = rows.map(({ entry, cells }): [string, string[]] => [
    entry.name,
    cells.map(({ times, said }) => (times === undefined ? said : `${times.toFixed(2)} ${said}`)),
  ]);
  return Object.fromEntries(words);
}

test("the overview has all parts, each at the largest N that most entries have", () => {
  const data = three();
  const found = overview(data, initial(data));
  assert.deepEqual(
    found?.columns.map(({ part, n, metric }) => [part, n, metric.name]),
    [
      ["sleep", 10_000, "footprint"],
      [ONE, 1_000, "wall-ns-per-op"],
      [TWO, 1_000, "wall-ns-per-op"],
    ],
  );
  assert.deepEqual(
    found.sets.map((set) => set.map((row) => row.entry.name)),
    [
      ["rust/thread"],
      ["go/goroutine"],
      ["rust/tokio-spawn", "rust/tokio-current-thread"],
      ["go/time-after-func"],
    ],
  );
  const said = glance(data, initial(data));
  assert.deepEqual(said["rust/tokio-current-thread"]?.slice(1), ["1.50 752 ns", "1.50 377 ns"]);
  assert.deepEqual(said["rust/thread"]?.slice(1), ["no value", "no value"]);
  assert.deepEqual(said["go/time-after-func"]?.slice(1), ["no program", "no program"]);
  assert(
    Object.values(said).every(([sleep]) => sleep === "1.00 5.72 MiB"),
    JSON.stringify(said),
  );
  // Details are those of the series shown, or of one that has the entry.
  const timer = (state: State) =>
    overview(data, state)
      ?.sets.flat()
      .find((row) => row.entry.kind === "timer");
  assert.deepEqual(
    [initial(data), initial(data, TWO)].map((state) => timer(state)?.state.part),
    ["sleep", "sleep"],
  );
  // Ranked together, and filtered, like the ranking.
  const together = glance(data, { ...initial(data), rank: "all", search: "tokio" });
  assert.deepEqual(Object.keys(together), ["rust/tokio-spawn", "rust/tokio-current-thread"]);
  const all = overview(data, { ...initial(data), rank: "all" });
  assert.equal(all?.sets.length, 1);
  assert.equal(glance(data, { ...initial(data), rank: "all" })["rust/tokio-spawn"]?.[1], "1.99 502 ns");
  // A selected N applies to every series that has it. A click keeps the filters.
  const chosen = overview(data, { ...initial(data), n: 1, search: "go" });
  assert.deepEqual(
    chosen?.columns.map(({ n, state }) => [n, state.n, state.search]),
    [
      [1, 1, "go"],
      [1, 1, "go"],
      [1, 1, "go"],
    ],
  );
  const [, second] = chosen?.columns ?? [];
  assert.equal(toHash(data, second?.state ?? initial(data)), "part=spawn,+1+CPU&n=1&search=go");
});

test("rows of the overview have the order of the data, whatever series is shown", () => {
  const data = three();
  const rows = (state: State) => overview(data, state)?.sets.flat() ?? [];
  const names = (state: State, onRequest: boolean) =>
    rows(state).flatMap((row) => (row.onRequest === onRequest ? row.entry.name : []));
  for (const turned of [false, true]) {
    for (const of of data.overviews[0] ?? []) {
      // Kinds keep their own order.
      if (turned && of.rank === "all") of.order.reverse();
      const n = of.tasks === undefined ? {} : { n: of.tasks };
      for (const part of parts(data)) {
        // No series has results at an N without an order.
        if (of.order.length === 0 || of.tasks === initial(data, part).n) continue;
        const state = { ...initial(data, part), ...n, rank: of.rank };
        assert.deepEqual(names(state, false), of.order, `${part} ${of.rank} ${of.tasks}`);
        assert.deepEqual(names(state, true), ["go/time-after-func"]);
      }
    }
  }
  // Results of one workload have no such order: nothing is left out.
  data.overviews = [[]];
  assert.deepEqual(names(initial(data), true), []);
});

test("the overview is of one campaign, and none is borrowed from another", () => {
  const data = twice();
  const first = glance(data, initial(data));
  assert.equal(overview(data, initial(data))?.campaign, data.campaigns[0]?.label);
  assert.deepEqual(first["go/goroutine"]?.slice(1), ["1.00 252 ns", "1.00 127 ns"]);
  const other = { ...initial(data), campaigns: [3] };
  assert.equal(overview(data, other)?.campaign, "elsewhere");
  assert.deepEqual(glance(data, other)["go/goroutine"]?.slice(1), ["1.00 504 ns", "not measured"]);
});
