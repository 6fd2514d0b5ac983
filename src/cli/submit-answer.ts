// Sends an answer to an ask or a wait, in the name of the person at this terminal.
import { userInfo } from "node:os";

import type { AnswerOutcome, Tutti } from "../client/client.ts";
import type { Answerer } from "../protocol/task/ask.ts";
import type { OpenAsk, OpenWait } from "../protocol/api/task-shapes.ts";

export function submitAnswer(tutti: Tutti, open: OpenAsk | OpenWait, value: unknown): Promise<AnswerOutcome> {
  const by = person();
  return "kind" in open ? tutti.answer(open.id, value, by) : tutti.settle(open.id, value, by);
}

export function person(): Answerer {
  return { kind: "person", name: personName() };
}

function personName(): string {
  try {
    return userInfo().username || "terminal";
  } catch {
    // The system has no entry for this user, as in some containers.
    return "terminal";
  }
}
