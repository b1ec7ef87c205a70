// Sources in colour. Tokens become elements with text nodes: no markup is made from a source.

import cpp from "highlight.js/lib/languages/cpp";
import crystal from "highlight.js/lib/languages/crystal";
import csharp from "highlight.js/lib/languages/csharp";
import elixir from "highlight.js/lib/languages/elixir";
import erlang from "highlight.js/lib/languages/erlang";
import go from "highlight.js/lib/languages/go";
import haskell from "highlight.js/lib/languages/haskell";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import kotlin from "highlight.js/lib/languages/kotlin";
import nim from "highlight.js/lib/languages/nim";
import ocaml from "highlight.js/lib/languages/ocaml";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import scala from "highlight.js/lib/languages/scala";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import { createLowlight } from "lowlight";
import { h } from "./dom.ts";

const grammars = {
  cpp,
  crystal,
  csharp,
  elixir,
  erlang,
  go,
  haskell,
  ini,
  java,
  kotlin,
  nim,
  ocaml,
  php,
  python,
  ruby,
  rust,
  scala,
  typescript,
  xml,
};
const lowlight = createLowlight(grammars);

const BY_ENDING: Record<string, keyof typeof grammars> = {
  c: "cpp",
  h: "cpp",
  cc: "cpp",
  cpp: "cpp",
  hpp: "cpp",
  cr: "crystal",
  cs: "csharp",
  ex: "elixir",
  exs: "elixir",
  erl: "erlang",
  go: "go",
  hs: "haskell",
  toml: "ini",
  java: "java",
  js: "typescript",
  mjs: "typescript",
  ts: "typescript",
  kt: "kotlin",
  nim: "nim",
  ml: "ocaml",
  php: "php",
  py: "python",
  rb: "ruby",
  rs: "rust",
  scala: "scala",
  xml: "xml",
  csproj: "xml",
};

type Parent = ReturnType<typeof lowlight.highlight>;
type Child = Parent["children"][number];

/** The text of a file as code; plain where its language is not known. */
export function code(path: string, text: string): HTMLElement {
  const language = BY_ENDING[path.split(".").at(-1) ?? ""];
  const element = h("code", {});
  if (!language) {
    element.append(text);
  } else {
    element.append(...lowlight.highlight(language, text).children.flatMap(node));
  }
  return element;
}

function node(child: Child): Node[] {
  if (child.type === "text") return [document.createTextNode(child.value)];
  if (child.type !== "element") return [];
  const names = child.properties.className;
  const element = h("span", { class: Array.isArray(names) ? names.join(" ") : "" });
  element.append(...child.children.flatMap((inner) => node(inner as Child)));
  return [element];
}
