// Checks the result of a task against the JSON Schema in its agent's definition.

import { compileSchema, type SchemaCheck } from "../../core/json-schema.ts";
import { linearPattern } from "../../linear-pattern.ts";
import { thrownMessage, TuttiError } from "../../protocol/error.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** Returns what does not fit; empty when everything does. */
export type OutputCheck = SchemaCheck;

const checks = new WeakMap<JsonSchema, OutputCheck>();

/** Throws `invalid_input` for a schema that cannot be used, so that this shows before the first turn and not after the last. */
export function outputCheck(schema: JsonSchema): OutputCheck {
  const known = checks.get(schema);
  if (known !== undefined) return known;
  const check = compiled(schema);
  checks.set(schema, check);
  return check;
}

function compiled(schema: JsonSchema): OutputCheck {
  try {
    return compileSchema(schema, linearPattern);
  } catch (thrown) {
    const message = `the agent's output_schema cannot be used: ${thrownMessage(thrown)}`;
    throw new TuttiError("invalid_input", message, { cause: thrown });
  }
}
