// Gives the answer that a person typed: once, or for good, and then only after the person has seen what will be written.
import type { AnswerOutcome, Tutti } from "../client/client.ts";
import { allowedText, fits } from "../core/standing-approvals.ts";
import type { OpenAsk, OpenWait } from "../protocol/api/task-shapes.ts";
import { TuttiError } from "../protocol/error.ts";
import { type AllowedCalls, AlwaysDetails, CommandPattern } from "../protocol/invocation/standing-approval.ts";
import { person, submitAnswer } from "./submit-answer.ts";
import { commandWords } from "../core/command-words.ts";

export interface Always {
  /** What will be allowed. */
  readonly calls: AllowedCalls;
  /** Set when a pattern was typed. */
  readonly argv: CommandPattern | undefined;
}

const typedAlways = /^(?:a|always)(?:\s*:\s*(?<pattern>[^]+))?$/i;

/** What "always" would allow, if that can be answered at all. */
export function alwaysOf(open: OpenAsk | OpenWait): AllowedCalls | undefined {
  return "kind" in open && open.kind === "approval" ? AlwaysDetails.safeParse(open.details).data?.always : undefined;
}

/** Undefined when something else was typed. Throws `invalid_input` when what was typed cannot be allowed for good. */
export function readAlways(open: OpenAsk | OpenWait, typed: string): Always | undefined {
  const match = typedAlways.exec(typed.trim());
  if (match === null || !("kind" in open) || open.kind !== "approval") return undefined;
  const calls = alwaysOf(open);
  if (calls === undefined) {
    throw new TuttiError(
      "invalid_input",
      "this cannot be allowed for good: a person must decide each time; answer y or n",
    );
  }
  const pattern = match.groups?.["pattern"];
  if (pattern === undefined) return { calls, argv: undefined };
  const words = CommandPattern.safeParse(commandWords(pattern));
  if (calls.argv === undefined)
    throw new TuttiError("invalid_input", "a pattern is for commands; answer a without one");
  if (!words.success || !fits(words.data, calls.argv)) {
    const message =
      "the command does not fit this pattern; name the program, and write * for one or more whole words that are no options";
    throw new TuttiError("invalid_input", message);
  }
  return { calls: { ...calls, argv: words.data }, argv: words.data };
}

/** The rule as it will be written. */
export function ruleText({ calls }: Always): string {
  return `From now on, in this project, this runs without asking:\n  ${allowedText(calls)}`;
}

/** First the rule, then the yes: if the rule cannot be written, the question stays open. */
export async function allowAlways(tutti: Tutti, open: OpenAsk | OpenWait, { argv }: Always): Promise<AnswerOutcome> {
  await tutti.addApproval({ ask: open.id, ...(argv === undefined ? {} : { argv }) }, person());
  return submitAnswer(tutti, open, { kind: "approval", approved: true });
}
