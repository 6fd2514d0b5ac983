// Starts the HTTP API over an opened state folder: connects the server to its handlers, and stops it again.

import type { IncomingMessage, ServerResponse } from "node:http";

import { routes } from "../../protocol/api/routes.ts";
import { TuttiError } from "../../protocol/error.ts";
import { onClientError } from "./client-error.ts";
import { type ConnectionLimits, connectionLimits, Connections, defaultMaxConnections } from "./connection-limits.ts";
import type { HttpContext, HttpLog } from "./context.ts";
import { dashboardFiles } from "./dashboard-files.ts";
import type { StreamLimits } from "./event-stream.ts";
import { EventStreams } from "./event-streams.ts";
import { FailedAttempts } from "./failed-attempts.ts";
import { handleRequest, type RequestDeps } from "./handle-request.ts";
import { allHandlers } from "./handlers/all-handlers.ts";
import { httpError } from "./http-error.ts";
import { trackConnections, createHttpServer, type HttpServerOptions, listen } from "./http-server.ts";
import { InFlight, type InFlightLimits } from "./in-flight.ts";
import { originCheck } from "./origin-check.ts";
import { sendError } from "./reply.ts";
import { mcpEndpoint, type McpEndpointOptions } from "../mcp/mcp-endpoint.ts";
import { createRouter } from "./router.ts";
import { webSocketUpgrade } from "./websocket-upgrade.ts";

export interface HttpOptions extends Omit<HttpContext, "stopping">, HttpServerOptions {
  readonly log: HttpLog;
  /** A name or address of this machine. Whether the service may listen there has been decided before. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins?: readonly string[];
  readonly streamLimits?: Partial<StreamLimits>;
  readonly connectionLimits?: Partial<ConnectionLimits>;
  readonly inFlight?: Partial<InFlightLimits>;
  /** What /mcp offers beside the tools of Tutti. */
  readonly extendMcp?: McpEndpointOptions["extend"];
  /** The folder of the built dashboard. */
  readonly web?: string;
}

export interface RunningHttp {
  readonly url: string;
  readonly port: number;
  /** Resolves when every caller has closed its connections, or after the time. */
  readonly left: (withinMs: number) => Promise<void>;
  /** Ends streams and WebSockets, lets requests in progress finish for a limited time, and frees the port. */
  close(): Promise<void>;
}

export async function startHttp(options: HttpOptions): Promise<RunningHttp> {
  const { state, log, host, tls } = options;
  const server = createHttpServer(options);
  const tracked = trackConnections(server);
  const connections = new Connections(server, {
    limits: { ...connectionLimits(options.maxConnections ?? defaultMaxConnections), ...options.connectionLimits },
    onClosed: (count) => log.warn({ count }, "connections without a key were closed because there were too many"),
  });
  const port = await listen(server, host, options.port);
  const url = `${tls === undefined ? "http" : "https"}://${urlHostOf(host)}:${port}`;

  const stopping = new AbortController();
  const listensEverywhere = /^(?:0\.0\.0\.0|::)$/.test(host);
  const ownHosts = listensEverywhere ? [] : [`${bracketed(host)}:${port}`];
  const streams = new EventStreams({
    state,
    onShed: () => log.warn({}, "a reader of events was too slow and was disconnected; it can resume where it was"),
    ...(options.streamLimits === undefined ? {} : { limits: options.streamLimits }),
  });
  const shared = {
    auth: {
      keys: state.keys,
      pages: state.pages,
      operators: state.operators,
      catchUp: state.shared === undefined ? undefined : () => state.shared?.catchUp() ?? Promise.resolve(),
    },
    connections,
    router: createRouter(routes),
    checkOrigin: originCheck(
      {
        secure: tls !== undefined,
        allowedHosts: [...ownHosts, ...options.allowedHosts],
        allowedOrigins: options.allowedOrigins ?? [],
      },
      port,
    ),
    failedAttempts: new FailedAttempts(),
    log,
    starting: options.starting,
    stopping: stopping.signal,
  };
  const deps: RequestDeps = {
    ...shared,
    handlers: allHandlers({ ...options, stopping: stopping.signal }),
    streams,
    ...(options.web === undefined ? {} : { dashboard: dashboardFiles(options.web) }),
    workers: state.workers,
    inFlight: new InFlight(options.inFlight),
    mcp: mcpEndpoint({
      ...shared,
      state,
      stopping: stopping.signal,
      onChanged: () => options.onDone?.("invoke"),
      onError: (error) => log.warn({ err: error }, "an MCP request could not be served"),
      extend: options.extendMcp,
    }),
    cannotWrite: () => state.store.stalled,
    live: state.shared === undefined ? undefined : { shared: state.shared, own: (listen) => state.onOwnLive(listen) },
    onDone: options.onDone,
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    connections.began(request.socket, response);
    handleRequest(deps, request, response);
  };
  server.on("request", onRequest);
  server.on("checkContinue", onRequest);
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    sendError(request, response, httpError("usage", "only 100-continue can be expected here", { status: 417 }));
  });
  server.on("clientError", onClientError);
  server.on("upgrade", webSocketUpgrade({ ...shared, operators: state.operators }));
  const offRevoked = state.keys.onRevoked((id) => streams.endForKey(id));
  const offEnded = state.pages.onEnded((digest) => streams.endForPage(digest));
  state.listening(url);

  const close = async (): Promise<void> => {
    stopping.abort(new TuttiError("stopped", "the service is being stopped; ask again when it is back"));
    const serverClosed = tracked.close();
    offRevoked();
    offEnded();
    streams.close();
    connections.close();
    shared.failedAttempts.close();
    await Promise.all([serverClosed, state.operators.close()]);
  };
  let closing: Promise<void> | undefined;
  return { url, port, left: tracked.left, close: () => (closing ??= close()) };
}

/** The host at which a caller on this machine reaches a server that listens on `host`. */
function urlHostOf(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "[::1]" : bracketed(host);
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
