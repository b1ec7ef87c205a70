// What is looked at, and how it stands in the address: only what differs from the default, so that links stay short.

import { headline, metricsOf } from "./metrics.ts";
import type { Campaign, PageData, Shape } from "./types.ts";

export interface State {
  /** Workload, parameters and CPUs: one part of what was measured. */
  part: string;
  /** Number of tasks. */
  n: number;
  metric: string;
  /** Positions of the campaigns that are shown, all of the part. */
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
  /** Entries that the overview sets beside each other. */
  pinned: string[];
  sort: string;
  descending: boolean;
  /** The table shows every number of tasks. */
  everyN: boolean;
  /** The entry whose details are open. */
  entry: string;
}

/** Two are set beside each other. */
const PINS = 2;

/** With an entry pinned, or no longer: the one that was pinned first makes room. */
export function pin(pinned: string[], name: string): string[] {
  return pinned.includes(name) ? pinned.filter((other) => other !== name) : [...pinned, name].slice(-PINS);
}

/** What is shown at a time: campaigns are compared part by part. */
export function parts(data: PageData): string[] {
  return [...new Set(data.campaigns.map((campaign) => campaign.part))];
}

/** The part that a page opens with: the first. */
const firstPart = (data: PageData): string => data.campaigns[0]?.part ?? "";

/** Positions of the campaigns that measured a part. */
export function campaignsOf(data: PageData, part: string): number[] {
  return data.campaigns.flatMap((campaign, position) => (campaign.part === part ? [position] : []));
}

/** Where a campaign stands among those of its part, from 0. */
export function placeOf(data: PageData, position: number): number {
  return campaignsOf(data, data.campaigns[position]?.part ?? "").indexOf(position);
}

/** The campaign that the others of a part are compared with. */
function firstOf(data: PageData, part: string): Campaign | undefined {
  return data.campaigns.find((campaign) => campaign.part === part);
}

export function shapeOf(data: PageData, part: string): Shape {
  return firstOf(data, part)?.shape ?? "hold";
}

export function workloadOf(data: PageData, part: string): string {
  return firstOf(data, part)?.workload ?? "";
}

/** How tasks of a part waited, or what its operation is. */
export function scenarioOf(data: PageData, part: string): string {
  return firstOf(data, part)?.scenario ?? "";
}

/** Numbers of tasks of a part, ascending. */
export function tasksOf(data: PageData, part: string): number[] {
  const all = campaignsOf(data, part).flatMap((position) => data.campaigns[position]?.tasks ?? []);
  return [...new Set(all)].sort((a, b) => a - b);
}

/** The number of tasks that stands for a part: the least of those that its campaigns name, so that each has it. */
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

/** The same view of another part, as far as that has it: filters stay, as do the N and the metric where it has them. */
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
    // The table of another shape has other columns, and lines are named after other campaigns.
    sort: alike ? state.sort : plain.sort,
    descending: alike && state.descending,
    hidden: [],
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
  const asked = words.get("part") ?? "";
  // What addresses had before there were parts.
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

/** The address of a state: empty for the default. */
export function toHash(data: PageData, state: State): string {
  const plain = initial(data, state.part);
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
