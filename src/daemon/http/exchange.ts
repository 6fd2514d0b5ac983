// One request from arrival to reply: Host and Origin, route, who calls, the parts validated, the handler, the reply.

import type { IncomingMessage, ServerResponse } from "node:http";

import type { RouteSpec } from "../../protocol/api/route-shape.ts";
import { type RouteName, routes } from "../../protocol/api/routes.ts";
import { type ErrorCode, toTuttiError, type TuttiError } from "../../protocol/error.ts";
import { admit, type Caller, type Doors } from "./caller.ts";
import type { EventStreams } from "./event-streams.ts";
import type { FailedAttempts } from "./failed-attempts.ts";
import type { AnyHandlers, AnyReply } from "./handler.ts";
import { OpenCall, type Stopping } from "./open-call.ts";
import type { OriginCheck } from "./origin-check.ts";
import { readBody } from "./read-body.ts";
import { readQuery } from "./read-query.ts";
import { type Refused, refuse } from "./refused.ts";
import { sendEmpty, sendJson, sendProblem } from "./reply.ts";
import { readHead } from "./request-head.ts";
import type { Router } from "./router.ts";
import { sendLines } from "./send-lines.ts";
import { checkBody, checkHeaders, checkParams, checkQuery } from "./validate.ts";

/** The part of a pino logger that is used here. */
export interface HttpLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export interface ExchangeDeps {
  readonly doors: Doors;
  readonly router: Router<RouteName>;
  readonly handlers: AnyHandlers;
  readonly origin: OriginCheck;
  readonly failed: FailedAttempts;
  readonly streams: EventStreams;
  readonly log: HttpLog;
  /** Why there is no more work done here; undefined while there is. */
  readonly stopping: () => TuttiError | undefined;
  readonly onStopping: Stopping;
}

const bodyLimit = 1024 * 1024;
/** In bytes, where it is not the usual. */
const bodyLimits: Partial<Record<RouteName, number>> = {
  invoke: 8 * bodyLimit,
  workerResult: 2 * bodyLimit,
  workerSubmit: 2 * bodyLimit,
};

/** Never throws: whatever happens is told to the caller, or to the log. */
export function exchange(deps: ExchangeDeps, request: IncomingMessage, response: ServerResponse): void {
  const told = (refused: Refused | undefined): void => {
    if (refused !== undefined) tellRefusal(deps, request, response, refused);
  };
  const failed = (thrown: unknown): void => {
    const error = toTuttiError(thrown);
    if (ours.has(error.code)) {
      deps.log.error({ err: thrown, method: request.method, path: pathOf(request) }, "a request failed inside");
    }
    tellRefusal(deps, request, response, { error });
  };
  serve(deps, request, response)
    .then(told, failed)
    .catch(() => response.destroy());
}

/** Failures that are nobody's but the service's own. */
const ours: ReadonlySet<ErrorCode> = new Set(["internal", "io", "corrupt", "read_only", "disk_full"]);

function tellRefusal(deps: ExchangeDeps, request: IncomingMessage, response: ServerResponse, refused: Refused): void {
  if (response.headersSent) {
    // Half a reply went out: only a broken connection says that the rest is missing.
    if (!response.writableEnded) response.destroy();
    return;
  }
  if (response.destroyed) return;
  const { code } = refused.error;
  if (code === "unauthorized" || code === "refused" || code === "slow_down") {
    const facts = { code, peer: request.socket.remoteAddress, method: request.method, path: pathOf(request) };
    deps.log.warn(facts, "a request was refused");
  }
  sendProblem(request, response, refused);
}

/** Without the query, which may hold a ticket. */
function pathOf(request: IncomingMessage): string {
  return (request.url ?? "").replace(/\?.*$/s, "").slice(0, 256);
}

