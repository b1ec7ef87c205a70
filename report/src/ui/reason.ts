// Why something has no figure, as it can be acted on: commands stand out, and can be taken to a terminal.

import { fill, h } from "../dom.ts";

/** A reason with each command between backticks as code, and a button that copies it. */
export function spelled(reason: string): (Node | string)[] {
  // Text and commands in turn; a backtick without a second one is a backtick.
  const pieces = reason.split("`");
  if (pieces.length % 2 === 0) return [reason];
  return pieces.flatMap((piece, at): (Node | string)[] => (at % 2 === 0 ? [piece] : command(piece)));
}

function command(text: string): Node[] {
  const copy = h("button", { type: "button", class: "copy", "aria-label": `Copy ${text}` }, "Copy");
  copy.addEventListener("click", async () => {
    const copied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    fill(copy, copied ? "Copied" : "Not allowed: select the text");
  });
  return [h("code", {}, text), copy];
}
