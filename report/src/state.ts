// What is looked at, and how it stands in the address: only what differs from the default, so that links stay short.

import { METRICS } from "./metrics.ts";
import type { PageData } from "./types.ts";

export interface State {
  workload: string;
  /** Number of tasks. */
  n: number;
  metric: string;
  /** Positions of the campaigns that are shown. */
  campaigns: number[];
  kinds: string[];
  languages: string[];
  styles: string[];
  parallel: "" | "yes" | "no";
  stackful: "" | "yes" | "no";
  search: string;
  published: boolean;
  log: boolean;
  /** Whether entries are ranked among those of their kind, or all together. */
  rank: "kind" | "all";
  /** Fitted lines in the scaling chart. */
  fit: boolean;
  /** Entries that the scaling chart leaves out. */
  hidden: string[];
  sort: string;
  descending: boolean;
  /** The table shows every number of tasks. */
  everyN: boolean;
  /** The entry whose details are open. */
  entry: string;
}

export function workloads(data: PageData): string[] {
  return [...new Set(data.campaigns.map((campaign) => campaign.workload))];
}

/** Positions of the campaigns that measured a workload. */
export function campaignsOf(data: PageData, workload: string): number[] {
  return data.campaigns.flatMap((campaign, position) => (campaign.workload === workload ? [position] : []));
}

/** Numbers of tasks of a workload, ascending. */
export function tasksOf(data: PageData, workload: string): number[] {
  const all = campaignsOf(data, workload).flatMap((position) => data.campaigns[position]?.tasks ?? []);
  return [...new Set(all)].sort((a, b) => a - b);
}

/** The largest number of tasks that anything was measured at. */
function largest(data: PageData, workload: string): number {
  const measured = campaignsOf(data, workload).flatMap((position) =>
    (data.campaigns[position]?.rows ?? []).map((row) => row.tasks),
  );
  return measured.length > 0 ? Math.max(...measured) : (tasksOf(data, workload).at(-1) ?? 1);
}

export function initial(data: PageData, workload = workloads(data)[0] ?? ""): State {
  return {
    workload,
    n: largest(data, workload),
    metric: "footprint",
    campaigns: campaignsOf(data, workload),
    kinds: [],
    languages: [],
    styles: [],
    parallel: "",
    stackful: "",
    search: "",
    published: true,
    log: false,
    rank: "kind",
    fit: true,
    hidden: [],
    sort: "footprint",
    descending: false,
    everyN: false,
    entry: "",
  };
}

const yesNo = (value: string | null): "" | "yes" | "no" => (value === "yes" || value === "no" ? value : "");
const list = (value: string | null): string[] =>
  value ? value.split(",").filter(Boolean).map(unescaped) : [];
/** Names may hold commas. */
const escaped = (value: string): string => value.replaceAll("~", "~0").replaceAll(",", "~1");
const unescaped = (value: string): string => value.replaceAll("~1", ",").replaceAll("~0", "~");

/** The state that an address means. What makes no sense there is as if it were not there. */
export function fromHash(data: PageData, hash: string): State {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const asked = words.get("workload") ?? "";
  const state = initial(data, workloads(data).includes(asked) ? asked : undefined);
  const n = Number(words.get("n"));
  if (tasksOf(data, state.workload).includes(n)) state.n = n;
  const metric = words.get("metric") ?? "";
  if (METRICS.some((known) => known.id === metric)) state.metric = metric;
  const campaigns = list(words.get("campaigns"))
    .map((word) => Number(word) - 1)
    .filter((position) => state.campaigns.includes(position));
  if (campaigns.length > 0) state.campaigns = [...new Set(campaigns)].sort((a, b) => a - b);
  state.kinds = list(words.get("kind"));
  state.languages = list(words.get("language"));
  state.styles = list(words.get("style"));
  state.parallel = yesNo(words.get("parallel"));
  state.stackful = yesNo(words.get("stackful"));
  state.search = words.get("search") ?? "";
  state.published = words.get("published") !== "no";
  state.log = words.get("scale") === "log";
  if (words.get("rank") === "all") state.rank = "all";
  state.fit = words.get("fit") !== "no";
  state.hidden = list(words.get("hidden"));
  const sort = words.get("sort") ?? "";
  if (sort) {
    state.descending = sort.startsWith("-");
    state.sort = sort.replace(/^-/, "");
  }
  state.everyN = words.get("table") === "all";
  state.entry = words.get("entry") ?? "";
  return state;
}

/** The address of a state: empty for the default. */
export function toHash(data: PageData, state: State): string {
  const plain = initial(data, state.workload);
  const words: string[] = [];
  // Readable: of what encodeURIComponent escapes, slashes, commas and spaces may stay in a fragment.
  const say = (name: string, value: string) => {
    const text = encodeURIComponent(value)
      .replaceAll("%2F", "/")
      .replaceAll("%2C", ",")
      .replaceAll("%20", "+");
    words.push(`${name}=${text}`);
  };
  const all = (values: string[]) => values.map(escaped).join(",");
  if (state.workload !== (workloads(data)[0] ?? "")) say("workload", state.workload);
  if (state.n !== plain.n) say("n", String(state.n));
  if (state.metric !== plain.metric) say("metric", state.metric);
  if (state.campaigns.join() !== plain.campaigns.join()) {
    say("campaigns", state.campaigns.map((position) => position + 1).join(","));
  }
  if (state.kinds.length) say("kind", all(state.kinds));
  if (state.languages.length) say("language", all(state.languages));
  if (state.styles.length) say("style", all(state.styles));
  if (state.parallel) say("parallel", state.parallel);
  if (state.stackful) say("stackful", state.stackful);
  if (state.search) say("search", state.search);
  if (!state.published) say("published", "no");
  if (state.log) say("scale", "log");
  if (state.rank === "all") say("rank", "all");
  if (!state.fit) say("fit", "no");
  if (state.hidden.length) say("hidden", all(state.hidden));
  if (state.sort !== plain.sort || state.descending) say("sort", (state.descending ? "-" : "") + state.sort);
  if (state.everyN) say("table", "all");
  if (state.entry) say("entry", state.entry);
  return words.join("&");
}
