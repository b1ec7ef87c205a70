// The types of the page's data are generated from its published schemas, and those from taskscale's own types.
// `BLESS=1 npm test` rewrites them.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const folder = process.env.TEST_FOLDER ?? "test";

interface Schema {
  title?: string;
  description?: string;
  $ref?: string;
  $defs?: Record<string, Schema>;
  const?: string;
  enum?: string[];
  type?: string | string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  prefixItems?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
}

const PLAIN: Record<string, string> = {
  integer: "number",
  number: "number",
  string: "string",
  boolean: "boolean",
};

/** The type that a schema describes. */
function type(schema: Schema): string {
  const any = schema.anyOf ?? schema.oneOf;
  if (schema.$ref) return schema.$ref.replace(/.*\//, "");
  if (any) return any.map(type).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (Array.isArray(schema.type))
    return schema.type.map((name) => type({ ...schema, type: name })).join(" | ");
  if (schema.prefixItems) return `[${schema.prefixItems.map(type).join(", ")}]`;
  if (schema.items && schema.minItems !== undefined && schema.minItems === schema.maxItems)
    return `[${Array(schema.minItems).fill(type(schema.items)).join(", ")}]`;
  if (schema.type === "array") return `Array<${type(schema.items ?? {})}>`;
  if (schema.properties) return `{\n${fields(schema)}}`;
  if (typeof schema.additionalProperties === "object")
    return `Record<string, ${type(schema.additionalProperties)}>`;
  const plain = PLAIN[schema.type ?? ""] ?? (schema.type === "null" ? "null" : undefined);
  assert(plain, `no type is known for ${JSON.stringify(schema)}`);
  return plain;
}

/** Optional fields are left out if unknown, and never null. */
function fields({ properties = {}, required = [] }: Schema): string {
  const field = ([name, schema]: [string, Schema]) =>
    required.includes(name)
      ? `${comment(schema)}${name}: ${type(schema)};\n`
      : `${comment(schema)}${name}?: ${type(schema).replace(" | null", "")};\n`;
  return Object.entries(properties).map(field).join("");
}

const comment = ({ description }: Schema) =>
  description ? `/** ${description.replace(/\s*\n\s*/g, " ").replaceAll("*/", "* /")} */\n` : "";

function declaration(name: string, schema: Schema): string {
  const said = comment(schema);
  return schema.properties
    ? `${said}export interface ${name} {\n${fields(schema)}}\n`
    : `${said}export type ${name} = ${type(schema)};\n`;
}

/** The types of several schemas, in the order of their names. */
function declarations(schemas: Schema[]): string {
  const named = new Map<string, Schema>();
  for (const schema of schemas) {
    for (const [name, of] of Object.entries({ ...schema.$defs, [schema.title ?? ""]: schema }))
      named.set(name, of);
  }
  return [...named]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => declaration(name, schema))
    .join("\n");
}

/** A text without what a formatter may change. */
const bare = (text: string) => text.replace(/\s+|;|\||,/g, "");

test("the types of the page's data are those of its schemas", () => {
  const schema = (name: string) =>
    JSON.parse(readFileSync(join(folder, "../../schema", name), "utf8")) as Schema;
  const wanted = `// The page's data as it is written. Made of schema/ by test/wire.test.ts: do not edit.\n\n${declarations(
    [schema("page.schema.json"), schema("page-samples.schema.json")],
  )}`;
  const path = join(folder, "../src/wire.ts");
  if (process.env.BLESS) writeFileSync(path, wanted);
  assert.equal(
    bare(readFileSync(path, "utf8")),
    bare(wanted),
    "`BLESS=1 npm test && npm run format` writes it anew",
  );
});
