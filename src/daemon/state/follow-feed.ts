// Follows events as they are recorded, from a source that can be read from any sequence on: nothing missed, nothing twice.

import type { EventOrDelta, FollowOptions } from "../../client/client.ts";
import type { LiveDelta, TaskEvent } from "../../protocol/task/event.ts";
import type { TaskId } from "../../protocol/ids.ts";

export interface FollowSource {
  /** Some of the stored events after `after`, in order, and whether there are more; of the task and all below it when one is named. */
  read(options: {
    readonly after: number;
    readonly limit: number;
    readonly task?: TaskId;
  }): Promise<{ readonly events: readonly TaskEvent[]; readonly more: boolean }>;
  /** The task and all below it, and whether all of them are over. Throws when there is no such task. */
  subtree(task: TaskId): Promise<{ readonly ids: readonly TaskId[]; readonly over: boolean }>;
  /** Calls back when there may be more. */
  onMore(listener: () => void): () => void;
  onLive?(listener: (delta: LiveDelta) => void): () => void;
  /** Why there will be no more, once that is so. */
  failure?(): Error | undefined;
}

const batch = 200;
/** Text on its way that nobody took is let go: the message that follows has all of it. */
const heldDeltas = 10_000;

const terminal: ReadonlySet<TaskEvent["type"]> = new Set(["task.completed", "task.failed", "task.canceled"]);

export async function* follow(source: FollowSource, options: FollowOptions): AsyncGenerator<EventOrDelta> {
  const { task, signal } = options;
  let after = options.after ?? 0;
  let wake: (() => void) | undefined;
  let woken = false;
  const wakeUp = (): void => {
    woken = true;
    wake?.();
  };
  const left = (): boolean => signal?.aborted === true;
  const deltas: LiveDelta[] = [];
  const hear = (delta: LiveDelta): void => {
    if (deltas.length < heldDeltas) deltas.push(delta);
    wakeUp();
  };
  // Before the first look, so that what is recorded from now on wakes us.
  const offs = [
    source.onMore(wakeUp),
    ...(options.live === true && source.onLive !== undefined ? [source.onLive(hear)] : []),
  ];
  signal?.addEventListener("abort", wakeUp);
  try {
    const begun = task === undefined ? undefined : await source.subtree(task);
    const mine = begun === undefined ? undefined : new Set(begun.ids);
    let over = begun?.over === true;
    while (!left()) {
      woken = false;
      for (;;) {
        const { events, more } = await source.read({ after, limit: batch, ...(task === undefined ? {} : { task }) });
        if (left()) return;
        for (const event of events) {
          after = event.seq;
          mine?.add(event.task);
          yield { event };
        }
        if (task !== undefined && !over && events.some((event) => terminal.has(event.type)))
          ({ over } = await source.subtree(task));
        else if (!more) break;
      }
      for (const live of deltas.splice(0)) if (mine === undefined || mine.has(live.task)) yield { live };
      if (over) return;
      const failed = source.failure?.();
      if (failed !== undefined) throw failed;
      if (!woken && !left()) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    for (const off of offs) off();
    signal?.removeEventListener("abort", wakeUp);
  }
}
