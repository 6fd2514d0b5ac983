// The HTTP server: listens, bounds what connections may cost, and stops within a bounded time.

import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";

import { type RouteName, routes } from "../../protocol/api/routes.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { HttpContext } from "./context.ts";
import { clientError } from "./client-error.ts";
import type { StreamLimits } from "./event-stream.ts";
import { EventStreams } from "./event-streams.ts";
import { exchange, type ExchangeDeps, type HttpLog } from "./exchange.ts";
import { FailedAttempts } from "./failed-attempts.ts";
import { allHandlers } from "./handlers/all-handlers.ts";
import { originCheck } from "./origin-check.ts";
import { refuse } from "./refused.ts";
import { sendProblem } from "./reply.ts";
import { maxHeaders } from "./request-head.ts";
import { routerOf } from "./router.ts";
import { upgradeWith } from "./upgrade.ts";

export interface HttpOptions extends Omit<HttpContext, "stopping"> {
  readonly log: HttpLog;
  /** A name or address of this machine; whether it may be listened on has been decided. */
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins?: readonly string[];
  readonly streamLimits?: Partial<StreamLimits>;
  readonly times?: Partial<ConnectionTimes>;
}

/** How long a connection may take for the head of a request, for all of it, and between two of them; and stand still. */
interface ConnectionTimes {
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  /** Longer than any reply is waited for: what stands still then is a caller that does not read it. */
  readonly stillTimeout: number;
}

export interface RunningHttp {
  readonly url: string;
  readonly port: number;
  /** Ends streams and sockets, lets requests under way finish for a while, and frees the port. */
  close(): Promise<void>;
}

const usualTimes: ConnectionTimes = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 15_000,
  stillTimeout: 120_000,
};
const checkEveryMs = 2_000;
const usualOptions: ServerOptions = {
  maxHeaderSize: 16 * 1024,
  // A request without a Host is refused here, with a reason.
  requireHostHeader: false,
  shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === "websocket",
};
const maxConnections = 4_096;
const closeMs = 5_000;

export async function startHttp(options: HttpOptions): Promise<RunningHttp> {
  const { state, log, host, tls } = options;
  const { keys } = state;
  const times = { ...usualTimes, ...options.times };
  const connectionsCheckingInterval = Math.min(checkEveryMs, ...Object.values(times));
  const serverOptions = { ...usualOptions, ...times, connectionsCheckingInterval };
  const server: Server =
    tls === undefined
      ? createServer(serverOptions)
      : createSecureServer({ ...serverOptions, ...tls, minVersion: "TLSv1.2", handshakeTimeout: times.headersTimeout });
  server.maxHeadersCount = maxHeaders + 10;
  server.maxConnections = maxConnections;
  server.timeout = times.stillTimeout;
  const port = await listening(server, host, options.port);
  const url = `${tls === undefined ? "http" : "https"}://${reachable(host)}:${port}`;

  let stopped: TuttiError | undefined;
  const onStopped = new Set<(reason: TuttiError) => void>();
  const named = /^(?:0\.0\.0\.0|::)$/.test(host) ? [] : [`${bracketed(host)}:${port}`];
  const streams = new EventStreams({
    state,
    onShed: () => log.warn({}, "a reader of events was too slow and was let go; it can go on from where it was"),
    ...(options.streamLimits === undefined ? {} : { limits: options.streamLimits }),
  });
  const shared = {
    doors: { keys, operators: state.operators },
    router: routerOf<RouteName>(routes, (name) => name),
    origin: originCheck(
      {
        secure: tls !== undefined,
        allowedHosts: [...named, ...options.allowedHosts],
        allowedOrigins: options.allowedOrigins ?? [],
      },
      port,
    ),
    failed: new FailedAttempts(),
    log,
    stopping: () => stopped,
  };
  const deps: ExchangeDeps = {
    ...shared,
    handlers: allHandlers({ ...options, stopping: shared.stopping }),
    streams,
    onStopping(listener) {
      onStopped.add(listener);
      return () => onStopped.delete(listener);
    },
  };
  const answer = (request: IncomingMessage, response: ServerResponse): void => exchange(deps, request, response);
  const connections = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  server.on("request", answer);
  server.on("checkContinue", answer);
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    sendProblem(request, response, refuse("usage", "only 100-continue can be expected here", { status: 417 }));
  });
  server.on("clientError", clientError);
  server.on("upgrade", upgradeWith({ ...shared, operators: state.operators }));
  const offRevoked = keys.onRevoked((id) => streams.endOfKey(id));

  state.listening(url);
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    stopped = new TuttiError("stopped", "the service is being stopped; ask again when it is back");
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    offRevoked();
    streams.close();
    shared.failed.close();
    for (const tell of onStopped) tell(stopped);
    const done = state.operators.close();
    // A connection is idle once its last reply has gone out; nobody tells when that is.
    const idle = setInterval(() => server.closeIdleConnections(), 20);
    // One that has not sent anything counts as busy, and has nothing to lose.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    const enough = setTimeout(() => connections.forEach((socket) => socket.destroy()), closeMs);
    await Promise.all([closed, done]);
    clearInterval(idle);
    clearTimeout(enough);
  };
  return { url, port, close: () => (closing ??= close()) };
}

function listening(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (thrown: NodeJS.ErrnoException) => {
      const code = thrown.code === "EADDRINUSE" ? "busy" : "io";
      const todo = code === "busy" ? "; end who has it, or choose another with --port" : "";
      reject(new TuttiError(code, `cannot listen on ${host}:${port}: ${thrown.message}${todo}`, { cause: thrown }));
    });
    server.listen({ host, port }, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

/** Where a caller on this machine finds a server that listens on `host`. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "[::1]" : bracketed(host);
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
