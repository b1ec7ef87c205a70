// The data of the page, as its parts use it: that of `wire.ts`, put together by `data.ts`.

import type * as wire from "./wire.ts";

export type { PageColumn as Column, Parts, PublishedFigure, Shape } from "./wire.ts";

/** A metric as a part of a campaign has it. */
export type Metric = wire.PageMetric & { per_task: wire.PerTaskShown | null };

export type PageData = Omit<wire.PageData, "entries" | "campaigns"> & { campaigns: Campaign[] };

/** One campaign, or one part of it. */
export type Campaign = Omit<wire.PageCampaign, "campaign" | "shape" | "entries" | "rows"> & {
  /** What tells it from the others on this page. */
  label: string;
  shape: wire.Shape;
  entries: Entry[];
  rows: Row[];
};

/** An entry in one part of a campaign: what it is, its program there, and how it grows. */
export type Entry = Omit<wire.EntryFacts, "unavailable" | keyof wire.PageEntry> &
  Omit<wire.PageEntry, "entry"> & {
    /** Whether a task has a stack of its own. */
    stackful: boolean;
    growth?: Growth;
  };

/** Where there is a line. */
export type Growth = wire.Growth & { base_bytes: number; bytes_per_task: number };

export interface Figure {
  median: number;
  min: number;
  max: number;
  /** Median absolute deviation as a share of the median; absent for one reading. */
  mad?: number;
  readings: number;
}

/** Seconds of launch, plateau and drain. */
export type Phases = [number, number, number];

/** With its figures by the fields of metrics. */
export type Row = Omit<wire.PageRow, "figures"> & { figures: Record<string, Figure | undefined> };

/** Every single run of one part of a campaign: read when it is first asked for. */
export type Samples = Omit<wire.Samples, "started_at"> & { started_at: string[] };
