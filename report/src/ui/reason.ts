// Reasons with commands that can be copied to a terminal.

import { fill, h } from "../dom.ts";
import { copied } from "./elements.ts";

/** A reason with each command between backticks as code, and a button that copies it. */
export function spelled(reason: string): (Node | string)[] {
  // Text and commands alternate. With an unpaired backtick, all is text.
  const pieces = reason.split("`");
  if (pieces.length % 2 === 0) return [reason];
  return pieces.flatMap((piece, at): (Node | string)[] => (at % 2 === 0 ? [piece] : command(piece)));
}

function command(text: string): Node[] {
  const onclick = async () => fill(copy, (await copied(text)) ? "Copied" : "Not allowed: select the text");
  const copy = h("button", { class: "copy", "aria-label": `Copy ${text}`, onclick }, "Copy");
  return [h("code", {}, text), copy];
}
