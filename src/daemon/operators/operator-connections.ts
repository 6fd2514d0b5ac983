// The open connections of operators: each operator session has one, and a newer connection replaces an older one.

import type { Clock } from "../../ports.ts";
import { type ConnectionEvents, OperatorConnection, type OperatorSocket } from "./operator-connection.ts";
import type { OperatorSession } from "./session-state.ts";

export interface OperatorConnectionsOptions {
  readonly clock: Clock;
  /** A text frame arrived over the current connection of the operator session. */
  readonly onText: (session: OperatorSession, text: string) => void;
  /** The current connection of the operator session has ended, and no newer one has replaced it. */
  readonly onDisconnect: (session: OperatorSession) => void;
}

/** How long closing waits for the closing handshakes. */
const farewellMs = 1_000;

export class OperatorConnections {
  readonly #options: OperatorConnectionsOptions;
  readonly #events: ConnectionEvents;
  readonly #open = new Set<OperatorConnection>();
  readonly #sessions = new WeakMap<OperatorConnection, OperatorSession>();
  #onAllClosed: (() => void) | undefined;

  constructor(options: OperatorConnectionsOptions) {
    this.#options = options;
    this.#events = {
      onText: (connection, text) => {
        const session = this.#currentOf(connection);
        if (session !== undefined) options.onText(session, text);
      },
      onClose: (connection) => this.#closed(connection),
      now: () => options.clock.now(),
    };
  }

  get count(): number {
    return this.#open.size;
  }

  add(session: OperatorSession, socket: OperatorSocket): void {
    const connection = new OperatorConnection(socket, this.#events);
    const older = session.connection;
    session.connection = connection;
    this.#open.add(connection);
    this.#sessions.set(connection, session);
    older?.close(4001, "replaced by a newer connection");
  }

  refuse(socket: OperatorSocket, code: number, reason: string): void {
    new OperatorConnection(socket, this.#events).close(code, reason);
  }

  /** The request of this wait has to be sent again. */
  forgetSent(wait: number): void {
    for (const connection of this.#open) connection.sentWaits.delete(wait);
  }

  ping(maxSilenceMs: number): void {
    for (const connection of this.#open) connection.ping(maxSilenceMs);
  }

  async close(): Promise<void> {
    for (const connection of this.#open) connection.close(1001, "going away");
    if (this.#open.size > 0) {
      await new Promise<void>((resolve) => {
        const cancelTimer = this.#options.clock.timer(farewellMs, resolve);
        this.#onAllClosed = () => {
          cancelTimer();
          resolve();
        };
      });
    }
    for (const connection of this.#open) connection.terminate();
  }

  #closed(connection: OperatorConnection): void {
    this.#open.delete(connection);
    if (this.#open.size === 0) this.#onAllClosed?.();
    const session = this.#currentOf(connection);
    if (session === undefined) return;
    session.connection = undefined;
    this.#options.onDisconnect(session);
  }

  /** Undefined for a connection that was replaced: it must not act for its operator session any more. */
  #currentOf(connection: OperatorConnection): OperatorSession | undefined {
    const session = this.#sessions.get(connection);
    return session?.connection === connection ? session : undefined;
  }
}
