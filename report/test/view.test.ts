// What is ranked, grouped and marked, as data. `BLESS=1 npm test` rewrites the golden file.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { decode } from "../src/data.ts";
import * as format from "../src/format.ts";
import { metricsOf } from "../src/metrics.ts";
import { overview } from "../src/overview.ts";
import { fromHash, initial, pin, type State, toHash } from "../src/state.ts";
import { cells } from "../src/table.ts";
import type { PageData } from "../src/types.ts";
import { answer, changeNotes, first, lines, type Ranking, ranking, sets } from "../src/view.ts";
import type { PageChange } from "../src/wire.ts";

const folder = process.env.TEST_FOLDER ?? "test";
const read = (name: string) => readFileSync(`${folder}/${name}`, "utf8");

function everything(): PageData {
  return decode(read("everything.json"));
}

/** The same campaign twice, the second one with footprints a tenth larger. */
function two(): PageData {
  const data = everything();
  const [second] = everything().campaigns;
  assert(second);
  Object.assign(second, { position: 1, label: "elsewhere", letter: "B" });
  data.change_notes = ["of means", "may be chance", "not compared"];
  for (const row of second.rows) {
    const figure = row.figures.footprint_bytes;
    if (figure) row.changes = { footprint: ["+10.0%", 0] };
    if (figure) for (const name of ["median", "min", "max"] as const) figure[name] *= 1.1;
  }
  data.campaigns.push(second);
  return data;
}

/** A short form of a ranking, to be compared with another. */
function told(found: Ranking): unknown {
  const round = (value: number | undefined) =>
    value === undefined ? undefined : Number(value.toPrecision(6));
  return {
    metric: found.metric.name,
    rows: found.rows.map((row) => ({
      place: row.place,
      entry: row.entry.name,
      standing: row.standing,
      bars: row.bars.map((bar) => ({
        campaign: bar.campaign.position,
        value: round(bar.value),
        low: round(bar.range?.low),
        high: round(bar.range?.high),
        timesBest: round(bar.timesBest),
        change: bar.change?.[0],
        parts: bar.parts.length > 0 ? bar.parts.map(({ bytes }) => Math.round(bytes)) : undefined,
      })),
      published: row.published?.memory_bytes,
      remarks: row.remarks,
    })),
    failed: found.failed.map((row) => `${row.entry.name}: ${row.status}: ${row.reason}`),
  };
}

test("what is ranked, grouped and flagged", () => {
  const data = everything();
  const views: Record<string, unknown> = {};
  for (const { name } of metricsOf(data, initial(data).part))
    views[`${name} at 1M`] = told(ranking(data, { ...initial(data), metric: name }));
  views["footprint at 1M, all together"] = told(ranking(data, { ...initial(data), rank: "all" }));
  views["footprint at 10k"] = told(ranking(data, { ...initial(data), n: 10_000 }));
  views["two campaigns"] = told(ranking(two(), initial(two())));
  views.answer = (["kind", "all"] as const).map((rank) => answer(data, { ...initial(data), rank }));
  views.table = cells(data, { ...initial(data), everyN: true }).map(
    (cell) => `${cell.entry.name} ${cell.row?.tasks ?? "-"} ${cell.times_best?.toPrecision(6) ?? "-"}`,
  );
  views.lines = lines(data, initial(data)).map((line) => ({
    name: line.name,
    points: line.points.map((point) => [point.tasks, point.value, point.low, point.high, point.ok]),
    fitted: [line.fitted[0], line.fitted.at(-1)].map((point) =>
      point?.map((value) => Number(value.toPrecision(6))),
    ),
  }));
  // Plain ASCII, so that no hostile text is in a file of the repository.
  const escaped = (found: string) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const text = `${JSON.stringify(views, null, 2).replace(/[\u0080-\uffff]/g, escaped)}\n`;
  if (process.env.BLESS) writeFileSync(`${folder}/views.golden.json`, text);
  assert.deepEqual(JSON.parse(text), JSON.parse(read("views.golden.json")));
});

