// All open event streams: one subscription to the feed for all of them, heartbeats, and ending them together.

import type { ServerResponse } from "node:http";

import { toTuttiError, TuttiError } from "../../protocol/error.ts";
import type { LiveDelta } from "../../protocol/task/event.ts";
import type { State } from "../state/state.ts";
import { EventBatch } from "./event-batch.ts";
import { EventStream, type StreamLimits, type StreamRequest } from "./event-stream.ts";

const defaultLimits: StreamLimits = {
  bufferBytes: 1024 * 1024,
  stallMs: 60_000,
  heartbeatMs: 15_000,
  endMs: 4_000,
};

const pageEnded = new TuttiError("unauthorized", "the token that opened this stream has ended; sign in again");

export interface EventStreamsOptions {
  readonly state: Pick<State, "feed" | "view" | "onLive">;
  readonly onShed: () => void;
  readonly limits?: Partial<StreamLimits>;
}

export class EventStreams {
  readonly #state: EventStreamsOptions["state"];
  readonly #onShed: () => void;
  readonly #limits: StreamLimits;
  readonly #open = new Set<EventStream>();
  readonly #unsubscribe: () => void;
  /** Only while a stream wants it: other nodes send what they write while somebody here listens. */
  #unsubscribeLive: (() => void) | undefined;
  readonly #heartbeat: NodeJS.Timeout;
  /** Set when the streams were closed: a request may still be on its way then. */
  #stopped: TuttiError | undefined;

  constructor({ state, onShed, limits }: EventStreamsOptions) {
    this.#state = state;
    this.#onShed = onShed;
    this.#limits = { ...defaultLimits, ...limits };
    this.#unsubscribe = state.feed.subscribe((events) => this.#push(new EventBatch(events)));
    this.#heartbeat = setInterval(() => {
      const now = Date.now();
      for (const stream of this.#open) {
        const { page } = stream.request;
        if (page !== undefined && now >= page.until) stream.fail(pageEnded);
        else stream.heartbeat(now);
      }
    }, this.#limits.heartbeatMs);
    this.#heartbeat.unref();
  }

  /** Takes over the response, unless the caller has gone. */
  open(response: ServerResponse, request: StreamRequest): void {
    if (response.destroyed) return;
    const { feed, view } = this.#state;
    const stream = new EventStream({ feed, view, limits: this.#limits, onShed: this.#onShed }, response, request);
    if (this.#stopped !== undefined) {
      stream.fail(this.#stopped);
      return;
    }
    this.#open.add(stream);
    if (request.live) this.#unsubscribeLive ??= this.#state.onLive((delta) => this.#pushDelta(delta));
    response.once("close", () => this.#closed(stream));
    this.#catchUp(stream);
  }

  /** Ends the streams that were opened with this key. */
  endForKey(id: string): void {
    const error = new TuttiError("unauthorized", "the key that opened this stream was revoked");
    for (const stream of this.#open) if (stream.request.key === id) stream.fail(error);
  }

  /** Ends the streams that were opened with the token of this page. */
  endForPage(digest: string): void {
    for (const stream of this.#open) if (stream.request.page?.digest === digest) stream.fail(pageEnded);
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.#unsubscribe();
    this.#unsubscribeLive?.();
    this.#stopped = new TuttiError("stopped", "the service is being stopped; follow again when it is back");
    for (const stream of this.#open) stream.fail(this.#stopped);
  }

  #closed(stream: EventStream): void {
    this.#open.delete(stream);
    if (!stream.request.live || [...this.#open].some(({ request }) => request.live)) return;
    this.#unsubscribeLive?.();
    this.#unsubscribeLive = undefined;
  }

  #catchUp(stream: EventStream): void {
    stream.catchUp().catch((thrown: unknown) => stream.fail(toTuttiError(thrown)));
  }

  #push(batch: EventBatch): void {
    for (const stream of this.#open) if (stream.push(batch)) this.#catchUp(stream);
  }

  #pushDelta(delta: LiveDelta): void {
    let bytes: Buffer | undefined;
    for (const stream of this.#open) {
      if (!stream.request.live) continue;
      bytes ??= Buffer.from(`event: live\ndata: ${JSON.stringify(delta)}\n\n`);
      stream.pushDelta(delta, bytes);
    }
  }
}
