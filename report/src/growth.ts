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
export function offLine(growth: Growth): string {
  if (growth.worst_tasks === undefined) return "";
  const at = ` at ${format.count(growth.worst_tasks)}`;
  if (growth.worst_off === undefined) return `below 0${at}`;
  const percent = Math.abs(growth.worst_off * 100);
  const sign = growth.worst_off < 0 ? "−" : "+";
  return `${sign}${format.grouped(percent, percent < 9.95 ? 1 : 0)} %${at}`;
}

/** What is said in place of a line that is none. */
export function noLine(growth: Growth): string {
  return `no line: ${farthest(growth)}; ${steps(growth)}`;
}

function farthest({ worst_tasks, worst_off }: Growth): string {
  const at = format.count(worst_tasks ?? 0);
  if (worst_off === undefined) return `at ${at} it is below 0`;
  const side = worst_off > 0 ? "above" : "below";
  return `at ${at} the median lies ${format.grouped(Math.abs(worst_off * 100), 0)} % ${side} it`;
}

/** What a task more took from each number of tasks to the next. */
export function steps(growth: Growth): string {
  const texts = growth.steps.map(
    (step, at) => `${format.perTask(step)} to ${format.count(growth.tasks[at + 1] ?? 0)}`,
  );
  return `from ${format.count(growth.tasks[0] ?? 0)} on a task more takes ${texts.join(", ")}`;
}
