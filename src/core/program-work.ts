// Who may agree to what work of a program waits for, and how a person is asked about what it wants.

import { type ByProgram, isByProgram } from "../protocol/invocation/by-program.ts";
import { Answer, type Answerer, type AskKind } from "../protocol/task/ask.ts";
import { escapeInvisible } from "./escape-invisible.ts";
import { inLine } from "./foreign-words.ts";

/**
 * Why this answer does not count; undefined when it does. In a tree that a program started, only a person agrees: otherwise a
 * program could agree to what it asks for itself. Anybody may say no.
 */
export function refusedYes(
  rootConfig: unknown,
  kind: AskKind | undefined,
  { answer, by }: { readonly answer: unknown; readonly by: Answerer },
): string | undefined {
  if (kind === undefined || kind === "question" || by.kind !== "operator" || !isByProgram(rootConfig)) return undefined;
  const read = Answer.safeParse(answer);
  if (!read.success || !agrees(read.data)) return undefined;
  return "a program started this work, so only a person may agree to it: with `tutti answer`, in the dashboard, or with a key that was made with --person";
}

/** More budget is agreed to like anything else. */
function agrees(answer: Answer): boolean {
  return (answer.kind === "approval" && answer.approved) || (answer.kind === "budget" && answer.go_on);
}

/** What the person who is asked about the wishes of a program reads: each of them whole. */
export function wishesQuestion({ key, over, wants }: ByProgram): string {
  const head =
    `A program started this work over ${over} with the key ${JSON.stringify(key)}, and wants what needs your yes. ` +
    `A runner is not confined to the folders of the work, and does what it is told, also by agents of the work later.`;
  const shown = wants.map(({ wish, value }) => `${inLine(wish)}: ${JSON.stringify(value, null, 2)}`);
  return [head, ...shown].map(escapeInvisible).join("\n");
}
