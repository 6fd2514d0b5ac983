// Checks the result of a task against the JSON Schema its agent promises.

import { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import { issuesOf, type ReadIssue } from "../../protocol/lenient-read.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** Returns what does not fit; nothing when all does. */
export type OutputCheck = (content: unknown) => readonly ReadIssue[];

const checks = new WeakMap<JsonSchema, OutputCheck>();

/** Throws `invalid_input` for a schema that cannot be checked: better before the first turn than after the last. */
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
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new TuttiError("invalid_input", `the agent's output_schema cannot be used: ${why}`, { cause: thrown });
  }
}
