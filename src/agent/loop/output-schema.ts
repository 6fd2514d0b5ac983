// Checks the result of a task against the JSON Schema in its agent's definition.

import { z } from "zod";

import { thrownMessage, TuttiError } from "../../protocol/error.ts";
import { issuesOf, type ReadIssue } from "../../protocol/lenient-read.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** Returns what does not fit; empty when everything does. */
export type OutputCheck = (content: unknown) => readonly ReadIssue[];

const checks = new WeakMap<JsonSchema, OutputCheck>();

/** Throws `invalid_input` for a schema that cannot be used, so that this shows before the first turn and not after the last. */
export function outputCheck(schema: JsonSchema): OutputCheck {
  const known = checks.get(schema);
  if (known !== undefined) return known;
  const parser = parserOf(schema);
  const check: OutputCheck = (content) => {
    const parsed = parser.safeParse(content);
    return parsed.success ? [] : issuesOf(parsed.error);
  };
  checks.set(schema, check);
  return check;
}

function parserOf(schema: JsonSchema): z.ZodType {
  try {
    return z.fromJSONSchema(schema);
  } catch (thrown) {
    const message = `the agent's output_schema cannot be used: ${thrownMessage(thrown)}`;
    throw new TuttiError("invalid_input", message, { cause: thrown });
  }
}
