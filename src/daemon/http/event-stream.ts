// One stream of server-sent events: it first catches up from the store at the reader's pace, then sends every commit.

import type { ServerResponse } from "node:http";

import type { StreamEnd } from "../../protocol/api/task-shapes.ts";
import type { TuttiError } from "../../protocol/error.ts";
import type { LiveDelta, TaskEvent } from "../../protocol/task/event.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { StoreView } from "../../store/view.ts";
import type { EventFeed } from "../state/event-feed.ts";
import type { PageRight } from "../state/page-tokens.ts";
import { type EventBatch, sentEvents } from "./event-batch.ts";
import { securityHeaders } from "./security-headers.ts";
import { Subtree } from "./subtree.ts";

export interface StreamRequest {
  /** The sequence number of the last event the reader has. */
  readonly after: number;
  /** Only events of this task and its descendants; the stream ends when all of them have ended. */
  readonly task: TaskId | undefined;
  /** Also send live deltas. */
  readonly live: boolean;
  /** The id of the API key that opened the stream; the stream ends when the key is revoked. */
  readonly key: string | undefined;
  /** Of a page that signed in; the stream ends with its token. */
  readonly page?: PageRight | undefined;
}

export interface StreamDeps {
  readonly feed: Pick<EventFeed, "read" | "position">;
  readonly view: StoreView;
  readonly limits: StreamLimits;
  /** Called when the reader was too slow and is disconnected. */
  readonly onShed: () => void;
}

export interface StreamLimits {
  /** How many bytes may wait to be sent; a reader that is further behind is shed. */
  readonly bufferBytes: number;
  /** How long a reader may read nothing at all. */
  readonly stallMs: number;
  readonly heartbeatMs: number;
  /** How long the reader may take to read the end of the stream. */
  readonly endMs: number;
}

/** Live deltas are dropped when this part of the buffer is full, long before the reader itself is shed. */
const deltaShare = 1 / 4;
const pageSize = 200;
/** The approximate length of what is written at once while catching up. */
const chunkLength = 64 * 1024;
/** A stream that misses more batches than this while it reads a page reads them from the store. */
const maxHeld = 256;
const headers = [
  ...securityHeaders,
  "Content-Type",
  "text/event-stream; charset=utf-8",
  "X-Accel-Buffering",
  "no",
  "Connection",
  "close",
];
const heartbeat = Buffer.from(":\n\n");

export class EventStream {
  readonly request: StreamRequest;
  readonly #deps: StreamDeps;
  readonly #response: ServerResponse;
  #after: number;
  #subtree: Subtree | undefined;
  /** The subtree has taken account of the events up to this one. */
  #trackedUpTo = 0;
  /** What was committed while a page is being read, and so may be missing in it. */
  #held: EventBatch[] = [];
  #phase: "catching_up" | "following" | "ended" = "catching_up";
  #droppedDeltas = 0;
  #stalledSince: number | undefined;
  #endTimer: NodeJS.Timeout | undefined;

