// Long lists: their beginning, and a button for the rest.

import { h } from "../dom.ts";
import * as format from "../format.ts";

/** With more rows than this, a list per kind starts with `FIRST` rows, and a single list with `MANY`. */
export const MANY = 40;
export const FIRST = 8;

export function moreButton(left: number, what: string, onclick: () => void): Node | false {
  const attributes = { class: "button quiet more-rows", onclick };
  return left > 0 && h("button", attributes, `${format.grouped(left)} more${what}`);
}
