// Looks up what operators need in the one store of this machine, at once.

import type { OperatorReads } from "../reads-for-operators.ts";
import type { Store, WaitRow } from "../store.ts";

type Looked = "salt" | "openWaitIds" | "waitById" | "answer" | "waitAt" | "lastRun" | "task" | "result" | "boundKey";

export function operatorReads(store: Pick<Store, Looked>): OperatorReads {
  const isOpen = (row: WaitRow | undefined): row is WaitRow => row !== undefined && store.answer(row.id) === undefined;
  return {
    salt: store.salt,
    openRequestIds: async () => store.openWaitIds(),
    unsettled: async (ids) =>
      ids
        .map((id) => store.waitById(id))
        .filter(isOpen)
        .toSorted((a, b) => a.id - b.id),
    wait: async (id) => store.waitById(id),
    answer: async (wait) => store.answer(wait),
    waitAt: async (task, attempt, key, run) => store.waitAt(task, attempt, key, run),
    lastAttempt: async (task) => store.lastRun(task)?.attempt,
    isOver: async (task) => store.task(task) === undefined || store.result(task) !== undefined,
    async recordWithOperators(root) {
      const body = store.task(root)?.body;
      return body?.includes('"operators"') === true ? body : undefined;
    },
    isBound: async (key) => store.boundKey(key) !== undefined,
  };
}
