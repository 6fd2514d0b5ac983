// Delivers an operator's reply to the wait it answers. The first answer wins; a reply that cannot be used is named.

import { askView } from "../../engine/event-view.ts";
import { askName } from "../../store/names.ts";
import type { Delivery, Tasks } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { AskId } from "../../protocol/ids.ts";
import type { ClientFrame, ErrorFrame } from "../../protocol/operator/frames.ts";
import { matchReply, type NotOpen } from "../../protocol/operator/match-reply.ts";
import { operatorAnswer } from "../../protocol/operator/operator-answer.ts";
import type { HookVerdict, SpawnAnswer } from "../../protocol/operator/operator-request.ts";
import { refuseFrame } from "../../protocol/operator/refuse-frame.ts";
import type { RequestKind } from "../../protocol/operator/request-id.ts";
import type { OperatorReads } from "../../store/reads-for-operators.ts";
import type { AnswerRow, WaitRow } from "../../store/store.ts";
import { answererOf, type OperatorSession } from "./session-state.ts";
import { verifyRequestId } from "./signed-request-id.ts";
import type { SigningKey } from "./signing-key.ts";
import { reportFailure, type ReportContext } from "./report-failure.ts";
import { requestDetails } from "./request-details.ts";

export interface ReplyContext extends ReportContext {
  readonly engine: Pick<Tasks, "deliver" | "message">;
  readonly signingKey: Pick<SigningKey, "mac">;
}

/**
 * Returns undefined if the reply was accepted. A refused reply changes nothing: an open request still waits. Replies of one
 * operator session are looked up in the order in which they came. Those to the same request are delivered one after the
 * other; none waits for the delivery of a reply to another request.
 */
export async function deliverReply(
  context: ReplyContext,
  session: OperatorSession,
  frame: ClientFrame,
): Promise<ErrorFrame | undefined> {
  const named = verifyRequestId(frame.req_id, session.row.sid, context.signingKey);
  const look = async (): Promise<Reply> => ({
    frame,
    kind: named?.kind,
    ...(named === undefined ? nothing : await lookUp(context.reads, named.id)),
  });
  if (named === undefined) return deliver(context, session, await look());
  const { delivering } = session;
  const before = delivering.get(named.id);
  const looking = before === undefined ? session.replies.then(look) : before.then(look);
  if (before === undefined) session.replies = looking.catch(() => undefined);
  // If the one before could not be delivered, this one is not either: the first word counts, and may have been taken.
  const delivered = looking.then((reply) => deliver(context, session, reply));
  delivering.set(named.id, delivered);
  try {
    return await delivered;
  } finally {
    if (delivering.get(named.id) === delivered) delivering.delete(named.id);
  }
}

interface LookedUp {
  readonly row: WaitRow | undefined;
  readonly answer: AnswerRow | undefined;
}

const nothing: LookedUp = { row: undefined, answer: undefined };

async function lookUp(reads: OperatorReads, wait: number): Promise<LookedUp> {
  const row = await reads.wait(wait);
  return { row, answer: row === undefined ? undefined : await reads.answer(wait) };
}

interface Reply extends LookedUp {
  readonly frame: ClientFrame;
  /** What its request id says that it answers. */
  readonly kind: RequestKind | "hook_after" | undefined;
}

async function deliver(
  context: ReplyContext,
  session: OperatorSession,
  { frame, kind, row, answer }: Reply,
): Promise<ErrorFrame | undefined> {
  const { reads, engine } = context;
  const state = requestState(kind, row, answer);
  if (state === "already_answered" && row !== undefined && frame.type === "spawn_ack") {
    const report = await reportFailure(context, row, spawnAnswerIn(frame));
    if (report === "reported") return undefined;
    if (report === "late") return notOpen("late", frame);
  }
  const matched = matchReply(state, frame);
  if (!matched.ok) return matched.error;
  if (row === undefined) return undefined;
  const value = answerValue(context, row, matched.reply);
  if (value === undefined)
    return invalid(frame, "an approval or a budget is answered with true or false, and nothing else");
  const delivery = await deliverAs(session, engine, askName(reads.salt, row.id), value);
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

/** An answer that only a person may give cannot be used either. */
async function deliverAs(
  session: OperatorSession,
  engine: ReplyContext["engine"],
  wait: AskId,
  value: unknown,
): Promise<Delivery> {
  try {
    return await engine.deliver(wait, value, answererOf(session));
  } catch (thrown) {
    if (thrown instanceof TuttiError && thrown.code === "refused")
      return { outcome: "invalid", message: thrown.message };
    throw thrown;
  }
}

/** Made from the records alone, so that a restart does not change what an operator is told. */
function requestState(
  kind: RequestKind | "hook_after" | undefined,
  row: WaitRow | undefined,
  answer: AnswerRow | undefined,
): RequestKind | NotOpen {
  if (kind === undefined || kind === "hook_after" || row === undefined) return "unknown_request";
  if (requestDetails(row)?.kind !== kind) return "unknown_request";
  if (answer === undefined) return kind;
  return answer.kind === "answered" ? "already_answered" : "late";
}

/** What the wait is answered with; undefined if the frame's value is no answer to the ask. */
function answerValue({ reads }: ReplyContext, row: WaitRow, frame: ClientFrame): unknown {
  switch (frame.type) {
    case "answer": {
      const ask = askView(reads.salt, row);
      return ask === undefined ? undefined : operatorAnswer(ask, frame.value);
    }
    case "hook_ack": {
      const reason = typeof frame.reason === "string" ? { reason: frame.reason } : {};
      return { ok: frame.ok, ...reason } satisfies HookVerdict;
    }
    case "spawn_ack":
      return spawnAnswerIn(frame);
  }
}

function spawnAnswerIn({ value, ok, error }: Extract<ClientFrame, { type: "spawn_ack" }>): SpawnAnswer {
  return { value: value ?? null, ok, ...(typeof error === "string" ? { error } : {}) };
}

function invalid(frame: ClientFrame, why: string): ErrorFrame {
  return refuseFrame("invalid_answer", `${why}; the request still waits, send another answer`, frame.req_id).error;
}

function notOpen(why: NotOpen, frame: ClientFrame): ErrorFrame | undefined {
  const matched = matchReply(why, frame);
  return matched.ok ? undefined : matched.error;
}
