// Lists of the service that stay true by themselves: each is read once, and every later event is folded into it.

import { type QueryClient, queryOptions } from "@tanstack/react-query";

import type { TaskEvent } from "../../../src/client/index.ts";
import type { LiveFeed } from "./live-feed.ts";

interface LiveEntry {
  state: unknown;
  /** Events up to this one are in the state. */
  seq: number;
  readonly key: readonly unknown[];
  readonly fold: (state: unknown, events: readonly TaskEvent[]) => unknown;
}

export interface LiveQuery<S> {
  readonly key: readonly unknown[];
  /** Reads the state as it is. `from` is the last event that the page had before. */
  readonly read: (span: { readonly from: number; readonly signal: AbortSignal }) => Promise<S>;
  /** The same state when nothing of it changes. */
  readonly fold: (state: S, events: readonly TaskEvent[]) => S;
}

export class LiveQueries {
  readonly #entries = new Map<string, LiveEntry>();

  readonly #client: QueryClient;
  readonly #feed: () => LiveFeed;

  constructor(client: QueryClient, feed: () => LiveFeed) {
    this.#client = client;
    this.#feed = feed;
    // What no page shows any more is forgotten with its query, and needs no more folding.
    client.getQueryCache().subscribe(({ type, query }) => {
      if (type === "removed") this.#entries.delete(query.queryHash);
    });
  }

  options<S>(live: LiveQuery<S>) {
    return queryOptions({
      queryKey: live.key,
      staleTime: Infinity,
      structuralSharing: false,
      queryFn: async ({ signal }): Promise<S> => {
        // Events that come while the state is read are gathered, so that none falls between the reading and the folding.
        const gathered = this.#feed().collect();
        try {
          const read = await live.read({ from: gathered.from, signal });
          const state = live.fold(read, gathered.events);
          const seq = gathered.events.at(-1)?.seq ?? gathered.from;
          const fold = (before: unknown, events: readonly TaskEvent[]): unknown =>
            // The state of this key came from this query.
            // oxlint-disable-next-line typescript/no-unsafe-type-assertion
            live.fold(before as S, events);
          this.#entries.set(hashOf(live.key), { state, seq, key: live.key, fold });
          return state;
        } finally {
          gathered.end();
        }
      },
    });
  }

  /** Takes a batch into every list that a page has. */
  fold(events: readonly TaskEvent[]): void {
    for (const entry of this.#entries.values()) {
      const fresh = events.filter(({ seq }) => seq > entry.seq);
      if (fresh.length === 0) continue;
      entry.seq = fresh.at(-1)?.seq ?? entry.seq;
      this.#put(entry, entry.fold(entry.state, fresh));
    }
  }

  /** Replaces the state of a list by something that was derived from it. */
  change<S>(key: readonly unknown[], change: (state: S) => S): void {
    const entry = this.#entries.get(hashOf(key));
    // The state of this key came from the query of the same key.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    if (entry !== undefined) this.#put(entry, change(entry.state as S));
  }

  forget(): void {
    this.#entries.clear();
  }

  #put(entry: LiveEntry, next: unknown): void {
    if (next === entry.state) return;
    entry.state = next;
    this.#client.setQueryData(entry.key, next);
  }
}

function hashOf(key: readonly unknown[]): string {
  return JSON.stringify(key);
}
