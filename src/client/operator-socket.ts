// One WebSocket of an operator, on the global WebSocket: with a header where it takes one, else with a ticket.

import { TuttiError } from "../protocol/error.ts";
import { operatorSubprotocol } from "../protocol/operator/frames.ts";
import type { Service } from "./call.ts";

/** The codes of a close that is for good. */
export const socketEnds = { normal: 1000, replaced: 4001 } as const;
/** Ours for a connection that is given up for another. */
const anew = 4000;

const lost = 1006;
const goodbyeMs = 2_000;

export interface OpenSocket {
  /** False when it is not open any more. */
  send(text: string): boolean;
  close(): void;
  /** Closes it so that another can be opened. */
  renew(): void;
  /** The code it was closed with. */
  readonly closed: Promise<number>;
}

export interface SocketOptions {
  readonly service: Service;
  readonly sid: string;
  readonly token: string;
  readonly signal: AbortSignal;
  readonly onText: (text: string) => void;
}

/** Resolves when it is open; throws `unreachable` when it cannot be opened. */
export async function openSocket({ service, sid, token, signal, onText }: SocketOptions): Promise<OpenSocket> {
  const address = `${service.url.replace(/^http/, "ws")}/v1/operators/${sid}/ws`;
  const socket = takesHeaders()
    ? new WebSocket(address, { protocols: [operatorSubprotocol], headers: { authorization: `Bearer ${token}` } })
    : new WebSocket(`${address}?ticket=${await ticketOf(service, sid, signal)}`, [operatorSubprotocol]);
  const { promise: closed, resolve: end } = Promise.withResolvers<number>();
  let late: ReturnType<typeof setTimeout> | undefined;
  socket.addEventListener("close", ({ code }) => {
    clearTimeout(late);
    end(code);
  });
  const close = (code: number): void => {
    socket.close(code);
    // A peer that is gone does not close its half.
    late ??= setTimeout(() => end(lost), goodbyeMs);
  };
  socket.addEventListener("message", ({ data }) => {
    if (typeof data === "string") onText(data);
  });
  const giveUp = (): void => socket.close(socketEnds.normal);
  signal.addEventListener("abort", giveUp);
  try {
    await opening(socket, service.url);
    signal.throwIfAborted();
  } catch (thrown) {
    socket.close();
    throw thrown;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
  return {
    closed,
    send(text) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(text);
      return true;
    },
    close: () => close(socketEnds.normal),
    renew: () => close(anew),
  };
}

async function opening(socket: WebSocket, url: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const failed = (): void => reject(new TuttiError("unreachable", `no WebSocket to ${url}; is the service there?`));
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", failed);
    socket.addEventListener("close", failed);
  });
}

async function ticketOf({ call }: Service, sid: string, signal: AbortSignal): Promise<string> {
  const { ticket } = await call("ticket", { params: { sid } }, { signal });
  return ticket;
}

/** Node's own takes headers; a browser's throws at them. */
function takesHeaders(): boolean {
  return typeof process === "object" && process.versions?.["undici"] !== undefined;
}
