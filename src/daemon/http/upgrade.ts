// Opens an operator's WebSocket: the same checks as every request, refusals as proper HTTP, then the records takes over.

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";

import { type RouteName, routes } from "../../protocol/api/routes.ts";
import { toTuttiError, type TuttiError } from "../../protocol/error.ts";
import { operatorSubprotocol } from "../../protocol/operator/frames.ts";
import { maxFrameLength } from "../../protocol/operator/read-client-frame.ts";
import type { OperatorHub } from "../operators/operator-hub.ts";
import { admitSession, bearerOf, type Doors } from "./caller.ts";
import { refuseSocket } from "./client-error.ts";
import { type HttpLog, slowed } from "./exchange.ts";
import type { FailedAttempts } from "./failed-attempts.ts";
import type { OriginCheck } from "./origin-check.ts";
import { readQuery } from "./read-query.ts";
import { type Refused, refuse } from "./refused.ts";
import { readHead } from "./request-head.ts";
import type { Router } from "./router.ts";

export interface UpgradeDeps {
  readonly doors: Doors;
  readonly operators: Pick<OperatorHub, "info" | "takesTicket" | "connect">;
  readonly router: Router<RouteName>;
  readonly origin: OriginCheck;
  readonly failed: FailedAttempts;
  readonly log: HttpLog;
  readonly stopping: () => TuttiError | undefined;
}

/** Bytes of a frame whose text is as long as one may be. */
const maxPayload = 4 * maxFrameLength;
/** How long a caller that was refused has to read why. */
const farewellMs = 1_000;

export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export function upgradeWith(deps: UpgradeDeps): Upgrade {
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload,
    handleProtocols: (offered) => (offered.has(operatorSubprotocol) ? operatorSubprotocol : false),
  });
  sockets.on("wsClientError", (error, socket) => {
    refuseSocket(socket, refuse("usage", `this is no WebSocket handshake: ${error.message}`), farewellMs);
  });
  return (request, socket, head) => {
    // Until somebody takes it over, an error is only the caller going away.
    const ignore = (): void => void socket.destroy();
    socket.on("error", ignore);
    const take = async (): Promise<void> => {
      const checked = await check(deps, request);
      if ("refused" in checked) {
        deps.log.warn({ code: checked.refused.error.code }, "a socket was refused");
        refuseSocket(socket, checked.refused, farewellMs);
        return;
      }
      socket.off("error", ignore);
      sockets.handleUpgrade(request, socket, head, (connected) => deps.operators.connect(checked.sid, connected));
    };
    take().catch((thrown: unknown) => {
      deps.log.error({ err: thrown }, "a socket could not be opened");
      refuseSocket(socket, { error: toTuttiError(thrown) }, farewellMs);
    });
  };
}

type Checked = { readonly sid: string } | { readonly refused: Refused };

async function check(deps: UpgradeDeps, request: IncomingMessage): Promise<Checked> {
  const stopped = deps.stopping();
  if (stopped !== undefined) return { refused: { error: stopped } };
  const head = readHead(request);
  if ("refused" in head) return head;
  const { refused } = deps.origin(request, head.authority);
  if (refused !== undefined) return { refused };
  const found = deps.router.find("GET", head.path);
  if ("refused" in found) return found;
  if ("allow" in found || routes[found.route].reply.type !== "upgrade") {
    return { refused: refuse("usage", "this path does not take a WebSocket") };
  }
  const sid = found.params?.["sid"] ?? "";
  const query = readQuery(head.search);
  if (!query.ok) return query;
  const { ticket, ...others } = query.query;
  if (Object.keys(others).length > 0) {
    return { refused: refuse("invalid_input", "the query may only hold a ticket") };
  }
  const bearer = bearerOf(request);
  if (bearer === undefined) return byTicket(deps, request, { sid, ticket });
  const admission = admitSession(deps.doors, { bearer, sid, looks: false });
  if (admission.ok) return { sid };
  return { refused: admission.guessed ? await slowed(deps.failed, request, admission.refused) : admission.refused };
}

/** A browser cannot send a header with a WebSocket; a ticket is taken once. */
async function byTicket(
  { operators, failed }: UpgradeDeps,
  request: IncomingMessage,
  { sid, ticket }: { readonly sid: string; readonly ticket: string | undefined },
): Promise<Checked> {
  if (ticket === undefined) {
    const message =
      "send the header `Authorization: Bearer <session token>`, or `?ticket=` with one from the ticket route";
    return { refused: refuse("unauthorized", message) };
  }
  if (operators.info(sid) === undefined) {
    return { refused: refuse("not_found", "there is no operator with this sid; join again") };
  }
  if (operators.takesTicket(sid, ticket)) return { sid };
  const refused = refuse("unauthorized", "this ticket was used or is over; get another");
  return { refused: await slowed(failed, request, refused) };
}