async function serve(
  deps: ExchangeDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Refused | undefined> {
  const stopped = deps.stopping();
  if (stopped !== undefined) return { error: stopped, headers: ["Connection", "close"] };
  const head = readHead(request);
  if ("refused" in head) return head.refused;
  const from = deps.origin(request, head.authority);
  if (from.refused !== undefined) return from.refused;
  if (from.foreign !== undefined) allowForeign(response, from.foreign);
  const found = deps.router.find(request.method ?? "", head.path);
  if ("refused" in found) return found.refused;
  if ("allow" in found) {
    sendEmpty(response, 204, ["Allow", found.allow]);
    return undefined;
  }
  const name = found.route;
  const spec: RouteSpec = routes[name];
  const query = readQuery(head.search);
  if (!query.ok) return query.refused;
  const admission = admit(deps.doors, request, spec.access, found.params?.["sid"] ?? "");
  if (!admission.ok) {
    return admission.guessed ? slowed(deps.failed, request, admission.refused) : admission.refused;
  }
  const params = checkParams(spec, found.params);
  if (!params.ok) return params.refused;
  if (spec.reply.type === "upgrade") return upgradeRequired;
  const checked = checkQuery(spec, query.query);
  if (!checked.ok) return checked.refused;
  const headers = checkHeaders(spec, request.headers);
  if (!headers.ok) return headers.refused;
  let [text, body]: [string, unknown] = ["", undefined];
  if (spec.body !== undefined) {
    const read = await readBody(request, response, { body: spec.body, limit: bodyLimits[name] ?? bodyLimit });
    if (!read.ok) return read.refused;
    const checkedBody = checkBody(spec, read.value);
    if (!checkedBody.ok) return checkedBody.refused;
    [text, body] = [read.text, checkedBody.value];
  }
  const asked = { params: params.value, query: checked.value, headers: headers.value, body, text };
  const call = new OpenCall({ onStopping: deps.onStopping, request, response, caller: admission.caller, asked });
  try {
    const reply = await deps.handlers[name](call);
    if ("refused" in reply) {
      const guessed = admission.caller.kind === "worker" && guesses.has(String(reply.refused.extra?.["error"]));
      return guessed ? await slowed(deps.failed, request, reply.refused) : reply.refused;
    }
    const sending = send(deps, { request, response, spec, reply });
    if (sending !== undefined) await sending;
    if (request.method !== "GET" && request.method !== "HEAD") {
      deps.log.info(
        { route: name, status: response.statusCode, by: nameOf(admission.caller) },
        "a request was carried out",
      );
    }
    return undefined;
  } finally {
    call.over();
  }
}

/** Refusals of a worker whose secret is none at all; one that was ours and is over is no guess. */
const guesses: ReadonlySet<string> = new Set(["unknown_handle", "malformed", "bad_signature"]);

const upgradeRequired = refuse("usage", "connect to this path with a WebSocket", {
  status: 426,
  headers: ["Upgrade", "websocket", "Connection", "Upgrade"],
});

/** Told later the more of them there are; at once, and otherwise, when too many wait to be told. */
export async function slowed(failed: FailedAttempts, request: IncomingMessage, refused: Refused): Promise<Refused> {
  if (await failed.slow(request.socket.remoteAddress ?? "")) return refused;
  return refuse("slow_down", "too many wrong keys; wait before you try another");
}

/** A page of an origin that was allowed by name may read the reply, and ask first whether it may send one. */
function allowForeign(response: ServerResponse, origin: string): void {
  response.setHeader("Access-Control-Allow-Origin", origin);
  response.setHeader("Access-Control-Allow-Methods", "GET, POST, DELETE");
  response.setHeader("Access-Control-Allow-Headers", "authorization, content-type, idempotency-key, last-event-id");
  response.setHeader("Vary", "Origin");
}

interface Sending {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly spec: RouteSpec;
  readonly reply: Exclude<AnyReply, { refused: Refused }>;
}

/** A promise only where the reply takes its time. */
function send(deps: ExchangeDeps, { request, response, spec, reply }: Sending): Promise<void> | undefined {
  if (response.destroyed) return undefined;
  if ("value" in reply) {
    if (reply.afterwards !== undefined) response.once("close", reply.afterwards);
    sendJson(response, reply.status ?? spec.reply.status, JSON.stringify(reply.value));
  } else if ("json" in reply) sendJson(response, spec.reply.status, reply.json);
  else if ("lines" in reply) return sendLines(request, response, reply.lines);
  else if ("stream" in reply) {
    if (request.method === "HEAD") sendEmpty(response, 200, ["Content-Type", "text/event-stream; charset=utf-8"]);
    else deps.streams.open(response, reply.stream);
  } else sendEmpty(response, spec.reply.status);
  return undefined;
}

function nameOf(caller: Caller): string {
  switch (caller.kind) {
    case "key":
      return caller.id;
    case "session":
      return caller.sid;
    case "worker":
    case "anybody":
      return caller.kind;
  }
}
