// Programs and data that the first view does not need. They stay text until they are used, so the browser shows
// the answer sooner.

import { trusted } from "./trusted.ts";
import type { Samples } from "./wire.ts";

/** Replaces content that is missing from the page. */
export const INCOMPLETE = "This page is incomplete: its end is missing. Create or download it again.";

/** Whether the whole page has loaded. If not, calls back once it has. */
export function hasArrived(later: () => void): boolean {
  const arrived = document.readyState !== "loading";
  if (!arrived) document.addEventListener("DOMContentLoaded", later, { once: true });
  return arrived;
}

const results = new Map<string, unknown>();

/** Calls `make` on the first use of `name` and caches the result. */
function once<T>(name: string, make: () => T): T {
  if (!results.has(name)) results.set(name, make());
  return results.get(name) as T;
}

const textOf = (id: string): string => document.getElementById(id)?.textContent ?? "";

/** The exports of a program in the page, which runs on first use. Undefined if its text is cut off. */
export const program = <T>(name: string): T | undefined =>
  once(`program-${name}`, () => {
    const script = document.createElement("script");
    script.text = trusted(textOf(`program-${name}`));
    // Runs the script before it returns.
    document.head.append(script);
    script.remove();
    return (window as unknown as Record<string, T>)[`taskscale_${name}`];
  });

/** A block of data, parsed on first use. Undefined if the page is cut off. */
const block = <T>(id: string): T | undefined =>
  once(id, () => {
    try {
      return JSON.parse(textOf(id));
    } catch {
      return undefined;
    }
  });

/** Every run of the campaign at this position. */
export const samplesOf = (campaign: number) => block<Samples>(`samples-${campaign}`);

/** The source files of all programs. */
export const sourceTexts = () => block<string[]>("sources");
