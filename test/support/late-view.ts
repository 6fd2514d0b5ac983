// A view whose reads take a while, as those of a store on another machine do.

import { setTimeout as sleep } from "node:timers/promises";

import type { StoreView } from "../../src/store/view.ts";

/** Every read takes 0 to 4 ms. Some see what is stored when they begin, others what is stored when they end. */
export function lateView(view: StoreView): StoreView {
  let reads = 0;
  const late = async <T>(read: () => Promise<T>): Promise<T> => {
    reads += 1;
    const ms = reads % 5;
    if (reads % 3 === 0) {
      await sleep(ms);
      return read();
    }
    const found = await read();
    await sleep(ms);
    return found;
  };
  return {
    salt: view.salt,
    unfinished: (root) => late(() => view.unfinished(root)),
    task: (id) => late(() => view.task(id)),
    taskRow: (id) => late(() => view.taskRow(id)),
    tasks: (filter) => late(() => view.tasks(filter)),
    below: (id) => late(() => view.below(id)),
    wait: (id) => late(() => view.wait(id)),
    openWaits: () => late(() => view.openWaits()),
    events: (task, after, limit) => late(() => view.events(task, after, limit)),
    eventsAfter: (after, limit) => late(() => view.eventsAfter(after, limit)),
    lastEvent: () => late(() => view.lastEvent()),
    steps: (task, page) => late(() => view.steps(task, page)),
    messages: (task, page) => late(() => view.messages(task, page)),
    close: () => view.close(),
  };
}
