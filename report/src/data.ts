// Decodes the compact JSON of the page (`wire.ts`) into the types that the page uses (`types.ts`).

import type { Campaign, Entry, Figure, Growth, Metric, PageData, Row } from "./types.ts";
import type * as wire from "./wire.ts";

export function decode(json: string): PageData {
  const written = JSON.parse(json) as wire.PageData;
  return { ...written, campaigns: written.campaigns.map((of, position) => campaign(of, position, written)) };
}

function campaign(written: wire.PageCampaign, position: number, page: wire.PageData): Campaign {
  const { campaign: label, shape = "hold", entries, rows, ...same } = written;
  const growth = new Map(written.growth.map((of) => [of.entry.name, of]));
  const stackful = new Set(page.kinds.filter((kind) => kind.stackful).map((kind) => kind.name));
  const entry = ({ entry: at, ...program }: wire.PageEntry): Entry => {
    const facts = page.entries[at] as wire.EntryFacts;
    // `scaling` is there only with a fitted line.
    const line = program.scaling ? { growth: growth.get(facts.name) as Growth } : {};
    return { ...facts, ...program, stackful: stackful.has(facts.kind), ...line };
  };
  const metrics = written.metrics.map((name, at): Metric => {
    const metric = page.metrics.find((known) => known.name === name) as wire.PageMetric;
    const [title, about] = (shape === "work" && metric.of_work) || [metric.title, metric.about];
    return { ...metric, title, about, per_task: written.per_task[at] ?? null };
  });
  const programs = entries.map(entry);
  const all = rows.map((row) => ({ ...row, figures: figures(row.figures, metrics) }));
  const rowByCase = new Map(all.map((row) => [`${row.tasks} ${programs[row.entry]?.name}`, row]));
  return { ...same, position, label, shape, metrics, entries: programs, rows: all, rowByCase };
}

function figures(written: wire.PageRow["figures"], metrics: Metric[]): Row["figures"] {
  const named = written.flatMap((figure, at): [string, Figure][] => {
    if (!figure) return [];
    const [median, min, max, mad, readings] = figure;
    const spread = readings > 1 && median > 0 ? { spread: mad / median } : {};
    return [[metrics[at]?.field ?? "", { median, min, max, readings, ...spread }]];
  });
  return Object.fromEntries(named);
}
