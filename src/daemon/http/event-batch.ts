// A batch of committed events as server-sent events: the bytes are made once, however many streams send them.

import type { TaskId } from "../../protocol/ids.ts";
import type { FeedEvent } from "../state/event-feed.ts";

export class EventBatch {
  readonly events: readonly FeedEvent[];
  readonly firstSeq: number;
  readonly lastSeq: number;
  #bytes: Buffer | undefined;
  readonly #bytesOfTrees = new Map<TaskId, Buffer>();

  constructor(events: readonly FeedEvent[]) {
    this.events = events;
    this.firstSeq = events[0]?.event.seq ?? 0;
    this.lastSeq = events.at(-1)?.event.seq ?? 0;
  }

  get bytes(): Buffer {
    this.#bytes ??= sentEvents(this.events);
    return this.#bytes;
  }

  /** Of the tree with this root task; empty when the batch has no event of it. */
  bytesOfTree(root: TaskId): Buffer {
    const known = this.#bytesOfTrees.get(root);
    if (known !== undefined) return known;
    const events = this.events.filter(({ event }) => event.root === root);
    const bytes = events.length === this.events.length ? this.bytes : sentEvents(events);
    this.#bytesOfTrees.set(root, bytes);
    return bytes;
  }
}

export function sentEvents(events: readonly FeedEvent[]): Buffer {
  return Buffer.from(events.map(({ event, json }) => `id: ${event.seq}\ndata: ${json}\n\n`).join(""));
}
