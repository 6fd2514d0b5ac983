// Decides whether a value can settle a wait, and as what: by the form of its ask, the schema that the asker gave, and what the loop takes.

import { compileSchema } from "../core/json-schema.ts";
import { linearPattern } from "../linear-pattern.ts";
import type { Delivery } from "../ports.ts";
import { thrownMessage } from "../protocol/error.ts";
import type { AskId } from "../protocol/ids.ts";
import { describeIssues, type ReadIssue } from "../protocol/lenient-read.ts";
import { readAnswer } from "../protocol/task/ask.ts";
import type { EngineParts } from "./engine-parts.ts";
import { settledIn } from "./wait-body.ts";
import { problemOf, type Waits } from "./waits.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** The value as it settles the wait, or why it cannot; the wait then stays open. */
export function checkedAnswer(
  { body, schema }: NonNullable<ReturnType<Waits["get"]>>,
  value: unknown,
): { readonly value: unknown } | { readonly problem: string } {
  const { ask } = body;
  let settling = value;
  if (ask !== undefined) {
    const { kind, choices, choices_with_words, answer_schema } = ask;
    const asked = {
      kind,
      answer_schema: answer_schema ?? null,
      ...(choices === undefined ? {} : { choices: [...choices] }),
      ...(choices_with_words === undefined ? {} : { choices_with_words: [...choices_with_words] }),
    };
    const reading = readAnswer(asked, value);
    if (!reading.ok) return { problem: describeIssues(reading.issues.map(ofAnswer)) };
    const { answer } = reading;
    const problem = answer.kind === "question" ? schemaProblem(answer_schema, answer.value) : undefined;
    if (problem !== undefined) return { problem };
    settling = answer;
  }
  const problem = schema === undefined ? undefined : problemOf(schema, settling);
  return problem === undefined ? { value: settling } : { problem };
}

/** Whoever answers knows no field `value`. */
function ofAnswer({ path, message }: ReadIssue): ReadIssue {
  return path === "value" ? { path: "", message: `the answer ${message}` } : { path, message };
}

/** Why nobody could answer a question with this schema; undefined when it can be used. */
export function answerSchemaProblem(schema: JsonSchema): string | undefined {
  try {
    compileSchema(schema, linearPattern);
    return undefined;
  } catch (thrown) {
    return thrownMessage(thrown);
  }
}

function schemaProblem(schema: JsonSchema | undefined, value: unknown): string | undefined {
  if (schema === undefined) return undefined;
  try {
    const issues = compileSchema(
      schema,
      linearPattern,
    )(value).map(({ path, message }) => ({
      path: path === "" ? "value" : `value.${path}`,
      message,
    }));
    return issues.length === 0 ? undefined : `the answer does not fit its answer_schema: ${describeIssues(issues)}`;
  } catch (thrown) {
    return `the answer cannot be checked against its answer_schema: ${thrownMessage(thrown)}`;
  }
}

/** What whoever answers is told when the wait is not open: that there is none, or what settled it before. */
export function notOpen(
  { store, waits }: Pick<EngineParts, "store" | "waits">,
  wait: AskId,
  id: number | undefined,
): Delivery {
  const answer = id === undefined ? undefined : (waits.settled(id) ?? store.answer(id));
  if (answer === undefined) return { outcome: "unknown", message: `there is no open question ${wait}` };
  const said = { answered: "was answered already", expired: "expired before", withdrawn: "is no longer asked" };
  const message = `${wait} ${said[answer.kind]}; this answer changes nothing`;
  return { outcome: "late", message, settled: settledIn(answer) };
}
