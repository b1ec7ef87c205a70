// What the first view does without: programs and data that stand behind it in the page, as text until they are asked
// for. A browser that need not read them shows the answer sooner.

import { decodeSamples } from "./data.ts";
import { trusted } from "./trusted.ts";
import type { Samples } from "./types.ts";

/** What is said in the place of something that the page should hold and does not. */
export const INCOMPLETE = "This page is incomplete: its end is missing. Create or download it again.";

export function hasArrived(): boolean {
  return document.readyState !== "loading";
}

/** Calls back once the whole page is here; at once, where it is. */
export function whenArrived(then: () => void): void {
  if (hasArrived()) then();
  else document.addEventListener("DOMContentLoaded", then, { once: true });
}

const results = new Map<string, unknown>();

/** Calls `make` on the first use of `name` and caches the result. */
function once<T>(name: string, make: () => T): T {
  if (!results.has(name)) results.set(name, make());
  return results.get(name) as T;
}

const textOf = (id: string): string => document.getElementById(id)?.textContent ?? "";

/** What a program of the page exports, run when it is first asked for; nothing where its text is cut off. */
export const program = <T>(name: string): T | undefined =>
  once(`program-${name}`, () => {
    const script = document.createElement("script");
    script.text = trusted(textOf(`program-${name}`));
    // It has run when this returns.
    document.head.append(script);
    script.remove();
    return (window as unknown as Record<string, T>)[`taskscale_${name}`];
  });

/** A block of data, read when it is first asked for; nothing where the page is cut off. */
const block = <T>(id: string, read: (json: string) => T): T | undefined =>
  once(id, () => {
    try {
      return read(textOf(id));
    } catch {
      return undefined;
    }
  });

/** The single runs of a campaign. */
export const samplesOf = (campaign: number): Samples | undefined =>
  block(`samples-${campaign}`, decodeSamples);

/** The texts of all programs. */
export const sourceTexts = (): string[] | undefined => block("sources", (json): string[] => JSON.parse(json));