test("the overview of one part has all numbers of tasks, and sets two that are pinned beside each other", () => {
  const data = everything();
  const state = { ...initial(data), pinned: ["go/goroutine", "rust/tokio-spawn"] };
  const found = overview(data, state);
  assert.deepEqual(
    found?.columns.map(({ n, state }) => [n, state.n]),
    data.campaigns[0]?.tasks.map((n) => [n, n]),
  );
  assert.deepEqual(
    found?.pinned.map((row) => row.entry.name),
    state.pinned,
  );
  const [go, rust] = found?.pinned ?? [];
  const at = found?.columns.findIndex((column) => column.n === state.n) ?? -1;
  const [a, b] = [go?.cells[at]?.value ?? 0, rust?.cells[at]?.value ?? 0];
  assert(a > 0 && b > 0);
  assert.equal(found?.ratios[at], a / b);
  // One pinned entry has no ratio, and a third replaces the first.
  assert.deepEqual(overview(data, { ...state, pinned: ["go/goroutine"] })?.ratios, []);
  assert.deepEqual(pin(state.pinned, "rust/thread"), ["rust/tokio-spawn", "rust/thread"]);
  assert.deepEqual(pin(state.pinned, "go/goroutine"), ["rust/tokio-spawn"]);
});

test("what was measured at one number of tasks alone has no overview", () => {
  const data = everything();
  for (const campaign of data.campaigns) campaign.tasks = [1_000_000];
  assert.equal(overview(data, initial(data)), undefined);
});

test("two campaigns open at the least number of tasks that stands for one of them", () => {
  const data = two();
  const [first, other] = data.campaigns;
  assert(first && other);
  assert(first.rows.some((row) => row.tasks > 10_000));
  other.overview_tasks = 10_000;
  assert.equal(initial(data).n, 10_000);
});

test("one axis has one unit", () => {
  const mib = 1024 ** 2;
  const memory = format.alike("bytes", [217 * mib, 989 * mib, 3_679 * mib]);
  assert.equal(memory.unit, mib);
  assert.deepEqual([3_679 * mib, 217 * mib, 0.31 * mib].map(memory.tick), [
    "3,679 MiB",
    "217 MiB",
    "0.31 MiB",
  ]);
  const time = format.alike("seconds", [0.004, 0.25, 1.5]);
  assert.deepEqual([0.004, 1.5].map(time.tick), ["4.00 ms", "1,500 ms"]);
  const late = format.alike("microseconds", [64, 128, 2_048]);
  assert.deepEqual([64, 2_048].map(late.tick), ["64.0 µs", "2,048 µs"]);
  assert.equal(format.alike("bytes-per-task", [1]).tick, format.perTask, "always in the same unit");
});

test("failed entries come last and are never dropped", () => {
  const data = everything();
  const found = ranking(data, initial(data));
  const names = [...found.rows.map((row) => row.entry.name), ...found.failed.map((row) => row.entry.name)];
  assert.deepEqual(names.sort(), data.campaigns[0]?.entries.map((entry) => entry.name).sort());
  const together = ranking(data, { ...initial(data), rank: "all" });
  const standings = together.rows.map((row) => row.standing);
  assert(standings.includes("partial"));
  assert.equal(standings.indexOf("partial"), standings.length - 1);
  for (const kind of sets(found.rows, "kind")) {
    const partial = kind.map((row) => row.standing === "partial");
    assert.deepEqual(
      partial,
      [...partial].sort((a, b) => Number(a) - Number(b)),
    );
  }
  assert(found.failed.every((row) => row.reason.length > 0));
});

test("the floor, other sources and partial rows have no place", () => {
  const found = ranking(everything(), initial(everything()));
  for (const row of found.rows)
    assert.equal(row.place !== undefined, row.standing === "ranked", row.entry.name);
  const together = ranking(everything(), { ...initial(everything()), rank: "all" });
  for (const rows of [...sets(found.rows, "kind"), together.rows]) {
    const places = rows.flatMap((row) => row.place ?? []);
    assert.deepEqual(
      places,
      [...places.keys()].map((at) => at + 1),
    );
    const sizes = rows.filter((row) => row.place).map((row) => row.bars[0]?.value ?? 0);
    assert.deepEqual(
      sizes,
      [...sizes].sort((a, b) => a - b),
    );
  }
});

