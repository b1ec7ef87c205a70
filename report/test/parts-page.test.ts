// A page of several series in a real browser: parts.html (a campaign of tasks that sleep, and of work on one
// CPU and on two). `cargo test --test commands page:: -- --ignored` makes it and runs this.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { everythingSeen, faultsOf, hashOf, open, ranked, settled } from "./opened.ts";

test("one choice says which part is shown, and stands in the address", async () => {
  const { page, close } = await open("parts");
  const choice = page.getByRole("group", { name: "Series", exact: true });
  assert.deepEqual(await choice.getByRole("button").allInnerTexts(), [
    "sleep",
    "spawn, 1 CPU",
    "spawn, 2 CPUs",
  ]);
  const pressed = () => choice.locator("[aria-pressed=true]").allInnerTexts();
  assert.deepEqual(await pressed(), ["sleep"]);
  assert.match(await page.locator("#ranking-title").innerText(), /^Footprint at /);
  await settled(page);
  assert.equal(await page.locator("#time").isVisible(), true);

  // By keyboard alone: the redrawn control keeps the focus.
  await choice.getByRole("button", { name: "sleep" }).focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.deepEqual(await pressed(), ["spawn, 1 CPU"]);
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "spawn, 1 CPU");
  assert.equal(hashOf(page), "#part=spawn,+1+CPU");
  assert.equal(await page.locator("#ranking-title").innerText(), "Wall time per operation at 1k tasks");
  assert.match(await page.locator("h1").innerText(), /1k\stasks.*252 ns/);
  assert.deepEqual(await ranked(page), ["go/goroutine", "rust/tokio-spawn"]);
  await choice.getByRole("button", { name: "spawn, 2 CPUs" }).click();
  assert.match(await page.locator("h1").innerText(), /127 ns/);

  await page.evaluate(() => {
    location.hash = "#part=spawn,+1+CPU&n=1&metric=ops-per-s";
  });
  await page.waitForFunction(
    () => document.querySelector("#ranking-title")?.textContent === "Operations per second at 1 task",
  );
  assert.deepEqual(await pressed(), ["spawn, 1 CPU"]);
  await close();
});

test("the overview compares all parts, and leads to each", async () => {
  const { page, close } = await open("parts");
  const table = page.locator("#overview table");
  const heads = table.getByRole("columnheader");
  assert.deepEqual(
    (await heads.allInnerTexts()).map((text) => text.split(/\s*\n\s*/)),
    [
      ["Entry"],
      ["sleep", "memory, 10k"],
      ["spawn, 1 CPU", "wall ns/op, 1k"],
      ["spawn, 2 CPUs", "wall ns/op, 1k"],
    ],
  );
  const current = () => table.locator("[aria-current]").innerText();
  assert.match(await current(), /^sleep/);
  assert.deepEqual(await table.getByRole("cell").allInnerTexts(), Array(6).fill("×1.00"));
  // By keyboard: one link per series.
  await heads.nth(1).getByRole("link").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(hashOf(page), "#part=spawn,+1+CPU");
  assert.match(await current(), /^spawn, 1 CPU/);
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "spawn, 1 CPU");

  await page.getByRole("button", { name: "All kinds together" }).click();
  await page.waitForFunction(() => document.querySelector("#overview")?.textContent?.includes("×1.99"));
  const row = table.getByRole("row").filter({ hasText: "rust/tokio-spawn" });
  await row.getByRole("cell").nth(2).getByRole("link").click();
  assert.equal(hashOf(page), "#part=spawn,+2+CPUs&rank=all");
  assert.match((await page.locator(":focus").getAttribute("data-entry")) ?? "", /^rust\/tokio-spawn /);
  await row.getByRole("button", { name: "rust/tokio-spawn", exact: true }).click();
  await page.getByRole("dialog").waitFor();
  assert.match(hashOf(page), /entry=rust\/tokio-spawn/);
  await close();
});

test("work says what an operation is, and nothing that only tasks that wait have", async () => {
  const { page, close } = await open("parts", "part=spawn,+1+CPU");
  await settled(page);
  const values = page.locator("#ranking .rank-line .value");
  assert.deepEqual(await values.allTextContents(), ["252 ns", "502 ns"]);
  assert.match(await page.locator("#ranking .about").innerText(), /An operation: a task started/);
  assert.deepEqual(await page.getByLabel("Compare by").locator("option").allInnerTexts(), [
    "Wall time per operation",
    "CPU time per operation",
    "Operations per second",
    "Footprint when ready",
    "Kernel memory",
    "Peak memory",
    "Peak RSS",
    "Launch time",
  ]);
  assert.equal(await page.locator("#time").isVisible(), false);
  assert.equal(await page.getByRole("button", { name: "Fitted lines" }).count(), 0);
  for (const section of ["#scaling", "#table", "#method"]) {
    await page.locator(section).scrollIntoViewIfNeeded();
    await settled(page);
  }
  const text = await page.locator("body").innerText();
  for (const word of [/\balive\b/i, /plateau/i, /bytes per task/i, /\bdrain\b/i, /the posts/i, /the wait/i]) {
    assert.doesNotMatch(text, word);
  }
  await page.getByLabel("Compare by").selectOption("ops-per-s");
  assert.deepEqual(await values.allTextContents(), ["3,970,000/s", "1,990,000/s"]);
  assert.equal(await page.locator("#ranking .bar .part-time").count(), 2);
  await page.getByLabel("Compare by").selectOption("footprint");
  assert((await page.locator("#ranking .bar .part-anon").count()) > 0);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save as CSV" }).click(),
  ]);
  assert.match(
    readFileSync(await download.path(), "utf8"),
    /,wall_ns_per_op_median,wall_ns_per_op_spread,.*,ops_per_s_median,/,
  );

  await page.locator("#ranking .rank-line").first().click();
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  const details = await dialog.innerText();
  // Two numbers of tasks, three pairs of runs.
  for (const said of ["wall ns/op", "12 samples", "operations", "work wall"])
    assert(details.includes(said), said);
  assert(!details.includes("Bytes per task"), details);
  await close();
});

test("a page of one part has no choice of parts", async () => {
  const { page, close } = await open("everything");
  assert.equal(await page.locator(".parts").count(), 0);
  assert.doesNotMatch(await everythingSeen(page), /per operation/i);
  await close();
});

test("axe finds nothing in work", async () => {
  for (const hash of ["part=spawn,+1+CPU", "part=spawn,+2+CPUs&entry=go/goroutine"]) {
    const { page, close } = await open("parts", hash, { bypassCSP: true });
    await settled(page);
    assert.deepEqual(await faultsOf(page), [], hash);
    await close();
  }
});
