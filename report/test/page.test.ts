// The page in a real browser: everything.html (one of everything that can happen, and a hostile name),
// several.html (three campaigns) and large.html (5,000 samples).
// `cargo test --test commands page:: -- --ignored` makes them and runs this.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { everythingSeen, faultsOf, folder, hashOf, open, ranked, settled } from "./opened.ts";

test("it opens from a file, with the answer first, and asks nobody for anything", async () => {
  const { page, close } = await open("everything");
  assert.match(await page.title(), /^taskscale: bench, 2026-03-01/);
  assert.match(await page.locator("h1").innerText(), /^1M\stasks take .* GiB as .* MiB as /);
  const names = await ranked(page);
  assert(names.length >= 5, String(names));
  const places = await page.locator("#ranking .rank-line .place").allTextContents();
  assert.deepEqual(places, ["1", "-", "1", "2", "ref", "-"]);
  const last = await page.locator("#ranking .short-list .status").allInnerTexts();
  assert(last.includes("limit") && last.includes("crashed"), String(last));
  assert.equal(last.at(-1), "unavailable");
  assert.match(await page.locator("#ranking .short-list").first().innerText(), /kernel\.threads-max/);
  const policy = await page.locator("meta[http-equiv=Content-Security-Policy]").getAttribute("content");
  assert(policy?.includes("default-src 'none'") && !policy.includes("script-src 'unsafe"), policy ?? "");
  await close();
});

test("every control changes the view and the address", async () => {
  const { page, close } = await open("everything");
  const title = () => page.locator("#ranking-title").innerText();

  await page.getByRole("button", { name: "10k tasks" }).click();
  assert.match(hashOf(page), /n=10000/);
  assert.equal(await title(), "Footprint at 10k tasks");
  const shown: Record<string, string> = {};
  for (const metric of ["peak", "rss-peak", "bytes-per-task", "base", "launch", "wall", "cpu", "footprint"]) {
    await page.getByLabel("Compare by").selectOption(metric);
    shown[metric] = (await page.locator("#ranking .rank-line .value").first().textContent()) ?? "";
    if (metric !== "footprint") assert.match(hashOf(page), new RegExp(`metric=${metric}`));
  }
  assert.match(shown.launch ?? "", / (s|ms|µs)$/);
  assert.match(shown["bytes-per-task"] ?? "", / B$/);
  // A single workload has no choice, but is named.
  assert.equal(await page.getByLabel("Workload").count(), 0);
  assert.match(await page.locator(".context").innerText(), /^sleep · /);

  const marks = page.locator("#ranking .mark");
  assert((await marks.count()) > 0);
  await page.getByRole("button", { name: "Published" }).click();
  assert.equal(await marks.count(), 0);
  assert.match(hashOf(page), /published=no/);

  assert((await page.locator("#ranking .bar .part-stacks").count()) > 0);
  await page.getByRole("button", { name: "Logarithmic" }).click();
  assert.match(hashOf(page), /scale=log/);
  assert.equal(await page.locator("#ranking .bar .part-stacks").count(), 0);

  const kinds = page.locator("#ranking .kind-head");
  assert.deepEqual(
    (await kinds.allTextContents()).map((text) => text.slice(0, 5)),
    ["OS th", "Green", "Async", "Timer"],
  );
  await page.getByRole("button", { name: "All kinds together" }).click();
  assert.match(hashOf(page), /rank=all/);
  assert.equal(await kinds.count(), 0);
  assert.match(await page.locator("h1").innerText(), /10k\stasks take from .* to /);
  await page.getByRole("button", { name: "All kinds together" }).click();
  assert.doesNotMatch(hashOf(page), /rank/);

  const all = (await ranked(page)).length;
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  for (const [chip, pattern] of [
    ["kinds stackful", /kind=stackful/],
    ["languages go", /language=go/],
    ["styles idiomatic", /style=idiomatic/],
    ["parallel yes", /parallel=yes/],
  ] as const) {
    await page.locator(`.filters [data-key='${chip}']`).click();
    assert.match(hashOf(page), pattern);
    assert((await ranked(page)).length < all);
  }
  await page.locator(".filters [data-key='stackful yes']").click();
  assert.match(hashOf(page), /stackful=yes/);
  assert((await ranked(page)).every((name) => name.startsWith("go/goroutine")));
  await page.getByRole("button", { name: "Clear all" }).click();
  assert.equal((await ranked(page)).length, all);

  await page.getByLabel("Search entries").fill("tokio current");
  assert.deepEqual(await ranked(page), ["rust/tokio-current-thread"]);
  assert.match(hashOf(page), /search=tokio/);
  await page.getByLabel("Search entries").fill("no such entry");
  await page.getByRole("button", { name: "Clear filters and search" }).click();
  assert.equal((await ranked(page)).length, all);
  await close();
});