test("the best is that of the same kind, unless all are ranked together", () => {
  const data = everything();
  for (const rank of ["kind", "all"] as const) {
    for (const metric of ["footprint", "launch"]) {
      const { rows } = ranking(data, { ...initial(data), metric, rank });
      for (const set of sets(rows, rank)) {
        const multiples = set.flatMap((row) => row.bars.flatMap((bar) => bar.timesBest ?? []));
        if (multiples.length > 0) assert.equal(Math.min(...multiples), 1, `${rank} ${metric}`);
      }
    }
  }
  const kinds = sets(ranking(data, initial(data)).rows, "kind").map((set) => set[0]?.entry.kind);
  assert.equal(kinds.at(-1), "timer");
  assert.equal(new Set(kinds).size, kinds.length);
});

test("memory that is not linear is reported as such, and medians are joined", () => {
  const data = everything();
  const entry = data.campaigns[0]?.entries.find((entry) => entry.name === "go/goroutine");
  assert(entry?.growth && entry.scaling);
  const line = () => lines(data, initial(data)).find((line) => line.name === "go/goroutine");
  assert((line()?.fitted.length ?? 0) > 0);
  Object.assign(entry.growth, { straight: false, bytes_per_task_interval: null });
  entry.scaling.nonlinear = "not linear (the median at 10k is 70% above the fit)";
  assert.deepEqual(line()?.fitted, []);
  const task = ranking(data, { ...initial(data), metric: "bytes-per-task" });
  const row = task.rows.find((row) => row.entry.name === "go/goroutine");
  assert.equal(row?.bars[0]?.range, undefined);
  assert.deepEqual(row?.remarks, [entry.scaling.nonlinear]);
});

test("taskscale decides which lines are drawn if not all fit", () => {
  const data = everything();
  const all = lines(data, initial(data));
  const names = (most: number) => first(all, most).map((line) => line.name);
  const whole = all.map((line) => line.name);
  assert.deepEqual(names(all.length), whole);
  assert.deepEqual(names(1), ["rust/floor"]);
  data.campaigns[0]?.lines.splice(0, Number.POSITIVE_INFINITY, ...[...whole].reverse());
  assert.deepEqual(names(2), whole.slice(-2));
});

test("parts add up to the bar", () => {
  for (const row of ranking(everything(), initial(everything())).rows) {
    const [bar] = row.bars;
    const sum = bar?.parts.reduce((sum, part) => sum + part.bytes, 0) ?? 0;
    assert(Math.abs(sum - (bar?.value ?? 0)) < 4, `${row.entry.name}: ${sum}`);
  }
});

test("filters narrow, and places and multiples stay those of all", () => {
  const data = everything();
  const of = (change: Partial<State>) => ranking(data, { ...initial(data), ...change });
  const names = (found: Ranking) => found.rows.map((row) => row.entry.name);
  assert.deepEqual(names(of({ languages: ["go"], kinds: ["stackful"] })), [
    "go/goroutine",
    "go/goroutine-in-a-name-of-which-no-end-is-to-be-seen",
  ]);
  assert.deepEqual(names(of({ parallel: "no" })), ["rust/tokio-current-thread"]);
  assert.deepEqual(names(of({ styles: ["tuned"] })), ["rust/tokio-current-thread"]);
  assert.deepEqual(names(of({ search: "TOKIO spawn" })), ["rust/tokio-spawn"]);
  assert.deepEqual(names(of({ search: "no such thing" })), []);
  assert(names(of({ stackful: "yes" })).every((name) => name.startsWith("go/goroutine")));
  const whole = of({}).rows.find((row) => row.entry.name === "rust/tokio-spawn");
  const alone = of({ search: "tokio spawn" }).rows[0];
  assert((whole?.place ?? 0) > 1);
  assert.deepEqual([alone?.place, alone?.bars], [whole?.place, whole?.bars]);
});

