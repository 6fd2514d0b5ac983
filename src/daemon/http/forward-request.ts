// Passes a request on to the node that has to answer it, and its reply back, both as they come.

import { type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import { pipeline } from "node:stream/promises";
import { Transform } from "node:stream";

import { TuttiError } from "../../protocol/error.ts";
import type { NodeLink } from "../cluster/node-fetch.ts";
import { type HttpError, httpError } from "./http-error.ts";

/** A request with this header came from another node. It is answered there or not at all, so that it never goes in circles. */
export const forwardedHeader = "tutti-forwarded";

interface ForwardOptions {
  readonly signal: AbortSignal;
  readonly maxBodyBytes: number;
  /** How long the other node may take until it begins to answer. */
  readonly answerMs?: number;
}

const defaultAnswerMs = 60_000;
/** They are about one connection, and the next one has its own. `host` is that of the other node. */
const notPassedOn: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "host",
  "expect",
]);

/**
 * Sends the reply of the other node, or returns the error that is to be sent instead. If the other node breaks off while
 * it answers, the connection of the caller is broken off too.
 *
 * @public
 */
export async function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  target: NodeLink,
  { signal, maxBodyBytes, answerMs = defaultAnswerMs }: ForwardOptions,
): Promise<HttpError | undefined> {
  if (request.headers[forwardedHeader] !== undefined) {
    return httpError("busy", "what this request is about has just gone to another node; ask again");
  }
  if (Number(request.headers["content-length"] ?? 0) > maxBodyBytes) return tooLarge(maxBodyBytes);
  const gone = new AbortController();
  const onClose = (): void => gone.abort(new TuttiError("canceled", "the caller closed the connection"));
  const late = setTimeout(() => gone.abort(new TuttiError("unreachable", "the other node does not answer")), answerMs);
  response.once("close", onClose);
  try {
    const answer = await ask(request, target, { signal: AbortSignal.any([signal, gone.signal]), maxBodyBytes });
    clearTimeout(late);
    response.writeHead(answer.statusCode ?? 502, passedOn(answer.rawHeaders));
    await pipeline(answer, response);
    return undefined;
  } catch (thrown) {
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return undefined;
    }
    if (thrown instanceof TooLong) return tooLarge(maxBodyBytes);
    if (signal.aborted) throw signal.reason;
    const message = "the node that has to answer cannot be reached; ask again soon";
    return { cause: new TuttiError("unreachable", message, { cause: thrown }) };
  } finally {
    clearTimeout(late);
    response.off("close", onClose);
  }
}

class TooLong extends Error {}

/** Resolves with the head of the answer; the body of the request may still be on its way then. */
function ask(
  request: IncomingMessage,
  { base, agent, headersFor }: NodeLink,
  { signal, maxBodyBytes }: Pick<ForwardOptions, "signal" | "maxBodyBytes">,
): Promise<IncomingMessage> {
  const at = new URL(request.url ?? "/", base);
  // A path such as `//elsewhere` must not lead anywhere else.
  if (at.origin !== base.origin) {
    return Promise.reject(new TuttiError("usage", "the path of the request cannot be passed on"));
  }
  const send = at.protocol === "https:" ? httpsRequest : httpRequest;
  const { method = "GET" } = request;
  const own = headersFor({ method, path: `${at.pathname}${at.search}` });
  const passed = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !notPassedOn.has(name)));
  return new Promise((resolve, reject) => {
    const sent = send(
      at,
      {
        method,
        headers: { ...passed, ...own, [forwardedHeader]: "1" },
        signal,
        ...(agent === undefined ? {} : { agent }),
      },
      resolve,
    );
    sent.on("error", reject);
    pipeline(request, bounded(maxBodyBytes), sent).catch((thrown: unknown) => {
      // The other node may answer before it has read everything.
      if (thrown instanceof TooLong || !sent.writableFinished) sent.destroy();
      reject(thrown);
    });
  });
}

function bounded(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) done(new TooLong());
      else done(null, chunk);
    },
  });
}

function passedOn(rawHeaders: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (!notPassedOn.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}

function tooLarge(maxBytes: number): HttpError {
  return httpError("too_large", `the body may have at most ${maxBytes} bytes`);
}
