// Turns one JSON object into a call by the keys of a dialect, or says why it is not one.
import type { Dialect } from "./dialect.ts";
import type { Fault } from "./findings.ts";
import { isJsonObject, type Json, type JsonObject, type Violation } from "./tool-call.ts";
import { trimSpace } from "../white-space.ts";

export interface CallRules {
  readonly dialect: Dialect;
  /** Registered tools; without them every name counts as registered. */
  readonly tools: ReadonlySet<string> | undefined;
}

export type CallReading =
  | {
      readonly ok: true;
      readonly name: string;
      readonly args: JsonObject;
      readonly violations: readonly Violation[];
    }
  | {
      readonly ok: false;
      readonly code: Fault["code"];
      readonly detail?: string;
      /** The name, if there is a usable one. */
      readonly name?: string;
    };

const noViolations: readonly Violation[] = [];

export function readCall(object: JsonObject, rules: CallRules): CallReading {
  const { dialect } = rules;
  const nameKey = firstPresent(object, dialect.nameKeys);
  const written = nameKey === undefined ? undefined : object[nameKey];
  let name = typeof written === "string" ? trimSpace(written) : "";
  if (name === "") return { ok: false, code: "missing_name" };

  let violations: Violation[] | undefined;
  const cut = dialect.nameCut === undefined ? -1 : name.indexOf(dialect.nameCut);
  if (cut > 0) {
    const message = `The name \`${clip(name)}\` carries a template token; read as \`${clip(name.slice(0, cut))}\`.`;
    violations = [{ kind: "channel_suffix", message }];
    name = trimSpace(name.slice(0, cut));
  }

  const argsKey = firstPresent(object, dialect.argsKeys);
  const args = argsKey === undefined ? undefined : object[argsKey];
  if (args !== undefined && !isJsonObject(args)) {
    return { ok: false, code: "args_not_object", detail: `this one is ${kindOf(args)}`, name };
  }

  const unused = dialect.allows.unknownKeys ? undefined : unusedKeys(object, { nameKey, argsKey }, dialect);
  if (unused !== undefined && unused.length > 0) {
    const listed = unused
      .slice(0, 5)
      .map((key) => `\`${clip(key)}\``)
      .join(", ");
    // Without args the other keys may be the arguments, and running without them would apply half of the call.
    if (args === undefined) return { ok: false, code: "inline_args", detail: listed, name };
    if (!unused.every((key) => dialect.metadataKeys.includes(key))) {
      (violations ??= []).push({
        kind: "extra_keys",
        message: `Keys beside \`name\` and \`args\` are not used: ${listed}.`,
      });
    }
  }
  if (nameKey !== dialect.nameKeys[0] || (argsKey !== undefined && argsKey !== dialect.argsKeys[0])) {
    const message = `The keys of a call are \`name\` and \`args\`; this one has ${quoted(nameKey)} and ${quoted(argsKey)}.`;
    (violations ??= []).push({ kind: "key_alias", message });
  }

  if (args !== undefined && dialect.wrapperNames.includes(name) && rules.tools?.has(name) !== true) {
    const inner = unwrap(args, rules);
    if (inner !== undefined) {
      const message = `The call of \`${clip(inner.name)}\` was wrapped in a call of \`${name}\`.`;
      return {
        ...inner,
        violations: [...(violations ?? noViolations), { kind: "generic_wrapper", message }, ...inner.violations],
      };
    }
  }
  return { ok: true, name, args: args ?? {}, violations: violations ?? noViolations };
}

/** The call in the arguments of a generic wrapper, if they are one. */
function unwrap(args: JsonObject, rules: CallRules): Extract<CallReading, { ok: true }> | undefined {
  const inner = readCall(args, rules);
  if (!inner.ok) return undefined;
  const known = rules.tools === undefined ? hasArgs(args, rules.dialect) : rules.tools.has(inner.name);
  return known ? inner : undefined;
}

export function hasArgs(object: JsonObject, dialect: Dialect): boolean {
  return firstPresent(object, dialect.argsKeys) !== undefined;
}

/** The first of the keys that has a value; null counts as absent. */
function firstPresent(object: JsonObject, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = object[key];
    if (value !== undefined && value !== null) return key;
  }
  return undefined;
}

interface UsedKeys {
  readonly nameKey: string | undefined;
  readonly argsKey: string | undefined;
}

function unusedKeys(object: JsonObject, { nameKey, argsKey }: UsedKeys, dialect: Dialect): string[] | undefined {
  let unused: string[] | undefined;
  for (const key in object) {
    if (key === nameKey || key === argsKey) continue;
    const nothing = object[key] === null && (dialect.nameKeys.includes(key) || dialect.argsKeys.includes(key));
    if (!nothing) (unused ??= []).push(key);
  }
  return unused;
}

function quoted(key: string | undefined): string {
  return key === undefined ? "none" : `\`${key}\``;
}

function kindOf(value: Json): string {
  if (Array.isArray(value)) return "an array";
  return typeof value === "string" ? "a string" : `a ${typeof value}`;
}

function clip(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