test("an address that is shared shows the same", async () => {
  const { page, close } = await open("everything");
  await page.getByRole("button", { name: "10k tasks" }).click();
  await page.getByLabel("Compare by").selectOption("launch");
  await page.getByLabel("Search entries").fill("rust");
  await page.getByRole("button", { name: "Logarithmic" }).click();
  await page.locator("#table th button", { hasText: "Kind" }).click();
  // A legend that is redrawn between press and release loses the click.
  await settled(page);
  await page.locator("#scaling .line-key").first().click();
  await page.getByRole("button", { name: "Every N" }).click();
  await settled(page);
  // Sorted, as a chart draws the line that was pointed at last on top.
  const texts = async (of: typeof page) => (await everythingSeen(of)).split("\n").sort();
  const seen = await texts(page);
  const other = await open("everything", new URL(page.url()).hash.slice(1));
  await settled(other.page);
  assert.deepEqual(await texts(other.page), seen);
  assert.equal(await other.page.locator("#scaling .line-key[aria-pressed=false]").count(), 1);
  // The URL of an open page may also be edited.
  await other.page.evaluate(() => {
    location.hash = "#n=1&search=go";
  });
  await other.page.waitForFunction(
    () => document.querySelector("#ranking-title")?.textContent === "Footprint at 1 task",
  );
  assert.equal(await other.page.getByLabel("Search entries").inputValue(), "go");
  await other.close();
  await close();
});

test("details of an entry: source, flags, versions, commands, samples", async () => {
  const { page, close } = await open("everything");
  const row = page.locator("#ranking .rank-line", { hasText: "go/goroutine" }).first();
  await row.focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  assert.match(hashOf(page), /entry=go\/goroutine/);
  const text = await dialog.innerText();
  for (const said of [
    "for tests",
    "a note",
    "nobody has run it",
    "go 1.0",
    "make 'all the rest'",
    "GOGC=50",
    "9 samples",
    "go/goroutine 1000000 3",
  ]) {
    assert(text.includes(said), `${said} is not in:\n${text}`);
  }
  await dialog.locator("pre .hljs-keyword", { hasText: "func" }).waitFor();
  assert.match(await dialog.locator("pre").innerText(), /println\("<\/script>"\)/);
  assert.equal(await dialog.locator(".samples tbody tr").count(), 9);
  // Escape closes it and returns the focus. "Back" closes it too, and "forward" opens it again.
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  // The URL changes with the dialog's `close` event, a moment later.
  await page.waitForFunction(() => location.hash === "");
  assert.equal(await row.evaluate((element) => element === document.activeElement), true);
  await row.click();
  await dialog.waitFor();
  await page.goBack();
  await dialog.waitFor({ state: "hidden" });
  await page.goForward();
  await dialog.waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "hidden" });
  const shared = await open("everything", "entry=rust/thread");
  assert.match(
    await shared.page.getByRole("dialog").innerText(),
    /32,751 of 1,000,000 threads could be started/,
  );
  await shared.close();
  await close();
});

