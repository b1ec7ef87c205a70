// The axis of the ranking, on the page and in its saved picture.

import * as format from "./format.ts";

/** An axis. `at`: the position of a value as a share of the width. */
export interface Scale {
  at(value: number): number;
  ticks: number[];
  log: boolean;
}

export function scale(max: number, min: number, log: boolean, binary: boolean, unit: number): Scale {
  if (log && min > 0 && max > min) {
    const low = min / 2;
    const high = max * 1.1;
    const at = (value: number) => clamp(Math.log(Math.max(value, low) / low) / Math.log(high / low));
    return { at, ticks: format.logTicks(low, high, binary), log: true };
  }
  const ticks = format.ticks(max, unit);
  const end = Math.max(max * 1.02, Number.MIN_VALUE);
  return { at: (value) => clamp(value / end), ticks, log: false };
}

const clamp = (share: number) => Math.min(1, Math.max(0, share));
