// Opens an operator's WebSocket: the same checks as for every request, errors as HTTP replies, then the operator hub takes over.

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";

import { routes } from "../../protocol/api/routes.ts";
import { toTuttiError, type TuttiError } from "../../protocol/error.ts";
import { operatorSubprotocol } from "../../protocol/operator/frames.ts";
import { maxFrameLength } from "../../protocol/operator/read-client-frame.ts";
import type { OperatorHub } from "../operators/operator-hub.ts";
import { type AuthDeps, authorizeSession, bearerOf, decideFresh } from "./authorize.ts";
import { allInUse, type Connections } from "./connection-limits.ts";
import type { HttpLog } from "./context.ts";
import type { FailedAttempts } from "./failed-attempts.ts";
import { type HttpError, httpError } from "./http-error.ts";
import type { OriginCheck } from "./origin-check.ts";
import { readQuery } from "./read-query.ts";
import { sendErrorOnSocket } from "./reply.ts";
import { readHead } from "./request-head.ts";
import type { Router } from "./router.ts";

export interface UpgradeDeps {
  readonly auth: AuthDeps;
  readonly operators: Pick<OperatorHub, "info" | "redeemTicket" | "connect">;
  readonly router: Router;
  readonly checkOrigin: OriginCheck;
  readonly failedAttempts: FailedAttempts;
  readonly connections: Pick<Connections, "began" | "admit">;
  readonly log: HttpLog;
  /** The reason why only the service itself answers yet. */
  readonly starting?: (() => TuttiError | undefined) | undefined;
  readonly stopping: AbortSignal;
}

/** A frame is limited by its length as text; one character has at most four bytes. */
const maxPayload = 4 * maxFrameLength;
/** How long a caller has to read the error before the connection is destroyed. */
const readErrorMs = 1_000;

/** The listener of the server's `upgrade` event. */
export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export function webSocketUpgrade(deps: UpgradeDeps): UpgradeListener {
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload,
    handleProtocols: (offered) => (offered.has(operatorSubprotocol) ? operatorSubprotocol : false),
  });
  sockets.on("wsClientError", (error, socket) => {
    const reply = httpError("usage", `this is not a WebSocket handshake: ${error.message}`);
    sendErrorOnSocket(socket, reply, readErrorMs);
  });
  return (request, socket, head) => {
    // Until the hub has the socket, an error on it only means that the caller is gone.
    const ignore = (): void => void socket.destroy();
    socket.on("error", ignore);
    deps.connections.began(socket, socket);
    const upgrade = async (): Promise<void> => {
      const checked = await checkUpgrade(deps, request);
      if ("error" in checked) {
        deps.log.warn({ code: checked.error.cause.code }, "a WebSocket was refused");
        sendErrorOnSocket(socket, checked.error, readErrorMs);
        return;
      }
      if (!deps.connections.admit(socket)) return sendErrorOnSocket(socket, allInUse, readErrorMs);
      socket.off("error", ignore);
      sockets.handleUpgrade(request, socket, head, (connected) => deps.operators.connect(checked.sid, connected));
    };
    upgrade().catch((thrown: unknown) => {
      deps.log.error({ err: thrown }, "a WebSocket could not be opened");
      sendErrorOnSocket(socket, { cause: toTuttiError(thrown) }, readErrorMs);
    });
  };
}

type UpgradeCheck = { readonly sid: string } | { readonly error: HttpError };

async function checkUpgrade(deps: UpgradeDeps, request: IncomingMessage): Promise<UpgradeCheck> {
  if (deps.stopping.aborted) return { error: { cause: toTuttiError(deps.stopping.reason) } };
  const head = readHead(request);
  if ("error" in head) return head;
  const starting = deps.starting?.();
  if (starting !== undefined) return { error: { cause: starting } };
  const { error } = deps.checkOrigin(request, head.authority);
  if (error !== undefined) return { error };
  const match = deps.router.find("GET", head.path);
  if ("error" in match) return match;
  if ("allow" in match || routes[match.route].reply.type !== "upgrade") {
    return { error: httpError("usage", "this path does not take a WebSocket") };
  }
  const sid = match.params?.["sid"] ?? "";
  const search = readQuery(head.search);
  if (!search.ok) return search;
  const { ticket, ...others } = search.query;
  if (Object.keys(others).length > 0) {
    return { error: httpError("invalid_input", "the query may only have a ticket") };
  }
  const bearer = bearerOf(request);
  if (bearer === undefined) return checkTicket(deps, request, { sid, ticket });
  const auth = await decideFresh(deps.auth, () => authorizeSession(deps.auth, { bearer, sid, use: "speak" }));
  if (auth.ok) return { sid };
  return { error: auth.unknownSecret ? await deps.failedAttempts.delay(request, auth.error) : auth.error };
}

/** Browsers cannot send a header with a WebSocket, so they send a ticket in the query. It works once. */
async function checkTicket(
  { auth, operators, failedAttempts }: UpgradeDeps,
  request: IncomingMessage,
  { sid, ticket }: { readonly sid: string; readonly ticket: string | undefined },
): Promise<UpgradeCheck> {
  if (ticket === undefined) {
    const message =
      "send the header `Authorization: Bearer <session token>`, or `?ticket=` with one from the ticket route";
    return { error: httpError("unauthorized", message) };
  }
  if (operators.info(sid) === undefined) await auth.catchUp?.();
  if (operators.info(sid) === undefined) {
    return { error: httpError("not_found", "there is no operator with this sid; join again") };
  }
  if (await operators.redeemTicket(sid, ticket)) return { sid };
  const error = httpError("unauthorized", "this ticket was used already or has expired; get another");
  return { error: await failedAttempts.delay(request, error) };
}
