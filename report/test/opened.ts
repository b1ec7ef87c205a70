// Opens pages in a real browser, for tests. TASKSCALE_PAGES names a folder with the pages:
// `cargo test --test commands page:: -- --ignored` makes them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { after, before } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launch } from "./browser.mjs";

export const folder = process.env.TASKSCALE_PAGES ?? "";
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser: Browser;

before(async () => {
  assert(folder, "TASKSCALE_PAGES names no folder: run `cargo test --test commands page:: -- --ignored`");
  browser = await launch();
});
after(async () => await browser?.close());

const address = (name: string, hash = "") =>
  `file://${resolve(join(folder, `${name}.html`))}${hash ? `#${hash}` : ""}`;

/** Widths and color schemes to test: the layout depends on the width, contrast on the scheme. */
const views = [
  { width: 390, colorScheme: "light" },
  { width: 768, colorScheme: "dark" },
  { width: 1440, colorScheme: "light" },
  { width: 1920, colorScheme: "dark" },
] as const;

/** Opens a page. `close` fails the test after an error, a warning, a dialog, or a request for another file. */
export async function open(
  name: string,
  hash = "",
  options: BrowserContextOptions = {},
  before?: () => void,
): Promise<{ page: Page; faults: string[]; close: () => Promise<void> }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  if (before) await page.addInitScript(before);
  // Long, as a busy machine is slow.
  page.setDefaultTimeout(120_000);
  const faults: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("dialog", (dialog) => {
    faults.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = request.url().split("#")[0];
    if (url !== address(name) && !url?.startsWith("blob:")) faults.push(`a request: ${url}`);
  });
  await page.goto(address(name, hash));
  await page.waitForSelector("#ranking .rank-row, #ranking .nothing");
  const close = async () => {
    assert.deepEqual(faults, []);
    await context.close();
  };
  return { page, faults, close };
}

/** The titles in the ranking. Not by `innerText`, which is empty for rows without a layout. */
export const ranked = (page: Page) => page.locator("#ranking .rank-line .title").allTextContents();
/** Waits until the sections further down are drawn. */
export const settled = async (page: Page) => {
  await page.waitForSelector("#app[data-drawn=yes]", { state: "attached" });
  await framesDrawn(page);
};
/** Waits for four frames, in which charts follow a new size. */
const framesDrawn = (page: Page) =>
  page.evaluate(async () => {
    for (let frame = 0; frame < 4; frame += 1) await new Promise((done) => requestAnimationFrame(done));
  });
/** All texts of the page, including charts, which are drawn when they become visible. */
export async function everythingSeen(page: Page): Promise<string> {
  for (const section of ["#scaling", "#time", "#method"]) {
    await page.locator(section).scrollIntoViewIfNeeded();
    await settled(page);
  }
  return await page.locator("body").innerText();
}

export const hashOf = (page: Page) => decodeURIComponent(new URL(page.url()).hash);

/** The accessibility faults that axe finds at each view, and whether the page is wider than the window there. */
export async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const faults: string[] = [];
  for (const { width, colorScheme } of views) {
    await page.setViewportSize({ width, height: width < 500 ? 844 : 900 });
    await page.emulateMedia({ colorScheme });
    await framesDrawn(page);
    const found = await faultsHere(page);
    faults.push(...found.map((fault) => `${width} pixels, ${colorScheme}: ${fault}`));
  }
  return faults;
}

async function faultsHere(page: Page): Promise<string[]> {
  await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished)));
  const found = await page.evaluate(async () => {
    const run = (
      window as unknown as {
        axe: {
          run(options: object): Promise<{
            violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
          }>;
        };
      }
    ).axe;
    // A page from the disk may not request style sheets again.
    return (await run.run({ preload: false })).violations.map(
      (fault) =>
        `${fault.id}: ${fault.nodes.map((node) => `${node.html} ${node.failureSummary}`).join("; ")}`,
    );
  });
  const fits = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  return fits ? found : [...found, "it is too wide"];
}
