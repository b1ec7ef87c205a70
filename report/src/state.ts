// The state of the view, and its URL fragment. That has only what differs from the default: links stay short.

import { headline, metricsOf } from "./metrics.ts";
import type { Campaign, PageData, Shape } from "./types.ts";

export interface State {
  /** The series: workload, parameters and CPUs. */
  part: string;
  /** Number of tasks. */
  n: number;
  metric: string;
  /** Positions of the campaigns shown, all of this series. */
  campaigns: number[];
  kinds: string[];
  languages: string[];
  styles: string[];
  parallel: "" | "yes" | "no";
  stackful: "" | "yes" | "no";
  search: string;
  published: boolean;
  log: boolean;
  /** Whether entries are ranked within their kind or all together. */
  rank: "kind" | "all";
  /** Whether the scaling chart has fitted lines. */
  fit: boolean;
  /** Names of the lines that the scaling chart leaves out. */
  hidden: string[];
  /** Entries pinned for comparison in the overview. */
  pinned: string[];
  sort: string;
  descending: boolean;
  /** Whether the table shows every N, not only the selected one. */
  everyN: boolean;
  /** The entry whose details are open. */
  entry: string;
}

/** Most entries pinned at a time. */
const PINS = 2;

/** Pins an entry, or unpins it. The oldest pin makes room. */
export function pin(pinned: string[], name: string): string[] {
  return pinned.includes(name) ? pinned.filter((other) => other !== name) : [...pinned, name].slice(-PINS);
}

/** All series. The page shows one at a time, and compares campaigns within it. */
export function parts(data: PageData): string[] {
  return [...new Set(data.campaigns.map((campaign) => campaign.part))];
}

/** The series that the page opens with. */
const firstPart = (data: PageData): string => data.campaigns[0]?.part ?? "";

/** Positions of the campaigns that measured a series. */
export function campaignsOf(data: PageData, part: string): number[] {
  return data.campaigns.flatMap((campaign, position) => (campaign.part === part ? [position] : []));
}

/** Place of a campaign among those of its series, from 0. */
export function placeOf(data: PageData, position: number): number {
  return campaignsOf(data, data.campaigns[position]?.part ?? "").indexOf(position);
}

/** The campaign that the others of a series are compared with. */
function firstOf(data: PageData, part: string): Campaign | undefined {
  return data.campaigns.find((campaign) => campaign.part === part);
}

export function shapeOf(data: PageData, part: string): Shape {
  return firstOf(data, part)?.shape ?? "hold";
}

export function workloadOf(data: PageData, part: string): string {
  return firstOf(data, part)?.workload ?? "";
}

/** How the tasks of a series waited, or what its operation is. */
export function scenarioOf(data: PageData, part: string): string {
  return firstOf(data, part)?.scenario ?? "";
}

/** Numbers of tasks of a series, ascending. */
export function tasksOf(data: PageData, part: string): number[] {
  const all = campaignsOf(data, part).flatMap((position) => data.campaigns[position]?.tasks ?? []);
  return [...new Set(all)].sort((a, b) => a - b);
}

/** The N that a series opens with: the least of those that represent it in its campaigns. */
function openingTasks(data: PageData, part: string): number {
  const named = campaignsOf(data, part).flatMap((position) => data.campaigns[position]?.overview_tasks ?? []);
  return named.length > 0 ? Math.min(...named) : (tasksOf(data, part).at(-1) ?? 1);
}

export function initial(data: PageData, part = firstPart(data)): State {
  const lead = headline(data, part);
  return {
    part,
    n: openingTasks(data, part),
    metric: lead.name,
    campaigns: campaignsOf(data, part),
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
    pinned: [],
    sort: `${lead.field}_median`,
    descending: false,
    everyN: false,
    entry: "",
  };
}

/** The state for another series. Filters stay, and so do a selected N and metric if that series has them. */
export function ofPart(data: PageData, state: State, part: string): State {
  const [before, plain] = [initial(data, state.part), initial(data, part)];
  const alike = shapeOf(data, part) === shapeOf(data, state.part);
  const offered = metricsOf(data, part).some((known) => known.name === state.metric);
  const keepN = state.n !== before.n && tasksOf(data, part).includes(state.n);
  return {
    ...state,
    part,
    n: keepN ? state.n : plain.n,
    metric: offered && state.metric !== before.metric ? state.metric : plain.metric,
    campaigns: plain.campaigns,
    // Another shape has other columns, and names of lines end in letters of this series' campaigns.
    sort: alike ? state.sort : plain.sort,
    descending: alike && state.descending,
    hidden: [],
    entry: "",
  };
}

const yesNo = (value: string | null): "" | "yes" | "no" => (value === "yes" || value === "no" ? value : "");
const list = (value: string | null): string[] =>
  value ? value.split(",").filter(Boolean).map(unescaped) : [];
/** Escapes commas in a name, as they separate names. */
const escaped = (value: string): string => value.replaceAll("~", "~0").replaceAll(",", "~1");
const unescaped = (value: string): string => value.replaceAll("~1", ",").replaceAll("~0", "~");

/** The state of a URL fragment. Unknown parameters and values are ignored. */
export function fromHash(data: PageData, hash: string): State {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const asked = words.get("part") ?? "";
  // Old links name a workload in place of a series.
  const workload = words.get("workload");
  const of_workload = data.campaigns.find((campaign) => campaign.workload === workload)?.part;
  const state = initial(data, parts(data).includes(asked) ? asked : of_workload);
  const n = Number(words.get("n"));
  if (tasksOf(data, state.part).includes(n)) state.n = n;
  const metric = words.get("metric") ?? "";
  if (metricsOf(data, state.part).some((known) => known.name === metric)) state.metric = metric;
  const campaigns = list(words.get("campaigns")).flatMap((word) => state.campaigns[Number(word) - 1] ?? []);
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
  state.pinned = list(words.get("pin")).slice(0, PINS);
  const sort = words.get("sort") ?? "";
  if (sort) {
    state.descending = sort.startsWith("-");
    state.sort = sort.replace(/^-/, "");
  }
  state.everyN = words.get("table") === "all";
  state.entry = words.get("entry") ?? "";
  return state;
}

/** The URL fragment of a state. Empty for the default. */
export function toHash(data: PageData, state: State): string {
  const plain = initial(data, state.part);
  const words: string[] = [];
  // Readable links: a fragment may contain slashes and commas as they are, and spaces as `+`.
  const say = (name: string, value: string) => {
    const text = encodeURIComponent(value)
      .replaceAll("%2F", "/")
      .replaceAll("%2C", ",")
      .replaceAll("%20", "+");
    words.push(`${name}=${text}`);
  };
  const all = (values: string[]) => values.map(escaped).join(",");
  if (state.part !== firstPart(data)) say("part", state.part);
  if (state.n !== plain.n) say("n", String(state.n));
  if (state.metric !== plain.metric) say("metric", state.metric);
  if (state.campaigns.join() !== plain.campaigns.join()) {
    say("campaigns", state.campaigns.map((position) => placeOf(data, position) + 1).join(","));
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
  if (state.pinned.length) say("pin", all(state.pinned));
  if (state.sort !== plain.sort || state.descending) say("sort", (state.descending ? "-" : "") + state.sort);
  if (state.everyN) say("table", "all");
  if (state.entry) say("entry", state.entry);
  return words.join("&");
}
