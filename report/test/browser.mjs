// The browser of the tests: Chromium of the system, with a profile of its own and no network.

import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The browser's program; none where it is not installed. */
export const program = process.env.CHROMIUM ?? PLACES.find((path) => existsSync(path));

export async function launch() {
  if (!program) throw new Error("no Chromium: apt install chromium");
  return await chromium.launch({
    executablePath: program,
    // A machine that is busy with other work is slow, not wrong.
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
