// From the page's data as it is written, which is meant to be small, to what the page uses.

import type { Campaign, Entry, Figure, PageData, Row, Samples } from "./types.ts";

type WireFigure = [median: number, min: number, max: number, mad: number, readings: number];
type WireRow = Omit<Row, "figures"> & { figures: Record<string, WireFigure> };
/** `text` is a position in the campaign's `source_texts`. */
type WireEntry = Omit<Entry, "sources"> & { sources: { path: string; text: number }[] };
/** `started_at` is in seconds since 1970. */
type WireSamples = Omit<Samples, "started_at"> & { started_at: number[] };
type WireCampaign = Omit<Campaign, "entries" | "rows" | "samples"> & {
  entries: WireEntry[];
  source_texts: string[];
  rows: WireRow[];
  samples: WireSamples;
};

export function decode(json: string): PageData {
  const data = JSON.parse(json) as Omit<PageData, "campaigns"> & { campaigns: WireCampaign[] };
  return { ...data, campaigns: data.campaigns.map(campaign) };
}

function campaign(wire: WireCampaign): Campaign {
  const { source_texts, ...others } = wire;
  return {
    ...others,
    entries: wire.entries.map((entry) => ({
      ...entry,
      sources: entry.sources.map(({ path, text }) => ({ path, text: source_texts[text] ?? "" })),
    })),
    rows: wire.rows.map((row) => ({ ...row, figures: figures(row.figures) })),
    samples: {
      ...wire.samples,
      started_at: wire.samples.started_at.map((at) => new Date(at * 1000).toISOString()),
    },
  };
}

function figures(wire: Record<string, WireFigure>): Row["figures"] {
  const named = Object.entries(wire).map(([name, [median, min, max, mad, readings]]): [string, Figure] => [
    name,
    { median, min, max, mad, readings },
  ]);
  return Object.fromEntries(named);
}
