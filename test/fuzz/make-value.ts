// Values for a JSON Schema: ones that fit, ones that nearly fit, and ones that fit nothing.

import type { Api, Schema } from "./described-api.ts";
import type { Chance } from "../support/seeded-random.ts";

/** Ids and names that exist, by the field or the shape that takes them. */
export type Pool = (name: string) => readonly string[];

export interface Maker {
  readonly api: Pick<Api, "resolve">;
  readonly chance: Chance;
  readonly pool: Pool;
}

const deepest = 6;

/** A value that fits, as far as the schema tells; `name` is the field it is for. */
export function fitting(maker: Maker, schema: Schema, name = "", depth = 0): unknown {
  const { api, chance, pool } = maker;
  const at = api.resolve(schema);
  const known = chance.any(pool(nameOf(schema) ?? name));
  if (known !== undefined && !chance.oneIn(10)) return known;
  if ("const" in at) return at["const"];
  if (Array.isArray(at["enum"])) return chance.any<unknown>(at["enum"]);
  const options = [at["anyOf"], at["oneOf"]].find(Array.isArray);
  if (options !== undefined) return fitting(maker, schemaOf(chance.any<unknown>(options)), name, depth + 1);
  switch (Array.isArray(at["type"]) ? chance.any<unknown>(at["type"]) : at["type"]) {
    case "object":
      return objectFor(maker, at, depth);
    case "array": {
      const least = numberOr(at["minItems"], 0);
      const most = depth > deepest ? least : Math.min(numberOr(at["maxItems"], 3), least + 3);
      const count = least + chance.below(most - least + 1);
      return Array.from({ length: count }, () => fitting(maker, schemaOf(at["items"]), name, depth + 1));
    }
    case "string":
      return textFor(chance, at);
    case "integer":
    case "number": {
      const least = numberOr(at["minimum"], 0);
      const most = Math.min(numberOr(at["maximum"], least + 1000), least + 100_000);
      return chance.oneIn(4) ? chance.pick([least, most]) : least + chance.below(most - least + 1);
    }
    case "boolean":
      return chance.oneIn(2);
    case "null":
      return null;
    default:
      return depth > deepest ? null : plain(chance, depth);
  }
}

function objectFor(maker: Maker, at: Schema, depth: number): Record<string, unknown> {
  const required = new Set<unknown>(Array.isArray(at["required"]) ? at["required"] : []);
  const made: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(schemaOf(at["properties"]))) {
    if (!required.has(name) && (depth > deepest || !maker.chance.oneIn(3))) continue;
    made[name] = fitting(maker, schemaOf(schema), name, depth + 1);
  }
  const more = at["additionalProperties"];
  if (typeof more === "object" && more !== null && maker.chance.oneIn(2)) {
    made[maker.chance.pick(["a", "b", "__proto__", "constructor"])] = fitting(maker, schemaOf(more), "", depth + 1);
  }
  return made;
}

/** Any small JSON value. */
function plain(chance: Chance, depth: number): unknown {
  const leaf = chance.pick<unknown>(["text", "", 0, -1, 1.5, true, false, null, "ünïcödé 🎼"]);
  if (depth > 3 || !chance.oneIn(3)) return leaf;
  return chance.oneIn(2) ? [leaf, plain(chance, depth + 1)] : { a: leaf, b: plain(chance, depth + 1) };
}

const samples: Readonly<Record<string, readonly [string, ...string[]]>> = {
  tsk_: ["tsk_1", "tsk_zz9", "tsk_0000000000-1"],
  ask_: ["ask_1", "ask_zz9"],
  "op-": ["op-00000000-0000-4000-8000-000000000000"],
};

function textFor(chance: Chance, at: Schema): string {
  const pattern = typeof at["pattern"] === "string" ? at["pattern"] : "";
  for (const [prefix, texts] of Object.entries(samples))
    if (pattern.startsWith(`^${prefix}`)) return chance.pick(texts);
  if (pattern.startsWith("^\\d")) return String(chance.below(1e6));
  if (at["format"] === "date-time") return "2026-01-01T00:00:00Z";
  const least = numberOr(at["minLength"], 0);
  const most = Math.min(numberOr(at["maxLength"], 40), least + 40);
  const length = chance.oneIn(5) ? chance.pick([least, most]) : least + chance.below(most - least + 1);
  return Array.from({ length }, () => chance.pick(["a", "b", "z", "0", "9", "-", "_", " "])).join("");
}

const strange: readonly [unknown, ...unknown[]] = [
  ...([null, true, false, 0, -0, -1, 1, 0.5, 1e308, -1e308, 2 ** 31, 2 ** 53, -(2 ** 53), 1e-320] as const),
  ...(["", " ", "\0", "\u0000\u0001\u001f", "\ud800", "\udc00x", "\u2028", "\ufeff", "\u202e", "é", "🎼"] as const),
  ...(["../../etc/passwd", "/", "//", "%00", "%2e%2e", "a/b", "?", "#", "*", "'; DROP TABLE tasks; --"] as const),
  ...(["__proto__", "constructor", "toString", "NaN", "-1", "1e9", "0x10", "true", "null", "[object Object]"] as const),
  ...(["tsk_", "tsk_.", "tsk_1/../2", "ask_1 OR 1=1", "op-", "tk_", "wh-", "tt1..", "ot-", "ti-"] as const),
  ...([[], {}, [[]], [null], { a: 1 }, { __proto__: null, toString: 1 }] as const),
];

export const strangeText = (chance: Chance): string => {
  const value = chance.pick(strange);
  return typeof value === "string" ? value : String(JSON.stringify(value));
};

/** As it fits, with one thing in it that does not: somewhere inside, another type, one too many, one too few. */
export function nearlyFitting(maker: Maker, schema: Schema): unknown {
  return spoiled(maker.chance, fitting(maker, schema), 0);
}

function spoiled(chance: Chance, value: unknown, depth: number): unknown {
  if (typeof value === "object" && value !== null && depth < 8 && !chance.oneIn(4)) {
    const keys = Object.keys(value);
    const key = chance.any(keys);
    if (key !== undefined) {
      const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...value };
      Reflect.set(copy, key, spoiled(chance, Reflect.get(value, key), depth + 1));
      return copy;
    }
  }
  switch (chance.below(6)) {
    case 0:
      return typeof value === "object" && value !== null && !Array.isArray(value)
        ? { ...value, [strangeText(chance)]: chance.pick(strange) }
        : [value];
    case 1:
      return typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).slice(1))
        : undefined;
    case 2:
      return typeof value === "string" ? value.repeat(1 + chance.below(200)) : chance.pick(strange);
    case 3:
      return typeof value === "number" ? value * chance.pick([-1, 0.5, 1e9, 2 ** 40]) : chance.pick(strange);
    default:
      return chance.pick(strange);
  }
}

/** The name of the shape, so that a field of any name finds what exists. */
function nameOf(schema: Schema): string | undefined {
  const ref = schema["$ref"];
  const name = typeof ref === "string" ? ref.split("/").at(-1) : undefined;
  return name === "TaskId" || name === "AskId" || name === "OperatorSid" ? name : undefined;
}

function schemaOf(value: unknown): Schema {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function numberOr(value: unknown, other: number): number {
  return typeof value === "number" ? value : other;
}
