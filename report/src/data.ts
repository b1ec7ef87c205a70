// From the page's data as it is written, which is meant to be small, to what the page uses.

import type { Campaign, Details, Figure, PageData, Row, Samples } from "./types.ts";

type WireFigure = [median: number, min: number, max: number, mad: number, readings: number];
type WireRow = Omit<Row, "figures"> & { figures: Record<string, WireFigure> };
type WireCampaign = Omit<Campaign, "rows"> & { rows: WireRow[] };
/** `started_at` is in seconds since 1970. */
type WireDetails = Omit<Details, "samples"> & {
  samples: Omit<Samples, "started_at"> & { started_at: number[] };
};

export function decode(json: string): PageData {
  const data = JSON.parse(json) as Omit<PageData, "campaigns"> & { campaigns: WireCampaign[] };
  return { ...data, campaigns: data.campaigns.map(campaign) };
}

export function decodeDetails(json: string): Details {
  const { samples, source_texts } = JSON.parse(json) as WireDetails;
  const started_at = samples.started_at.map((at) => new Date(at * 1000).toISOString());
  return { samples: { ...samples, started_at }, source_texts };
}

function campaign(wire: WireCampaign): Campaign {
  return { ...wire, rows: wire.rows.map((row) => ({ ...row, figures: figures(row.figures) })) };
}

function figures(wire: Record<string, WireFigure>): Row["figures"] {
  const named = Object.entries(wire).map(([name, [median, min, max, mad, readings]]): [string, Figure] => [
    name,
    { median, min, max, mad, readings },
  ]);
  return Object.fromEntries(named);
}
