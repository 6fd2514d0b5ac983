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
  /** The only answers there are. */
  choices: z.array(z.string().min(1)).optional(),
  /** Those of the choices that may be followed by words of the person: `try again: use content`. */
  choices_with_words: z.array(z.string().min(1)).optional(),
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

type Asked = Pick<Ask, "kind" | "choices" | "choices_with_words" | "answer_schema">;

/**
 * Accepts an answer only in the form its ask calls for, and returns it as the asker reads it. No words are no answer,
 * whoever sends them. What the asker's schema says is not checked here.
 */
export function readAnswer(ask: Asked, value: unknown): AnswerReading {
  const parsed = Answer.safeParse(value);
  if (!parsed.success) return { ok: false, issues: issuesOf(parsed.error) };
  const answer = parsed.data;
  if (answer.kind !== ask.kind) return refuse("kind", `this ask is a ${ask.kind}, not a ${answer.kind}`);
  if (answer.kind !== "question") return { ok: true, answer };
  if (ask.choices !== undefined) {
    const chosen = choiceIn(ask, answer.value);
    if (chosen === undefined) return refuse("value", choicesText(ask));
    return { ok: true, answer: { kind: "question", value: choiceText(chosen) } };
  }
  if (ask.answer_schema === null && typeof answer.value !== "string") return refuse("value", "must be text");
  if (typeof answer.value === "string" && answer.value.trim() === "") return refuse("value", "must not be empty");
  return { ok: true, answer };
}

interface Choices {
  readonly choices?: readonly string[] | undefined;
  readonly choices_with_words?: readonly string[] | undefined;
}

export interface Chosen {
  readonly choice: string;
  /** What the person added; empty when nothing. */
  readonly words: string;
}

/** Letter case and white space around it do not matter. Undefined when the answer is none of the choices. */
export function choiceIn({ choices = [], choices_with_words = [] }: Choices, answer: unknown): Chosen | undefined {
  if (typeof answer !== "string") return undefined;
  const whole = named(choices, answer);
  if (whole !== undefined) return { choice: whole, words: "" };
  // The longest first: a choice may itself have a colon.
  for (let at = answer.lastIndexOf(":"); at > 0; at = answer.lastIndexOf(":", at - 1)) {
    const choice = named(choices_with_words, answer.slice(0, at));
    if (choice !== undefined) return { choice, words: answer.slice(at + 1).trim() };
  }
  return undefined;
}

/** What whoever answers is told. */
function choicesText({ choices = [], choices_with_words: [first] = [] }: Choices): string {
  const words = first === undefined ? "" : `; words may follow after a colon, as in "${first}: …"`;
  return `must be one of: ${choices.join(", ")}${words}`;
}

function choiceText({ choice, words }: Chosen): string {
  return words === "" ? choice : `${choice}: ${words}`;
}

/** The exact one first. Two that differ in nothing but letter case must be written as they are. */
function named(choices: readonly string[], text: string): string | undefined {
  const said = text.trim();
  if (choices.includes(said)) return said;
  const like = choices.filter((choice) => choice.trim().toLowerCase() === said.toLowerCase());
  return like.length === 1 ? like[0] : undefined;
}

function refuse(path: string, message: string): AnswerReading {
  return { ok: false, issues: [{ path, message }] };
}
