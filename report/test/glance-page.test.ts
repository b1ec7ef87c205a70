// First steps on a page, in a real browser: first view, keys, copying, saving, pinning.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folder, hashOf, open, settled } from "./opened.ts";

test("the first bar is within 400 pixels, and charts are drawn before they are scrolled to", async () => {
  const { page, close } = await open("everything", "", { viewport: { width: 1440, height: 900 } });
  const box = await page.locator("#ranking .bar").first().boundingBox();
  assert(box && box.y < 400, `at ${box?.y}`);
  await page.locator("#scaling .chart svg path").first().waitFor({ state: "attached" });
  await page.locator("#time .chart svg path").first().waitFor({ state: "attached" });
  assert.equal(await page.evaluate(() => scrollY), 0);
  await close();
});

test("a hundred entries are no wall: the first of each kind, on an axis of what is seen", async () => {
  const { page, close } = await open("large", "", { viewport: { width: 1440, height: 900 } });
  await settled(page);
  const rows = page.locator("#ranking .rank-line");
  assert.equal(await rows.count(), 4 * 8);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  assert(height < 10_000, `${height} pixels`);
  const longest = () =>
    page.locator("#ranking").evaluate((ranking) => {
      const width = (element: Element | null) => element?.getBoundingClientRect().width ?? 0;
      const bars = [...ranking.querySelectorAll(".rank-line .bar")].map(width);
      return Math.max(...bars) / width(ranking.querySelector(".rank-line .track"));
    });
  assert((await longest()) > 0.9, String(await longest()));
  await page.locator("#ranking .more-rows").first().click();
  assert.equal(await rows.count(), 4 * 8 + 17);
  assert((await longest()) > 0.9, String(await longest()));
  await close();
});

test("a logarithmic axis has dots, as it has no zero", async () => {
  const { page, close } = await open("everything", "scale=log");
  const rows = page.locator("#ranking .rank-line");
  assert.equal(await rows.locator(".bar").count(), 0);
  assert.equal(await rows.locator(".dot").count(), await rows.count());
  await close();
});

test("keys: search, rows, and from entry to entry while one is open", async () => {
  const { page, close } = await open("everything");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement?.className), "search");
  // In a text field, keys are letters.
  await page.keyboard.type("j/");
  assert.match(hashOf(page), /search=j\//);
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");
  await page.locator("#ranking-title").click();
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("data-entry"));
  const all = await page
    .locator("#ranking [data-entry]")
    .evaluateAll((rows) => rows.map((row) => row.getAttribute("data-entry")));
  await page.keyboard.press("j");
  assert.equal(await focused(), all[0]);
  await page.keyboard.press("ArrowDown");
  assert.equal(await focused(), all[1]);
  await page.keyboard.press("k");
  assert.equal(await focused(), all[0]);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  const name = (at: number) => all[at]?.split(" ")[0] ?? "";
  assert(hashOf(page).includes(`entry=${name(0)}`));
  await page.keyboard.press("ArrowRight");
  assert(hashOf(page).includes(`entry=${name(1)}`), hashOf(page));
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !location.hash.includes("entry="));
  await close();
});

test("commands in reasons can be copied, and pictures saved as PNG", async () => {
  const whole = readFileSync(join(folder, "everything.html"), "utf8");
  const told = whole.replaceAll('"reason":"', '"reason":"full; raise it: `sysctl -w kernel.pid_max=99`; ');
  writeFileSync(join(folder, "commands.html"), told);
  const { page, close } = await open("commands", "", {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const reason = page
    .locator("#ranking .reason, #ranking .remark")
    .filter({ has: page.locator("code") })
    .first();
  const command = await reason.locator("code").first().innerText();
  await reason.locator(".copy").first().click();
  await reason.getByText("Copied").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), command);
  for (const section of ["#ranking", "#scaling"]) {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.locator(section).getByRole("button", { name: "PNG" }).first().click(),
    ]);
    const png = readFileSync(await download.path());
    assert.equal(png.subarray(1, 4).toString(), "PNG", section);
    assert(png.length > 5_000, `${section}: ${png.length} bytes`);
  }
  await close();
});

test("two that are pinned are set beside each other, and the address says so", async () => {
  const { page, close } = await open("everything");
  const overview = page.locator("#overview");
  for (const name of ["go/goroutine", "rust/tokio-spawn"])
    await overview
      .getByRole("button", { name: `Pin ${name}`, exact: true })
      .last()
      .click();
  assert.match(hashOf(page), /pin=go\/goroutine,rust\/tokio-spawn/);
  assert.match(await overview.locator(".ratio").innerText(), /go\/goroutine ÷ rust\/tokio-spawn[\s\S]*×/);
  await overview.getByRole("button", { name: "Pin go/goroutine", exact: true }).first().click();
  assert.equal(await overview.locator(".ratio").count(), 0);
  await close();
});
