// What a tree took: time, tokens, money as far as prices are known, and whether it was a rehearsal.
import type { Looking } from "../client/client.ts";
import type { TaskEvent } from "../protocol/event.ts";
import type { TaskId } from "../protocol/ids.ts";

export interface RunCost {
  readonly ms: number;
  readonly tokens: number;
  readonly money_micro_usd: number;
  /** Some calls cost money nobody knows the amount of. */
  readonly unpriced: boolean;
  /** At least one reply was played from a script. */
  readonly rehearsal: boolean;
}

const batch = 500;

export function runCost(looking: Looking, task: TaskId): RunCost {
  const tree = looking.tree(task);
  const [root] = tree;
  const sum = (of: (view: (typeof tree)[number]) => number): number => tree.reduce((all, view) => all + of(view), 0);
  const found = { unpriced: false, rehearsal: false };
  for (const event of eventsOf(looking, task)) {
    if (event.type === "message.added" && event.data.message.name === "rehearsal") found.rehearsal = true;
    if (event.type === "budget.settled" && event.data.spent.money_micro_usd === null) found.unpriced = true;
  }
  return {
    ms: root === undefined ? 0 : (root.ended_at ?? root.created_at) - root.created_at,
    tokens: sum((view) => view.tokens),
    money_micro_usd: sum((view) => view.money_micro_usd),
    ...found,
  };
}

function* eventsOf(looking: Looking, task: TaskId): Generator<TaskEvent> {
  for (let after = 0; ;) {
    const events = looking.events(task, { after, limit: batch });
    yield* events;
    after = events.at(-1)?.seq ?? after;
    if (events.length < batch) return;
  }
}
