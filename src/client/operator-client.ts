// The client of an operator: joins a session, stays connected, replies to every request once, and leaves.

import { toTuttiError, TuttiError } from "../protocol/error.ts";
import {
  type AskFrame,
  type ClientFrame,
  type FrameFault,
  type HookAfterFrame,
  type HookBeforeFrame,
  ServerFrame,
  type SpawnFrame,
} from "../protocol/operator/frames.ts";
import type { JoinedOperator } from "../protocol/operator/operator-session.ts";
import { type Service, service } from "./call.ts";
import { parseJson } from "../protocol/json/parse-json.ts";
import { rememberReplies } from "./operator-replies.ts";
import { finalCloseCodes, openSocket, type OpenSocket } from "./operator-socket.ts";
import { backoffMs, sleep } from "./retry.ts";

type Awaitable<T> = T | Promise<T>;

export type HookVerdict = boolean | { readonly ok: boolean; readonly reason?: string };
/** `undefined` means that the worker posts the result itself. */
export type SpawnReply = undefined | { readonly value?: unknown; readonly ok?: boolean; readonly error?: string };

/**
 * What an operator does. When a handler throws, a gated task is refused, a spawn fails, and a question stays open for
 * others.
 */
export interface OperatorHandlers {
  /** Returns the value of the answer. Without this handler, questions stay open. */
  readonly ask?: (frame: AskFrame) => Awaitable<unknown>;
  /** May this task start? Without this handler, every task that asks is refused. */
  readonly hookBefore?: (frame: HookBeforeFrame) => Awaitable<HookVerdict>;
  readonly hookAfter?: (frame: HookAfterFrame) => Awaitable<void>;
  /** Launches the worker and returns when it has finished. Without this handler, spawns fail. */
  readonly spawn?: (frame: SpawnFrame) => Awaitable<SpawnReply>;
  /** Called when a handler throws, a reply is refused, or the connection breaks. */
  readonly onError?: (error: TuttiError) => void;
}

export interface OperatorOptions {
  readonly url: string;
  readonly sid: string;
  /** The token that `joinOperator` returned, `ot-…`. */
  readonly token: string;
  readonly handlers: OperatorHandlers;
  readonly fetch?: typeof fetch;
  /** How often to check that the service still sees the connection; a minute when absent. */
  readonly checkMs?: number;
}

/** `closed` by this program, `left` when the session has ended, `replaced` by another connection, or `refused` by the service. */
export type OperatorEnd = "closed" | "left" | "replaced" | "refused";

export interface OperatorConnection {
  readonly sid: string;
  readonly connected: boolean;
  readonly ended: Promise<OperatorEnd>;
  /** Closes the connection; the session and its open requests stay. */
  close(): Promise<void>;
  /** Ends the session; requests that wait for it are refused. */
  leave(): Promise<void>;
}

export async function joinOperator(options: {
  readonly url: string;
  readonly key: string;
  readonly roles?: readonly string[];
  /** The same key again gives the same operator session, for when the answer to a join was lost. */
  readonly idempotencyKey?: string;
  readonly fetch?: typeof fetch;
}): Promise<JoinedOperator> {
  const { key, roles = [], idempotencyKey, ...where } = options;
  const headers = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
  return service({ ...where, bearer: () => key }).call("joinOperator", { body: { roles: [...roles] }, headers });
}

/** Faults that mean the service needs no further reply to the request. */
const finalFaults: ReadonlySet<FrameFault> = new Set(["already_answered", "late", "unknown_request"]);
const defaultCheckMs = 60_000;

/** Connects, and reconnects whenever the connection breaks, until it is closed here or ended by the service. */
export function operatorSocket(options: OperatorOptions): OperatorConnection {
  return new Operator(options);
}

class Operator implements OperatorConnection {
  readonly sid: string;
  readonly ended: Promise<OperatorEnd>;
  readonly #handlers: OperatorHandlers;
  readonly #service: Service;
  readonly #options: OperatorOptions;
  readonly #replies = rememberReplies();
  readonly #closed = new AbortController();
  #socket: OpenSocket | undefined;

