// The browser of the tests: the system's Chromium, with its own profile and no background requests.

import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Path of the browser. Undefined if it is not installed. */
export const program = process.env.CHROMIUM ?? PLACES.find((path) => existsSync(path));

export async function launch() {
  if (!program) throw new Error("no Chromium: apt install chromium");
  return await chromium.launch({
    executablePath: program,
    // Long, as a busy machine is slow.
    timeout: 120_000,
    // No sandbox: CI runs as root. The pages are the tests' own.
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
