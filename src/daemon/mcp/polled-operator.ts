// The connection of an operator that cannot keep a socket open and asks for its requests instead, as a language model does.

import { EventEmitter } from "node:events";

import { z } from "zod";

import { parseJson } from "../../protocol/json/parse-json.ts";
import { operatorSubprotocol, ServerFrame } from "../../protocol/operator/frames.ts";

/** An operator that asked within this time counts as connected. */
const presentMs = 2 * 60_000;
/** More open requests than this are not kept; they come when others are answered. */
const mostRequests = 200;
const mostNews = 50;
/** How long to wait for further requests after the first one came. */
const gatherMs = 50;

export type OperatorRequest = Exclude<ServerFrame, { type: "hook_after" | "error" }>;
type News = Extract<ServerFrame, { type: "hook_after" }>;

const open = 1;
const closed = 3;

/** Looks like a socket to the operator hub. What is sent to it waits here until the operator asks. */
export class PolledOperator extends EventEmitter {
  readonly protocol = operatorSubprotocol;
  readonly bufferedAmount = 0;
  readyState = open;
  /** Requests without an answer, by their ids. */
  readonly #requests = new Map<string, OperatorRequest>();
  #news: News[] = [];
  #hasMore = false;
  #lastAskedAt: number;
  /** Of everybody who waits for a request: an operator may ask again before it has given up its last question. */
  readonly #waiting = new Set<() => void>();
  readonly #now: () => number;

  constructor(now: () => number) {
    super();
    this.#now = now;
    this.#lastAskedAt = now();
  }

  send(text: string, sent: () => void): void {
    const frame = ServerFrame.safeParse(parseJson(text));
    if (frame.success) this.#keep(frame.data);
    queueMicrotask(sent);
  }

  /** An operator is there as long as it asks. */
  ping(): void {
    if (this.#now() - this.#lastAskedAt < presentMs) this.emit("pong");
  }

  close(): void {
    this.terminate();
  }

  terminate(): void {
    if (this.readyState === closed) return;
    this.readyState = closed;
    this.#wake();
    queueMicrotask(() => this.emit("close"));
  }

  /** Some requests were not kept, and only a new connection gets them. */
  get mustReconnect(): boolean {
    return this.#hasMore && this.#requests.size < mostRequests / 2;
  }

  /** Everything that waits for an answer; waits for the first request while there is none. */
  async take(signal: AbortSignal): Promise<{ readonly requests: OperatorRequest[]; readonly news: News[] }> {
    this.#lastAskedAt = this.#now();
    this.#dropExpired();
    if (this.#requests.size === 0 && this.#news.length === 0) {
      await this.#woken(signal);
      await new Promise((resolve) => setTimeout(resolve, gatherMs));
    }
    this.#lastAskedAt = this.#now();
    const news = this.#news;
    this.#news = [];
    return { requests: [...this.#requests.values()], news };
  }

  /** The request has its answer, from this operator or from somebody else. */
  settled(request: string): void {
    this.#requests.delete(request);
  }

  #keep(frame: ServerFrame): void {
    if (frame.type === "error") return;
    if (frame.type === "hook_after") this.#news = [...this.#news, frame].slice(-mostNews);
    else if (this.#requests.size < mostRequests) this.#requests.set(frame.req_id, frame);
    else this.#hasMore = true;
    this.#wake();
  }

  #wake(): void {
    for (const done of this.#waiting) done();
  }

  #dropExpired(): void {
    for (const [id, { deadline }] of this.#requests) {
      if (deadline !== undefined && deadline <= this.#now()) this.#requests.delete(id);
    }
  }

  #woken(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener("abort", done);
        this.#waiting.delete(done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener("abort", done, { once: true });
      if (signal.aborted || this.readyState === closed) done();
    });
  }
}

/** How an operator answers, whatever kind of request it is. */
export const OperatorReply = z.strictObject({
  value: z.unknown().optional().describe("The answer to an `ask`; for a `spawn` usually nothing."),
  ok: z.boolean().optional().describe("For `hook_before`: may the task start? For `spawn`: was a worker launched?"),
  reason: z.string().max(8192).optional().describe("Why a `hook_before` is refused."),
  error: z.string().max(8192).optional().describe("Why a `spawn` failed."),
});
export type OperatorReply = z.infer<typeof OperatorReply>;
