// Checks a JSON value against a JSON Schema from outside. The work is bounded, whatever schema and value are.

import type { ReadIssue } from "../protocol/lenient-read.ts";
import { formatCheck } from "./json-schema-format.ts";
import {
  containing,
  isObject,
  type JsonObject,
  limit,
  noRepeats,
  numberNodes,
  optionalList,
  optionalObject,
  typeNodes,
} from "./json-schema-keywords.ts";
import { deepest, fits, type Node, Report, TooMuchWork } from "./json-schema-report.ts";

const largestSchema = 10_000;
/** The size of all patterns of a schema together. */
const largestPatterns = 50_000;

interface TextPattern {
  /** What it costs to match one character. */
  readonly size: number;
  test(text: string): boolean;
}

export type CompilePattern = (source: string) => TextPattern;

/** Returns what does not fit; empty when everything does. */
export type SchemaCheck = (value: unknown) => readonly ReadIssue[];

/** Throws an `Error` that says what in the schema cannot be used. */
export function compileSchema(schema: JsonObject, pattern: CompilePattern): SchemaCheck {
  const root = new Compiler(schema, pattern).node(schema, 0);
  return (value) => {
    const report = new Report();
    try {
      root(value, "", report);
    } catch (thrown) {
      if (!(thrown instanceof TooMuchWork)) throw thrown;
      return [{ path: "", message: "is too large to be checked against the schema" }];
    }
    return report.issues;
  };
}

const unsupported = ["unevaluatedItems", "unevaluatedProperties", "$dynamicRef"];

class Compiler {
  readonly #root: JsonObject;
  readonly #pattern: CompilePattern;
  readonly #known = new Map<unknown, Node>();
  #count = 0;
  #patternSize = 0;

  constructor(root: JsonObject, pattern: CompilePattern) {
    this.#root = root;
    this.#pattern = pattern;
  }

  node(schema: unknown, depth: number): Node {
    if (schema === true) return () => undefined;
    if (schema === false) return (_value, path, report) => report.add(path, "is not allowed");
    if (!isObject(schema)) throw new Error("a schema must be an object or a boolean");
    const known = this.#known.get(schema);
    if (known !== undefined) return known;
    this.#count += 1;
    if (this.#count > largestSchema || depth > deepest) throw new Error("it is too large");
    const word = unsupported.find((each) => schema[each] !== undefined);
    if (word !== undefined) throw new Error(`${word} is not supported`);
    let parts: readonly Node[] = [];
    // Known before its parts are, so that a schema may refer to itself.
    const node: Node = (value, path, report) => {
      report.enter();
      for (const part of parts) part(value, path, report);
      report.leave();
    };
    this.#known.set(schema, node);
    parts = [
      ...this.#reference(schema, depth),
      ...typeNodes(schema),
      ...this.#combined(schema, depth),
      ...this.#conditional(schema, depth),
      ...this.#text(schema),
      ...numberNodes(schema),
      ...this.#object(schema, depth),
      ...this.#array(schema, depth),
    ];
    return node;
  }

  #reference({ $ref }: JsonObject, depth: number): Node[] {
    if ($ref === undefined) return [];
    if (typeof $ref !== "string" || !$ref.startsWith("#")) {
      throw new Error(`the reference ${JSON.stringify($ref)} does not begin with #; only those are supported`);
    }
    if (/^#[^/]/.test($ref)) return [this.node(anchored(this.#root, $ref.slice(1)), depth + 1)];
    let at: unknown = this.#root;
    for (const segment of $ref.split("/").slice(1)) {
      const key = segment.replaceAll("~1", "/").replaceAll("~0", "~");
      at = (isObject(at) || Array.isArray(at)) && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined;
    }
    if (at === undefined) throw new Error(`the reference ${$ref} leads nowhere`);
    return [this.node(at, depth + 1)];
  }

  #combined(schema: JsonObject, depth: number): Node[] {
    const below = (word: string): Node[] | undefined =>
      optionalList(schema, word)?.map((each) => this.node(each, depth + 1));
    const nodes = below("allOf") ?? [];
    const anyOf = below("anyOf");
    if (anyOf !== undefined) {
      nodes.push((value, path, report) => {
        if (!anyOf.some((each) => fits(each, value, report))) report.add(path, "fits none of the allowed forms");
      });
    }
    const oneOf = below("oneOf");
    if (oneOf !== undefined) {
      nodes.push((value, path, report) => {
        const fitting = oneOf.filter((each) => fits(each, value, report)).length;
        if (fitting === 0) report.add(path, "fits none of the allowed forms");
        if (fitting > 1) report.add(path, "fits more than one of the forms, of which only one may fit");
      });
    }
    if (schema["not"] !== undefined) {
      const not = this.node(schema["not"], depth + 1);
      nodes.push((value, path, report) => {
        if (fits(not, value, report)) report.add(path, "has a form that is not allowed");
      });
    }
    return nodes;
  }

