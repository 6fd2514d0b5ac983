// Asks an operator again whose answer cannot be used, when it knows no error frames: a new `ask` says what was wrong.

import type { ErrorFrame } from "../../protocol/operator/frames.ts";
import { askAgainFrame, type FrameContext } from "./request-frame.ts";
import type { OperatorSession } from "./session-state.ts";
import { mostAgain, verifyRequestId } from "./signed-request-id.ts";

/**
 * A new req_id, because an operator may repeat what it said to the one before. False when it is not asked again: the ask is
 * settled, or the operator had its chances; then people can still answer.
 */
export async function askAgain(
  context: Pick<FrameContext, "reads" | "signingKey">,
  session: OperatorSession,
  { code, req_id, message }: ErrorFrame,
): Promise<boolean> {
  if ((code !== "invalid_answer" && code !== "bad_frame") || req_id === undefined) return false;
  const { connection, row } = session;
  const named = verifyRequestId(req_id, row.sid, context.signingKey);
  const request = named === undefined ? undefined : session.requests.get(named.id);
  if (named?.kind !== "ask" || request === undefined || named.again >= mostAgain) return false;
  const again = { sid: row.sid, again: named.again + 1, problem: message };
  const frame = await askAgainFrame(context, request, again);
  const isAsked = frame !== undefined && session.requests.get(request.id) === request;
  return isAsked && session.connection === connection && connection?.send(frame) === true;
}
