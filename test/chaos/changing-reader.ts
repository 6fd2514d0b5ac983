// Reads the one sequence of events, each page from another node, and keeps what it saw.

import { setTimeout as pause } from "node:timers/promises";

import { z } from "zod";

import { SeenEvent } from "./chaos-request.ts";

const Page = z.array(SeenEvent);
const idleMs = 15;

export interface ChangingReader {
  readonly seen: readonly number[];
  /** Events that came out of their order. */
  readonly disorder: number;
  /** The last sequence that it saw. */
  readonly after: number;
  close(): Promise<void>;
}

/** `page`: what follows a sequence, from some node; undefined when none answered. */
export function readChanging(
  page: (after: number) => Promise<unknown>,
  onEvent: (event: SeenEvent) => void,
): ChangingReader {
  const seen: number[] = [];
  let [after, disorder, closed] = [0, 0, false];
  const reading = (async () => {
    while (!closed) {
      const events = Page.safeParse(await page(after)).data ?? [];
      for (const event of events) {
        if (event.seq <= after) disorder += 1;
        after = event.seq;
        seen.push(event.seq);
        onEvent(event);
      }
      if (events.length === 0) await pause(idleMs);
    }
  })();
  return {
    seen,
    get disorder() {
      return disorder;
    },
    get after() {
      return after;
    },
    async close() {
      closed = true;
      await reading;
    },
  };
}