  /** What holds only for some values: those that fit another schema, or have a certain property. */
  #conditional(schema: JsonObject, depth: number): Node[] {
    const nodes: Node[] = [];
    const below = (word: string): Node | undefined =>
      schema[word] === undefined ? undefined : this.node(schema[word], depth + 1);
    const [condition, then, otherwise] = [below("if"), below("then"), below("else")];
    if (condition !== undefined) {
      nodes.push((value, path, report) => (fits(condition, value, report) ? then : otherwise)?.(value, path, report));
    }
    // The oldest of the three words takes names and schemas.
    for (const word of ["dependentRequired", "dependentSchemas", "dependencies"]) {
      for (const [name, given] of Object.entries(optionalObject(schema, word))) {
        const needed = this.node(Array.isArray(given) ? { required: given } : given, depth + 1);
        nodes.push((value, path, report) => {
          if (isObject(value) && Object.hasOwn(value, name)) needed(value, path, report);
        });
      }
    }
    return nodes;
  }

  #text(schema: JsonObject): Node[] {
    const nodes: Node[] = [
      ...limit(
        schema,
        "minLength",
        (value, least) => typeof value === "string" && value.length < least,
        "must have at least {} characters",
      ),
      ...limit(
        schema,
        "maxLength",
        (value, most) => typeof value === "string" && value.length > most,
        "must have at most {} characters",
      ),
    ];
    const { pattern, format } = schema;
    if (pattern !== undefined) {
      if (typeof pattern !== "string") throw new Error("pattern must be text");
      const matches = this.#matcher(pattern);
      nodes.push((value, path, report) => {
        if (typeof value === "string" && !matches(value, report)) report.add(path, `must match the pattern ${pattern}`);
      });
    }
    const isFormed = typeof format === "string" ? formatCheck(format) : undefined;
    if (typeof format === "string" && isFormed !== undefined) {
      nodes.push((value, path, report) => {
        if (typeof value !== "string") return;
        report.spend(value.length);
        if (!isFormed(value)) report.add(path, `must be in the format ${format}`);
      });
    }
    return nodes;
  }

  #matcher(source: string): (text: string, report: Report) => boolean {
    const pattern = this.#pattern(source);
    this.#patternSize += pattern.size;
    if (this.#patternSize > largestPatterns) throw new Error("its patterns are too large");
    return (text, report) => {
      report.spend(pattern.size * text.length);
      return pattern.test(text);
    };
  }

  #object(schema: JsonObject, depth: number): Node[] {
    const { required, propertyNames, additionalProperties: rest } = schema;
    const properties = new Map(
      Object.entries(optionalObject(schema, "properties")).map(([key, each]) => [key, this.node(each, depth + 1)]),
    );
    const patterned = Object.entries(optionalObject(schema, "patternProperties")).map(
      ([source, each]) => [this.#matcher(source), this.node(each, depth + 1)] as const,
    );
    const names = propertyNames === undefined ? undefined : this.node(propertyNames, depth + 1);
    const others = rest === undefined ? undefined : this.node(rest, depth + 1);
    const needed = requiredNames(required, optionalObject(schema, "properties"));
    const nodes: Node[] = [
      ...limit(
        schema,
        "minProperties",
        (value, least) => isObject(value) && Object.keys(value).length < least,
        "must have at least {} properties",
      ),
      ...limit(
        schema,
        "maxProperties",
        (value, most) => isObject(value) && Object.keys(value).length > most,
        "must have at most {} properties",
      ),
    ];
    if (needed.length > 0) {
      nodes.push((value, path, report) => {
        if (!isObject(value)) return;
        for (const name of needed) if (!Object.hasOwn(value, name)) report.add(inside(path, name), "is missing");
      });
    }
    if (properties.size === 0 && patterned.length === 0 && names === undefined && others === undefined) return nodes;
    nodes.push((value, path, report) => {
      if (!isObject(value)) return;
      for (const [key, item] of Object.entries(value)) {
        const at = inside(path, key);
        if (names !== undefined && !fits(names, key, report)) report.add(at, "has a name that is not allowed");
        const own = properties.get(key);
        own?.(item, at, report);
        let isKnown = own !== undefined;
        for (const [matches, node] of patterned) {
          if (!matches(key, report)) continue;
          isKnown = true;
          node(item, at, report);
        }
        if (!isKnown) others?.(item, at, report);
      }
    });
    return nodes;
  }

  #array(schema: JsonObject, depth: number): Node[] {
    const { items, prefixItems, additionalItems, contains } = schema;
    const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
    const rest: unknown = Array.isArray(items) ? additionalItems : items;
    const firstNodes = first.map((each) => this.node(each, depth + 1));
    const restNode = rest === undefined ? undefined : this.node(rest, depth + 1);
    const nodes: Node[] = [
      ...limit(
        schema,
        "minItems",
        (value, least) => Array.isArray(value) && value.length < least,
        "must have at least {} entries",
      ),
      ...limit(
        schema,
        "maxItems",
        (value, most) => Array.isArray(value) && value.length > most,
        "must have at most {} entries",
      ),
    ];
    if (firstNodes.length > 0 || restNode !== undefined) {
      nodes.push((value, path, report) => {
        if (!Array.isArray(value)) return;
        value.forEach((item, index) => (firstNodes[index] ?? restNode)?.(item, `${path}[${index}]`, report));
      });
    }
    if (schema["uniqueItems"] === true) nodes.push(noRepeats);
    if (contains !== undefined) nodes.push(containing(schema, this.node(contains, depth + 1)));
    return nodes;
  }
}

/** The part of the schema that has this name as its `$anchor`. */
function anchored(root: JsonObject, name: string): unknown {
  const waiting: unknown[] = [root];
  for (let seen = 0; waiting.length > 0 && seen < largestSchema; seen += 1) {
    const at = waiting.pop();
    if (isObject(at) && at["$anchor"] === name) return at;
    if (Array.isArray(at) || isObject(at)) waiting.push(...Object.values(at));
  }
  throw new Error(`the reference #${name} leads nowhere`);
}

/** A property that has a default may be absent. */
function requiredNames(required: unknown, properties: JsonObject): string[] {
  // In the oldest drafts it is a boolean of the property itself.
  if (required === undefined || typeof required === "boolean") return [];
  if (!Array.isArray(required)) throw new Error("required must be a list");
  return required.map(String).filter((name) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return !isObject(property) || property["default"] === undefined;
  });
}

function inside(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}
