// Decides whether a value can settle a wait: by the form of its ask, the schema that the asker gave, and what the loop takes.

import { compileSchema } from "../core/json-schema.ts";
import { linearPattern } from "../linear-pattern.ts";
import type { Delivery } from "../ports.ts";
import { thrownMessage } from "../protocol/error.ts";
import type { AskId } from "../protocol/ids.ts";
import { describeIssues } from "../protocol/lenient-read.ts";
import { readAnswer } from "../protocol/task/ask.ts";
import type { EngineParts } from "./engine-parts.ts";
import { settledIn } from "./wait-body.ts";
import { problemOf, type Waits } from "./waits.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** Why the value cannot settle the wait, which then stays open; undefined when it can. */
export function answerProblem(open: NonNullable<ReturnType<Waits["get"]>>, value: unknown): string | undefined {
  const { ask } = open.body;
  if (ask !== undefined) {
    const { kind, choices, answer_schema } = ask;
    const asked = {
      kind,
      answer_schema: answer_schema ?? null,
      ...(choices === undefined ? {} : { choices: [...choices] }),
    };
    const reading = readAnswer(asked, value);
    if (!reading.ok) return describeIssues(reading.issues);
    const { answer } = reading;
    const problem = answer.kind === "question" ? schemaProblem(answer_schema, answer.value) : undefined;
    if (problem !== undefined) return problem;
  }
  return open.schema === undefined ? undefined : problemOf(open.schema, value);
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
