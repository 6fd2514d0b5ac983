// Takes an operator's frame to the wait it answers; the first answer wins, and a frame that cannot be used is named.

import { askView } from "../../engine/event-view.ts";
import { askName } from "../../store/names.ts";
import type { Tasks } from "../../ports.ts";
import type { ClientFrame, ErrorFrame } from "../../protocol/operator/frames.ts";
import { matchReply, type NotOpen } from "../../protocol/operator/match-reply.ts";
import { operatorAnswer } from "../../protocol/operator/operator-answer.ts";
import type { HookVerdict, SpawnAnswer } from "../../protocol/operator/operator-request.ts";
import { refuseFrame } from "../../protocol/operator/refuse-frame.ts";
import type { RequestKind } from "../../protocol/operator/request-id.ts";
import type { WaitRow } from "../../store/store.ts";
import type { StoreView } from "../../store/view.ts";
import { requestDetails } from "./open-requests.ts";
import { readRequestName } from "./request-names.ts";
import { answererOf, type Session } from "./session.ts";
import type { SigningKey } from "./signing-key.ts";

export interface ReplyTaker {
  readonly view: StoreView;
  readonly engine: Pick<Tasks, "deliver">;
  readonly signingKey: Pick<SigningKey, "mac">;
}

/** Undefined when the reply was taken. A refused one changes nothing: an open request still waits for the right one. */
export async function takeReply(
  taker: ReplyTaker,
  session: Session,
  frame: ClientFrame,
): Promise<ErrorFrame | undefined> {
  const name = readRequestName(frame.req_id, session.row.sid, taker.signingKey);
  const row = name === undefined ? undefined : taker.view.wait(name.id);
  const matched = matchReply(standingOf(taker, name?.kind, row), frame);
  if (!matched.ok) return matched.error;
  if (row === undefined) return undefined;
  const value = valueOf(taker, row, matched.reply);
  if (value === undefined) return invalid(frame, "the value does not answer this ask");
  const delivery = await taker.engine.deliver(askName(taker.view.salt, row.id), value, answererOf(session));
  switch (delivery.outcome) {
    case "accepted":
      return undefined;
    case "invalid":
      return invalid(frame, delivery.message);
    case "late":
      return notOpen(delivery.settled.kind === "answered" ? "already_answered" : "late", frame);
    case "unknown":
      return notOpen("late", frame);
  }
}

/** From the store alone, so that a restart changes no answer. */
function standingOf(
  { view }: ReplyTaker,
  kind: RequestKind | "hook_after" | undefined,
  row: WaitRow | undefined,
): RequestKind | NotOpen {
  if (kind === undefined || kind === "hook_after" || row === undefined) return "unknown_request";
  if (requestDetails(row)?.kind !== kind) return "unknown_request";
  const answer = view.answer(row.id);
  if (answer === undefined) return kind;
  return answer.kind === "answered" ? "already_answered" : "late";
}

/** What the wait is settled with; undefined when the answer is none. */
function valueOf({ view }: ReplyTaker, row: WaitRow, frame: ClientFrame): unknown {
  switch (frame.type) {
    case "answer": {
      const ask = askView(view.salt, row);
      return ask === undefined ? undefined : operatorAnswer(ask, frame.value);
    }
    case "hook_ack":
      return {
        ok: frame.ok,
        ...(typeof frame.reason === "string" ? { reason: frame.reason } : {}),
      } satisfies HookVerdict;
    case "spawn_ack": {
      const error = typeof frame.error === "string" ? { error: frame.error } : {};
      return { value: frame.value ?? null, ok: frame.ok, ...error } satisfies SpawnAnswer;
    }
  }
}

function invalid(frame: ClientFrame, why: string): ErrorFrame {
  return refuseFrame("invalid_answer", `${why}; it still waits, send another answer`, frame.req_id).error;
}

function notOpen(why: NotOpen, frame: ClientFrame): ErrorFrame | undefined {
  const matched = matchReply(why, frame);
  return matched.ok ? undefined : matched.error;
}
