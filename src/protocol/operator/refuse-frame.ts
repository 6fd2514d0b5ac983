// Builds the error frame a client gets for a frame that could not be used.
import type { ErrorFrame, FrameFault } from "./frames.ts";

/** Our ids are far shorter; a longer one is not sent back. */
const maxEchoedId = 256;

export function refuseFrame(
  code: FrameFault,
  message: string,
  reqId?: unknown,
): { readonly ok: false; readonly error: ErrorFrame } {
  const known = typeof reqId === "string" && reqId.length <= maxEchoedId;
  return { ok: false, error: { type: "error", ...(known ? { req_id: reqId } : {}), code, message } };
}
