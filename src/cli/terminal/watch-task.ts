// One following of a task for all that is shown of it: the tree, the transcript, the questions, the cost.
import { setTimeout as sleep } from "node:timers/promises";

import type { EventOrDelta, Reader } from "../../client/client.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { type CostNotes, noteCost } from "./run-cost.ts";

export interface Watch {
  readonly task: TaskId;
  /** What of the cost stands in events. */
  readonly notes: CostNotes;
  readonly on: (listener: (said: EventOrDelta) => void) => () => void;
  /** Resolves when all that happened was told to the listeners; the task is over by then. */
  drained(): Promise<void>;
  stop(): void;
}

/** The end of a tree comes by another way than its last events, which may take this much longer. */
const patienceMs = 5_000;

/** Begins with the first event, in a later turn, so that listeners added now miss nothing. */
export function watchTask(tutti: Pick<Reader, "follow">, task: TaskId): Watch {
  const listeners = new Set<(said: EventOrDelta) => void>();
  const stopped = new AbortController();
  const notes: CostNotes = { unpriced: false, rehearsal: false };
  const told = async (): Promise<void> => {
    for await (const said of tutti.follow({ task, live: true, signal: stopped.signal })) {
      if ("event" in said) noteCost(notes, said.event);
      for (const listener of listeners) listener(said);
    }
  };
  // A service that stays away is told by whoever waits for the result.
  const over = told().catch(() => undefined);
  return {
    task,
    notes,
    on(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async drained() {
      const late = new AbortController();
      await Promise.race([over, sleep(patienceMs, undefined, { signal: late.signal }).catch(() => undefined)]);
      late.abort();
      stopped.abort();
      await over;
    },
    stop: () => stopped.abort(),
  };
}
