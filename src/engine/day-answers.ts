// Answers to the question about a cap of the day: who may give them, what they say, and who applies them.

import { choiceOf, dayCapLabel, type DayChoice } from "../core/day-question.ts";
import type { AskId } from "../protocol/ids.ts";
import type { Answerer } from "../protocol/task/ask.ts";
import type { AnswerRow } from "../store/store.ts";
import { answerIn, type WaitBody } from "./wait-body.ts";

/** Applies the answer wherever it comes, whether or not the loop that asked is there to hear it. */
export interface DayQuestions {
  closed(ask: AskId, choice: DayChoice | undefined): Promise<void>;
}

/** What the answer to the question of the day says; undefined when it is none, or nobody gave one. */
export function chosen({ ask }: WaitBody, row: AnswerRow): DayChoice | undefined {
  const answer = answerIn(row);
  return answer?.kind === "question" ? choiceOf(ask?.details, answer.value) : undefined;
}

/** Why this answerer cannot settle a wait for the cap of the day; undefined for any other wait, and for a person. */
export function dayWaitProblem({ label, ask }: WaitBody, by: Answerer, isNoAnswer: boolean): string | undefined {
  if (label !== dayCapLabel) return undefined;
  if (ask === undefined) return "this waits for the cap of the day; only the question about the cap can be answered";
  if (by.kind === "person" || (by.kind === "rule" && isNoAnswer)) return undefined;
  return "only a person decides about the cap of the day";
}
