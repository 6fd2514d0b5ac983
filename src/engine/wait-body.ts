// What is kept with a wait and with its answer, as JSON, and how it is read back.

import { z } from "zod";

import { Answer, Answerer, AskKind } from "../protocol/task/ask.ts";
import type { Settled } from "../ports.ts";
import type { AnswerRow, WaitRow } from "../store/store.ts";

/** What is asked, or what an outside party needs to know to settle the wait. */
export const WaitBody = z.object({
  ask: z
    .object({
      kind: AskKind,
      question: z.string(),
      details: z.unknown().optional(),
      choices: z.array(z.string()).readonly().optional(),
      choices_with_words: z.array(z.string()).readonly().optional(),
      answer_schema: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
  label: z.string().optional(),
  details: z.unknown().optional(),
});
export type WaitBody = z.infer<typeof WaitBody>;

export function waitBodyIn({ body }: Pick<WaitRow, "body">): WaitBody {
  return WaitBody.parse(JSON.parse(body));
}

/** `unverified`: it came after a restart, before the loop had said what it takes. */
const StoredAnswer = z.object({ value: z.unknown(), by: Answerer, unverified: z.literal(true).optional() });
type StoredAnswer = z.infer<typeof StoredAnswer>;

/** Undefined for a wait that expired or was withdrawn. */
export function storedAnswerIn({ kind, body }: AnswerRow): StoredAnswer | undefined {
  return kind === "answered" ? StoredAnswer.parse(JSON.parse(body ?? "null")) : undefined;
}

export function settledIn(row: AnswerRow): Settled {
  const given = storedAnswerIn(row);
  if (given !== undefined) return { kind: "answered", value: given.value, by: given.by };
  return { kind: row.kind === "expired" ? "expired" : "withdrawn" };
}

/** The answer to an ask; undefined when nobody gave one. */
export function answerIn(row: AnswerRow): Answer | undefined {
  return Answer.safeParse(storedAnswerIn(row)?.value).data;
}
