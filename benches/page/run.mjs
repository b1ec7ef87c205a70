#!/usr/bin/env node
// How soon is a report on the screen, and how long does it keep a click waiting? `benches/page/run.mjs [TASKSCALE…]`
//
// Pages of 300, 1,000 and 5,000 samples, made by each taskscale that is named (by default the release build), against
// a small page of fixed work in the same browser: reference.html. All in turn, ROUNDS times; a figure is the median of
// the rounds' ratios. CPU time is that of the page's main thread. Needs Chromium and `npm ci` in report/.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "../../report/test/browser.mjs";

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SIZES = [300, 1_000, 5_000];
const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "../..");
// Real samples of many entries. More of them are the same again, as other repetitions.
const measured = join(root, "results/2026-11-21-all");

/** What a user does: a name, what is acted on, how, and with what value. */
const ACTS = [
  ["number of tasks", ".segments button", "click", ""],
  ["metric", ".controls select", "change", "launch"],
  ["search", ".search", "input", "rust"],
  ["search away", ".search", "input", ""],
  ["logarithmic", "#ranking .switch:nth-of-type(2)", "click", ""],
  ["sort", "#table thead button", "click", ""],
  ["details", "#ranking .rank-line", "click", ""],
  ["details of another", "#ranking li:nth-child(2) .rank-line", "click", ""],
];
const REFERENCE_ACT = ["reference", "#work", "click", ""];

function campaign(folder, size) {
  mkdirSync(folder);
  copyFileSync(join(measured, "campaign.json"), join(folder, "campaign.json"));
  const lines = readFileSync(join(measured, "samples.jsonl"), "utf8").trim().split("\n");
  const all = Array.from({ length: size }, (_, at) => {
    const sample = JSON.parse(lines[at % lines.length]);
    return JSON.stringify({ ...sample, repetition: sample.repetition + Math.floor(at / lines.length) });
  });
  writeFileSync(join(folder, "samples.jsonl"), `${all.join("\n")}\n`);
}

/** CPU time of the main thread until the first content is on the screen, and the clock's, in milliseconds. */
async function firstPaint(page, session, address) {
  const events = [];
  const collect = ({ value }) => events.push(...value);
  session.on("Tracing.dataCollected", collect);
  const traceConfig = { includedCategories: ["toplevel", "loading"] };
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig });
  await page.goto(address, { waitUntil: "load" });
  await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
  const clock = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
  const complete = new Promise((done) => session.once("Tracing.tracingComplete", done));
  await session.send("Tracing.end");
  await complete;
  session.off("Tracing.dataCollected", collect);
  const paint = events.filter((event) => event.name === "firstContentfulPaint").at(-1);
  if (!paint) throw new Error(`${address}: the trace has no first paint`);
  const tasks = events.filter(
    ({ name, pid, tid, ts }) =>
      name === "ThreadControllerImpl::RunTask" && pid === paint.pid && tid === paint.tid && ts < paint.ts,
  );
  return { cpu: tasks.reduce((sum, task) => sum + (task.tdur ?? 0), 0) / 1000, clock };
}

/** CPU time of the main thread from an event to the frame that shows what came of it. */
async function acted(page, session, [, selector, act, value]) {
  await page.waitForSelector("#app[data-drawn=yes], #work", { state: "attached" });
  const cpu = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find((metric) => metric.name === "TaskDuration").value * 1000;
  };
  const before = await cpu();
  await page.evaluate(
    ([selector, act, value]) =>
      new Promise((done) => {
        const element = document.querySelector(selector);
        if (!element) throw new Error(`no ${selector}`);
        if (act === "click") element.click();
        else {
          element.value = value;
          element.dispatchEvent(new Event(act, { bubbles: true }));
        }
        requestAnimationFrame(() => {
          const channel = new MessageChannel();
          channel.port1.onmessage = () => done();
          channel.port2.postMessage(0);
        });
      }),
    [selector, act, value],
  );
  return (await cpu()) - before;
}

async function measure(browser, path, acts) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const { cpu, clock } = await firstPaint(page, session, `file://${path}`);
  const took = { "first paint": cpu, "first paint, by the clock": clock };
  for (const act of acts) took[act[0]] = await acted(page, session, act);
  await context.close();
  return took;
}

const programs = process.argv.slice(2);
if (programs.length === 0) programs.push(join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "release/taskscale"));
const folder = mkdtempSync(join(tmpdir(), "taskscale-page-"));
const pages = [];
for (const size of SIZES) {
  campaign(join(folder, String(size)), size);
  for (const [position, program] of programs.entries()) {
    const path = join(folder, `${size}-${position}.html`);
    execFileSync(resolve(program), ["report", join(folder, String(size)), "--format", "html", "-o", path]);
    pages.push({ size, program, path, bytes: statSync(path).size, ratios: {} });
  }
}

const browser = await launch();
const references = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const reference = await measure(browser, join(here, "reference.html"), [REFERENCE_ACT]);
  references.push(reference);
  for (const page of pages) {
    for (const [name, value] of Object.entries(await measure(browser, page.path, ACTS))) {
      page.ratios[name] ??= [];
      page.ratios[name].push(value / (reference[name] ?? reference.reference));
    }
  }
}
await browser.close();
rmSync(folder, { recursive: true });

const sorted = (values) => [...values].sort((a, b) => a - b);
const median = (values) => sorted(values)[Math.floor(values.length / 2)];
const told = (values) => {
  const all = sorted(values);
  return `${median(all).toFixed(2)} (${all[0].toFixed(2)}–${all.at(-1).toFixed(2)})`;
};
for (const name of Object.keys(references[0])) {
  console.log(`${name} of the reference page: ${median(references.map((took) => took[name])).toFixed(0)} ms`);
}
for (const program of programs) {
  const own = pages.filter((page) => page.program === program);
  console.log(`\n${program}, times the reference: median (smallest–largest) of ${ROUNDS}\n`);
  console.log(`| samples | ${own.map((page) => page.size.toLocaleString("en-GB")).join(" | ")} |`);
  console.log(`| --- |${" ---: |".repeat(own.length)}`);
  console.log(`| page, MB | ${own.map((page) => (page.bytes / 1e6).toFixed(2)).join(" | ")} |`);
  for (const name of Object.keys(own[0].ratios)) {
    console.log(`| ${name} | ${own.map((page) => told(page.ratios[name])).join(" | ")} |`);
  }
}
