// The state of the view, and its URL fragment. That has only what differs from the default: links stay short.

import { headline, leadOf, metricsOf } from "./metrics.ts";
import type { Campaign, PageData } from "./types.ts";

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

/** A list with an item added, or taken out if it is in it. */
export const toggled = <T>(list: T[], item: T): T[] =>
  list.includes(item) ? list.filter((other) => other !== item) : [...list, item];

/** Pins an entry, or unpins it. The oldest pin makes room. */
export const pin = (pinned: string[], name: string): string[] => toggled(pinned, name).slice(-PINS);

/** All series. The page shows one at a time, and compares campaigns within it. */
export function parts(data: PageData): string[] {
  return [...new Set(data.campaigns.map((campaign) => campaign.part))];
}

/** The series that the page opens with. */
const firstPart = (data: PageData): string => data.campaigns[0]?.part ?? "";

/** The campaigns that measured a series. */
export const campaignsOf = (data: PageData, part: string): Campaign[] =>
  data.campaigns.filter((campaign) => campaign.part === part);

/** Numbers of tasks of a series, ascending. */
export function tasksOf(data: PageData, part: string): number[] {
  const all = campaignsOf(data, part).flatMap((campaign) => campaign.tasks);
  return [...new Set(all)].sort((a, b) => a - b);
}

/** The N that a series opens with: the least of those that represent it in its campaigns. */
function openingTasks(data: PageData, part: string): number {
  const named = campaignsOf(data, part).flatMap((campaign) => campaign.overview_tasks ?? []);
  return named.length > 0 ? Math.min(...named) : (tasksOf(data, part).at(-1) ?? 1);
}

/** Neither filters nor a search. */
export const NO_FILTERS = {
  kinds: [],
  languages: [],
  styles: [],
  parallel: "",
  stackful: "",
  search: "",
} satisfies Partial<State>;

export function initial(data: PageData, part = firstPart(data)): State {
  const lead = headline(data, part);
  return {
    part,
    n: openingTasks(data, part),
    metric: lead.name,
    campaigns: campaignsOf(data, part).map((campaign) => campaign.position),
    ...NO_FILTERS,
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
  const alike = leadOf(data, part).shape === leadOf(data, state.part).shape;
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

const yesNo = (word: string): "" | "yes" | "no" => (word === "yes" || word === "no" ? word : "");
/** Commas separate names, so those in a name are escaped. */
const names = (all: string[]): string =>
  all.map((name) => name.replaceAll("~", "~0").replaceAll(",", "~1")).join(",");
const list = (word: string): string[] =>
  word.split(",").flatMap((name) => (name ? name.replaceAll("~1", ",").replaceAll("~0", "~") : []));

type Write = (state: State, data: PageData) => string;
type Read = (word: string, state: State, data: PageData) => Partial<State>;

/** The words of a URL fragment besides `part`, each with how it is written and read. */
const WORDS: Record<string, [Write, Read]> = {
  n: [
    ({ n }) => String(n),
    (word, { part }, data) => (tasksOf(data, part).includes(Number(word)) ? { n: Number(word) } : {}),
  ],
  metric: [
    ({ metric }) => metric,
    (metric, { part }, data) =>
      metricsOf(data, part).some((known) => known.name === metric) ? { metric } : {},
  ],
  campaigns: [
    ({ campaigns, part }, data) =>
      campaignsOf(data, part)
        .flatMap(({ position }, at) => (campaigns.includes(position) ? at + 1 : []))
        .join(","),
    (word, state) => {
      const found = new Set(list(word).flatMap((place) => state.campaigns[Number(place) - 1] ?? []));
      return found.size > 0 ? { campaigns: [...found] } : {};
    },
  ],
  kind: [({ kinds }) => names(kinds), (word) => ({ kinds: list(word) })],
  language: [({ languages }) => names(languages), (word) => ({ languages: list(word) })],
  style: [({ styles }) => names(styles), (word) => ({ styles: list(word) })],
  parallel: [({ parallel }) => parallel, (word) => ({ parallel: yesNo(word) })],
  stackful: [({ stackful }) => stackful, (word) => ({ stackful: yesNo(word) })],
  search: [({ search }) => search, (search) => ({ search })],
  published: [({ published }) => (published ? "" : "no"), (word) => ({ published: word !== "no" })],
  scale: [({ log }) => (log ? "log" : ""), (word) => ({ log: word === "log" })],
  rank: [({ rank }) => rank, (word) => ({ rank: word === "all" ? "all" : "kind" })],
  fit: [({ fit }) => (fit ? "" : "no"), (word) => ({ fit: word !== "no" })],
  hidden: [({ hidden }) => names(hidden), (word) => ({ hidden: list(word) })],
  pin: [({ pinned }) => names(pinned), (word) => ({ pinned: list(word).slice(0, PINS) })],
  sort: [
    ({ sort, descending }) => (descending ? `-${sort}` : sort),
    (word) => ({ sort: word.replace(/^-/, ""), descending: word.startsWith("-") }),
  ],
  table: [({ everyN }) => (everyN ? "all" : ""), (word) => ({ everyN: word === "all" })],
  entry: [({ entry }) => entry, (entry) => ({ entry })],
};

/** The state of a URL fragment. Unknown parameters and values are ignored. */
export function fromHash(data: PageData, hash: string): State {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const asked = words.get("part") ?? "";
  // Old links name a workload in place of a series.
  const workload = words.get("workload");
  const of_workload = data.campaigns.find((campaign) => campaign.workload === workload)?.part;
  const state = initial(data, parts(data).includes(asked) ? asked : of_workload);
  for (const [name, [, read]] of Object.entries(WORDS)) {
    const word = words.get(name);
    if (word) Object.assign(state, read(word, state, data));
  }
  return state;
}

/** The URL fragment of a state. Empty for the default. */
export function toHash(data: PageData, state: State): string {
  const plain = initial(data, state.part);
  const all = Object.entries(WORDS).map(([name, [write]]) => [name, write(state, data), write(plain, data)]);
  const words = [["part", state.part, firstPart(data)], ...all].filter(([, word, usual]) => word !== usual);
  // Readable links: a fragment may contain slashes and commas as they are, and spaces as `+`.
  const readable = (word = "") =>
    encodeURIComponent(word).replaceAll("%2F", "/").replaceAll("%2C", ",").replaceAll("%20", "+");
  return words.map(([name, word]) => `${name}=${readable(word)}`).join("&");
}
