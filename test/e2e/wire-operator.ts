// An operator on a bare WebSocket for tests: it sees every frame, and can drop, take over and misbehave.

import { once } from "node:events";

import { type RawData, WebSocket } from "ws";

import { ServerFrame } from "../../src/protocol/operator/frames.ts";
import { JoinedOperator } from "../../src/protocol/operator/operator-session.ts";
import type { DaemonProcess } from "./daemon-process.ts";
import { send } from "./send-json.ts";

const patienceMs = 240_000;

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

type FrameOf<T extends ServerFrame["type"]> = Extract<ServerFrame, { type: T }>;

/** One connection of a session. */
export class WireSocket {
  readonly frames: ServerFrame[] = [];
  readonly closed: Promise<Closed>;
  readonly #socket: WebSocket;
  readonly #waiting = new Set<(frame: ServerFrame) => void>();

  constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) =>
      socket.once("close", (code, reason) => resolve({ code, reason: reason.toString() })),
    );
    socket.on("error", () => undefined);
    socket.on("message", (data) => {
      const frame = frameIn(data);
      this.frames.push(frame);
      for (const look of this.#waiting) look(frame);
    });
  }

  send(frame: unknown): void {
    this.#socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  /** The first frame of that type which fits, whether it has come already or comes yet. */
  async next<T extends ServerFrame["type"]>(
    type: T,
    fits: (frame: FrameOf<T>) => boolean = () => true,
  ): Promise<FrameOf<T>> {
    const isIt = (frame: ServerFrame): frame is FrameOf<T> => frame.type === type && fits(frame as FrameOf<T>);
    const come = this.frames.find(isIt);
    if (come !== undefined) return come;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new Error(`no ${type} came; there came: ${this.frames.map((frame) => frame.type).join(", ")}`));
      }, patienceMs);
      const look = (frame: ServerFrame): void => {
        if (!isIt(frame)) return;
        clearTimeout(late);
        this.#waiting.delete(look);
        resolve(frame);
      };
      this.#waiting.add(look);
    });
  }

  /** As a cable that is pulled: no farewell. */
  async drop(): Promise<void> {
    this.#socket.terminate();
    await this.closed;
  }
}

export function frameIn(data: RawData): ServerFrame {
  return ServerFrame.parse(JSON.parse(Buffer.isBuffer(data) ? data.toString() : "null"));
}

/** A session whose connections come and go. */
export interface WireOperator {
  readonly sid: string;
  readonly token: string;
  connect(options?: { readonly bare?: boolean; readonly ticket?: string }): Promise<WireSocket>;
  close(): void;
}

export async function joinAs(
  daemon: DaemonProcess,
  roles: readonly string[],
  bearer = daemon.key,
): Promise<WireOperator> {
  const joining = { method: "POST", path: "/v1/operators", bearer, body: { roles } } as const;
  const reply = await send(daemon.url, joining);
  if (reply.status !== 200) throw new Error(`joining was answered with ${reply.status}: ${reply.text}`);
  const { sid, token } = JoinedOperator.parse(reply.json);
  const open = new Set<WebSocket>();
  return {
    sid,
    token,
    async connect({ bare = false, ticket } = {}) {
      const address = `${daemon.url.replace("http", "ws")}/v1/operators/${sid}/ws`;
      const options = { perMessageDeflate: false, handshakeTimeout: patienceMs };
      const protocols = bare ? [] : ["tutti.v1"];
      const socket =
        ticket === undefined
          ? new WebSocket(address, protocols, { ...options, headers: { authorization: `Bearer ${token}` } })
          : new WebSocket(`${address}?ticket=${ticket}`, protocols, options);
      const wire = new WireSocket(socket);
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      await once(socket, "open");
      return wire;
    },
    close() {
      for (const socket of open) socket.terminate();
    },
  };
}
