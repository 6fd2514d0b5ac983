import assert from "node:assert/strict";
import { test } from "node:test";
import { parseToolCalls } from "./parse-tool-calls.ts";
import { renderToolContract } from "./render-tool-contract.ts";
import type { JsonObject } from "./tool-call.ts";

const contract = (parameters: JsonObject, name = "t"): string => {
  const text = renderToolContract([{ name, parameters }]);
  return text.slice(text.indexOf("```typescript\n") + "```typescript\n".length, text.lastIndexOf("\n```"));
};
const object = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: "object",
  properties,
  required,
});

test("the format is taught first, then examples, then the tools", () => {
  const text = renderToolContract([{ name: "ls", description: "Lists a folder." }]);
  const places = [
    "exactly ```tool",
    "exactly one JSON object",
    "write a line break as \\n",
    "# Examples",
    "# Tools",
    "declare function ls",
  ];
  const positions = places.map((part) => text.indexOf(part));
  assert.ok(positions.every((position) => position !== -1));
  assert.deepEqual(
    positions,
    positions.toSorted((a, b) => a - b),
  );
});

test("the examples are real calls of the first tools, with their required arguments", () => {
  const parameters = object(
    { path: { type: "string" }, lines: { type: "integer" }, mode: { enum: ["r", "w"] }, more: {} },
    ["path", "lines", "mode"],
  );
  const text = renderToolContract([{ name: "read", parameters }, { name: "ls" }]);
  const { calls, errors } = parseToolCalls(text.slice(0, text.indexOf("# Tools")).slice(text.indexOf("# Examples")), {
    profile: "strict",
  });
  assert.deepEqual(errors, []);
  assert.deepEqual(
    calls.map((call) => call.name),
    ["read", "read", "ls"],
  );
  assert.deepEqual(calls[0]?.args, { path: "…", lines: 1, mode: "r" });
});

test("required arguments come first, unusual names are quoted, descriptions are comments", () => {
  const parameters = object(
    {
      "odd name": { type: "boolean", description: "Ends */ here." },
      path: { type: "string", description: "Where.\nExactly." },
    },
    ["path"],
  );
  assert.equal(
    contract(parameters),
    `declare function t(args: {
  /**
   * Where.
   * Exactly.
   */
  path: string;
  /** Ends *\\/ here. */
  "odd name"?: boolean;
}): string;`,
  );
});

test("enums, constants, unions, arrays, tuples, maps and nested objects have their types", () => {
  const text = contract(
    object({
      mode: { enum: ["a", 1, null] },
      kind: { const: "x" },
      id: { type: ["string", "null"] },
      either: {
        anyOf: [{ type: "string" }, { type: "array", items: { oneOf: [{ type: "number" }, { type: "boolean" }] } }],
      },
      both: { allOf: [object({ a: { type: "string" } }), { $ref: "#/nowhere" }] },
      pair: { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }] },
      map: { type: "object", additionalProperties: { type: "number" } },
      open: { type: "object" },
      closed: { type: "object", properties: {}, additionalProperties: false },
      inner: object({ n: { type: "integer", minimum: 1, default: 2 } }, ["n"]),
      any: {},
      never: false,
    }),
  );
  for (const line of [
    'mode?: "a" | 1 | null;',
    'kind?: "x";',
    "id?: string | null;",
    "either?: string | (number | boolean)[];",
    "} & unknown;",
    "pair?: [string, number];",
    "    [key: string]: number;",
    "    [key: string]: unknown;",
    "closed?: {};",
    "    /** Whole number. minimum: 1 default: 2 */\n    n: number;",
    "any?: unknown;",
    "never?: never;",
  ]) {
    assert.ok(text.includes(line), `${line}\nis not in\n${text}`);
  }
});

test("references become shared types, and a schema may refer to itself", () => {
  const node = object({ kids: { type: "array", items: { $ref: "#/$defs/Node" } }, up: { $ref: "#" } });
  const text = contract({ ...object({ tree: { $ref: "#/$defs/Node" } }, ["tree"]), $defs: { Node: node } });
  assert.equal(text.match(/type Node = /g)?.length, 1);
  assert.ok(text.includes("kids?: Node[];") && text.includes("up?: t_args;") && text.includes("tree: Node;"));
  assert.equal(text.match(/type t_args = /g)?.length, 1);
});

test("two tools share a type of the same definition and not one of the same name only", () => {
  const using = (node: JsonObject): JsonObject => ({
    ...object({ a: { $ref: "#/$defs/Node" } }),
    $defs: { Node: node },
  });
  const same = renderToolContract([
    { name: "a", parameters: using({ type: "string" }) },
    { name: "b", parameters: using({ type: "string" }) },
    { name: "c", parameters: using({ type: "number" }) },
  ]);
  assert.equal(same.match(/type Node = string;/g)?.length, 1);
  assert.ok(same.includes("type Node_2 = number;"));
});

test("a schema that nests without end or refers nowhere is cut off, not followed", () => {
  let deep: JsonObject = { type: "string" };
  for (let level = 0; level < 200; level += 1) deep = object({ a: deep });
  assert.ok(contract(deep).includes("unknown"));
  assert.ok(
    contract(object({ a: { $ref: "https://elsewhere" }, b: { $ref: "#/$defs/__proto__" } })).includes(
      "a?: unknown;\n  b?: unknown;",
    ),
  );
});

test("a tool whose name is no identifier is declared with the name to use", () => {
  assert.equal(contract({}, "list-dir"), '// "name": "list-dir"\ndeclare function list_dir(args?: {}): string;');
});

test("without tools the contract says so", () => {
  assert.match(renderToolContract([]), /no tools/);
});
