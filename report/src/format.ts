// Formats values as taskscale's own tables do. Both are tested with the cases of test/formats.json.

import type { Unit } from "./wire.ts";

/** A value with this many decimals. Ties round to the even digit. */
function fixed(value: number, decimals: number): string {
  const exact = value.toFixed(decimals + 30);
  const down = exact.slice(0, -30).replace(/\.$/, "");
  return /50{29}$/.test(exact) && /[02468]$/.test(down) ? down : value.toFixed(decimals);
}

export function grouped(value: number, decimals = 0): string {
  if (!Number.isFinite(value)) return "?";
  const [whole = "0", fraction] = fixed(Math.abs(value), decimals).split(".");
  const text = whole.replace(/\B(?=(\d{3})+$)/g, ",") + (fraction === undefined ? "" : `.${fraction}`);
  return value < 0 && /[1-9]/.test(text) ? `-${text}` : text;
}

/** Significant digits: `1,230`, `0.251`. */
export function significant(value: number, digits = 3): string {
  if (value === 0 || !Number.isFinite(value)) return grouped(value);
  // Of the rounded value: 9.996 becomes 10.0, with two digits before the point.
  const power = Number(value.toExponential(digits - 1).split("e")[1]);
  const decimals = digits - 1 - power;
  if (decimals >= 0) return grouped(value, decimals);
  const unit = 10 ** -decimals;
  return grouped(Math.round(value / unit) * unit);
}

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/** `217 MiB`, `2.59 GiB`. */
export function bytes(value: number): string {
  if (value < 0) return `-${bytes(-value)}`;
  if (value < 1024) return `${grouped(Math.floor(value)).replace(",", "")} B`;
  let [size, unit] = [value, 0];
  while (size >= 1023.5 && unit < SIZES.length - 1) [size, unit] = [size / 1024, unit + 1];
  return `${fixed(size, size < 9.995 ? 2 : size < 99.95 ? 1 : 0)} ${SIZES[unit]}`;
}

/** `94 ms`, `3.26 s`, `2 m 05 s`. */
export function seconds(value: number): string {
  if (!Number.isFinite(value)) return "?";
  if (value < 0) return `-${seconds(-value)}`;
  if (value === 0) return "0 s";
  if (value < 0.9995e-3) return `${fixed(value * 1e6, 0)} µs`;
  if (value < 99.5e-3) return `${fixed(value * 1e3, value < 9.95e-3 ? 1 : 0)} ms`;
  if (value < 59.95) return `${fixed(value, value < 9.995 ? 2 : 1)} s`;
  const [whole, units] = value < 3599.5 ? [value, "ms"] : [value / 60, "hm"];
  const rounded = Math.round(whole);
  const rest = String(rounded % 60).padStart(2, "0");
  return `${Math.floor(rounded / 60)} ${units[0]} ${rest} ${units[1]}`;
}

/** Bytes, never converted to KiB: `2,775 B`, `15.6 B`. */
export const perTask = (value: number): string => `${grouped(value, Math.abs(value) < 99.95 ? 1 : 0)} B`;

export const nanoseconds = (value: number): string => `${significant(value)} ns`;

/** Writes a value with its unit, by unit of the metric. */
export const UNITS: Record<Unit, (value: number) => string> = {
  bytes,
  "bytes-per-task": perTask,
  seconds,
  nanoseconds,
  // Integers are bounds of buckets: `64 µs`, not `64.0 µs`.
  microseconds: (value) =>
    value < 99.95 && !Number.isInteger(value) ? `${significant(value)} µs` : seconds(value / 1e6),
  "per-second": (value) => `${significant(value)}/s`,
};

const DURATIONS: [number, string][] = [
  [1e-6, "µs"],
  [1e-3, "ms"],
  [1, "s"],
];
const LADDERS: Partial<Record<Unit, [number, string][]>> = {
  bytes: SIZES.map((name, power) => [1024 ** power, name]),
  seconds: DURATIONS,
  microseconds: DURATIONS.map(([size, name]) => [size * 1e6, name]),
};

/** Writes all ticks of an axis in one unit, that of the median value. `unit`: its size. */
export function alike(of: Unit, values: number[]): { tick: (value: number) => string; unit: number } {
  const sizes = values.filter((value) => value > 0).sort((a, b) => a - b);
  const middle = sizes[Math.floor(sizes.length / 2)] ?? 0;
  const ladder = LADDERS[of] ?? [];
  const found = [...ladder].reverse().find(([size]) => middle >= size * 0.9995) ?? ladder[0];
  if (!found) return { tick: UNITS[of], unit: 1 };
  const [unit, name] = found;
  const show = (size: number) =>
    size >= 1000 || name === "B" ? grouped(size) : significant(size, size < 1 ? 2 : 3);
  return { tick: (value) => `${show(value / unit)} ${name}`, unit };
}

/** `1`, `10k`, `2.5k`, `1M`: short where three digits or fewer are exact. */
export function count(value: number): string {
  for (const [unit, suffix] of [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    if (value < unit || value >= unit * 1000) continue;
    const decimals = 3 - String(Math.floor(value / unit)).length;
    if (value % (unit / 10 ** decimals) === 0) return `${Number((value / unit).toFixed(decimals))}${suffix}`;
  }
  return grouped(value);
}

export const tasks = (value: number): string => `${count(value)} ${value === 1 ? "task" : "tasks"}`;

/** `×12.2`. */
export const times = (value: number): string => `×${significant(value)}`;

export const percent = (share: number): string => `${grouped(share * 100, 1)}%`;

export function counted(value: number, noun: string): string {
  const plural = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${grouped(value)} ${value === 1 ? noun : plural}`;
}

/** `2026-11-21 05:12 UTC`, from seconds since 1970. */
export const day = (seconds: number): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** A command line, quoted for a shell. */
export function command(words: string[]): string {
  const quoted = (word: string) =>
    /^[\w\-./,:=@%+{}]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  return words.map(quoted).join(" ");
}

/** Drops trailing zeros after the decimal point: `1.50 MiB` becomes `1.5 MiB`. */
export const withoutZeros = (text: string): string =>
  text.replace(/\.0+(?= |$)/, "").replace(/(\.\d*?)0+(?= )/, "$1");

/** Grid positions from 0 up to `max`, in at most `wanted` steps that are round multiples of `unit`. */
export function ticks(max: number, unit = 1, wanted = 5): number[] {
  if (!(max > 0)) return [0];
  const rough = max / unit / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power * unit;
  const found = [];
  for (let at = 0; at <= max * 1.0001; at += step) found.push(at);
  return found;
}

/** Grid positions of a logarithmic axis: powers of the smallest base that gives at most 7. */
export function logTicks(low: number, high: number, binary: boolean): number[] {
  for (const base of binary ? [2, 4, 16, 64, 1024] : [2, 10, 100, 1000]) {
    const found = [];
    for (let power = Math.ceil(Math.log(low) / Math.log(base)); base ** power <= high; power += 1) {
      found.push(base ** power);
    }
    if (found.length <= 7) return found;
  }
  return [];
}
