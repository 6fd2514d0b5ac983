// An operator's side of its session: joins, stays connected, answers every request once, and leaves.

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
import { delayBefore, pause } from "./backoff.ts";
import { type Service, service } from "./call.ts";
import { rememberReplies } from "./operator-replies.ts";
import { openSocket, type OpenSocket, socketEnds } from "./operator-socket.ts";

type MayPromise<T> = T | Promise<T>;

export type HookVerdict = boolean | { readonly ok: boolean; readonly reason?: string };
/** Nothing: the worker posts the result itself. */
export type SpawnReply = undefined | { readonly value?: unknown; readonly ok?: boolean; readonly error?: string };

/** What an operator does. What it throws at a gate refuses, at a spawn fails it, at a question leaves it open. */
export interface OperatorHandlers {
  /** Gives the answer's value. Without it questions stay open. */
  readonly ask?: (frame: AskFrame) => MayPromise<unknown>;
  /** May this task start? Without it nothing that asks may. */
  readonly hookBefore?: (frame: HookBeforeFrame) => MayPromise<HookVerdict>;
  readonly hookAfter?: (frame: HookAfterFrame) => MayPromise<void>;
  /** Launches the worker and returns when it has finished. Without it spawns fail. */
  readonly spawn?: (frame: SpawnFrame) => MayPromise<SpawnReply>;
  /** Told of what went wrong: a handler, a reply that was refused, a connection that broke. */
  readonly onError?: (error: TuttiError) => void;
}

export interface OperatorOptions {
  readonly url: string;
  readonly sid: string;
  /** What joining gave, `ot-…`. */
  readonly token: string;
  readonly handlers: OperatorHandlers;
  readonly fetch?: typeof fetch;
  /** How often it is asked whether the service still sees the connection. */
  readonly checkMs?: number;
}

/** Why it is over: closed here, the session has ended, another connection took over, or it is refused. */
export type OperatorEnd = "closed" | "left" | "replaced" | "refused";

export interface OperatorConnection {
  readonly sid: string;
  readonly connected: boolean;
  readonly ended: Promise<OperatorEnd>;
  /** Lets the connection go; the session and its open requests stay. */
  close(): Promise<void>;
  /** Ends the session: what waits for it is refused. */
  leave(): Promise<void>;
}

export async function joinOperator(options: {
  readonly url: string;
  readonly key: string;
  readonly roles?: readonly string[];
  readonly fetch?: typeof fetch;
}): Promise<JoinedOperator> {
  const { key, roles = [], ...where } = options;
  return service({ ...where, bearer: () => key }).call("joinOperator", { body: { roles: [...roles] } });
}

/** The service has what it wants for the request, or wants nothing any more. */
const over: ReadonlySet<FrameFault> = new Set(["already_answered", "late", "unknown_request"]);
const usualCheckMs = 60_000;

/** Connects, and connects again whenever the connection breaks, until it is closed or the service says it is over. */
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
    for (let tries = 0; !signal.aborted; tries += 1) {
      try {
        const code = await this.#connection(() => (tries = 0));
        if (code === socketEnds.replaced) return "replaced";
        if (code === socketEnds.normal && !signal.aborted) return "left";
      } catch (thrown) {
        if (!signal.aborted) this.#tell(toTuttiError(thrown));
      }
      const end = signal.aborted ? undefined : await this.#refused();
      if (end !== undefined) return end;
      await pause(delayBefore(tries), signal);
    }
    return "closed";
  }

  /** A refused connection looks like a broken one; the session itself says which it was. */
  async #refused(): Promise<OperatorEnd | undefined> {
    try {
      await this.#service.call("operator", { params: { sid: this.sid } });
      return undefined;
    } catch (thrown) {
      const { code } = toTuttiError(thrown);
      if (code === "not_found") return "left";
      return code === "unauthorized" || code === "refused" ? "refused" : undefined;
    }
  }

  /** One connection from its opening to its end; gives the code it was closed with. */
  async #connection(onOpen: () => void): Promise<number> {
    const { token, checkMs = usualCheckMs } = this.#options;
    const socket = await openSocket({
      service: this.#service,
      sid: this.sid,
      token,
      signal: this.#closed.signal,
      onText: (text) => this.#hear(text),
    });
    onOpen();
    this.#socket = socket;
    // A peer that is gone without a word is not noticed by a socket that only listens.
    const check = setInterval(() => void this.#check(socket), checkMs);
    try {
      for (const reply of this.#replies.owed(Date.now())) this.#send(reply);
      return await socket.closed;
    } finally {
      clearInterval(check);
      this.#socket = undefined;
    }
  }

  async #check(socket: OpenSocket): Promise<void> {
    try {
      const { connected } = await this.#service.call("operator", { params: { sid: this.sid } });
      if (!connected) socket.renew();
    } catch {
      // If the service is gone, the socket will say so.
    }
  }

  #hear(text: string): void {
    const read = ServerFrame.safeParse(jsonIn(text));
    // A frame of a newer service; what it asks has a deadline.
    if (!read.success)
      return this.#tell(new TuttiError("invalid_input", "a frame came that this version does not know"));
    const frame = read.data;
    if (frame.type === "error") {
      const again = frame.req_id !== undefined && this.#replies.repeated(frame.req_id);
      if (frame.req_id !== undefined) this.#replies.refused(frame.req_id, { over: over.has(frame.code) });
      if (again && frame.code === "already_answered") return;
      const details = { code: frame.code, ...(frame.req_id === undefined ? {} : { req_id: frame.req_id }) };
      return this.#tell(new TuttiError("refused", frame.message, { details }));
    }
    if (frame.type === "hook_after") return void this.#inform(frame);
    const standing = this.#replies.begin(frame.req_id);
    if (standing === "busy") return;
    if (standing === "new") return void this.#work(frame);
    // It did not arrive: it is owed again, whether it can go out now or not.
    this.#replies.settle(standing);
    this.#send(standing);
  }

  async #inform(frame: HookAfterFrame): Promise<void> {
    try {
      await this.#handlers.hookAfter?.(frame);
    } catch (thrown) {
      this.#tell(toTuttiError(thrown));
    }
  }

  async #work(frame: AskFrame | HookBeforeFrame | SpawnFrame): Promise<void> {
    try {
      const reply = await replyTo(frame, this.#handlers);
      if (reply === undefined) return this.#replies.forget(frame.req_id);
      this.#replies.settle(reply);
      this.#send(reply);
    } catch (thrown) {
      const error = toTuttiError(thrown);
      this.#tell(error);
      const refusal = refuse(frame, error.message);
      if (refusal === undefined) return this.#replies.forget(frame.req_id);
      this.#replies.settle(refusal);
      this.#send(refusal);
    }
  }

  /** Without a connection it is owed to the next one. */
  #send(reply: ClientFrame): void {
    if (this.#socket?.send(JSON.stringify(reply)) === true) this.#replies.sent(reply.req_id, Date.now());
  }

  #tell(error: TuttiError): void {
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

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
