// A batch of events as it goes to readers: the bytes are made once, whatever the number of them.

import type { TaskId } from "../../protocol/ids.ts";
import type { FeedEvent } from "../state/event-feed.ts";

export class EventBatch {
  readonly events: readonly FeedEvent[];
  readonly first: number;
  readonly last: number;
  #all: Buffer | undefined;
  readonly #ofRoots = new Map<TaskId, Buffer>();

  constructor(events: readonly FeedEvent[]) {
    this.events = events;
    this.first = events[0]?.event.seq ?? 0;
    this.last = events.at(-1)?.event.seq ?? 0;
  }

  get all(): Buffer {
    this.#all ??= Buffer.from(this.events.map(eventChunk).join(""));
    return this.#all;
  }

  /** Empty when there is none of the tree. */
  ofRoot(root: TaskId): Buffer {
    const known = this.#ofRoots.get(root);
    if (known !== undefined) return known;
    const mine = this.events.filter(({ event }) => event.root === root);
    const made = mine.length === this.events.length ? this.all : Buffer.from(mine.map(eventChunk).join(""));
    this.#ofRoots.set(root, made);
    return made;
  }
}

export function eventChunk({ event, json }: FeedEvent): string {
  return `id: ${event.seq}\ndata: ${json}\n\n`;
}
