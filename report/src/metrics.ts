// The metrics that entries can be compared by, and their values.

import * as format from "./format.ts";
import type { Campaign, Entry, Metric, PageData, Row } from "./types.ts";
import type { ChartPart, Interval } from "./wire.ts";

export interface Value {
  value: number;
  /** From the smallest to the largest reading, or the 95% interval. Absent for a single reading. */
  range?: Interval | undefined;
}

/** The first campaign of a series, which the others are compared with. */
export const leadOf = (data: PageData, part: string): Campaign =>
  data.campaigns.find((campaign) => campaign.part === part) as Campaign;

/** The metrics of a series, in the order of the menu. */
export const metricsOf = (data: PageData, part: string): Metric[] => leadOf(data, part).metrics;

/** The metric that entries are ranked by unless you select another. */
export const headline = (data: PageData, part: string): Metric => metricsOf(data, part)[0] as Metric;

export const metric = (data: PageData, part: string, name: string): Metric =>
  metricsOf(data, part).find((known) => known.name === name) ?? headline(data, part);

export const show = (metric: Metric): ((value: number) => string) => format.UNITS[metric.unit];

export const isBytes = (metric: Metric): boolean => metric.unit.startsWith("bytes");

/** Whether a metric belongs to an entry's fit over all N, not to one N. */
export const isWhole = (metric: Metric): boolean => metric.scope !== "run";

export function readingOf(metric: Metric, entry: Entry, row: Row | undefined): Value | undefined {
  const { growth } = entry;
  if (metric.scope === "slope")
    return growth && { value: growth.bytes_per_task, range: growth.bytes_per_task_interval ?? undefined };
  if (metric.scope === "base")
    return growth && { value: growth.base_bytes, range: growth.base_bytes_interval ?? undefined };
  const figure = row?.figures[metric.field];
  if (!figure) return undefined;
  const range = figure.readings < 2 ? undefined : { low: figure.min, high: figure.max };
  return { value: figure.median, range };
}

export type Part = ChartPart & { bytes: number };

/** The parts of a row's footprint. Empty if unknown. */
export function parts(data: PageData, row: Row | undefined): Part[] {
  const of = row?.parts as Record<string, number | null> | undefined;
  const sum = (fields: string[]) => fields.reduce((sum, name) => sum + (of?.[name] ?? 0), 0);
  return of ? data.parts.map((part) => ({ ...part, bytes: sum(part.fields ?? []) })) : [];
}