  constructor(options: OperatorOptions) {
    const { url, sid, token, handlers } = options;
    this.sid = sid;
    this.#options = options;
    this.#handlers = handlers;
    this.#service = service({
      url,
      bearer: () => token,
      signal: this.#closed.signal,
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    });
    this.ended = this.#stayConnected();
  }

  get connected(): boolean {
    return this.#socket !== undefined;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#socket?.close();
    await this.ended;
  }

  async leave(): Promise<void> {
    await this.#service.call("leaveOperator", { params: { sid: this.sid } });
    await this.close();
  }

  async #stayConnected(): Promise<OperatorEnd> {
    const { signal } = this.#closed;
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        const code = await this.#connection(() => (failures = 0));
        if (code === finalCloseCodes.replaced) return "replaced";
        if (code === finalCloseCodes.normal && !signal.aborted) return "left";
      } catch (thrown) {
        if (!signal.aborted) this.#report(toTuttiError(thrown));
      }
      const end = signal.aborted ? undefined : await this.#endOfSession();
      if (end !== undefined) return end;
      await sleep(backoffMs(failures), signal);
    }
    return "closed";
  }

  /** A refused WebSocket looks like a broken one, so the API is asked whether the session still exists. */
  async #endOfSession(): Promise<OperatorEnd | undefined> {
    try {
      await this.#service.call("operator", { params: { sid: this.sid } });
      return undefined;
    } catch (thrown) {
      const { code } = toTuttiError(thrown);
      if (code === "not_found") return "left";
      return code === "unauthorized" || code === "refused" ? "refused" : undefined;
    }
  }

  /** Runs one connection until it is closed, and returns the close code. */
  async #connection(onOpen: () => void): Promise<number> {
    const { token, checkMs = defaultCheckMs } = this.#options;
    const socket = await openSocket({
      service: this.#service,
      sid: this.sid,
      token,
      signal: this.#closed.signal,
      onText: (text) => this.#receive(text),
    });
    onOpen();
    this.#socket = socket;
    // A socket that only receives does not notice when its peer is gone.
    const check = setInterval(() => void this.#check(socket), checkMs);
    try {
      for (const reply of this.#replies.unconfirmed(Date.now())) this.#send(reply);
      return await socket.closed;
    } finally {
      clearInterval(check);
      this.#socket = undefined;
    }
  }

  async #check(socket: OpenSocket): Promise<void> {
    try {
      const { connected } = await this.#service.call("operator", { params: { sid: this.sid } });
      if (!connected) socket.reconnect();
    } catch {
      // If the service is gone, the socket closes by itself.
    }
  }

  #receive(text: string): void {
    const parsed = ServerFrame.safeParse(parseJson(text));
    // Only a newer service sends such a frame. Without a reply, its request expires at its deadline.
    if (!parsed.success)
      return this.#report(
        new TuttiError("invalid_input", "the service sent a frame that this version does not understand"),
      );
    const frame = parsed.data;
    if (frame.type === "error") {
      const resent = frame.req_id !== undefined && this.#replies.wasResent(frame.req_id);
      if (frame.req_id !== undefined) this.#replies.refused(frame.req_id, { over: finalFaults.has(frame.code) });
      if (resent && frame.code === "already_answered") return;
      const details = { code: frame.code, ...(frame.req_id === undefined ? {} : { req_id: frame.req_id }) };
      return this.#report(new TuttiError("refused", frame.message, { details }));
    }
    if (frame.type === "hook_after") return void this.#handleHookAfter(frame);
    const earlier = this.#replies.begin(frame.req_id);
    if (earlier === "busy") return;
    if (earlier === "new") return void this.#handle(frame);
    // The earlier reply did not arrive, so it counts as not sent.
    this.#replies.settle(earlier);
    this.#send(earlier);
  }

  async #handleHookAfter(frame: HookAfterFrame): Promise<void> {
    try {
      await this.#handlers.hookAfter?.(frame);
    } catch (thrown) {
      this.#report(toTuttiError(thrown));
    }
  }

  async #handle(frame: AskFrame | HookBeforeFrame | SpawnFrame): Promise<void> {
    try {
      const reply = await replyTo(frame, this.#handlers);
      if (reply === undefined) return this.#replies.forget(frame.req_id);
      this.#replies.settle(reply);
      this.#send(reply);
    } catch (thrown) {
      const error = toTuttiError(thrown);
      this.#report(error);
      const refusal = refuse(frame, error.message);
      if (refusal === undefined) return this.#replies.forget(frame.req_id);
      this.#replies.settle(refusal);
      this.#send(refusal);
    }
  }

  /** Without a connection, the next one sends it. */
  #send(reply: ClientFrame): void {
    if (this.#socket?.send(JSON.stringify(reply)) === true) this.#replies.sent(reply.req_id, Date.now());
  }

  #report(error: TuttiError): void {
    this.#handlers.onError?.(error);
  }
}

async function replyTo(
  frame: AskFrame | HookBeforeFrame | SpawnFrame,
  { ask, hookBefore, spawn }: OperatorHandlers,
): Promise<ClientFrame | undefined> {
  const { req_id } = frame;
  switch (frame.type) {
    case "ask":
      return ask === undefined ? undefined : { type: "answer", req_id, value: (await ask(frame)) ?? null };
    case "hook_before": {
      if (hookBefore === undefined) return refuse(frame, "this operator lets no task start");
      const verdict = await hookBefore(frame);
      return { type: "hook_ack", req_id, ...(typeof verdict === "boolean" ? { ok: verdict } : verdict) };
    }
    case "spawn": {
      if (spawn === undefined) return refuse(frame, "this operator launches no workers");
      const { value = {}, ok = true, error } = (await spawn(frame)) ?? {};
      return { type: "spawn_ack", req_id, value, ok, ...(error === undefined ? {} : { error }) };
    }
  }
}

/** A question that could not be answered stays open for others. */
function refuse(frame: AskFrame | HookBeforeFrame | SpawnFrame, reason: string): ClientFrame | undefined {
  const { req_id } = frame;
  if (frame.type === "ask") return undefined;
  if (frame.type === "hook_before") return { type: "hook_ack", req_id, ok: false, reason };
  return { type: "spawn_ack", req_id, value: null, ok: false, error: reason };
}
