// What the first view does without: programs and data that stand behind it in the page, as text until they are asked
// for. A browser that need not read them shows the answer sooner.

import { decodeSamples } from "./data.ts";
import type { Samples } from "./types.ts";

/** What is said in the place of something that the page should hold and does not. */
export const INCOMPLETE = "This page is incomplete: its end is missing. Create or download it again.";

/** Calls back once the whole page is here; at once, where it is. */
export function whenArrived(then: () => void): void {
  if (document.readyState !== "loading") then();
  else document.addEventListener("DOMContentLoaded", then, { once: true });
}

export function hasArrived(): boolean {
  return document.readyState !== "loading";
}

interface Policy {
  createScript(text: string): string;
}
type Factory = { createPolicy(name: string, rules: { createScript(text: string): string }): Policy };

let policy: Policy | undefined;

/** Text as a script. Nothing but `program` gets at this, and the page's policy lets nothing but its own programs run. */
function trusted(text: string): string {
  const types = (window as { trustedTypes?: Factory }).trustedTypes;
  policy ??= types?.createPolicy("programs", { createScript: (own) => own });
  return policy ? policy.createScript(text) : text;
}

const programs = new Map<string, unknown>();

/** What a program of the page exports, run when it is first asked for; nothing where its text is cut off. */
export function program<T>(name: string): T | undefined {
  if (!programs.has(name)) {
    const script = document.createElement("script");
    script.text = trusted(document.getElementById(`program-${name}`)?.textContent ?? "");
    // It has run when this returns.
    document.head.append(script);
    script.remove();
    programs.set(name, (window as unknown as Record<string, unknown>)[`taskscale_${name}`]);
  }
  return programs.get(name) as T | undefined;
}

const blocks = new Map<string, unknown>();

/** A block of data, read when it is first asked for; nothing where the page is cut off. */
function block<T>(id: string, read: (json: string) => T): T | undefined {
  if (!blocks.has(id)) {
    try {
      blocks.set(id, read(document.getElementById(id)?.textContent ?? ""));
    } catch {
      blocks.set(id, undefined);
    }
  }
  return blocks.get(id) as T | undefined;
}

/** The single runs of a campaign. */
export const samplesOf = (campaign: number): Samples | undefined =>
  block(`samples-${campaign}`, decodeSamples);

/** The texts of all programs. */
export const sourceTexts = (): string[] | undefined =>
  block("sources", (json) => JSON.parse(json) as string[]);
