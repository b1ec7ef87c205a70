// What entries can be compared by.

import * as format from "./format.ts";
import type { Entry, Figure, FigureName, Row, Shape } from "./types.ts";

export interface Value {
  value: number;
  /** Smallest and largest reading, or the bounds of an interval; none of a single reading. */
  low?: number;
  high?: number;
  figure?: Figure;
}

export interface Metric {
  id: string;
  title: string;
  /** Over a column, where the title is too long for that. */
  short?: string;
  /** One sentence: what it is. */
  about: string;
  show: (value: number) => string;
  /** Whether it is a size in bytes. */
  binary: boolean;
  /** Whether memory sources must agree for a comparison. */
  memory: boolean;
  /** Whether it is of the entry as a whole, not of one number of tasks. */
  whole: boolean;
  /** Which of two values is the better one. */
  better: "less" | "more";
  /** The shapes of workload that have it. */
  shapes: readonly Shape[];
  /** Whether it is of one operation. */
  perOperation: boolean;
  of: (entry: Entry, row: Row | undefined) => Value | undefined;
}

function spread(name: FigureName) {
  return (_: Entry, row: Row | undefined): Value | undefined => {
    const figure = row?.figures[name];
    if (!figure) return undefined;
    if (figure.readings < 2) return { value: figure.median, figure };
    return { value: figure.median, low: figure.min, high: figure.max, figure };
  };
}

function growth(name: "bytes_per_task" | "base_bytes") {
  return (entry: Entry): Value | undefined => {
    const value = entry.growth?.[name];
    if (value === undefined) return undefined;
    const interval = entry.growth?.[`${name}_interval`];
    return interval ? { value, low: interval.low, high: interval.high } : { value };
  };
}

const HOLD: readonly Shape[] = ["hold", "wake"];
const WAKE: readonly Shape[] = ["wake"];
const WORK: readonly Shape[] = ["work"];
const SERVE: readonly Shape[] = ["serve"];
/** Memory is read while all tasks are there and at rest. */
const REST: readonly Shape[] = [...HOLD, ...SERVE];
const ALL: readonly Shape[] = [...REST, ...WORK];

const plain = { binary: false, memory: false, whole: false, better: "less", perOperation: false } as const;
const memory = { ...plain, show: format.bytes, binary: true, memory: true, shapes: REST };
const time = { ...plain, show: format.seconds, shapes: REST };
const late = { ...plain, show: format.microseconds, shapes: WAKE };
const message = { ...plain, show: format.microseconds, shapes: SERVE };
const operation = { ...plain, show: format.nanoseconds, shapes: WORK, perOperation: true };

