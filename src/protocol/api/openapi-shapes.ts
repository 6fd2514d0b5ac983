// Turns zod schemas into the JSON Schemas of the OpenAPI document; an exported schema becomes a component with its name.

import { z } from "zod";
import * as approval from "../invocation/approval-policy.ts";
import * as ask from "../task/ask.ts";
import * as budget from "../task/budget.ts";
import * as event from "../task/event.ts";
import * as evidence from "../task/evidence.ts";
import * as executor from "../invocation/executor.ts";
import * as failure from "../failure.ts";
import * as ids from "../ids.ts";
import * as invocation from "../invocation/invocation.ts";
import * as invocationFile from "../invocation/invocation-file.ts";
import * as invocationResult from "../invocation/invocation-result.ts";
import * as message from "../task/message.ts";
import * as frames from "../operator/frames.ts";
import * as operatorSession from "../operator/operator-session.ts";
import * as worker from "../operator/worker.ts";
import * as script from "../invocation/rehearsal-script.ts";
import * as status from "../task/task-status.ts";
import * as view from "../task/task-view.ts";
import * as tools from "../invocation/tool-policy.ts";
import * as catalog from "./catalog.ts";
import * as problem from "./problem.ts";
import * as service from "./service.ts";
import * as taskShapes from "./task-shapes.ts";
import * as workspaceShapes from "./workspace-shapes.ts";

export type Schema = Readonly<Record<string, unknown>>;
/** Input may leave out fields that have a default; output always has them. */
type Direction = "input" | "output";

export interface Shapes {
  /** What the caller sends. */
  input(shape: z.ZodType): Schema;
  /** What the caller receives. */
  output(shape: z.ZodType): Schema;
  /** The fields of a schema that are sent as separate parameters. */
  fields(shape: z.ZodObject): readonly Field[];
  /** Adds every component the document uses. A component has a second form, `…Input`, only where the input differs. */
  complete(document: Schema): Schema;
}

export interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
}

const modules = [
  [approval, ask, budget, event, evidence, executor, failure, ids, invocation, invocationFile, invocationResult],
  [message, frames, operatorSession, worker, script, status, view, tools, catalog, problem, service, taskShapes],
  [workspaceShapes],
].flat();

/** A schema has the name of its export. */
function namedShapes(): z.core.$ZodRegistry<{ id: string }> {
  const registry = z.registry<{ id: string }>();
  const names = new Set<string>();
  for (const [name, shape] of modules.flatMap((module) => Object.entries<unknown>(module))) {
    if (!(shape instanceof z.ZodType) || registry.has(shape)) continue;
    if (names.has(name)) throw new Error(`two schemas are named ${name}`);
    names.add(name);
    registry.add(shape, { id: name });
  }
  return registry;
}

export function shapes(): Shapes {
  const named = namedShapes();
  const defs: Readonly<Record<Direction, Map<string, Schema>>> = { input: new Map(), output: new Map() };
  const convert = (shape: z.ZodType, direction: Direction): Schema => {
    const made = z.toJSONSchema(shape, {
      io: direction,
      metadata: named,
      // Checks that only code can do are left out of the schema.
      unrepresentable: "any",
      override: tidy,
    });
    const { $schema: _, $defs = {}, ...root } = made;
    for (const [name, schema] of Object.entries($defs)) defs[direction].set(name, pointed(schema, direction));
    return pointed(root, direction);
  };
  return {
    input: (shape) => convert(shape, "input"),
    output: (shape) => convert(shape, "output"),
    fields(shape) {
      const root = convert(shape, "input");
      const { properties, required } = typeof root["$ref"] === "string" ? referred(root["$ref"], defs.input) : root;
      const needed = new Set<unknown>(Array.isArray(required) ? required : []);
      return Object.entries(recordOf(properties)).map(([name, schema]) => ({
        name,
        schema: recordOf(schema),
        required: needed.has(name),
      }));
    },
    complete(document) {
      const one = oneForm(defs);
      const inputs = [...defs.input].map(([name, schema]): [string, Schema] => [
        one.has(name) ? name : `${name}Input`,
        schema,
      ]);
      const all = Object.fromEntries([...inputs, ...defs.output]);
      const named = (ref: string): string =>
        ref.endsWith(inputMark) && one.has(nameIn(ref)) ? pointer(nameIn(ref)) : ref.replace(inputMark, "Input");
      return withUsed(rewritten(document, named), rewritten(all, named));
    },
  };
}

/** Marks references to input forms until it is known which differ. It occurs in no name. */
const inputMark = "\u0000";
const root = "#/components/schemas/";
const pointer = (name: string): string => `${root}${name}`;
const nameIn = (ref: string): string => ref.slice(root.length).replace(inputMark, "");

function pointed(schema: object, direction: Direction): Schema {
  const mark = direction === "input" ? inputMark : "";
  return rewritten(schema, (ref) => `${ref.replace("#/$defs/", root)}${mark}`);
}

function referred(ref: string, defs: ReadonlyMap<string, Schema>): Schema {
  return defs.get(nameIn(ref)) ?? {};
}

/** The names whose input form equals the output form, including everything they refer to. */
function oneForm(defs: Readonly<Record<Direction, ReadonlyMap<string, Schema>>>): ReadonlySet<string> {
  const one = new Set(defs.input.keys());
  const differs = (name: string): boolean => {
    const given = defs.output.get(name);
    const sent = rewritten(defs.input.get(name) ?? {}, (ref) =>
      one.has(nameIn(ref)) ? ref.replace(inputMark, "") : ref,
    );
    return given !== undefined && JSON.stringify(sent) !== JSON.stringify(given);
  };
  for (let size = -1; size !== one.size;) {
    size = one.size;
    for (const name of [...one].filter(differs)) one.delete(name);
  }
  return one;
}

function withUsed(document: Schema, all: Schema): Schema {
  const used = new Set<string>();
  const look = (value: unknown): void => {
    rewritten({ value }, (ref) => {
      const name = nameIn(ref);
      if (ref.startsWith(root) && !used.has(name)) {
        used.add(name);
        look(all[name]);
      }
      return ref;
    });
  };
  look(document);
  const schemas = Object.fromEntries([...used].toSorted().map((name) => [name, all[name]]));
  return { ...document, components: { ...recordOf(document["components"]), schemas } };
}

function rewritten(schema: object, to: (ref: string) => string): Schema {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === "$ref" && typeof value === "string" ? to(value) : value,
  );
  return recordOf(JSON.parse(text));
}

function recordOf(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function tidy({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodType;
  jsonSchema: z.core.JSONSchema.BaseSchema;
}): void {
  // Zod adds the limits of a safe integer, which are not limits of the API.
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  const description = z.globalRegistry.get(zodSchema)?.description;
  if (description !== undefined) jsonSchema.description = description;
}
