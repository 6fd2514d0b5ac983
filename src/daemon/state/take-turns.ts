// Reads of a store in this process in turns: a long read, or many at once, keep neither connections nor timers waiting.

import type { StoreView } from "../../store/view.ts";

/** How long reads may go on before everything else that waits gets its turn. */
const sliceMs = 5;

/** Resolves when the next read may begin. Within a slice that is at once; after it, one begins in each round of the event loop. */
function turns(now: () => number = () => performance.now()): () => Promise<void> {
  const waiting: (() => void)[] = [];
  let began: number | undefined;
  const onRound = (): void => {
    began = undefined;
    const first = waiting.shift();
    if (first === undefined) return;
    begin();
    first();
  };
  const begin = (): void => {
    began = now();
    setImmediate(onRound);
  };
  return async () => {
    if (began === undefined) return begin();
    if (waiting.length === 0 && now() - began < sliceMs) return;
    await new Promise<void>((resolve) => waiting.push(resolve));
  };
}

/**
 * SQLite reads at once and whole, and what a caller takes as fast as it comes goes on without a pause. So every read of
 * several rows, or of a long one, waits for its turn. Like any read, it sees what was committed when it is made.
 */
export function readsInTurns(view: StoreView): StoreView {
  const turn = turns();
  const inTurn = async <T>(read: () => Promise<T>): Promise<T> => {
    await turn();
    return read();
  };
  return {
    ...view,
    tasks: (filter) => inTurn(() => view.tasks(filter)),
    below: (id) => inTurn(() => view.below(id)),
    tree: (id, page) => inTurn(() => view.tree(id, page)),
    result: (task) => inTurn(() => view.result(task)),
    openWaits: (filter) => inTurn(() => view.openWaits(filter)),
    events: (task, page) => inTurn(() => view.events(task, page)),
    eventsAfter: (page) => inTurn(() => view.eventsAfter(page)),
    recentEvents: (task, page) => inTurn(() => view.recentEvents(task, page)),
    steps: (task, page) => inTurn(() => view.steps(task, page)),
    messages: (task, page) => inTurn(() => view.messages(task, page)),
    threads: (filter) => inTurn(() => view.threads(filter)),
    threadEntries: (thread, page) => inTurn(() => view.threadEntries(thread, page)),
    threadEntriesBefore: (thread, page) => inTurn(() => view.threadEntriesBefore(thread, page)),
  };
}
