// Writes replies: the headers that every reply has, JSON, and errors as problem documents.

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

import { problemOf, problemType } from "../../protocol/api/problem.ts";
import { errorTable } from "../../protocol/error.ts";
import { sendErrorPage, wantsHtml } from "./html-page.ts";
import type { HttpError } from "./http-error.ts";
import { securityHeaders } from "./security-headers.ts";

/** An unread body up to this length is read and dropped, so that the connection can be used again. */
const maxDroppedBytes = 64 * 1024;
/** How long a caller that is still sending its body has to notice the error. */
const lingerMs = 1_000;

const jsonHead = [...securityHeaders, "Content-Type", "application/json", "Content-Length"];

/** A long text is encoded once: as text it would be held twice while the caller reads. */
const longText = 64 * 1024;

export function sendJson(response: ServerResponse, status: number, body: string | Buffer): void {
  if (typeof body === "string" && body.length > longText) return sendJson(response, status, Buffer.from(body));
  const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  response.writeHead(status, jsonHead.concat(String(length)));
  // Node writes plain ASCII faster if it need not look for anything else.
  if (typeof body === "string" && body.length === length) response.end(body, "latin1");
  else response.end(body);
}

export function sendEmpty(response: ServerResponse, status: number, headers: readonly string[] = []): void {
  response.writeHead(status, [...securityHeaders, ...headers]);
  response.end();
}

/** A person in front of a browser gets the error as a page, and everybody else as a problem document. */
export function sendError(request: IncomingMessage, response: ServerResponse, error: HttpError): void {
  const { status, headers, body } = problemReply(error);
  if (wantsHtml(request) && !bodyStillArrives(request)) {
    return sendErrorPage(response, { status, message: error.cause.message, headers: extraHeaders(error, status) });
  }
  if (!bodyStillArrives(request)) {
    response.writeHead(status, headers);
    response.end(body);
    return;
  }
  response.writeHead(status, [...headers, "Connection", "close"]);
  response.write(body);
  linger(request, response);
}

/** For a connection that has no response object: writes the reply by hand, and closes the connection. */
export function sendErrorOnSocket(socket: Duplex, error: HttpError, timeoutMs: number): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = problemReply(error);
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`, "Connection: close"];
  for (let index = 0; index < headers.length; index += 2) lines.push(`${headers[index]}: ${headers[index + 1]}`);
  const timer = setTimeout(() => socket.destroy(), timeoutMs);
  socket.once("close", () => clearTimeout(timer));
  socket.resume();
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

interface ProblemReply {
  readonly status: number;
  readonly headers: string[];
  readonly body: string;
}

function problemReply(error: HttpError): ProblemReply {
  const { cause, status = errorTable[cause.code].http, extra } = error;
  const body = JSON.stringify(problemOf(cause, { status, ...(extra === undefined ? {} : { extra }) }));
  const all = [...securityHeaders, "Content-Type", problemType, "Content-Length", String(Buffer.byteLength(body))];
  return { status, headers: [...all, ...extraHeaders(error, status)], body };
}

/** The headers that belong to an error, in whichever form it is sent. */
function extraHeaders({ headers = [] }: HttpError, status: number): string[] {
  const all: string[] = [];
  if (status === 401) all.push("WWW-Authenticate", 'Bearer realm="tutti"');
  if (status === 429 || status === 503) all.push("Retry-After", status === 429 ? "2" : "1");
  return [...all, ...headers];
}

/** True when a body that is long, or of unknown length, has not been read to its end. */
function bodyStillArrives(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const length = request.headers["content-length"];
  return length === undefined ? request.headers["transfer-encoding"] !== undefined : Number(length) > maxDroppedBytes;
}

/**
 * If the connection were closed while data still arrives, the system would discard the reply before the caller has read
 * it. So what the caller still sends is read and dropped for a short while, and then the connection is closed.
 */
function linger(request: IncomingMessage, response: ServerResponse): void {
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, lingerMs);
  request.once("end", end);
  request.once("close", end);
  request.on("data", () => {});
}
