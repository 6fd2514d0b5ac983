// Holds back root tasks that are said into a thread until everything that was said there before is over: they are queued in their order.

import type { TaskId } from "../protocol/ids.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import { taskName } from "../store/names.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { LiveTask } from "./live-task.ts";

type TurnParts = Pick<EngineParts, "store" | "clock" | "tasks" | "untilOver">;

/** Calls `begin` when it is the turn of the task; true when that is later. The time until then counts against nobody. */
export function awaitTurn(parts: TurnParts, task: LiveTask, begin: () => void): boolean {
  const own = parts.store.threadEntryOf(task.id);
  if (own === undefined || firstOpen(parts, own.thread, own.position - 1) === undefined) return false;
  let gone = false;
  task.stop = () => {
    gone = true;
  };
  const next = (): void => {
    if (gone) return;
    task.stop = undefined;
    task.tree.startedAt = parts.clock.now();
    begin();
  };
  // When nobody can tell any more, this process stops, and the next start waits again.
  untilAllOver(parts, own.thread, own.position - 1).then(next, () => undefined);
  return true;
}

async function untilAllOver(parts: TurnParts, thread: number, last: number): Promise<void> {
  for (let at: number | undefined = last; at !== undefined;) {
    const open = firstOpen(parts, thread, at);
    if (open === undefined) return;
    const { status } = await parts.untilOver(open.task);
    at = status === "canceled" ? open.position - 1 : undefined;
  }
}

/**
 * Going back from a position: the first task that is not over as far as is known here. One that was canceled may never have had
 * its turn, so those before it may go on; any other end shows that they are over.
 */
function firstOpen(
  { store, tasks }: TurnParts,
  thread: number,
  last: number,
): { readonly task: TaskId; readonly position: number } | undefined {
  for (let position = last; position > 0; position -= 1) {
    const entry = store.threadEntryAt(thread, position);
    if (entry === undefined) return undefined;
    const task = taskName(store.salt, entry.task);
    const status: AgentResult["status"] | undefined =
      tasks.find(task)?.result?.status ?? store.result(entry.task)?.status;
    if (status === undefined) return { task, position };
    if (status !== "canceled") return undefined;
  }
  return undefined;
}