test("nothing from a campaign becomes markup", async () => {
  const { page, close } = await open("everything");
  await settled(page);
  const names = page.locator("#ranking .short-name", { hasText: "<b>x</b>" });
  assert.equal(await names.count(), 1);
  for (const n of [1, 10_000, 1_000_000]) {
    await page.evaluate((n) => {
      location.hash = `#n=${n}`;
    }, n);
    await settled(page);
  }
  await names.first().click();
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  assert.match(await dialog.innerText(), /<img src=x onerror=/);
  await page.keyboard.press("Escape");
  await page.locator("#scaling").scrollIntoViewIfNeeded();
  await page.locator("#scaling .chart").hover({ position: { x: 300, y: 150 } });
  await page.locator("#time").scrollIntoViewIfNeeded();
  await settled(page);
  const made = await page.evaluate(() => ({
    ran: (window as { harm?: unknown }).harm,
    images: document.querySelectorAll("img, iframe, object, embed, form, base, svg a, svg image").length,
    scripts: document.scripts.length,
    handlers: [...document.querySelectorAll("*")].filter((element) =>
      element.getAttributeNames().some((name) => name.startsWith("on")),
    ).length,
    bold: [...document.querySelectorAll("b")].filter((element) => element.textContent === "x").length,
    links: [...document.querySelectorAll("a")].map((link) => link.protocol),
  }));
  assert.equal(made.ran, undefined);
  assert.equal(made.images, 0);
  // The page's data, its three programs, the sources, and the samples of one campaign.
  assert.equal(made.scripts, 6);
  assert.equal(made.handlers, 0);
  assert.equal(made.bold, 0);
  assert(
    made.links.every((protocol) => ["https:", "file:"].includes(protocol)),
    String(made.links),
  );
  const text = await page.evaluate(() => document.body.innerText);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
  assert(!/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(text));
  await close();
});

test("the policy stops a script that was smuggled in all the same", async () => {
  const { page, faults, close } = await open("everything");
  const ran = await page.evaluate(() => {
    const script = document.createElement("script");
    try {
      script.text = "window.harm = 1";
    } catch {
      return "refused";
    }
    document.body.append(script);
    return (window as { harm?: unknown }).harm ?? "blocked";
  });
  assert(["refused", "blocked"].includes(String(ran)), String(ran));
  const markup = await page.evaluate(() => {
    try {
      document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.harm = 2'>");
      return "made";
    } catch {
      return "refused";
    }
  });
  assert.equal(markup, "refused");
  faults.length = 0;
  await close();
});

test("charts: comparison at one N, lines that can be hidden, files that can be saved", async () => {
  const { page, close } = await open("everything");
  await page.locator("#scaling").scrollIntoViewIfNeeded();
  const chart = page.locator("#scaling .chart");
  await chart.locator("svg path").first().waitFor({ state: "attached" });
  const box = await chart.boundingBox();
  assert(box);
  // Left of the names at the ends of lines, which take a third of the chart here.
  await page.mouse.move(box.x + (box.width * 2) / 3 - 6, box.y + box.height / 2);
  const compared = page.locator(".compare");
  await compared.waitFor();
  const text = await compared.innerText();
  assert.match(text, /^1M tasks/);
  assert.match(text, /go\/goroutine/);
  const drawn = () => chart.locator("svg path").count();
  const before = await drawn();
  await page.mouse.move(0, 0);
  await page.locator("#scaling .line-key", { hasText: "go/goroutine" }).first().click();
  await settled(page);
  assert((await drawn()) < before);
  assert.match(hashOf(page), /hidden=go\/goroutine/);
  await page.getByRole("button", { name: "Fitted lines" }).click();
  assert.match(hashOf(page), /fit=no/);

  for (const [section, button, pattern] of [
    ["#scaling", "Save as SVG", /^<svg[\s\S]*<\/svg>$/],
    ["#time", "Save as SVG", /^<svg[\s\S]*tokio-spawn[\s\S]*<\/svg>$/],
    ["#ranking", "Save as SVG", /^<svg[\s\S]*rust\/tokio-spawn[\s\S]*<\/svg>\s*$/],
    ["#table", "Save as CSV", /^entry,kind,[\s\S]*\nrust\/floor,/],
  ] as const) {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.locator(section).getByRole("button", { name: button }).first().click(),
    ]);
    const path = await download.path();
    assert.match(readFileSync(path, "utf8"), pattern, section);
  }
  await close();
});

