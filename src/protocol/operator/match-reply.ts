// Decides whether a client's frame answers the request it names.
import type { ClientFrame, ErrorFrame } from "./frames.ts";
import { refuseFrame } from "./refuse-frame.ts";
import type { RequestKind } from "./request-id.ts";

const replyTypes = { ask: "answer", hook_before: "hook_ack", spawn: "spawn_ack" } as const satisfies Record<
  RequestKind,
  ClientFrame["type"]
>;

export type ReplyTo<K extends RequestKind> = Extract<ClientFrame, { type: (typeof replyTypes)[K] }>;

/** Why there is no open request. */
export type NotOpen = "unknown_request" | "already_answered" | "late";

export type ReplyMatch<K extends RequestKind> =
  | { readonly ok: true; readonly reply: ReplyTo<K> }
  | { readonly ok: false; readonly error: ErrorFrame };

/**
 * `standing` is what the session knows of `frame.req_id`: the kind of the open request, or why there is none.
 * A refused reply changes nothing: the request, if open, still waits for the right one.
 */
export function matchReply<K extends RequestKind>(standing: K | NotOpen, frame: ClientFrame): ReplyMatch<K> {
  if (isNotOpen(standing)) return refuseFrame(standing, notOpen[standing], frame.req_id);
  if (isReplyTo(standing, frame)) return { ok: true, reply: frame };
  const wanted = replyTypes[standing];
  const message = `the request is ${standing} and takes ${wanted}, not ${frame.type}; it still waits, send ${wanted}`;
  return refuseFrame("wrong_kind", message, frame.req_id);
}

const notOpen: Readonly<Record<NotOpen, string>> = {
  unknown_request: "no request of this session has that req_id; copy it from the frame you answer",
  already_answered: "the request was answered before; the first answer stands and this one changes nothing",
  late: "the request is no longer open; this reply changes nothing",
};

function isNotOpen(standing: string): standing is NotOpen {
  return Object.hasOwn(notOpen, standing);
}

function isReplyTo<K extends RequestKind>(kind: K, frame: ClientFrame): frame is ReplyTo<K> {
  return frame.type === replyTypes[kind];
}
