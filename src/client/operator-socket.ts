// One WebSocket connection of an operator. It authenticates with a header, or with a ticket where headers cannot be set.

import { TuttiError } from "../protocol/error.ts";
import { operatorSubprotocol } from "../protocol/operator/frames.ts";
import type { Service } from "./call.ts";

/** Close codes after which the operator does not connect again. */
export const finalCloseCodes = { normal: 1000, replaced: 4001 } as const;
/** Our own code for closing a connection in order to open another. */
const reconnecting = 4000;

const abnormalClosure = 1006;
/** How long a closed connection may wait for the other side to close it, too. */
const closeTimeoutMs = 2_000;

export interface OpenSocket {
  /** False when the connection is no longer open. */
  send(text: string): boolean;
  close(): void;
  /** Closes the connection so that another is opened. */
  reconnect(): void;
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
}

export interface SocketOptions {
  readonly service: Service;
  readonly sid: string;
  readonly token: string;
  readonly signal: AbortSignal;
  readonly onText: (text: string) => void;
}

/** Resolves when the connection is open; throws `unreachable` when it cannot be opened. */
export async function openSocket({ service, sid, token, signal, onText }: SocketOptions): Promise<OpenSocket> {
  const address = `${service.url.replace(/^http/, "ws")}/v1/operators/${sid}/ws`;
  // The WebSocket of Node takes headers. The types of browsers do not know that, and this file is compiled with both.
  const socket: WebSocket = takesHeaders()
    ? Reflect.construct(WebSocket, [
        address,
        { protocols: [operatorSubprotocol], headers: { authorization: `Bearer ${token}` } },
      ])
    : new WebSocket(`${address}?ticket=${await ticketOf(service, sid, signal)}`, [operatorSubprotocol]);
  const { promise: closed, resolve: end } = Promise.withResolvers<number>();
  let late: ReturnType<typeof setTimeout> | undefined;
  socket.addEventListener("close", ({ code }) => {
    clearTimeout(late);
    end(code);
  });
  const close = (code: number): void => {
    socket.close(code);
    // A peer that is gone never sends its close frame.
    late ??= setTimeout(() => end(abnormalClosure), closeTimeoutMs);
  };
  socket.addEventListener("message", ({ data }) => {
    if (typeof data === "string") onText(data);
  });
  const onAbort = (): void => socket.close(finalCloseCodes.normal);
  signal.addEventListener("abort", onAbort);
  try {
    await opened(socket, service.url);
    signal.throwIfAborted();
  } catch (thrown) {
    socket.close();
    throw thrown;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
  return {
    closed,
    send(text) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(text);
      return true;
    },
    close: () => close(finalCloseCodes.normal),
    reconnect: () => close(reconnecting),
  };
}

async function opened(socket: WebSocket, url: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const failed = (): void =>
      reject(
        new TuttiError(
          "unreachable",
          `no WebSocket connection to ${url}; check with \`tutti status\` whether the service is running`,
        ),
      );
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", failed);
    socket.addEventListener("close", failed);
  });
}

async function ticketOf({ call }: Service, sid: string, signal: AbortSignal): Promise<string> {
  const { ticket } = await call("ticket", { params: { sid } }, { signal });
  return ticket;
}

/** The WebSocket of Node takes headers; that of a browser throws when it is given some. */
function takesHeaders(): boolean {
  return typeof process === "object" && process.versions?.["undici"] !== undefined;
}
