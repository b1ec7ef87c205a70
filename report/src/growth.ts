// How the footprint of an entry grows, in words: also where it does not grow along a line.

import * as format from "./format.ts";
import type { Growth } from "./types.ts";

/** Whether what was measured says that the line is none. */
export function bent(growth: Growth | undefined): boolean {
  return growth?.straight === false;
}

/** Bytes per task, marked where they are of a line that is none. */
export function slope(growth: Growth): string {
  return `${bent(growth) ? "~" : ""}${format.perTask(growth.bytes_per_task)}`;
}

/** The largest deviation of a median from the fit: `+70% at 100k`. */
export function offLine({ worst }: Growth): string {
  if (!worst) return "";
  const at = ` at ${format.count(worst.tasks)}`;
  if (worst.off === null) return `below 0${at}`;
  const percent = Math.abs(worst.off * 100);
  const sign = worst.off < 0 ? "−" : "+";
  return `${sign}${format.grouped(percent, percent < 9.95 ? 1 : 0)}%${at}`;
}

/** Why memory is not linear. */
export function noLine(growth: Growth): string {
  return `not linear (${farthest(growth)}). ${steps(growth)}`;
}

function farthest({ worst }: Growth): string {
  const at = format.count(worst?.tasks ?? 0);
  if (!worst || worst.off === null) return `the fit is below 0 at ${at}`;
  const side = worst.off > 0 ? "above" : "below";
  return `the median at ${at} is ${format.grouped(Math.abs(worst.off * 100), 0)}% ${side} the fit`;
}

/** The cost of one more task from each number of tasks to the next. */
export function steps({ steps }: Growth): string {
  const texts = steps.map(
    (step) => `${format.perTask(step.bytes_per_task)} up to ${format.count(step.to_tasks)}`,
  );
  return `Cost of one more task: ${texts.join(", ")}`;
}