/** In the order in which they are offered: the first of a shape is what entries are ranked by unless it is changed. */
export const METRICS: Metric[] = [
  {
    ...operation,
    id: "wall-op",
    title: "Wall time per operation",
    short: "Wall/op",
    about: "Wall time per operation: (time for 2N operations − time for N) ÷ N.",
    of: spread("wall_ns_per_op"),
  },
  {
    ...operation,
    id: "cpu-op",
    title: "CPU time per operation",
    short: "CPU/op",
    about: "CPU time per operation, over all threads: (time for 2N operations − time for N) ÷ N.",
    of: spread("cpu_ns_per_op"),
  },
  {
    ...operation,
    id: "ops",
    title: "Operations per second",
    short: "Ops/s",
    about: "1 ÷ wall time per operation. More is better.",
    show: format.perSecond,
    better: "more",
    of: spread("ops_per_s"),
  },
  {
    ...memory,
    id: "footprint",
    title: "Footprint",
    about: "All memory while all tasks wait, including kernel memory.",
    of: spread("footprint_bytes"),
  },
  {
    ...plain,
    id: "cpu-tick",
    title: "CPU time per wake-up",
    short: "CPU/wake-up",
    about: "CPU time of all threads per wake-up, while all tasks are alive.",
    show: format.nanoseconds,
    shapes: WAKE,
    of: spread("cpu_ns_per_tick"),
  },
  {
    ...late,
    id: "late-p50",
    title: "Lateness, median",
    short: "Late p50",
    about: "Delay of wake-ups: the median, rounded up to a power of two.",
    of: spread("late_p50_us"),
  },
  {
    ...late,
    id: "late-p99",
    title: "Lateness, 99th percentile",
    short: "Late p99",
    about: "Delay of wake-ups: the 99th percentile, rounded up to a power of two.",
    of: spread("late_p99_us"),
  },
  {
    ...late,
    id: "late-max",
    title: "Lateness, maximum",
    short: "Late max",
    about: "Delay of wake-ups: the maximum, rounded up to a power of two.",
    of: spread("late_max_us"),
  },
  {
    ...message,
    id: "cpu-message",
    title: "CPU time per message",
    short: "CPU/message",
    about: "CPU time of the server per message at 50% of its capacity, or at --rate.",
    of: spread("cpu_us_per_message"),
  },
  {
    ...message,
    id: "cpu-capacity",
    title: "CPU time per message at capacity",
    short: "CPU/message at capacity",
    about: "CPU time of the server per message in the closed loop.",
    of: spread("cpu_us_at_capacity"),
  },
  {
    ...message,
    id: "cpu-delivery",
    title: "CPU time per delivery",
    short: "CPU/delivery",
    about: "CPU time of the server per delivery of a message to a member of a room.",
    of: spread("cpu_us_per_delivery"),
  },
  {
    ...message,
    id: "latency-p50",
    title: "Latency, median",
    short: "p50",
    about:
      "Time from the scheduled send time until every receiver has the message, at 50% of capacity or at --rate: median.",
    of: spread("latency_p50_us"),
  },
  {
    ...message,
    id: "latency-p99",
    title: "Latency, 99th percentile",
    short: "p99",
    about: "Time from the scheduled send time until every receiver has the message: 99th percentile.",
    of: spread("latency_p99_us"),
  },
  {
    ...message,
    id: "latency-max",
    title: "Latency, maximum",
    short: "max",
    about: "Time from the scheduled send time until every receiver has the message: maximum.",
    of: spread("latency_max_us"),
  },
  {
    ...message,
    id: "messages",
    title: "Messages per second",
    short: "Messages/s",
    about: "The capacity: the rate of the closed loop, with the clients on the same CPUs. More is better.",
    show: format.perSecond,
    better: "more",
    of: spread("messages_per_s"),
  },
  {
    ...message,
    id: "connects",
    title: "Connections accepted per second",
    short: "Connects/s",
    about: "Connections ÷ time until all are accepted. More is better.",
    show: format.perSecond,
    better: "more",
    of: spread("connects_per_s"),
  },
  {
    ...memory,
    id: "loaded",
    title: "Footprint after use",
    short: "After use",
    about: "All memory right after the open loops, including kernel memory.",
    shapes: SERVE,
    of: spread("loaded_bytes"),
  },
  {
    ...memory,
    id: "client-kernel",
    title: "Kernel memory of the clients",
    short: "Clients' kernel",
    about: "Kernel memory of the clients' ends of the connections. The server's footprint excludes it.",
    shapes: SERVE,
    of: spread("client_kernel_bytes"),
  },
  {
    ...memory,
    id: "peak",
    title: "Peak memory",
    about: "Highest memory of the whole run, including kernel memory.",
    shapes: ALL,
    of: spread("peak_bytes"),
  },
  {
    ...memory,
    id: "rss",
    title: "Peak RSS",
    about:
      "Highest resident memory of any one process, as other benchmarks report it. Excludes kernel memory.",
    shapes: ALL,
    of: spread("rss_peak_bytes"),
  },
  {
    ...memory,
    id: "footprint",
    title: "Footprint when ready",
    short: "When ready",
    about:
      "All memory when the program is ready and its work begins, including kernel memory. Peak memory includes the work.",
    shapes: WORK,
    of: spread("footprint_bytes"),
  },
  {
    ...memory,
    id: "task",
    title: "Bytes per task",
    about:
      "Growth of the footprint per task: the slope over N, without the fixed cost. Intervals are 95%. ~ marks memory that is not linear in N: a median is over 10% off the fit.",
    show: format.perTask,
    whole: true,
    of: growth("bytes_per_task"),
  },
  {
    ...memory,
    id: "base",
    title: "Fixed cost",
    about: "Footprint of the program before its first task, by the same fit. Intervals are 95%.",
    whole: true,
    of: growth("base_bytes"),
  },
  {
    ...time,
    id: "launch",
    title: "Launch time",
    about: "Time from the program's start until all N tasks are alive.",
    of: spread("launch_s"),
  },
  {
    ...time,
    id: "launch",
    title: "Launch time",
    about: "Time from the program's start until it is ready and its work begins.",
    shapes: WORK,
    of: spread("launch_s"),
  },
  {
    ...time,
    id: "wall",
    title: "Wall time",
    about: "Time from the program's start until its exit, including the wait.",
    of: spread("wall_s"),
  },
  {
    ...time,
    id: "cpu",
    title: "CPU time",
    about: "User and system time of all processes, over the whole run.",
    of: spread("cpu_s"),
  },
  {
    ...memory,
    id: "times",
    title: "Footprint vs best",
    short: "vs best",
    about:
      "Footprint ÷ smallest footprint shown of the same kind, or of all kinds if they are ranked together.",
    show: format.times,
    binary: false,
    of: spread("footprint_bytes"),
  },
];

/** Those that a shape of workload has. */
export function metricsOf(shape: Shape): Metric[] {
  return METRICS.filter((metric) => metric.shapes.includes(shape));
}

/** What entries are ranked by unless something else is chosen. */
export function headline(shape: Shape): Metric {
  return metricsOf(shape)[0] as Metric;
}

export function metric(id: string, shape: Shape): Metric {
  return metricsOf(shape).find((metric) => metric.id === id) ?? headline(shape);
}

/** What a footprint is made of, as drawn: from the program outwards into the kernel. */
export const PARTS = [
  { id: "anon", title: "Anonymous", about: "heaps and stacks", of: ["anon_bytes"] },
  {
    id: "file",
    title: "File and shared",
    about: "mapped files and shared memory",
    of: ["file_bytes", "shmem_bytes"],
  },
  { id: "stacks", title: "Kernel stacks", about: "of OS threads", of: ["kernel_stack_bytes"] },
  { id: "tables", title: "Page tables", about: "of the kernel", of: ["page_tables_bytes"] },
  {
    id: "slab",
    title: "Sockets, slab",
    about: "socket buffers, kernel objects, other kernel memory",
    of: ["sock_bytes", "slab_bytes", "kernel_other_bytes"],
  },
] as const;

/** Of a run, in the order of `Phases`. */
export const PHASES = [
  { id: "launch", title: "Launch", about: "until all tasks are alive" },
  { id: "plateau", title: "Plateau", about: "all tasks alive and waiting" },
  { id: "drain", title: "Drain", about: "from the first due time until exit" },
] as const;

export function parts(row: Row | undefined): number[] | undefined {
  const of = row?.parts;
  return of && PARTS.map((part) => part.of.reduce((sum, name) => sum + (of[name] ?? 0), 0));
}