  constructor(deps: StreamDeps, response: ServerResponse, request: StreamRequest) {
    this.#deps = deps;
    this.#response = response;
    this.request = request;
    this.#after = request.after;
    // The last event tells the reader that the stream is complete, so chunked encoding would add nothing.
    response.useChunkedEncodingByDefault = false;
    response.writeHead(200, headers);
    response.write("retry: 1000\n\n");
    response.once("close", () => {
      this.#phase = "ended";
      clearTimeout(this.#endTimer);
    });
  }

  /** Resolves when the reader has everything that is stored, or the stream has ended. */
  async catchUp(): Promise<void> {
    const { view, feed } = this.#deps;
    const { task } = this.request;
    if (task !== undefined && this.#subtree === undefined) {
      this.#trackedUpTo = Math.max(feed.position, this.#after);
      this.#subtree = await Subtree.load(view, task);
    }
    while (this.#phase === "catching_up") {
      this.#held = [];
      const { more, flows } = await this.#writeStored();
      if (!flows && !(await this.#drained())) return;
      const held = this.#held;
      if (more || !flows || held.length > maxHeld) continue;
      this.#follow(held);
    }
    this.#held = [];
  }

  /** In the tick in which the last page was written: every later batch is pushed. */
  #follow(held: readonly EventBatch[]): void {
    if (this.#phase !== "catching_up") return;
    this.#phase = "following";
    if (this.#subtree?.settled === true) this.end({ reason: "settled", after: this.#after });
    // If a batch exceeds the buffer, it and those after it are read from the store.
    for (const batch of held) if (this.push(batch)) return;
  }

  /** A function of its own so that the events it read are not kept in memory while the reader takes its time. */
  async #writeStored(): Promise<{ readonly more: boolean; readonly flows: boolean }> {
    const { task } = this.request;
    const page = { after: this.#after, limit: pageSize, maxLength: chunkLength };
    const { events, more } = await this.#deps.feed.read({ ...page, task });
    const last = events.at(-1);
    if (last === undefined || this.#phase === "ended") return { more, flows: true };
    for (const { event } of events) this.#belongs(event);
    this.#after = last.event.seq;
    return { more, flows: this.#response.write(sentEvents(events)) };
  }

  /** Sends events that were just committed. Returns true when the stream has to catch up from the store again. */
  push(batch: EventBatch): boolean {
    if (this.#phase === "catching_up" && this.#held.length <= maxHeld) this.#held.push(batch);
    if (this.#phase !== "following" || batch.lastSeq <= this.#after) return false;
    const bytes = this.#bytesOf(batch);
    const waiting = this.#response.writableLength;
    if (bytes.length > 0 && waiting + bytes.length > this.#deps.limits.bufferBytes) {
      if (waiting > 0) {
        this.end({ reason: "shed", after: this.#after });
        return false;
      }
      // The reader keeps up, but this batch alone exceeds the buffer, so it is sent from the store in chunks.
      this.#phase = "catching_up";
      return true;
    }
    this.#after = batch.lastSeq;
    if (bytes.length > 0) this.#write(bytes);
    if (this.#subtree?.settled === true) this.end({ reason: "settled", after: this.#after });
    return false;
  }

  pushDelta(delta: LiveDelta, bytes: Buffer): void {
    if (!this.request.live || this.#phase !== "following" || this.#subtree?.has(delta) === false) return;
    if (this.#response.writableLength > this.#deps.limits.bufferBytes * deltaShare) this.#droppedDeltas += 1;
    else this.#write(bytes);
  }

  /** Sends a heartbeat, or sheds a reader that has read nothing for too long. */
  heartbeat(now: number): void {
    if (this.#phase !== "following") return;
    if (this.#response.writableLength === 0) {
      this.#stalledSince = undefined;
      this.#write(heartbeat);
      return;
    }
    this.#stalledSince ??= now;
    if (now - this.#stalledSince >= this.#deps.limits.stallMs) this.end({ reason: "shed", after: this.#after });
  }

  fail(error: TuttiError): void {
    const { code, message, retry } = error;
    this.end({ reason: "error", after: this.#after, error: { code, message, retry } });
  }

  end(end: StreamEnd): void {
    if (this.#phase === "ended") return;
    this.#phase = "ended";
    if (end.reason === "shed") this.#deps.onShed();
    this.#response.end(`event: end\ndata: ${JSON.stringify(end)}\n\n`);
    this.#endTimer = setTimeout(() => this.#response.destroy(), this.#deps.limits.endMs);
  }

  #write(bytes: Buffer): void {
    if (this.#droppedDeltas > 0) {
      this.#response.write(`: ${this.#droppedDeltas} live deltas were dropped\n\n`);
      this.#droppedDeltas = 0;
    }
    this.#response.write(bytes);
  }

  /** The part of the batch that this reader is to get. */
  #bytesOf(batch: EventBatch): Buffer {
    const allNew = batch.firstSeq > this.#after;
    const subtree = this.#subtree;
    if (subtree === undefined && allNew) return batch.bytes;
    const events = batch.events.filter(({ event }) => event.seq > this.#after && this.#belongs(event));
    return subtree?.root !== undefined && allNew ? batch.bytesOfTree(subtree.root) : sentEvents(events);
  }

  /** Tells whether the reader is to get the event. The subtree tracks each event once, also when it is read again. */
  #belongs(event: TaskEvent): boolean {
    const subtree = this.#subtree;
    if (subtree === undefined) return true;
    if (event.seq <= this.#trackedUpTo) return subtree.has(event);
    this.#trackedUpTo = event.seq;
    return subtree.track(event);
  }

  /** Resolves when the reader has read what was written; false when the stream has ended instead. */
  async #drained(): Promise<boolean> {
    const response = this.#response;
    const { promise, resolve } = Promise.withResolvers<"drain" | "close" | "stalled">();
    const [onDrain, onClose] = [() => resolve("drain"), () => resolve("close")];
    const timer = setTimeout(() => resolve("stalled"), this.#deps.limits.stallMs);
    response.once("drain", onDrain).once("close", onClose);
    const outcome = response.writableNeedDrain ? await promise : "drain";
    clearTimeout(timer);
    response.off("drain", onDrain).off("close", onClose);
    if (outcome === "stalled") this.end({ reason: "shed", after: this.#after });
    return outcome === "drain" && this.#phase !== "ended";
  }
}
