// Bundles tests (Node 20 cannot run TypeScript) and runs them: `node test.mjs data`, `node test.mjs browser`
// (those named *page.test.ts, which need one), or files of test/ by name.

import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const named = process.argv.slice(2);
const all = readdirSync(join(here, "test")).filter((name) => name.endsWith(".test.ts"));
const files = named.flatMap((name) =>
  name === "data" || name === "browser"
    ? all.filter((file) => file.endsWith("page.test.ts") === (name === "browser"))
    : name,
);

const entryPoints = files.map((name) => join(here, "test", basename(name)));
const packages = { bundle: true, platform: "node", format: "esm", packages: "external" };
// In node_modules, so that packages are found. A folder for each run, as two may run at once.
const outdir = join(here, "node_modules", ".tests", String(process.pid));
await build({ ...packages, entryPoints, outdir, outExtension: { ".js": ".mjs" }, logLevel: "warning" });
const made = files.map((name) => join(outdir, basename(name).replace(/\.ts$/, ".mjs")));
const env = { ...process.env, TEST_FOLDER: join(here, "test") };
const ran = spawnSync(process.execPath, ["--test", "--test-reporter=spec", ...made], {
  stdio: "inherit",
  env,
});
rmSync(outdir, { recursive: true, force: true });
process.exitCode = ran.status ?? 1;
