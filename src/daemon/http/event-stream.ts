// One reader of server-sent events: it catches up from the store at its own pace, then is told what is committed.

import type { ServerResponse } from "node:http";

import type { StreamEnd } from "../../protocol/api/task-shapes.ts";
import type { TuttiError } from "../../protocol/error.ts";
import type { LiveDelta } from "../../protocol/task/event.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { StoreView } from "../../store/view.ts";
import type { EventFeed } from "../state/event-feed.ts";
import { type EventBatch, eventChunk } from "./event-batch.ts";
import { strictHeaders } from "./reply.ts";
import { Subtree } from "./subtree.ts";
import { takeEvents } from "./take-events.ts";

export interface StreamRequest {
  /** The last sequence the reader has seen. */
  readonly after: number;
  /** Only this task and those below it; the stream ends when they are over. */
  readonly task: TaskId | undefined;
  /** Text on its way too. */
  readonly live: boolean;
  /** The key it was opened with: it ends when that is revoked. */
  readonly key: string | undefined;
}

export interface StreamDeps {
  readonly feed: Pick<EventFeed, "read">;
  readonly view: StoreView;
  readonly limits: StreamLimits;
  /** The reader was too slow and is let go. */
  readonly onShed: () => void;
}

export interface StreamLimits {
  /** What may wait for a reader; past it the reader is shed. */
  readonly bufferBytes: number;
  /** How long a reader may take nothing at all. */
  readonly stallMs: number;
  readonly heartbeatMs: number;
  /** How long the last words may take to be read. */
  readonly farewellMs: number;
}

/** Text on its way is dropped long before a reader has to be. */
const liveShare = 4;
const pageSize = 200;
/** Pieces of about this size are written while catching up. */
const pieceLength = 64 * 1024;
const head = [
  ...strictHeaders,
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
  /** `behind`: reading the store. `level`: told with every commit. */
  #phase: "behind" | "level" | "ended" = "behind";
  #droppedDeltas = 0;
  #stalledSince: number | undefined;
  #farewell: NodeJS.Timeout | undefined;

  constructor(deps: StreamDeps, response: ServerResponse, request: StreamRequest) {
    this.#deps = deps;
    this.#response = response;
    this.request = request;
    this.#after = request.after;
    // The end of a stream is told by an event, so its bytes need no frames around them.
    response.useChunkedEncodingByDefault = false;
    response.writeHead(200, head);
    response.write("retry: 1000\n\n");
    response.once("close", () => this.#stop());
  }

  /** Returns when the reader is level, or the stream is over. */
  async catchUp(): Promise<void> {
    const { view } = this.#deps;
    const { task } = this.request;
    while (this.#phase === "behind") {
      const { more, flows } = this.#writeStored();
      if (!flows && !(await this.#drained())) return;
      if (more || !flows) continue;
      // In the same tick as the last read: from here on every commit is told, and none was missed.
      this.#subtree = task === undefined ? undefined : new Subtree(view, task);
      this.#phase = "level";
      if (this.#subtree?.over === true) this.end({ reason: "settled", after: this.#after });
    }
  }

  /** Nothing of what was read is held while the reader takes its time. */
  #writeStored(): { readonly more: boolean; readonly flows: boolean } {
    const { task } = this.request;
    const { events, more } = takeEvents(this.#deps.feed, {
      after: this.#after,
      limit: pageSize,
      maxLength: pieceLength,
      task,
    });
    const last = events.at(-1);
    if (last === undefined) return { more, flows: true };
    this.#after = last.event.seq;
    return { more, flows: this.#response.write(events.map(eventChunk).join("")) };
  }

  /** Committed just now. True when the reader has to catch up from the store again. */
  offer(batch: EventBatch): boolean {
    if (this.#phase !== "level" || batch.last <= this.#after) return false;
    const bytes = this.#bytesOf(batch);
    const waiting = this.#response.writableLength;
    if (bytes.length > 0 && waiting + bytes.length > this.#deps.limits.bufferBytes) {
      if (waiting > 0) {
        this.end({ reason: "shed", after: this.#after });
        return false;
      }
      // It keeps up, and the batch alone is too much: in pieces, then.
      this.#phase = "behind";
      return true;
    }
    this.#after = batch.last;
    if (bytes.length > 0) this.#write(bytes);
    if (this.#subtree?.over === true) this.end({ reason: "settled", after: this.#after });
    return false;
  }

  offerLive(delta: LiveDelta, bytes: Buffer): void {
    if (!this.request.live || this.#phase !== "level" || this.#subtree?.has(delta) === false) return;
    if (this.#response.writableLength > this.#deps.limits.bufferBytes / liveShare) this.#droppedDeltas += 1;
    else this.#write(bytes);
  }

  /** A reader that takes nothing for too long is let go. */
  beat(now: number): void {
    if (this.#phase !== "level") return;
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

  end(why: StreamEnd): void {
    if (this.#phase === "ended") return;
    this.#phase = "ended";
    if (why.reason === "shed") this.#deps.onShed();
    this.#response.end(`event: end\ndata: ${JSON.stringify(why)}\n\n`);
    this.#farewell = setTimeout(() => this.#response.destroy(), this.#deps.limits.farewellMs);
  }

  #stop(): void {
    this.#phase = "ended";
    clearTimeout(this.#farewell);
  }

  #write(bytes: Buffer): void {
    if (this.#droppedDeltas > 0) {
      this.#response.write(`: ${this.#droppedDeltas} live deltas were dropped\n\n`);
      this.#droppedDeltas = 0;
    }
    this.#response.write(bytes);
  }

  #bytesOf(batch: EventBatch): Buffer {
    const fresh = batch.first > this.#after;
    const subtree = this.#subtree;
    if (subtree === undefined && fresh) return batch.all;
    const mine = batch.events.filter(({ event }) => {
      if (event.seq <= this.#after) return false;
      return subtree === undefined || subtree.note(event);
    });
    if (subtree?.root !== undefined && fresh) return batch.ofRoot(subtree.root);
    return Buffer.from(mine.map(eventChunk).join(""));
  }

  /** False when the stream is over. */
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
