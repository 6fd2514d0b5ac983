// A JSON-RPC 2.0 connection to another process, one JSON object per line: bounded in every direction, and read no faster than it is handled.

import type { Readable, Writable } from "node:stream";

import { z } from "zod";

import { readBoundedJson } from "../../protocol/json/bounded-json.ts";
import { TuttiError } from "../../protocol/error.ts";

/** An error that one side answers a request with. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const rpcCodes = {
  invalidParams: -32_602,
  unknownMethod: -32_601,
  internal: -32_603,
  refused: -32_000,
} as const;

export interface Peer {
  /** The next frame is read when this has resolved. */
  onNotification(method: string, params: unknown): Promise<void> | void;
  /** Runs beside the reading of further frames. What it throws is the answer, too. */
  onRequest(method: string, params: unknown): Promise<unknown>;
  /** A line that is no frame; it was not used. Throwing ends the connection. */
  onBadFrame(problem: string, line: string): void;
}

export interface ConnectionLimits {
  /** The longest line, in bytes. */
  readonly frameBytes: number;
  /** Requests of the other side that are being worked on. */
  readonly requests: number;
  /** What may wait to be read by the other side, in bytes. */
  readonly unreadBytes: number;
}

/** @internal Exported for its tests only. */
export const defaultLimits: ConnectionLimits = {
  frameBytes: 8 * 2 ** 20,
  requests: 64,
  unreadBytes: 32 * 2 ** 20,
};

const Id = z.union([z.string(), z.number()]);
const Frame = z.looseObject({
  id: Id.nullish(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
});
type Frame = z.infer<typeof Frame>;

const maxDepth = 200;
/** How much of a bad line is passed on. */
const shownOfLine = 2_000;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

export class Connection {
  readonly #output: Writable;
  readonly #peer: Peer;
  readonly #limits: ConnectionLimits;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #working = 0;
  #ended: { readonly reason: unknown } | undefined;
  /** Resolves when nothing more will be read; the reason is an error when the other side broke a rule. */
  readonly closed: Promise<unknown>;

  constructor(streams: { readonly input: Readable; readonly output: Writable }, peer: Peer, limits = defaultLimits) {
    this.#output = streams.output;
    this.#peer = peer;
    this.#limits = limits;
    this.closed = this.#read(streams.input).then(
      () => this.#end(new TuttiError("unreachable", "the agent closed its output")),
      (thrown: unknown) => this.#end(thrown),
    );
  }

  /** Rejects with an `RpcError` when the other side refuses, and with the reason when the connection ends. */
  request(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended.reason);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const aborted = (): void => {
        this.#pending.delete(id);
        reject(signal?.reason);
      };
      const settle =
        <T>(how: (value: T) => void) =>
        (value: T): void => {
          signal?.removeEventListener("abort", aborted);
          how(value);
        };
      this.#pending.set(id, { resolve: settle(resolve), reject: settle(reject) });
      signal?.addEventListener("abort", aborted);
      if (signal?.aborted === true) aborted();
      else this.#send({ id, method, params });
    });
  }

  notify(method: string, params: unknown): void {
    this.#send({ method, params });
  }

  /** Nothing more is sent or awaited. */
  close(reason: unknown): void {
    this.#end(reason);
  }

  #end(reason: unknown): unknown {
    this.#ended ??= { reason };
    for (const { reject } of this.#pending.values()) reject(this.#ended.reason);
    this.#pending.clear();
    return this.#ended.reason;
  }

  #send(frame: Readonly<Record<string, unknown>>): void {
    if (this.#ended !== undefined || !this.#output.writable) return;
    this.#output.write(`${JSON.stringify({ jsonrpc: "2.0", ...frame })}\n`);
    if (this.#output.writableLength > this.#limits.unreadBytes) {
      this.#end(new TuttiError("io", "the agent does not read what it is sent"));
    }
  }

  async #read(input: Readable): Promise<void> {
    let parts: Buffer[] = [];
    let length = 0;
    for await (const chunk of input) {
      let rest = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
      for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
        this.#checkLength(length + end);
        await this.#line(Buffer.concat([...parts, rest.subarray(0, end)]));
        if (this.#ended !== undefined) return;
        parts = [];
        length = 0;
        rest = rest.subarray(end + 1);
      }
      length += rest.length;
      this.#checkLength(length);
      if (rest.length > 0) parts.push(rest);
    }
    if (length > 0) this.#bad("the output ended inside of a line", Buffer.concat(parts).toString("utf8"));
  }

  #checkLength(length: number): void {
    const { frameBytes } = this.#limits;
    if (length > frameBytes)
      throw new TuttiError("too_large", `the agent sent a line of more than ${frameBytes} bytes`);
  }

  #bad(problem: string, line: string): void {
    this.#peer.onBadFrame(problem, line.slice(0, shownOfLine).toWellFormed());
  }

  async #line(bytes: Buffer): Promise<void> {
    const line = bytes.toString("utf8").trim();
    if (line === "") return;
    const json = readBoundedJson(line, { maxDepth });
    if (!json.ok) return this.#bad(`it is not JSON that can be used (${json.fault})`, line);
    const frame = Frame.safeParse(json.value);
    if (!frame.success) return this.#bad("it is no frame of JSON-RPC", line);
    await this.#frame(frame.data, line);
  }

  async #frame(frame: Frame, line: string): Promise<void> {
    const { id, method, params } = frame;
    if (method !== undefined) {
      if (id === undefined || id === null) await this.#peer.onNotification(method, params);
      else this.#answer(id, method, params);
      return;
    }
    const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
    if (pending === undefined) return this.#bad("it answers no open request", line);
    this.#pending.delete(Number(id));
    if (frame.error === undefined) pending.resolve(frame.result);
    else pending.reject(new RpcError(frame.error.code, frame.error.message, frame.error.data));
  }

  #answer(id: string | number, method: string, params: unknown): void {
    if (this.#working >= this.#limits.requests) {
      const message = `more than ${this.#limits.requests} requests are open`;
      return this.#send({ id, error: { code: rpcCodes.refused, message } });
    }
    this.#working += 1;
    this.#peer
      .onRequest(method, params)
      .then(
        (result) => this.#send({ id, result: result ?? null }),
        (thrown: unknown) => this.#send({ id, error: errorOf(thrown) }),
      )
      .finally(() => (this.#working -= 1));
  }
}

function errorOf(thrown: unknown): { readonly code: number; readonly message: string } {
  if (thrown instanceof RpcError) return { code: thrown.code, message: thrown.message };
  if (thrown instanceof z.ZodError) return { code: rpcCodes.invalidParams, message: "the parameters cannot be used" };
  if (thrown instanceof TuttiError) return { code: rpcCodes.refused, message: thrown.message };
  return { code: rpcCodes.internal, message: "the request failed" };
}
