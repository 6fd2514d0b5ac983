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
    setting: (name) => late(() => view.setting(name)),
    unfinished: (root) => late(() => view.unfinished(root)),
    place: (id) => late(() => view.place(id)),
    request: (task) => late(() => view.request(task)),
    treeOf: (root) => late(() => view.treeOf(root)),
    treeLimits: (root) => late(() => view.treeLimits(root)),
    usedSince: (at) => late(() => view.usedSince(at)),
    usedBelow: (task) => late(() => view.usedBelow(task)),
    task: (id) => late(() => view.task(id)),
    taskRow: (id) => late(() => view.taskRow(id)),
    result: (task) => late(() => view.result(task)),
    tasks: (filter) => late(() => view.tasks(filter)),
    below: (id) => late(() => view.below(id)),
    tree: (id, page) => late(() => view.tree(id, page)),
    wait: (id) => late(() => view.wait(id)),
    openWait: (id) => late(() => view.openWait(id)),
    openWaits: (filter) => late(() => view.openWaits(filter)),
    openAsks: () => late(() => view.openAsks()),
    events: (task, page) => late(() => view.events(task, page)),
    eventsAfter: (page) => late(() => view.eventsAfter(page)),
    recentEvents: (task, limits) => late(() => view.recentEvents(task, limits)),
    lastEvent: () => late(() => view.lastEvent()),
    steps: (task, page) => late(() => view.steps(task, page)),
    messages: (task, page) => late(() => view.messages(task, page)),
    threads: (filter) => late(() => view.threads(filter)),
    threadListing: (id) => late(() => view.threadListing(id)),
    threadOfTask: (root) => late(() => view.threadOfTask(root)),
    threadEntries: (thread, page) => late(() => view.threadEntries(thread, page)),
    threadEntriesBefore: (thread, page) => late(() => view.threadEntriesBefore(thread, page)),
    close: () => view.close(),
  };
}
