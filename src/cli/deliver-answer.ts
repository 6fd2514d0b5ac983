// Gives an answer to what waits for it, in the name of the person at this terminal.
import { userInfo } from "node:os";

import type { AnswerOutcome, Tutti } from "../client/client.ts";
import type { OpenAsk, OpenWait } from "../protocol/api/task-shapes.ts";

export function deliver(tutti: Tutti, open: OpenAsk | OpenWait, value: unknown): Promise<AnswerOutcome> {
  const by = { kind: "person", name: personName() } as const;
  return "kind" in open ? tutti.answer(open.id, value, by) : tutti.settle(open.id, value, by);
}

/** A user without an entry in the system's list has no name. */
function personName(): string {
  try {
    return userInfo().username || "terminal";
  } catch {
    return "terminal";
  }
}
