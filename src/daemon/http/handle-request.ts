// Handles one request from start to end: head, Host and Origin, route, authorization, validation, handler, reply.

import type { IncomingMessage, ServerResponse } from "node:http";

import type { RouteSpec } from "../../protocol/api/route-shape.ts";
import { type RouteName, routes } from "../../protocol/api/routes.ts";
import { type ErrorCode, type TuttiError, toTuttiError } from "../../protocol/error.ts";
import { livePath } from "../cluster/live-between-nodes.ts";
import { proofPath } from "../cluster/node-proof.ts";
import { type McpEndpoint, mcpPath } from "../mcp/mcp-endpoint.ts";
import type { WorkerService } from "../operators/worker-service.ts";
import { ActiveRequest } from "./active-request.ts";
import { type AuthDeps, authorize, decideFresh, type Caller, onceRevoked, revokedSince } from "./authorize.ts";
import { allInUse, type Connections } from "./connection-limits.ts";
import type { HttpLog } from "./context.ts";
import type { EventStreams } from "./event-streams.ts";
import type { FailedAttempts } from "./failed-attempts.ts";
import type { AnyHandlers } from "./handler.ts";
import type { DashboardFiles } from "./dashboard-files.ts";
import { sendFrontPage } from "./html-page.ts";
import { type HttpError, httpError } from "./http-error.ts";
import type { InFlight } from "./in-flight.ts";
import { foreignOrigin, type OriginCheck } from "./origin-check.ts";
import { maxBodyBytes, readBody } from "./read-body.ts";
import { readQuery } from "./read-query.ts";
import { sendEmpty, sendError } from "./reply.ts";
import { readHead } from "./request-head.ts";
import type { Router } from "./router.ts";
import { asksForPage, sendDashboard } from "./send-dashboard.ts";
import { type LiveSource, sendLive } from "./send-live.ts";
import { sendProof } from "./send-proof.ts";
import { sendReply } from "./send-reply.ts";
import { workerError } from "./worker-error.ts";
import { validateBody, validateHeaders, validateParams, validateQuery } from "./validate.ts";

export interface RequestDeps {
  readonly auth: AuthDeps;
  readonly router: Router;
  readonly handlers: AnyHandlers;
  readonly checkOrigin: OriginCheck;
  readonly failedAttempts: FailedAttempts;
  readonly streams: EventStreams;
  /** Undefined where no dashboard is served. */
  readonly dashboard?: DashboardFiles | undefined;
  readonly connections: Pick<Connections, "admit">;
  readonly workers: Pick<WorkerService, "whyUnknown">;
  readonly inFlight: InFlight;
  readonly mcp: McpEndpoint;
  readonly log: HttpLog;
  /** The reason why only the service itself answers yet. */
  readonly starting?: (() => TuttiError | undefined) | undefined;
  /** Aborted when the service stops; its reason is the error that every later request gets. */
  readonly stopping: AbortSignal;
  /** Why nothing can be written at the moment; undefined while it can. */
  readonly cannotWrite: () => TuttiError | undefined;
  /** What other nodes may listen to; absent when there are none. */
  readonly live?: LiveSource | undefined;
  /** Told of each request that was carried out and did more than look. */
  readonly onDone?: ((route: RouteName) => void) | undefined;
}

/** Routes that are served while nothing can be written: they only look, or stop work, which can be what makes room. */
const servedWhenFull: ReadonlySet<RouteName> = new Set(["cancel", "pause", "resume", "shutdown", "route", "review"]);

/** Never throws: whatever goes wrong is sent to the caller or written to the log. */
export function handleRequest(deps: RequestDeps, request: IncomingMessage, response: ServerResponse): void {
  const onError = (error: HttpError | undefined): void => {
    if (error !== undefined) replyWithError(deps, request, response, error);
  };
  const onThrown = (thrown: unknown): void => {
    const cause = toTuttiError(thrown);
    if (serverFaults.has(cause.code)) {
      deps.log.error({ err: thrown, method: request.method, path: pathOf(request) }, "a request failed in the service");
    }
    replyWithError(deps, request, response, { cause });
  };
  respond(deps, request, response)
    .then(onError, onThrown)
    .catch(() => response.destroy());
}

