// Makes the page that taskscale embeds: markup, style and program in one file, with a policy that allows nothing else.
//
// `node build.mjs` writes ../crates/taskscale/assets/report.html. The same sources give the same bytes.

import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "../crates/taskscale/assets/report.html");
// Browsers of the last three years or so.
const browsers = ["chrome115", "firefox115", "safari16.4"];
const options = {
  bundle: true,
  minify: true,
  write: false,
  target: browsers,
  legalComments: "none",
  charset: "ascii",
};

async function bundle(entry, more = {}) {
  const result = await build({ ...options, ...more, entryPoints: [join(here, entry)] });
  return result.outputFiles[0].text.trim();
}

/** A script that can be inlined: unescaped, `</script` would end it, and `<!--` would begin a comment. */
async function inline(entry, more = {}) {
  const text = await bundle(entry, { format: "iife", ...more });
  return text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
}

const script = await inline("src/main.ts");
// Programs that the first view does not need are text until src/later.ts runs them.
const charts = await inline("src/charts.ts", { globalName: "taskscale_charts" });
const highlight = await inline("src/highlight.ts", { globalName: "taskscale_highlight" });
const style = await bundle("src/style.css");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = [
  "default-src 'none'",
  `script-src ${[script, charts, highlight].map(hash).join(" ")}`,
  `style-src-elem ${hash(style)}`,
  // SVGs: charts over versions, and pictures that are saved as PNG.
  "img-src blob:",
  // The chart library places its texts and tooltips by `style` attributes.
  "style-src-attr 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types default programs",
].join("; ");

const notices = [
  "Contains Apache ECharts (Apache-2.0), zrender (BSD-3-Clause), tslib (0BSD), highlight.js (BSD-3-Clause), lowlight and devlop (MIT).",
  "Built from report/ by npm run build. Do not edit.",
].join("\n");
const parts = { CSP: policy, STYLE: style, SCRIPT: script, CHARTS: charts, HIGHLIGHT: highlight };
const page = readFileSync(join(here, "src/page.html"), "utf8")
  .replace(/@@(CSP|STYLE|SCRIPT|CHARTS|HIGHLIGHT)@@/g, (_, name) => parts[name])
  .replace("<html", `<!--\n${notices}\n-->\n<html`);
for (const place of ["@@TASKSCALE_DATA@@", "@@TASKSCALE_DETAILS@@"]) {
  if (page.split(place).length !== 2) throw new Error(`the page needs one ${place}`);
}
// An unchanged page keeps its modification time, so that cargo does not rebuild.
if (!existsSync(target) || readFileSync(target, "utf8") !== page) writeFileSync(target, page);
console.log(`${target}: ${page.length} bytes`);
