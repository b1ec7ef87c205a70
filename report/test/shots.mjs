// Screenshots of a page at three widths, light and dark: `node test/shots.mjs PAGE FOLDER [HASH]`.

import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { launch } from "./browser.mjs";

const [page, folder = "shots", hash = ""] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const colorScheme of ["light", "dark"]) {
  for (const width of [390, 1280, 1920]) {
    const context = await browser.newContext({
      colorScheme,
      viewport: { width, height: width < 500 ? 844 : 1000 },
    });
    const tab = await context.newPage();
    tab.on("console", (message) => message.type() === "error" && console.log(message.text()));
    tab.on("pageerror", (error) => console.log(String(error)));
    await tab.goto(`file://${resolve(page)}#${hash}`);
    await tab.waitForTimeout(300);
    if (!hash.includes("entry=")) {
      // Charts are drawn when they become visible.
      const height = await tab.evaluate(() => document.body.scrollHeight);
      await tab.setViewportSize({ width, height: Math.min(height, 9000) });
      await tab.waitForTimeout(500);
    }
    await tab.screenshot({ path: `${folder}/${colorScheme}-${width}.png` });
    await context.close();
  }
}
await browser.close();
