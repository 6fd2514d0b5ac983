// The keywords of JSON Schema that hold no other schemas: types, allowed values, limits and repeats.

import { fits, type Node, Report } from "./json-schema-report.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

const typeTests: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  object: isObject,
  array: (value) => Array.isArray(value),
};

export function typeNodes(schema: JsonObject): Node[] {
  const nodes: Node[] = [];
  const { type } = schema;
  if (type !== undefined) {
    const names: readonly unknown[] = Array.isArray(type) ? type : [type];
    const tests = names.map((name) => {
      const found = typeof name === "string" && Object.hasOwn(typeTests, name) ? typeTests[name] : undefined;
      if (found === undefined) throw new Error(`there is no type ${JSON.stringify(name)}`);
      return found;
    });
    const wanted = names.join(" or ");
    nodes.push((value, path, report) => {
      if (!tests.some((isType) => isType(value))) report.add(path, `must be ${wanted}, not ${typeName(value)}`);
    });
  }
  const allowed = schema["const"] === undefined ? optionalList(schema, "enum") : [schema["const"]];
  if (allowed === undefined) return nodes;
  const building = new Report();
  const texts = new Set(allowed.map((each) => canonical(each, building)));
  const shown =
    allowed.length > 20 ? "one of the allowed values" : allowed.map((each) => JSON.stringify(each)).join(" or ");
  nodes.push((value, path, report) => {
    if (!texts.has(canonical(value, report))) report.add(path, `must be ${shown}`);
  });
  return nodes;
}

export function numberNodes(schema: JsonObject): Node[] {
  const { exclusiveMinimum, exclusiveMaximum } = schema;
  const atLeast = exclusiveMinimum === true ? ">" : ">=";
  const atMost = exclusiveMaximum === true ? "<" : "<=";
  const nodes = [
    ...limit(
      schema,
      "minimum",
      (value, least) => typeof value === "number" && (value < least || (atLeast === ">" && value === least)),
      `must be ${atLeast} {}`,
    ),
    ...limit(
      schema,
      "maximum",
      (value, most) => typeof value === "number" && (value > most || (atMost === "<" && value === most)),
      `must be ${atMost} {}`,
    ),
    ...limit(
      schema,
      "multipleOf",
      (value, step) => typeof value === "number" && !isMultiple(value, step),
      "must be a multiple of {}",
    ),
  ];
  // In older drafts these two are booleans beside `minimum` and `maximum`.
  if (typeof exclusiveMinimum !== "boolean") {
    nodes.push(
      ...limit(
        schema,
        "exclusiveMinimum",
        (value, least) => typeof value === "number" && value <= least,
        "must be > {}",
      ),
    );
  }
  if (typeof exclusiveMaximum !== "boolean") {
    nodes.push(
      ...limit(schema, "exclusiveMaximum", (value, most) => typeof value === "number" && value >= most, "must be < {}"),
    );
  }
  return nodes;
}

/** Allows for the error of dividing fractions, such as 0.3 by 0.1. */
function isMultiple(value: number, step: number): boolean {
  const times = value / step;
  return Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times));
}

export function limit(
  schema: JsonObject,
  word: string,
  isBeyond: (value: unknown, limit: number) => boolean,
  message: string,
): Node[] {
  const bound = schema[word];
  if (bound === undefined) return [];
  if (typeof bound !== "number") throw new Error(`${word} must be a number`);
  return [
    (value, path, report) => {
      if (isBeyond(value, bound)) report.add(path, message.replace("{}", String(bound)));
    },
  ];
}

export const noRepeats: Node = (value, path, report) => {
  if (!Array.isArray(value)) return;
  const seen = new Set<string>();
  value.forEach((item, index) => {
    const text = canonical(item, report);
    if (seen.has(text)) report.add(`${path}[${index}]`, "is in the list twice");
    seen.add(text);
  });
};

export function containing(schema: JsonObject, node: Node): Node {
  const { minContains: least = 1, maxContains: most = Infinity } = schema;
  if (typeof least !== "number" || typeof most !== "number") {
    throw new Error("minContains and maxContains must be numbers");
  }
  return (value, path, report) => {
    if (!Array.isArray(value)) return;
    const count = value.filter((item) => fits(node, item, report)).length;
    if (count < least) report.add(path, `must contain at least ${least} of the wanted entries`);
    if (count > most) report.add(path, `must contain at most ${most} of the wanted entries`);
  };
}

export function optionalList(schema: JsonObject, word: string): readonly unknown[] | undefined {
  const list = schema[word];
  if (list === undefined) return undefined;
  if (!Array.isArray(list)) throw new Error(`${word} must be a list`);
  return list;
}

export function optionalObject(schema: JsonObject, word: string): JsonObject {
  const object = schema[word] ?? {};
  if (!isObject(object)) throw new Error(`${word} must be an object`);
  return object;
}

/** The same text for equal values, whatever the order of their keys. */
function canonical(value: unknown, report: Report): string {
  report.enter();
  let text: string;
  if (Array.isArray(value)) text = `[${value.map((item) => canonical(item, report)).join(",")}]`;
  else if (isObject(value)) {
    const keys = Object.keys(value).toSorted();
    text = `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key], report)}`).join(",")}}`;
  } else text = JSON.stringify(value) ?? "undefined";
  report.spend(text.length);
  report.leave();
  return text;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
