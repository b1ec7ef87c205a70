// Syntax highlighting. Tokens become elements with text nodes, so a source is never parsed as markup.

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

/** Languages: name, grammar and file name extensions. */
const LANGUAGES: [name: string, grammar: typeof cpp, ...endings: string[]][] = [
  ["cpp", cpp, "c", "h", "cc", "cpp", "hpp"],
  ["crystal", crystal, "cr"],
  ["csharp", csharp, "cs"],
  ["elixir", elixir, "ex", "exs"],
  ["erlang", erlang, "erl"],
  ["go", go, "go"],
  ["haskell", haskell, "hs"],
  ["ini", ini, "toml"],
  ["java", java, "java"],
  ["kotlin", kotlin, "kt"],
  ["nim", nim, "nim"],
  ["ocaml", ocaml, "ml"],
  ["php", php, "php"],
  ["python", python, "py"],
  ["ruby", ruby, "rb"],
  ["rust", rust, "rs"],
  ["scala", scala, "scala"],
  ["typescript", typescript, "js", "mjs", "ts"],
  ["xml", xml, "xml", "csproj"],
];
const lowlight = createLowlight(Object.fromEntries(LANGUAGES.map(([name, grammar]) => [name, grammar])));

type Child = ReturnType<typeof lowlight.highlight>["children"][number];

/** The text of a file, highlighted if its language is known. */
export function code(path: string, text: string): HTMLElement {
  const ending = path.split(".").at(-1) ?? "";
  const language = LANGUAGES.find(([, , ...endings]) => endings.includes(ending));
  return h("code", {}, language ? lowlight.highlight(language[0], text).children.flatMap(node) : text);
}

function node(child: Child): Node[] {
  if (child.type === "text") return [document.createTextNode(child.value)];
  if (child.type !== "element") return [];
  const names = child.properties.className;
  const inner = child.children.flatMap((inner) => node(inner as Child));
  return [h("span", { class: Array.isArray(names) ? names.join(" ") : "" }, inner)];
}
