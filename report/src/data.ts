// From the page's data as it is written, which is meant to be small, to what the page uses.

import { stackful } from "./kinds.ts";
import type { Campaign, Entry, Figure, Growth, PageData, Row, Samples } from "./types.ts";
import type * as wire from "./wire.ts";

export function decode(json: string): PageData {
  const written = JSON.parse(json) as wire.PageData;
  const { schema, taskscale, published } = written;
  return { schema, taskscale, published, campaigns: written.campaigns.map((of) => campaign(of, written)) };
}

export function decodeSamples(json: string): Samples {
  const samples = JSON.parse(json) as wire.Samples;
  return { ...samples, started_at: samples.started_at.map((at) => new Date(at * 1000).toISOString()) };
}

function campaign(written: wire.PageCampaign, page: wire.PageData): Campaign {
  const { campaign: label, shape = "hold", entries, rows, ...same } = written;
  const growth = new Map(written.growth.map((of) => [of.entry.name, of]));
  const reasons = new Map(written.unavailable.map((of) => [of.entry.name, of.reason]));
  const read = rows.map((row) => ({ ...row, figures: figures(row.figures, page.figures) }));
  return {
    ...same,
    label,
    shape: read.some((row) => row.figures.late_max_us) ? "wake" : shape,
    entries: entries.flatMap(({ entry: position, ...program }) => {
      const facts = page.entries[position];
      return facts ? entry(facts, program, growth.get(facts.name), reasons.get(facts.name)) : [];
    }),
    rows: read,
  };
}

function entry(
  facts: wire.EntryFacts,
  program: Omit<wire.PageEntry, "entry">,
  growth: wire.Growth | undefined,
  unavailable: string | undefined,
): Entry {
  return {
    ...facts,
    ...program,
    stackful: stackful(facts.kind),
    ...(unavailable === undefined ? {} : { unavailable }),
    ...(growth && isLine(growth) ? { growth } : {}),
  };
}

const isLine = (growth: wire.Growth): growth is Growth =>
  growth.base_bytes !== null && growth.bytes_per_task !== null;

function figures(written: wire.PageRow["figures"], names: string[]): Row["figures"] {
  const named = written.flatMap((figure, at): [string, Figure][] => {
    if (!figure) return [];
    const [median, min, max, mad, readings] = figure;
    return [[names[at] ?? "", { median, min, max, mad, readings }]];
  });
  return Object.fromEntries(named);
}
