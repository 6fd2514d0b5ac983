// Sends what a handler returned: JSON, JSON lines, an event stream, or nothing.

import type { IncomingMessage, ServerResponse } from "node:http";

import type { EventStreams } from "./event-streams.ts";
import type { AnyReply } from "./handler.ts";
import type { HttpError } from "./http-error.ts";
import { sendEmpty, sendJson } from "./reply.ts";
import { sendLines } from "./send-lines.ts";

interface ReplyTarget {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly streams: EventStreams;
  /** The route's status, used unless the reply has its own. */
  readonly status: number;
}

/** Returns a promise only where sending takes time, so that the common reply costs none. */
export function sendReply(
  { request, response, streams, status }: ReplyTarget,
  reply: Exclude<AnyReply, { error: HttpError }>,
): Promise<void> | undefined {
  if (response.destroyed) return undefined;
  if ("value" in reply) {
    if (reply.afterwards !== undefined) response.once("close", reply.afterwards);
    sendJson(response, reply.status ?? status, reply.encoded ?? JSON.stringify(reply.value));
  } else if ("json" in reply) sendJson(response, status, reply.json);
  else if ("lines" in reply) return sendLines(request, response, reply.lines);
  else if ("stream" in reply) {
    if (request.method === "HEAD") sendEmpty(response, 200, ["Content-Type", "text/event-stream; charset=utf-8"]);
    else streams.open(response, reply.stream);
  } else sendEmpty(response, status);
  return undefined;
}
