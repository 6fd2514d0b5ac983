// One WebSocket connection of an operator: frames in and out, signs of life, and a bound on what it leaves unread.

import { WebSocket } from "ws";

import { type ErrorFrame, operatorSubprotocol, type ServerFrame } from "../../protocol/operator/frames.ts";
import { refuseFrame } from "../../protocol/operator/refuse-frame.ts";

/** An operator that leaves more than this unread is disconnected. When it reconnects, everything is sent again. */
const maxUnreadBytes = 4 * 1024 * 1024;
/** The next batch is sent once no more than this is unread. */
const lowUnreadBytes = 256 * 1024;

/** The part of a WebSocket that is used here. */
export interface OperatorSocket {
  readonly readyState: number;
  readonly bufferedAmount: number;
  readonly protocol: string;
  send(text: string, sent: () => void): void;
  ping(): void;
  close(code: number, reason: string): void;
  terminate(): void;
  on(event: "message", heard: (data: WebSocket.RawData, isBinary: boolean) => void): unknown;
  on(event: "ping" | "pong" | "close" | "error", happened: () => void): unknown;
}

export interface ConnectionEvents {
  readonly onText: (connection: OperatorConnection, text: string) => void;
  readonly onClose: (connection: OperatorConnection) => void;
  readonly now: () => number;
}

export class OperatorConnection {
  readonly #socket: OperatorSocket;
  readonly #events: ConnectionEvents;
  /** The waits whose requests were sent over this connection. */
  readonly sentWaits = new Set<number>();
  lastHeardAt: number;
  /** It is replaced or ended by this side: what still arrives is not read. */
  #retired = false;
  #onDrain: (() => void) | undefined;

  constructor(socket: OperatorSocket, events: ConnectionEvents) {
    this.#socket = socket;
    this.#events = events;
    this.lastHeardAt = events.now();
    const heard = (): void => {
      this.lastHeardAt = events.now();
    };
    socket.on("pong", heard);
    socket.on("ping", heard);
    socket.on("message", (data, isBinary) => {
      heard();
      this.#receive(data, isBinary);
    });
    // Every error is followed by a close.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.#onDrain?.();
      events.onClose(this);
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN && !this.#retired;
  }

  /** Returns false if the frame was not sent. */
  send(frame: ServerFrame): boolean {
    if (!this.isOpen) return false;
    if (this.#socket.bufferedAmount > maxUnreadBytes) {
      this.#socket.terminate();
      return false;
    }
    this.#socket.send(JSON.stringify(frame), () => {
      if (this.#socket.bufferedAmount <= lowUnreadBytes) this.#onDrain?.();
    });
    return true;
  }

  /** Clients that did not offer our subprotocol do not know error frames and get none. */
  get knowsErrors(): boolean {
    return this.#socket.protocol === operatorSubprotocol;
  }

  sendError(error: ErrorFrame): void {
    if (this.knowsErrors) this.send(error);
  }

  /** Resolves when the operator has read enough, or the connection is gone. */
  async drained(): Promise<void> {
    if (!this.isOpen || this.#socket.bufferedAmount <= lowUnreadBytes) return;
    await new Promise<void>((resolve) => {
      this.#onDrain = resolve;
    });
    this.#onDrain = undefined;
  }

  /** Asks for a sign of life, or disconnects an operator that has given none for `maxSilenceMs`. */
  ping(maxSilenceMs: number): void {
    if (this.#events.now() - this.lastHeardAt >= maxSilenceMs) this.#socket.terminate();
    else if (this.isOpen) this.#socket.ping();
  }

  close(code: number, reason: string): void {
    this.#retired = true;
    this.#onDrain?.();
    this.#socket.close(code, reason);
  }

  /** Ends the connection without a closing handshake. What has arrived and is not read yet is not read any more. */
  terminate(): void {
    this.#retired = true;
    this.#socket.terminate();
  }

  #receive(data: WebSocket.RawData, isBinary: boolean): void {
    if (this.#retired) return;
    if (isBinary) this.sendError(refuseFrame("not_text", "the frame is binary; send JSON in a text frame").error);
    else this.#events.onText(this, textOf(data));
  }
}

function textOf(data: WebSocket.RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString();
  return data instanceof ArrayBuffer ? Buffer.from(data).toString() : data.toString();
}
