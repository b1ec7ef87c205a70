// A site in a real browser: site/ (two campaigns on two machines, one of them with hostile texts, and the
// documents of the repository). `cargo test --test commands page:: -- --ignored` makes it and runs this.

import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launch } from "./browser.mjs";
import { faultsOf, folder } from "./opened.ts";

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(async () => await browser?.close());

const root = resolve(join(folder, "site"));
const pages = ["index", "entries", "entries/go/goroutine", "documents", "docs/workloads", "CHANGELOG"];

/** Opens a page of the site. `close` fails the test after an error, a warning or a request outside the site. */
async function open(
  name: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; close: () => Promise<void> }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const faults: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => {
    const isOfSite = request.url().startsWith(pathToFileURL(`${root}/`).href);
    if (!isOfSite) faults.push(`a request: ${request.url()}`);
  });
  await page.goto(pathToFileURL(join(root, `${name}.html`)).href);
  const close = async () => {
    assert.deepEqual(faults, []);
    assert.equal(await page.evaluate(() => "harm" in window), false);
    await context.close();
  };
  return { page, close };
}

test("pages have no faults of accessibility", async () => {
  for (const name of pages) {
    const { page, close } = await open(name);
    assert.deepEqual(await faultsOf(page), [], name);
    await close();
  }
});

test("the start page makes its point in one screen", async () => {
  const { page, close } = await open("index");
  const bottom = async (selector: string) => {
    const box = await page.locator(selector).boundingBox();
    assert(box, selector);
    return box.y + box.height;
  };
  assert.match(await page.locator("h1").innerText(), /a million concurrent tasks/);
  assert((await page.locator(".highlights li").count()) > 0);
  for (const selector of ["h1", ".highlights", ".picture svg", "#overview-title"]) {
    assert((await bottom(selector)) < 900, `${selector} ends at ${await bottom(selector)}`);
  }
  assert.match(await page.locator(".picture svg").textContent().then(String), /go\/goroutine/);
  // On a phone, a table replaces the picture.
  await page.setViewportSize({ width: 390, height: 844 });
  assert.equal(await page.locator(".picture svg").isVisible(), false);
  assert.match(await page.locator(".picture table").innerText(), /go\/goroutine/);
  await close();
});

test("one comes from the start to a campaign, to an entry there, and back", async () => {
  const { page, close } = await open("index");
  await page.getByRole("link", { name: "my machine #1/everything" }).first().click();
  await page.waitForSelector("#ranking .rank-row");
  await page.getByRole("link", { name: "All results" }).click();
  await page.getByRole("link", { name: "Entries" }).click();
  await page.getByRole("link", { name: "goroutine", exact: true }).click();
  assert.equal(await page.locator("h1").innerText(), "Go goroutines");
  // The values of a series link to the entry's details in that series.
  const table = page.getByRole("table", { name: /^spawn, 2 CPUs/ });
  await table.getByRole("link", { name: "parts", exact: true }).click();
  await page.getByRole("dialog").waitFor();
  assert.match(await page.getByRole("dialog").innerText(), /go\/goroutine/);
  const part = page.getByRole("group", { name: "Series", exact: true, includeHidden: true });
  assert.equal(await part.locator("[aria-pressed=true]").innerText(), "spawn, 2 CPUs");
  await close();
});

test("texts that mean harm are only shown", async () => {
  const { page, close } = await open("index");
  assert.match(await page.locator("main").innerText(), /<img src=x onerror=window.harm=1>/);
  await page.goto(pathToFileURL(join(root, "entries.html")).href);
  await page.locator('a[href^="entries/evil/"]').click();
  const shown = await page.locator("main").innerText();
  assert.match(shown, /<\/script>/);
  assert.equal(await page.locator("main img, main script, main a[href^=javascript]").count(), 0);
  await close();
});
