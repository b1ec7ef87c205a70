// Makes the page that taskscale embeds: markup, style and program in one file, with a policy that allows nothing else.
//
// `node build.mjs` writes ../crates/taskscale/assets/report.html. The same sources give the same bytes.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
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

// Within an inline script these would end it, or begin what HTML takes for a comment.
const script = (await bundle("src/main.ts", { format: "iife" }))
  .replaceAll("</script", "<\\/script")
  .replaceAll("<!--", "<\\!--");
const style = await bundle("src/style.css");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src-elem ${hash(style)}`,
  // The chart library places its texts and panels by attributes.
  "style-src-attr 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types default",
].join("; ");

const notices = [
  "Contains Apache ECharts (Apache-2.0), zrender (BSD-3-Clause), tslib (0BSD), highlight.js (BSD-3-Clause), lowlight and devlop (MIT).",
  "Built from report/ by npm run build. Do not edit.",
].join("\n");
const parts = { CSP: policy, STYLE: style, SCRIPT: script };
const page = readFileSync(join(here, "src/page.html"), "utf8")
  .replace(/@@(CSP|STYLE|SCRIPT)@@/g, (_, name) => parts[name])
  .replace("<html", `<!--\n${notices}\n-->\n<html`);
if (page.split("@@TASKSCALE_DATA@@").length !== 2) throw new Error("the page needs one place for its data");
writeFileSync(target, page);
console.log(`${target}: ${page.length} bytes`);