test("several campaigns stand side by side, with the change", () => {
  const data = two();
  const row = ranking(data, initial(data)).rows.find((row) => row.entry.name === "go/goroutine");
  assert.equal(row?.bars.length, 2);
  assert.deepEqual(
    row?.bars.map((bar) => bar.change),
    [undefined, ["+10.0%", 0]],
  );
  // Changes are those from the first.
  const [alone] = ranking(data, { ...initial(data), campaigns: [1] }).rows;
  assert.deepEqual(
    alone?.bars.map((bar) => bar.change),
    [undefined],
  );
});

test("notes tell what the changes shown are, and why there is none", () => {
  const data = two();
  const notes = (change: PageChange) => {
    for (const row of data.campaigns[1]?.rows ?? []) row.changes = { footprint: change };
    return changeNotes(data, ranking(data, initial(data)).rows);
  };
  assert.deepEqual(notes(["+10.0%", 0]), ["of means"]);
  assert.deepEqual(notes(["+0.1%~", 1]), ["of means", "may be chance"]);
  assert.deepEqual(notes(["", 2]), ["not compared"]);
  assert.deepEqual(changeNotes(everything(), ranking(everything(), initial(everything())).rows), []);
});

test("published figures stand beside memory at the same N, and nowhere else", () => {
  const data = everything();
  const of = (change: Partial<State>) => ranking(data, { ...initial(data), ...change });
  const goroutine = (found: Ranking) =>
    found.rows.find((row) => row.entry.name === "go/goroutine")?.published;
  assert.equal(goroutine(of({}))?.runtime, "Go");
  assert.equal(goroutine(of({ metric: "launch" })), undefined);
  assert.equal(of({ metric: "bytes-per-task" }).hasPublished, false);
});

test("an address restores the state that made it", () => {
  const data = two();
  const plain = initial(data);
  assert.equal(toHash(data, plain), "");
  const changes: Partial<State>[] = [
    { n: 10_000 },
    { metric: "cpu" },
    { campaigns: [1] },
    { kinds: ["timer", "future"], languages: ["go"], styles: ["tuned"] },
    { parallel: "no", stackful: "yes" },
    { search: "a b&c=d#é,~" },
    { published: false, log: true, fit: false, rank: "all" },
    { hidden: ["go/a,b~", "rust/thread"] },
    { sort: "entry", descending: true, everyN: true },
    { entry: "evil/<b>x</b>&=#" },
  ];
  for (const change of changes) {
    const state = { ...plain, ...change };
    assert.deepEqual(fromHash(data, `#${toHash(data, state)}`), state, JSON.stringify(change));
  }
  const all = Object.assign({}, plain, ...changes) as State;
  assert.deepEqual(fromHash(data, toHash(data, all)), all);
});

test("an address that makes no sense is as none", () => {
  const data = everything();
  for (const hash of [
    "#n=3&metric=x&campaigns=7,x&workload=dance",
    "#%",
    "#=&&&",
    "#n=Infinity&parallel=maybe",
  ]) {
    assert.deepEqual(fromHash(data, hash), initial(data), hash);
  }
});

test("figures are written as the tables of taskscale write them", () => {
  const cases = JSON.parse(read("formats.json")) as Record<string, [number, string][]>;
  const writers: Record<string, (value: number) => string> = { ...format.UNITS, count: format.count };
  assert.deepEqual(Object.keys(cases).sort(), Object.keys(writers).sort());
  for (const [name, all] of Object.entries(cases))
    for (const [value, text] of all) assert.equal(writers[name]?.(value), text, `${name} ${value}`);
  assert.equal(format.significant(0), "0");
  assert.equal(format.times(9.996), "×10.0");
});

test("grids have round steps", () => {
  assert.deepEqual(
    format.ticks(900 * 1024 ** 2, 1024 ** 2),
    [0, 200, 400, 600, 800].map((mib) => mib * 1024 ** 2),
  );
  assert.deepEqual(format.ticks(0), [0]);
});
