// All readers of server-sent events: one subscription for them all, heartbeats, and how they end together.

import type { ServerResponse } from "node:http";

import { toTuttiError, TuttiError } from "../../protocol/error.ts";
import type { LiveDelta } from "../../protocol/task/event.ts";
import type { State } from "../state/state.ts";
import { EventBatch } from "./event-batch.ts";
import { EventStream, type StreamLimits, type StreamRequest } from "./event-stream.ts";

const usualLimits: StreamLimits = {
  bufferBytes: 1024 * 1024,
  stallMs: 60_000,
  heartbeatMs: 15_000,
  farewellMs: 4_000,
};

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
  readonly #offs: (() => void)[];
  readonly #heart: NodeJS.Timeout;

  constructor({ state, onShed, limits }: EventStreamsOptions) {
    this.#state = state;
    this.#onShed = onShed;
    this.#limits = { ...usualLimits, ...limits };
    this.#offs = [
      state.feed.subscribe((events) => this.#tell(new EventBatch(events))),
      state.onLive((delta) => this.#tellLive(delta)),
    ];
    this.#heart = setInterval(() => this.#beat(), this.#limits.heartbeatMs);
    this.#heart.unref();
  }

  /** Takes the response over. */
  open(response: ServerResponse, request: StreamRequest): void {
    const { feed, view } = this.#state;
    const stream = new EventStream({ feed, view, limits: this.#limits, onShed: this.#onShed }, response, request);
    this.#open.add(stream);
    response.once("close", () => this.#open.delete(stream));
    this.#catchUp(stream);
  }

  endOfKey(id: string): void {
    const error = new TuttiError("unauthorized", "the key this stream was opened with was revoked");
    for (const stream of this.#open) if (stream.request.key === id) stream.fail(error);
  }

  close(): void {
    clearInterval(this.#heart);
    for (const off of this.#offs) off();
    const error = new TuttiError("stopped", "the service is being stopped; follow again when it is back");
    for (const stream of this.#open) stream.fail(error);
  }

  #catchUp(stream: EventStream): void {
    stream.catchUp().catch((thrown: unknown) => stream.fail(toTuttiError(thrown)));
  }

  #tell(batch: EventBatch): void {
    for (const stream of this.#open) if (stream.offer(batch)) this.#catchUp(stream);
  }

  #tellLive(delta: LiveDelta): void {
    let bytes: Buffer | undefined;
    for (const stream of this.#open) {
      if (!stream.request.live) continue;
      bytes ??= Buffer.from(`event: live\ndata: ${JSON.stringify(delta)}\n\n`);
      stream.offerLive(delta, bytes);
    }
  }

  #beat(): void {
    const now = Date.now();
    for (const stream of this.#open) stream.beat(now);
  }
}
