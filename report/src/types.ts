// The data of the page, as its parts use it: that of `wire.ts`, put together by `data.ts`.

import type * as wire from "./wire.ts";

export type { Machine, Parts, Published, PublishedFigure } from "./wire.ts";

/** What a workload is, for the page: `wake` holds tasks as `hold` does, and they say how late they woke. */
export type Shape = wire.Shape | "wake";

export type PageData = Omit<wire.PageData, "entries" | "figures" | "campaigns"> & { campaigns: Campaign[] };

/** One campaign, or one part of it. */
export type Campaign = Omit<wire.PageCampaign, "campaign" | "shape" | "entries" | "rows"> & {
  /** What tells it from the others on this page. */
  label: string;
  shape: Shape;
  entries: Entry[];
  rows: Row[];
};

/** An entry in one part of a campaign: what it is, its program there, and how it grows. */
export type Entry = Omit<wire.EntryFacts, "unavailable" | keyof wire.PageEntry> &
  Omit<wire.PageEntry, "entry"> & {
    /** Whether a task has a stack of its own. */
    stackful: boolean;
    /** Why it could not run. */
    unavailable?: string;
    growth?: Growth;
  };

/** Where there is a line. */
export type Growth = wire.Growth & { base_bytes: number; bytes_per_task: number };

export interface Figure {
  median: number;
  min: number;
  max: number;
  mad: number;
  readings: number;
}

export type FigureName =
  | "footprint_bytes"
  | "kernel_bytes"
  | "peak_bytes"
  | "rss_peak_bytes"
  | "launch_s"
  | "wall_s"
  | "cpu_s"
  | "wall_ns_per_op"
  | "cpu_ns_per_op"
  | "ops_per_s"
  | "cpu_ns_per_tick"
  | "late_p50_us"
  | "late_p99_us"
  | "late_max_us"
  | "cpu_us_per_message"
  | "cpu_us_at_capacity"
  | "cpu_us_per_delivery"
  | "latency_p50_us"
  | "latency_p90_us"
  | "latency_p99_us"
  | "latency_p999_us"
  | "latency_max_us"
  | "messages_per_s"
  | "connects_per_s"
  | "loaded_bytes"
  | "client_kernel_bytes";

/** Seconds of launch, plateau and drain: see `PHASES`. */
export type Phases = [number, number, number];

export type Row = Omit<wire.PageRow, "figures"> & { figures: Partial<Record<FigureName, Figure>> };

/** Every single run of one part of a campaign: read when it is first asked for. */
export type Samples = Omit<wire.Samples, "started_at"> & { started_at: string[] };