/** Sends the reply, or returns the error that is to be sent instead. */
async function respond(
  deps: RequestDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<HttpError | undefined> {
  const { stopping } = deps;
  if (stopping.aborted) return { cause: toTuttiError(stopping.reason), headers: ["Connection", "close"] };

  const head = readHead(request);
  if ("error" in head) return head.error;

  const origin = deps.checkOrigin(request, head.authority);
  const isPage = asksForPage(request, head.path);
  if (origin.error !== undefined && !(isPage && isFollowedLink(request, origin.error))) return origin.error;
  const { dashboard } = deps;
  if (dashboard !== undefined && (await sendDashboard(dashboard, { request, response, path: head.path }))) {
    return undefined;
  }
  if (isPage && head.path === "/") {
    sendFrontPage(response, { starting: deps.starting?.() !== undefined });
    return undefined;
  }
  if (origin.error !== undefined) return origin.error;
  if (origin.allowed !== undefined) allowCrossOrigin(response, origin.allowed);

  if (head.path === livePath && deps.live !== undefined) return sendLive(deps.live, request, response);
  if (head.path === proofPath && deps.live !== undefined) return sendProof(deps.live.shared, request, response);
  if (head.path === mcpPath) return respondMcp(deps, request, response);

  const match = deps.router.find(request.method ?? "", head.path);
  if ("error" in match) return match.error;
  if ("allow" in match) {
    sendEmpty(response, 204, ["Allow", match.allow]);
    return undefined;
  }
  const { route, params: pathParams } = match;
  const spec: RouteSpec = routes[route];

  // Before authorization, so that a key in the URL is refused as such and not as a missing key.
  const search = readQuery(head.search);
  if (!search.ok) return search.error;

  const sid = pathParams?.["sid"] ?? "";
  const auth = await decideFresh(deps.auth, () => authorize(deps.auth, request, spec.access, sid));
  if (!auth.ok) return auth.unknownSecret ? deps.failedAttempts.delay(request, auth.error) : auth.error;
  const { caller } = auth;
  // Before its body is read: whoever has no rights at all is not listened to for long.
  const unknown = caller.kind === "worker" ? await deps.workers.whyUnknown(caller.bearer) : undefined;
  if (unknown !== undefined) return deps.failedAttempts.delay(request, workerError(unknown));
  if (caller.kind !== "anonymous" && !deps.connections.admit(request.socket)) return allInUse;
  if (spec.reply.type === "upgrade") return upgradeRequired;
  // Nobody would be told when a response that is closed already is over.
  if (response.destroyed) return undefined;
  const load = deps.inFlight.of(caller);
  const tooMany = load?.begin(response);
  if (tooMany !== undefined) return tooMany;
  const full = deps.cannotWrite();
  if (full !== undefined && writes(route, spec)) return { cause: full, headers: ["Connection", "close"] };

  const starting = answersWhileStarting(route, spec) ? undefined : deps.starting?.();
  if (starting !== undefined) return { cause: starting };

  const params = validateParams(spec, pathParams);
  if (!params.ok) return params.error;
  const query = validateQuery(spec, search.query);
  if (!query.ok) return query.error;
  const headers = validateHeaders(spec, request.headers);
  if (!headers.ok) return headers.error;
  let [text, body]: [string, unknown] = ["", undefined];
  if (spec.body !== undefined) {
    const read = await readBody(request, response, { body: spec.body, maxBytes: maxBodyBytes(route) });
    if (!read.ok) return read.error;
    // A body may be sent slowly: what counts is whether the caller still has its rights when all of it is here.
    const revoked = revokedSince(deps.auth, caller);
    if (revoked !== undefined) return revoked;
    const valid = validateBody(spec, read.value);
    if (!valid.ok) return valid.error;
    [text, body] = [read.text, valid.value];
  }

  const input = { params: params.value, query: query.value, headers: headers.value, body, text, caller };
  const active = new ActiveRequest({ request, response, stopping, auth: deps.auth, input });
  try {
    const reply = await deps.handlers[route](active);
    if ("error" in reply) {
      return reply.unknownSecret === true ? await deps.failedAttempts.delay(request, reply.error) : reply.error;
    }
    const revoked = "stream" in reply ? revokedSince(deps.auth, caller) : undefined;
    if (revoked !== undefined) return revoked;
    // What was done is told in any case; what was only read can be asked for again.
    const unread = spec.method === "GET" ? load?.refusesReply() : undefined;
    if (unread !== undefined) return unread;
    const sending = sendReply({ request, response, streams: deps.streams, status: spec.reply.status }, reply);
    load?.replied(response);
    if (sending !== undefined) await unlessRevoked(deps, caller, response, sending);
  } finally {
    active.end();
  }
  if (request.method !== "GET" && request.method !== "HEAD") {
    deps.onDone?.(route);
    deps.log.info({ route, status: response.statusCode, by: idOf(caller) }, "a request was carried out");
  }
  return undefined;
}

/** MCP has a protocol of its own on one path; who may call, and how often, is decided as for every other request. */
async function respondMcp(
  deps: RequestDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<HttpError | undefined> {
  const auth = await deps.mcp.authorize(request);
  if ("error" in auth) return auth.error;
  if (!deps.connections.admit(request.socket)) return allInUse;
  if (response.destroyed) return undefined;
  const tooMany = deps.inFlight.of(auth.caller)?.begin(response);
  if (tooMany !== undefined) return tooMany;
  const unavailable = deps.cannotWrite() ?? deps.starting?.();
  if (unavailable !== undefined) return { cause: unavailable };
  const off = onceRevoked(deps.auth, auth.caller, () => response.destroy());
  try {
    return await deps.mcp.serve(request, response, auth.caller);
  } finally {
    off();
  }
}

/** A reply that takes time to send is cut off when the key of its caller is revoked. */
async function unlessRevoked(
  { auth }: RequestDeps,
  caller: Caller,
  response: ServerResponse,
  sending: Promise<void>,
): Promise<void> {
  const off = onceRevoked(auth, caller, () => response.destroy());
  try {
    await sending;
  } finally {
    off();
  }
}

/** Somebody who follows a link from another site may see the page; that site cannot read it. */
function isFollowedLink({ headers }: IncomingMessage, error: HttpError): boolean {
  return (
    error === foreignOrigin && headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document"
  );
}

/** Fetching its prompt records that a worker has the task. */
function writes(route: RouteName, { method }: RouteSpec): boolean {
  return route === "workerPrompt" || (method !== "GET" && !servedWhenFull.has(route));
}

/** What must answer although unfinished work is still being taken up. */
function answersWhileStarting(route: RouteName, { access, tag }: RouteSpec): boolean {
  return access === "public" || route === "status" || route === "nodes" || route === "shutdown" || tag === "keys";
}

const upgradeRequired = httpError("usage", "connect to this path with a WebSocket", {
  status: 426,
  headers: ["Upgrade", "websocket", "Connection", "Upgrade"],
});

/** Lets a page of an origin that was allowed by name read the reply, and answers its preflight request. */
function allowCrossOrigin(response: ServerResponse, origin: string): void {
  response.setHeader("Access-Control-Allow-Origin", origin);
  response.setHeader("Access-Control-Allow-Methods", "GET, POST, DELETE");
  response.setHeader("Access-Control-Allow-Headers", "authorization, content-type, idempotency-key, last-event-id");
  response.setHeader("Vary", "Origin");
}

/** Errors of the service itself, not of its callers. */
const serverFaults: ReadonlySet<ErrorCode> = new Set(["internal", "io", "corrupt", "read_only", "disk_full"]);

function replyWithError(deps: RequestDeps, request: IncomingMessage, response: ServerResponse, error: HttpError): void {
  if (response.headersSent) {
    // Part of a reply was sent, so only a broken connection tells the caller that the rest is missing.
    if (!response.writableEnded) response.destroy();
    return;
  }
  if (response.destroyed) return;
  const { code } = error.cause;
  if (code === "unauthorized" || code === "refused" || code === "slow_down") {
    const facts = { code, peer: request.socket.remoteAddress, method: request.method, path: pathOf(request) };
    deps.log.warn(facts, "a request was refused");
  }
  sendError(request, response, error);
}

/** The path for the log, without the query, which may hold a ticket. */
function pathOf(request: IncomingMessage): string {
  return (request.url ?? "").replace(/\?.*$/s, "").slice(0, 256);
}

/** The caller for the log. */
function idOf(caller: Caller): string {
  switch (caller.kind) {
    case "key":
      return caller.id;
    case "session":
      return caller.sid;
    case "worker":
    case "anonymous":
      return caller.kind;
  }
}
