// A view whose reads take a while, as those of a store on another machine do.

import { setTimeout as sleep } from "node:timers/promises";

import type { StoreView } from "../../src/store/view.ts";

/** Every read takes 0 to 4 ms. Some see what is stored when they begin, others what is stored when they end. */
export function lateView(view: StoreView): StoreView {
  let reads = 0;
  const late = <A extends readonly unknown[], T>(read: (...args: A) => Promise<T>) => {
    return async (...args: A): Promise<T> => {
      reads += 1;
      const ms = reads % 5;
      if (reads % 3 === 0) {
        await sleep(ms);
        return read(...args);
      }
      const found = await read(...args);
      await sleep(ms);
      return found;
    };
  };
  return {
    salt: view.salt,
    unfinished: late(view.unfinished),
    task: late(view.task),
    taskRow: late(view.taskRow),
    tasks: late(view.tasks),
    below: late(view.below),
    wait: late(view.wait),
    openWaits: late(view.openWaits),
    events: late(view.events),
    eventsAfter: late(view.eventsAfter),
    lastEvent: late(view.lastEvent),
    steps: late(view.steps),
    messages: late(view.messages),
    close: view.close,
  };
}
