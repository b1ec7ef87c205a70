// How figures are written: as taskscale's own tables write them.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Three significant digits, more where whole numbers have them: `2.59`, `217`, `1,455`. */
export function digits(value: number): string {
  const size = Math.abs(value);
  const decimals = size === 0 || size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return grouped(value, decimals);
}

/** So many significant digits: `1,230`, `0.251`. */
export function significant(value: number, count = 3): string {
  if (value === 0) return "0";
  // Rounded first: 999.6 has a digit more than it seems to have.
  const rounded = Number(value.toPrecision(count));
  return grouped(rounded, Math.max(0, count - 1 - Math.floor(Math.log10(Math.abs(rounded)))));
}

export function grouped(value: number, decimals = 0): string {
  const [whole = "0", fraction] = value.toFixed(decimals).split(".");
  const parts = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? parts : `${parts}.${fraction}`;
}

/** `217 MiB`, `2.59 GiB`. */
export function bytes(value: number): string {
  let unit = 0;
  let size = value;
  while (Math.abs(size) >= 999.5 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? grouped(size) : digits(size)} ${UNITS[unit]}`;
}

/** How figures are written that are seen side by side: all in one unit, that of the one in the middle. */
export function alike(
  show: (value: number) => string,
  values: number[],
): { show: (value: number) => string; unit: number } {
  const sizes = values.filter((value) => value > 0).sort((a, b) => a - b);
  const middle = sizes[Math.floor(sizes.length / 2)] ?? 0;
  const units = UNITS_OF.get(show) ?? [];
  const found = [...units].reverse().find(([size]) => middle >= size * 0.9995) ?? units[0];
  if (!found) return { show, unit: 1 };
  const [unit, name] = found;
  const digitsOf = (size: number) => (Math.abs(size) < 1 ? significant(size, 2) : digits(size));
  return {
    show: (value) => `${unit === 1 && show === bytes ? grouped(value) : digitsOf(value / unit)} ${name}`,
    unit,
  };
}

const BYTES = UNITS.map((name, power): [number, string] => [1024 ** power, name]);
const SECONDS: [number, string][] = [
  [1e-6, "µs"],
  [1e-3, "ms"],
  [1, "s"],
];
const UNITS_OF = new Map([
  [bytes, BYTES],
  [seconds, SECONDS],
  [microseconds, SECONDS.map(([size, name]): [number, string] => [size * 1e6, name])],
]);

/** Bytes of a small thing, not rounded to a unit: `2,775 B`, `15.6 B`. */
export function perTask(value: number): string {
  return `${grouped(value, Math.abs(value) < 99.95 ? 1 : 0)} B`;
}

/** `94 ms`, `3.26 s`. */
export function seconds(value: number): string {
  if (value === 0) return "0 s";
  const size = Math.abs(value);
  if (size < 0.001) return `${grouped(value * 1e6)} µs`;
  if (size < 1) return `${grouped(value * 1e3, size < 0.01 ? 1 : 0)} ms`;
  return `${grouped(value, size < 100 ? 2 : 1)} s`;
}

/** `186 ns`, `1,230 ns`: what one operation takes. */
export function nanoseconds(value: number): string {
  return `${significant(value)} ns`;
}

/** `64 µs`, `2 ms`, `1.05 s`: the bound of a bucket, a power of two in microseconds. */
export function microseconds(value: number): string {
  return seconds(value / 1e6);
}

/** `5,380,000/s` */
export function perSecond(value: number): string {
  return `${significant(value)}/s`;
}

/** `1`, `10k`, `2.5k`, `1M`. */
export function count(value: number): string {
  for (const [size, unit] of [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    if (value >= size && Number.isInteger((value / size) * 100)) return `${value / size}${unit}`;
  }
  return grouped(value);
}

export function tasks(value: number): string {
  return `${count(value)} ${value === 1 ? "task" : "tasks"}`;
}

/** `×12.2`. */
export function times(value: number): string {
  return `×${value < 10 ? value.toFixed(2) : digits(value)}`;
}

export function counted(value: number, noun: string): string {
  return `${grouped(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** `2026-11-21 05:12 UTC`. */
export function day(timestamp: string): string {
  const found = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})/.exec(timestamp);
  return found ? `${found[1]} ${found[2]} UTC` : timestamp;
}

/** A command line as one could paste it into a shell. */
export function command(words: string[]): string {
  const quoted = (word: string) =>
    /^[\w\-./,:=@%+{}]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  return words.map(quoted).join(" ");
}

/** Round steps from 0 to at least `max`: positions for the lines of a grid, round in so large a unit. */
export function ticks(max: number, unit = 1, wanted = 5): number[] {
  if (!(max > 0)) return [0];
  const rough = max / unit / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power * unit;
  const found = [];
  for (let at = 0; at <= max * 1.0001; at += step) found.push(at);
  return found;
}

/** Powers of two or ten between two sizes, as many as can be read. */
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
