// One WebSocket of an operator: frames in and out, signs of life, and a bound on what it lets pile up.

import { WebSocket } from "ws";

import { type ErrorFrame, operatorSubprotocol, type ServerFrame } from "../../protocol/operator/frames.ts";
import { refuseFrame } from "../../protocol/operator/refuse-frame.ts";

/** Unread past this, the peer is dropped; it gets everything again when it reconnects. */
const maxBuffered = 4 * 1024 * 1024;
/** Below this the next batch goes out. */
const lowBuffered = 256 * 1024;

export interface SocketEvents {
  readonly onText: (socket: SessionSocket, text: string) => void;
  readonly onClose: (socket: SessionSocket) => void;
  readonly now: () => number;
}

export class SessionSocket {
  readonly #socket: WebSocket;
  readonly #events: SocketEvents;
  /** Waits whose frame has gone out here. */
  readonly sent = new Set<number>();
  heardAt: number;
  /** Another connection has taken over, or the session is over: what still comes is not read. */
  #silenced = false;
  #onDrain: (() => void) | undefined;

  constructor(socket: WebSocket, events: SocketEvents) {
    this.#socket = socket;
    this.#events = events;
    this.heardAt = events.now();
    const hear = (): void => {
      this.heardAt = events.now();
    };
    socket.on("pong", hear);
    socket.on("ping", hear);
    socket.on("message", (data, isBinary) => {
      hear();
      this.#take(data, isBinary);
    });
    // A close follows every error.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.#onDrain?.();
      events.onClose(this);
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN && !this.#silenced;
  }

  /** False when the frame did not go out. */
  send(frame: ServerFrame): boolean {
    if (!this.isOpen) return false;
    if (this.#socket.bufferedAmount > maxBuffered) {
      this.#socket.terminate();
      return false;
    }
    this.#socket.send(JSON.stringify(frame), () => {
      if (this.#socket.bufferedAmount <= lowBuffered) this.#onDrain?.();
    });
    return true;
  }

  /** Clients that did not offer our subprotocol know no error frames and get none. */
  tell(error: ErrorFrame): void {
    if (this.#socket.protocol === operatorSubprotocol) this.send(error);
  }

  /** Resolves when the peer has read enough, or is gone. */
  async drained(): Promise<void> {
    if (!this.isOpen || this.#socket.bufferedAmount <= lowBuffered) return;
    await new Promise<void>((resolve) => {
      this.#onDrain = resolve;
    });
    this.#onDrain = undefined;
  }

  /** Asks for a sign of life; a peer that has given none for `silence` is gone without having said so. */
  ping(silence: number): void {
    if (this.#events.now() - this.heardAt >= silence) this.#socket.terminate();
    else if (this.isOpen) this.#socket.ping();
  }

  close(code: number, reason: string): void {
    this.#silenced = true;
    this.#onDrain?.();
    this.#socket.close(code, reason);
  }

  /** Without a farewell. */
  drop(): void {
    this.#socket.terminate();
  }

  #take(data: WebSocket.RawData, isBinary: boolean): void {
    if (this.#silenced) return;
    if (isBinary) this.tell(refuseFrame("not_text", "the frame is binary; send JSON in a text frame").error);
    else this.#events.onText(this, textOf(data));
  }
}

function textOf(data: WebSocket.RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString();
  return data instanceof ArrayBuffer ? Buffer.from(data).toString() : data.toString();
}
