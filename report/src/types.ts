// The types that the page uses. `data.ts` builds them from those of `wire.ts`.

import type * as wire from "./wire.ts";

export type { PageColumn as Column, PublishedFigure } from "./wire.ts";

/** A metric in one series of a campaign. */
export type Metric = wire.PageMetric & { per_task: wire.PerTaskShown | null };

export type PageData = Omit<wire.PageData, "entries" | "campaigns"> & { campaigns: Campaign[] };

/** One series of a campaign. */
export type Campaign = Omit<wire.PageCampaign, "campaign" | "shape" | "metrics" | "entries" | "rows"> & {
  /** Position in the page's campaigns. */
  position: number;
  /** Name of the campaign, unique within a series. */
  label: string;
  shape: wire.Shape;
  /** The metrics to compare entries by, in the order of the menu. */
  metrics: Metric[];
  entries: Entry[];
  rows: Row[];
  /** The rows by number of tasks and name of the entry: `1000 go/goroutine`. */
  rowByCase: Map<string, Row>;
};

/** An entry in one series of a campaign: its facts, its program, and how its footprint grows. */
export type Entry = Omit<wire.EntryFacts, "unavailable" | keyof wire.PageEntry> &
  Omit<wire.PageEntry, "entry"> & {
    /** Whether a task has a stack of its own. */
    stackful: boolean;
    growth?: Growth;
  };

/** The growth of an entry with a fitted line. */
export type Growth = wire.Growth & { base_bytes: number; bytes_per_task: number };

export interface Figure {
  median: number;
  min: number;
  max: number;
  /** Median absolute deviation ÷ median. Absent for one reading, and for a median of 0. */
  spread?: number;
  readings: number;
}

/** Seconds of launch, plateau and drain. */
export type Phases = [number, number, number];

/** A row, with its values by field name of the metric. */
export type Row = Omit<wire.PageRow, "figures"> & { figures: Record<string, Figure | undefined> };