test("the table sorts by any column, both ways", async () => {
  const { page, close } = await open("everything");
  await settled(page);
  const heads = page.locator("#table thead button");
  const titles = await heads.allInnerTexts();
  assert(titles.length > 30, String(titles));
  const column = async (at: number) =>
    await page.locator(`#table tbody tr > :nth-child(${at + 1})`).allInnerTexts();
  for (const title of ["Entry", "memory", "launch", "Bytes per task"]) {
    const at = titles.findIndex((text) => text.startsWith(title));
    const head = heads.nth(at);
    await head.click();
    await settled(page);
    const first = await column(at);
    await head.click();
    await settled(page);
    const second = await column(at);
    const known = (values: string[]) => values.filter((value) => value !== "");
    assert.deepEqual(known(second), known(first).reverse(), title);
    // Unknown values are last in both directions.
    for (const values of [first, second]) {
      assert(!values.includes("") || values.indexOf("") === known(values).length, `${title}: ${values}`);
    }
  }
  assert.equal(await page.locator("#table [aria-sort]").count(), 1);
  await close();
});

test("several campaigns: side by side, or one of them", async () => {
  const { page, close } = await open("several");
  assert.equal(await page.locator(".campaigns .chip").count(), 3);
  const row = page.locator("#ranking .rank-row", { hasText: "go/goroutine" }).first();
  assert.equal(await row.locator(".rank-line").count(), 3);
  assert.match((await row.textContent()) ?? "", /\+\d+\.\d%/);
  await page.locator(".campaigns .chip").nth(1).click();
  assert.match(hashOf(page), /campaigns=1,3/);
  assert.equal(await row.locator(".rank-line").count(), 2);
  await page.locator(".campaigns .chip").nth(0).click();
  await page.locator(".campaigns .chip").nth(2).click();
  assert.equal(await page.locator(".campaigns .chip[aria-pressed=true]").count(), 1);
  await close();
});

/** Runs before the page's own script. Records what is drawn and read, in order, and layout shifts. */
function watch(): void {
  const noted: string[] = [];
  const note = (what: string) => noted.at(-1) !== what && noted.push(what);
  const parse = JSON.parse;
  JSON.parse = (text: string) => {
    note(text.startsWith('{"schema"') ? "data read" : "details read");
    return parse(text);
  };
  const seen = new Set<string>();
  new MutationObserver(() => {
    for (const selector of ["#ranking .rank-row", "#table tbody tr"]) {
      if (!seen.has(selector) && document.querySelector(selector)) {
        seen.add(selector);
        note(selector);
      }
    }
  }).observe(document, { childList: true, subtree: true });
  const frame = () => {
    note("frame");
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  const shifts: number[] = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) shifts.push((entry as PerformanceEntry & { value: number }).value);
  }).observe({ type: "layout-shift", buffered: true });
  Object.assign(window, { noted, shifts });
}

