// The modules of the page have no import cycle.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { test } from "node:test";

/** The modules that each module imports, including imports of types. */
function imports(folder: string): Map<string, string[]> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  return new Map(
    files.map((name) => {
      const code = readFileSync(join(folder, name), "utf8");
      const named = [...code.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)];
      return [name, named.map((found) => normalize(join(name, "..", found[1] ?? "")))];
    }),
  );
}

/** The first cycle found, as a chain of names. Undefined without one. */
function circle(modules: Map<string, string[]>): string[] | undefined {
  const cleared = new Set<string>();
  const from = (name: string, path: string[]): string[] | undefined => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (cleared.has(name)) return undefined;
    for (const next of modules.get(name) ?? []) {
      const found = from(next, [...path, name]);
      if (found) return found;
    }
    cleared.add(name);
    return undefined;
  };
  for (const name of modules.keys()) {
    const found = from(name, []);
    if (found) return found;
  }
  return undefined;
}

test("no module of the page imports itself by way of others", () => {
  const modules = imports(join(process.env.TEST_FOLDER ?? "test", "../src"));
  // Imports were parsed correctly: each names a module, and those of `main.ts` are there.
  assert.deepEqual(
    [...modules.values()].flat().filter((name) => !modules.has(name)),
    [],
  );
  assert((modules.get("main.ts") ?? []).includes(join("ui", "ranking.ts")));
  assert.deepEqual(circle(modules), undefined);
});

test("a circle is found, however long", () => {
  const modules = new Map([
    ["a", ["b", "c"]],
    ["b", ["c"]],
    ["c", ["d"]],
    ["d", ["b"]],
  ]);
  assert.deepEqual(circle(modules), ["b", "c", "d", "b"]);
  modules.set("d", []);
  assert.equal(circle(modules), undefined);
});
