// The languages that are highlighted. Their grammars are known by their own names and by file name extensions.

export { default as cpp } from "highlight.js/lib/languages/cpp";
export { default as crystal } from "highlight.js/lib/languages/crystal";
export { default as csharp } from "highlight.js/lib/languages/csharp";
export { default as elixir } from "highlight.js/lib/languages/elixir";
export { default as erlang } from "highlight.js/lib/languages/erlang";
export { default as go } from "highlight.js/lib/languages/go";
export { default as haskell } from "highlight.js/lib/languages/haskell";
export { default as ini } from "highlight.js/lib/languages/ini";
export { default as java } from "highlight.js/lib/languages/java";
export { default as kotlin } from "highlight.js/lib/languages/kotlin";
export { default as nim } from "highlight.js/lib/languages/nim";
export { default as ocaml } from "highlight.js/lib/languages/ocaml";
export { default as php } from "highlight.js/lib/languages/php";
export { default as python } from "highlight.js/lib/languages/python";
export { default as ruby } from "highlight.js/lib/languages/ruby";
export { default as rust } from "highlight.js/lib/languages/rust";
export { default as scala } from "highlight.js/lib/languages/scala";
export { default as typescript } from "highlight.js/lib/languages/typescript";
export { default as xml } from "highlight.js/lib/languages/xml";
