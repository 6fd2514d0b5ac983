// Keeps connections of strangers from using up those of everybody else.

import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

import { addressGroup } from "./address-group.ts";
import { httpError } from "./http-error.ts";

/**
 * A connection belongs to a stranger until somebody has sent a key or a token over it that is in force. Strangers have a
 * part of all connections, and each address a part of that. A new connection always gets in: beyond a limit the oldest
 * connection of a stranger that is idle is closed. So whoever sends a request at once is served, however many
 * connections are held open, also when they come from the same address, as those of all users of this machine do.
 */
export interface ConnectionLimits {
  /** Of all together. */
  readonly total: number;
  readonly strangers: number;
  /** Connections of strangers from one address. */
  readonly strangersOfAddress: number;
  /** How long a stranger may be connected without a request. */
  readonly strangerIdleMs: number;
}

export const defaultMaxConnections = 4_096;

export function connectionLimits(total: number): ConnectionLimits {
  return {
    total,
    strangers: Math.ceil(total / 4),
    strangersOfAddress: Math.ceil(total / 8),
    strangerIdleMs: 5_000,
  };
}

/** What a caller with a key is told when all connections for such callers are in use. */
export const allInUse = httpError(
  "busy",
  "all connections are in use; close some that you do not need, or try again later",
  {
    headers: ["Connection", "close"],
  },
);

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  known: boolean;
  /** Requests in progress; an open WebSocket is one. */
  requests: number;
  idleSince: number;
}

export interface ConnectionsOptions {
  readonly limits: ConnectionLimits;
  /** Called with how many connections were closed because there were too many; at most once in a while. */
  readonly onClosed: (count: number) => void;
}

const reportEveryMs = 10_000;
const shortestSweepMs = 50;

export class Connections {
  readonly #server: Server;
  readonly #options: ConnectionsOptions;
  readonly #bySocket = new WeakMap<Duplex, Connection>();
  /** By address and port of the other side: with TLS, requests come over another socket than the one that was accepted. */
  readonly #byPeer = new Map<string, Connection>();
  /** Oldest first. */
  readonly #strangers = new Map<string, Set<Connection>>();
  readonly #known = new Set<Connection>();
  #sweep: NodeJS.Timeout | undefined;
  #strangerCount = 0;
  #closed = 0;
  #reportedAt = 0;

  /** To be created before the server listens. */
  constructor(server: Server, options: ConnectionsOptions) {
    this.#server = server;
    this.#options = options;
    server.on("connection", (socket: Socket) => this.#add(socket));
    server.on("secureConnection", (socket: Socket) => {
      const connection = this.#byPeer.get(peerOf(socket));
      if (connection !== undefined) this.#bySocket.set(socket, connection);
    });
  }

  /** A request has begun on this connection, and lasts until `exchange` is closed. Only strangers have to be watched. */
  began(socket: Duplex, exchange: { once(event: "close", listener: () => void): unknown }): void {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined || connection.known) return;
    connection.requests += 1;
    exchange.once("close", () => {
      connection.requests -= 1;
      connection.idleSince = Date.now();
    });
  }

  /** Somebody who may call is at the other end. False if all connections for such callers are in use. */
  admit(socket: Duplex): boolean {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined || connection.known) return true;
    const { total, strangers } = this.#options.limits;
    if (this.#known.size >= total - strangers) {
      // Those that are closed now leave room for the next caller.
      this.#server.closeIdleConnections();
      return false;
    }
    this.#removeStranger(connection);
    connection.known = true;
    this.#known.add(connection);
    return true;
  }

  close(): void {
    clearInterval(this.#sweep);
  }

  #add(socket: Socket): void {
    const { strangers, strangersOfAddress, strangerIdleMs } = this.#options.limits;
    this.#sweep ??= setInterval(() => this.#dropIdle(), Math.max(shortestSweepMs, strangerIdleMs / 4)).unref();
    const peer = peerOf(socket);
    const address = addressGroup(socket.remoteAddress ?? "");
    const connection: Connection = { socket, address, known: false, requests: 0, idleSince: Date.now() };
    socket.once("close", () => {
      if (this.#byPeer.get(peer) === connection) this.#byPeer.delete(peer);
      this.#remove(connection);
    });
    const ofAddress = this.#strangers.get(address) ?? new Set();
    if (ofAddress.size >= strangersOfAddress) this.#closeOldest(ofAddress);
    else if (this.#strangerCount >= strangers) this.#closeOldest(this.#largest());
    this.#bySocket.set(socket, connection);
    this.#byPeer.set(peer, connection);
    this.#strangers.set(address, ofAddress.add(connection));
    this.#strangerCount += 1;
  }

  /** The strangers of the address that has the most connections. */
  #largest(): Set<Connection> {
    let largest = new Set<Connection>();
    for (const each of this.#strangers.values()) if (each.size > largest.size) largest = each;
    return largest;
  }

  /** Closes the oldest that is idle; if none is idle, the oldest of all. */
  #closeOldest(connections: ReadonlySet<Connection>): void {
    const [oldest] = connections;
    const closing = connections.values().find(({ requests }) => requests === 0) ?? oldest;
    if (closing === undefined) return;
    this.#removeStranger(closing);
    closing.socket.destroy();
    this.#closed += 1;
    this.#report();
  }

  #report(): void {
    const now = Date.now();
    if (now - this.#reportedAt < reportEveryMs) return;
    this.#options.onClosed(this.#closed);
    [this.#reportedAt, this.#closed] = [now, 0];
  }

  #dropIdle(): void {
    const before = Date.now() - this.#options.limits.strangerIdleMs;
    for (const strangers of this.#strangers.values()) {
      for (const { socket, requests, idleSince } of strangers) {
        if (requests === 0 && idleSince <= before) socket.destroy();
      }
    }
  }

  #remove(connection: Connection): void {
    if (connection.known) this.#known.delete(connection);
    else this.#removeStranger(connection);
  }

  #removeStranger(connection: Connection): void {
    const ofAddress = this.#strangers.get(connection.address);
    if (ofAddress?.delete(connection) !== true) return;
    this.#strangerCount -= 1;
    if (ofAddress.size === 0) this.#strangers.delete(connection.address);
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
