// How the footprint of an entry grows, in words: also where it does not grow along a line.

import * as format from "./format.ts";
import type { Growth } from "./types.ts";

/** Whether what was measured says that the line is none. */
export function bent(growth: Growth | undefined): boolean {
  return growth?.straight === false;
}

/** Bytes per task, marked where they are of a line that is none. */
export function slope(growth: Growth): string {
  return `${bent(growth) ? "≈" : ""}${format.perTask(growth.bytes_per_task)}`;
}

/** `+70 % at 100k`: how far the median lies off the line where it is farthest. */
export function offLine({ worst }: Growth): string {
  if (!worst) return "";
  const at = ` at ${format.count(worst.tasks)}`;
  if (worst.off === null) return `below 0${at}`;
  const percent = Math.abs(worst.off * 100);
  const sign = worst.off < 0 ? "−" : "+";
  return `${sign}${format.grouped(percent, percent < 9.95 ? 1 : 0)} %${at}`;
}

/** What is said in place of a line that is none. */
export function noLine(growth: Growth): string {
  return `no line: ${farthest(growth)}; ${steps(growth)}`;
}

function farthest({ worst }: Growth): string {
  const at = format.count(worst?.tasks ?? 0);
  if (!worst || worst.off === null) return `at ${at} it is below 0`;
  const side = worst.off > 0 ? "above" : "below";
  return `at ${at} the median lies ${format.grouped(Math.abs(worst.off * 100), 0)} % ${side} it`;
}

/** What a task more took from each number of tasks to the next. */
export function steps({ steps }: Growth): string {
  const texts = steps.map(
    (step) => `${format.perTask(step.bytes_per_task)} to ${format.count(step.to_tasks)}`,
  );
  return `from ${format.count(steps[0]?.from_tasks ?? 0)} on a task more takes ${texts.join(", ")}`;
}
