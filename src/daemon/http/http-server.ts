// The Node server under the API: limits on what a connection may cost, listening, and closing within a bounded time.

import { createServer, type Server, type ServerOptions } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";

import { TuttiError } from "../../protocol/error.ts";
import { defaultMaxConnections } from "./connection-limits.ts";
import { maxHeaders } from "./request-head.ts";

export interface HttpServerOptions {
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
  readonly timeouts?: Partial<ConnectionTimeouts>;
  /** How many connections there may be at a time. */
  readonly maxConnections?: number;
}

/** In milliseconds. The names are Node's, except for the last. */
interface ConnectionTimeouts {
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  /** For a connection without any traffic. Longer than any reply may take, so it only ends callers that do not read. */
  readonly idleTimeout: number;
}

const defaultTimeouts: ConnectionTimeouts = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 15_000,
  idleTimeout: 120_000,
};
const maxCheckIntervalMs = 2_000;
const serverOptions: ServerOptions = {
  maxHeaderSize: 16 * 1024,
  // A request without a Host gets a problem document from us instead of Node's bare 400.
  requireHostHeader: false,
  shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === "websocket",
};
/** Node refuses connections beyond this before anybody could decide which one to close, so it is more than is ever used. */
const connectionsAtOnce = 4;

export function createHttpServer(given: HttpServerOptions): Server {
  const { tls, timeouts: overrides, maxConnections = defaultMaxConnections } = given;
  const timeouts = { ...defaultTimeouts, ...overrides };
  const connectionsCheckingInterval = Math.min(maxCheckIntervalMs, ...Object.values(timeouts));
  const options = { ...serverOptions, ...timeouts, connectionsCheckingInterval };
  const server: Server =
    tls === undefined
      ? createServer(options)
      : createSecureServer({ ...options, ...tls, minVersion: "TLSv1.2", handshakeTimeout: timeouts.headersTimeout });
  server.maxHeadersCount = maxHeaders + 10;
  server.maxConnections = maxConnections * connectionsAtOnce;
  server.timeout = timeouts.idleTimeout;
  return server;
}

/** Returns the port; for port 0 the system chooses one. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (thrown: NodeJS.ErrnoException) => {
      const code = thrown.code === "EADDRINUSE" ? "busy" : "io";
      const advice = code === "busy" ? "; end the process that has the port, or choose another with --port" : "";
      reject(new TuttiError(code, `cannot listen on ${host}:${port}: ${thrown.message}${advice}`, { cause: thrown }));
    });
    server.listen({ host, port }, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

/** How long requests in progress may take to finish when the server is closed. */
const closeMs = 5_000;
const idleCheckMs = 20;

export interface TrackedConnections {
  /** Stops listening and closes all connections. */
  close(): Promise<void>;
  /** Resolves when every caller has closed its connections, or after the time. */
  readonly left: (withinMs: number) => Promise<void>;
}

/** Call it before the server listens. */
export function trackConnections(server: Server): TrackedConnections {
  const connections = new Set<Socket>();
  let onLast: (() => void) | undefined;
  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => {
      connections.delete(socket);
      if (connections.size === 0) onLast?.();
    });
  });
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // A connection becomes idle when its last reply has been sent; Node has no event for that.
      const idleCheck = setInterval(() => server.closeIdleConnections(), idleCheckMs);
      // Node counts a connection that has not sent anything yet as busy, but no request is lost with it.
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
      const timer = setTimeout(() => connections.forEach((socket) => socket.destroy()), closeMs);
      await closed;
      clearInterval(idleCheck);
      clearTimeout(timer);
    },
    async left(withinMs) {
      if (connections.size === 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, withinMs);
        onLast = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}
