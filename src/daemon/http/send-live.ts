// Sends another node the text that is being written at this one.

import type { IncomingMessage, ServerResponse } from "node:http";

import { toTuttiError } from "../../protocol/error.ts";
import { nodeTokenHeader } from "../cluster/node-token.ts";
import type { SharedByNodes } from "../state/kept-records.ts";
import type { LiveRelay } from "../state/live-relay.ts";
import type { HttpError } from "./http-error.ts";
import { securityHeaders } from "./security-headers.ts";

/** Live text is for looking on: what another node cannot take at once is left out. */
const mostWaiting = 1024 * 1024;

export interface LiveSource {
  readonly shared: Pick<SharedByNodes, "checkToken" | "prove">;
  /** What this node writes itself, without what it hears from others. */
  readonly own: LiveRelay["on"];
}

/** Sends what is written here to another node until either of them has enough. */
export function sendLive(
  source: LiveSource,
  request: IncomingMessage,
  response: ServerResponse,
): HttpError | undefined {
  const token = request.headers[nodeTokenHeader];
  try {
    source.shared.checkToken(typeof token === "string" ? token : undefined, {
      method: request.method ?? "",
      path: request.url ?? "",
    });
  } catch (thrown) {
    return { cause: toTuttiError(thrown) };
  }
  response.writeHead(200, [...securityHeaders, "Content-Type", "application/x-ndjson; charset=utf-8"]);
  response.flushHeaders();
  const off = source.own((delta) => {
    if (response.writableLength < mostWaiting) response.write(`${JSON.stringify(delta)}\n`);
  });
  response.once("close", off);
  return undefined;
}