// Checks the order only, as a busy machine is slow. benches/page measures the time.
test("five thousand samples: the answer first, the rest after a frame, details when they are asked for", async () => {
  const { page, close } = await open("large", "", {}, watch);
  const noted = () => page.evaluate(() => (window as unknown as { noted: string[] }).noted);
  const ran = () => page.evaluate(() => Object.keys(window).filter((name) => name.startsWith("taskscale_")));
  await settled(page);
  const order = await noted();
  const [answer, rest] = [order.indexOf("#ranking .rank-row"), order.indexOf("#table tbody tr")];
  assert.equal(order.filter((what) => what.endsWith(" read")).join(), "data read");
  assert(answer >= 0 && order.slice(answer, rest).includes("frame"), String(order));
  // Only the charts' program may have run by now.
  assert(
    (await ran()).every((name) => name === "taskscale_charts"),
    String(await ran()),
  );
  assert.deepEqual(await page.evaluate(() => (window as unknown as { shifts: number[] }).shifts), []);

  await page.locator("[data-key=n1000]").click();
  assert.equal(await page.locator("#ranking-title").innerText(), "Footprint at 1k tasks");
  await page.getByLabel("Search entries").fill("entry-77");
  assert.deepEqual(await ranked(page), ["language5/entry-77"]);
  assert(!(await ran()).includes("taskscale_highlight"));

  await page.locator("#ranking .rank-line").first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("50 samples").waitFor();
  assert.equal(await dialog.locator(".samples tbody tr").count(), 40);
  await dialog.locator("pre .hljs-keyword").first().waitFor();
  assert((await ran()).includes("taskscale_highlight"));
  assert((await noted()).includes("details read"));
  await page.keyboard.press("Escape");
  await page.locator("#scaling").scrollIntoViewIfNeeded();
  await page.locator("#scaling .chart svg path").first().waitFor({ state: "attached" });
  assert.deepEqual((await ran()).sort(), ["taskscale_charts", "taskscale_highlight"]);
  await close();
});

test("a page that was cut off shows the answer, and says what is missing", async () => {
  const whole = readFileSync(join(folder, "everything.html"), "utf8");
  for (const [name, at] of [
    ["cut-samples", whole.indexOf('id="samples-0"') + 1_000],
    ["cut-sources", whole.indexOf('id="sources"') + 50],
    ["cut-program", whole.indexOf('id="program-charts"') + 1_000],
  ] as const) {
    writeFileSync(join(folder, `${name}.html`), whole.slice(0, at));
    const { page, faults, close } = await open(name);
    await page.locator("#ranking .rank-line", { hasText: "go/goroutine" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    assert.match(await dialog.innerText(), /for tests[\s\S]*incomplete/);
    await page.keyboard.press("Escape");
    await page.locator("#scaling").scrollIntoViewIfNeeded();
    const drawn = page.locator("#scaling .chart svg path, #scaling .chart .callout").first();
    await drawn.waitFor({ state: "attached" });
    assert.equal(await page.locator("#scaling .chart .callout").count(), name === "cut-program" ? 1 : 0);
    // The page's policy blocks the cut-off program, and the browser logs that.
    assert(
      faults.every((fault) => fault.includes("Content Security Policy")),
      String(faults),
    );
    faults.length = 0;
    await close();
  }
});

test("axe finds nothing", async () => {
  for (const hash of ["", "n=10000&metric=bytes-per-task&scale=log", "entry=go/goroutine"]) {
    const { page, close } = await open("everything", hash, { bypassCSP: true });
    if (!hash) await page.getByRole("button", { name: "Filter", exact: true }).click();
    await settled(page);
    assert.deepEqual(await faultsOf(page), [], hash);
    await close();
  }
});

test("keyboard alone: skip link, controls, rows", async () => {
  const { page, close } = await open("everything");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Skip to the ranking");
  await page.keyboard.press("Enter");
  const reached: string[] = [];
  for (let step = 0; step < 6; step += 1) {
    await page.keyboard.press("Tab");
    reached.push(await page.evaluate(() => document.activeElement?.className ?? ""));
  }
  assert(
    reached.some((name) => name.includes("switch")) && reached.some((name) => name.includes("rank-line")),
    String(reached),
  );
  // A redrawn control keeps the focus.
  await page.locator("[data-key=n10000]").focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("data-key")), "n10000");
  await close();
});

test("the theme can be chosen, and paper is white", async () => {
  const { page, close } = await open("everything", "", { colorScheme: "dark" });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await background(), "rgb(15, 18, 21)");
  await page.getByRole("button", { name: "Theme" }).click();
  assert.equal(await background(), "rgb(250, 249, 246)");
  await page.getByRole("button", { name: "Theme" }).click();
  await page.emulateMedia({ media: "print" });
  assert.equal(await background(), "rgb(255, 255, 255)");
  assert.equal(await page.locator(".controls").isVisible(), false);
  assert((await page.pdf({ format: "A4" })).length > 20_000);
  await close();
});
