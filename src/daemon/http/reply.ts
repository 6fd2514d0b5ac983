// Writes replies: the headers every one of them has, JSON in one piece, and refusals as problem documents.

import type { IncomingMessage, ServerResponse } from "node:http";

import { problemOf, problemType } from "../../protocol/api/problem.ts";
import { errorTable } from "../../protocol/error.ts";
import type { Refused } from "./refused.ts";

/** On every reply, whatever it is. */
export const strictHeaders: readonly string[] = [
  "X-Content-Type-Options",
  "nosniff",
  "Cache-Control",
  "no-store",
  "Content-Security-Policy",
  "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy",
  "no-referrer",
  "Cross-Origin-Resource-Policy",
  "same-origin",
];

/** A body that nobody read and is no longer than this is let run out, so that the connection can be used again. */
const letRunOut = 64 * 1024;
/** How long a caller that is still sending has to notice that it was refused. */
const lingerMs = 1_000;

const jsonHead = [...strictHeaders, "Content-Type", "application/json", "Content-Length"];

export function sendJson(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, jsonHead.concat(String(Buffer.byteLength(body))));
  response.end(body);
}

export function sendEmpty(response: ServerResponse, status: number, headers: readonly string[] = []): void {
  response.writeHead(status, [...strictHeaders, ...headers]);
  response.end();
}

export interface ProblemReply {
  readonly status: number;
  readonly headers: string[];
  readonly body: string;
}

/** The whole of a refusal but the status line. */
export function problemReply(refused: Refused): ProblemReply {
  const { error, status = errorTable[error.code].http, headers = [], extra } = refused;
  const body = JSON.stringify(problemOf(error, { status, ...(extra === undefined ? {} : { extra }) }));
  const all = [...strictHeaders, "Content-Type", problemType, "Content-Length", String(Buffer.byteLength(body))];
  if (status === 401) all.push("WWW-Authenticate", 'Bearer realm="tutti"');
  if (status === 429 || status === 503) all.push("Retry-After", status === 429 ? "2" : "1");
  return { status, headers: [...all, ...headers], body };
}

export function sendProblem(request: IncomingMessage, response: ServerResponse, refused: Refused): void {
  const { status, headers, body } = problemReply(refused);
  if (!leavesUnread(request)) {
    response.writeHead(status, headers);
    response.end(body);
    return;
  }
  response.writeHead(status, [...headers, "Connection", "close"]);
  response.write(body);
  linger(request, response);
}

/** A long body is still on its way, or one of unknown length. */
function leavesUnread(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const length = request.headers["content-length"];
  return length === undefined ? request.headers["transfer-encoding"] !== undefined : Number(length) > letRunOut;
}

/**
 * Closing while data is still coming in makes the system throw the reply away on its way. The caller has all of it by now:
 * what it still sends is dropped until it stops, for a short while.
 */
function linger(request: IncomingMessage, response: ServerResponse): void {
  const done = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(done, lingerMs);
  request.once("end", done);
  request.once("close", done);
  request.on("data", () => {});
}
