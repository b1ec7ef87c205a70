// Syntax highlighting. Tokens become elements with text nodes, so a source is never parsed as markup.

import { createLowlight } from "lowlight";
import { h } from "./dom.ts";
import * as languages from "./languages.ts";

const lowlight = createLowlight(languages);
// Extensions that the grammars do not name.
lowlight.registerAlias({ cpp: ["c", "h"], typescript: ["js", "mjs"], xml: "csproj" });

type Child = ReturnType<typeof lowlight.highlight>["children"][number];

/** The text of a file, highlighted if its language is known. */
export function code(path: string, text: string): HTMLElement {
  const ending = path.split(".").at(-1) ?? "";
  return h(
    "code",
    {},
    lowlight.registered(ending) ? lowlight.highlight(ending, text).children.flatMap(node) : text,
  );
}

function node(child: Child): Node[] {
  if (child.type === "text") return [document.createTextNode(child.value)];
  if (child.type !== "element") return [];
  const names = child.properties.className;
  const inner = child.children.flatMap((inner) => node(inner as Child));
  return [h("span", { class: Array.isArray(names) ? names.join(" ") : "" }, inner)];
}
