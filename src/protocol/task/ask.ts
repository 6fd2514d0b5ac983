// A question a task waits on: what is asked, what an answer looks like, and what silence means.

import { z } from "zod";
import { Budget } from "./budget.ts";
import { AskId, TaskId, Time } from "../ids.ts";
import { issuesOf, type ReadIssue } from "../lenient-read.ts";

export const AskKind = z.enum(["question", "approval", "budget"]);
export type AskKind = z.infer<typeof AskKind>;

/** How long an ask stays open unless it sets a shorter time. */
export const defaultAskMs = 24 * 60 * 60 * 1000;

/** Marks the ask with which a stopped task waits to be resumed. */
export const stoppedLabel = "stopped";

/** Marks the ask of a task that ended the process too often. */
export const parkedLabel = "parked";

/** The `value` of a question fits the schema of the ask, or is text if there is none. `limits` are the new, higher limits. */
export const Answer = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("question"), value: z.unknown() }),
  z.strictObject({ kind: z.literal("approval"), approved: z.boolean(), reason: z.string().optional() }),
  z.strictObject({ kind: z.literal("budget"), go_on: z.boolean(), limits: Budget.partial().optional() }),
]);
export type Answer = z.infer<typeof Answer>;

/** Says that nobody will answer: the ask ends at once as if its time were over. */
export const NoAnswer = z.strictObject({ kind: z.literal("none") });
/** What can be sent to an ask. */
export const AnswerOrNone = z.discriminatedUnion("kind", [...Answer.options, NoAnswer]);

/** Who answered: a person, an operator, or a rule that answers automatically. */
export const Answerer = z.strictObject({ kind: z.enum(["person", "operator", "rule"]), name: z.string().min(1) });
export type Answerer = z.infer<typeof Answerer>;

const asked = {
  id: AskId,
  task: TaskId,
  root: TaskId,
  kind: AskKind,
  question: z.string().min(1),
  /** What a person should see to decide: the call to be approved, the limit that was reached. */
  details: z.unknown().optional(),
  choices: z.array(z.string().min(1)).optional(),
  /** JSON Schema of a question's answer; null means text. */
  answer_schema: z.record(z.string(), z.unknown()).nullable(),
  raised_at: Time,
  deadline: Time,
};

/** Once it has left `open` an ask does not change: the first answer, the expiry or the withdrawal won. */
export const Ask = z.discriminatedUnion("status", [
  z.strictObject({ ...asked, status: z.literal("open") }),
  z.strictObject({ ...asked, status: z.literal("answered"), answer: Answer, by: Answerer, settled_at: Time }),
  z.strictObject({ ...asked, status: z.literal("expired"), settled_at: Time }),
  z.strictObject({ ...asked, status: z.literal("withdrawn"), settled_at: Time }),
]);
export type Ask = z.infer<typeof Ask>;

/** What no answer in time means, by kind (invariant 8). */
export const expiryMeaning = {
  question: "no_answer",
  approval: "denied",
  budget: "stop",
} as const satisfies Record<AskKind, string>;

export type ExpiryMeaning = (typeof expiryMeaning)[AskKind];

export type AnswerReading =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly issues: readonly ReadIssue[] };

/** Accepts an answer only in the form its ask calls for. What the asker's schema says is not checked here. */
export function readAnswer(ask: Pick<Ask, "kind" | "choices" | "answer_schema">, value: unknown): AnswerReading {
  const parsed = Answer.safeParse(value);
  if (!parsed.success) return { ok: false, issues: issuesOf(parsed.error) };
  const answer = parsed.data;
  if (answer.kind !== ask.kind) return refuse("kind", `this ask is a ${ask.kind}, not a ${answer.kind}`);
  if (answer.kind === "question") {
    if (ask.choices !== undefined && !ask.choices.some((choice) => choice === answer.value)) {
      return refuse("value", `must be one of: ${ask.choices.join(", ")}`);
    }
    if (ask.answer_schema === null && typeof answer.value !== "string") return refuse("value", "must be text");
  }
  return { ok: true, answer };
}

function refuse(path: string, message: string): AnswerReading {
  return { ok: false, issues: [{ path, message }] };
}
