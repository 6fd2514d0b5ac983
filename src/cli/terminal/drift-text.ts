// Departures from the form of calls, in words: of one reply, and of a task with all below it.
import type { TaskEvent } from "../../protocol/task/event.ts";

type Drifted = Extract<TaskEvent, { type: "call.drifted" }>["data"];

export function driftText({ kind, dialect, message, count }: Drifted): string {
  return `${nameOf({ kind, dialect })}${count === 1 ? "" : ` ×${count}`}: ${message}`;
}

/** How often each kind occurred, the most frequent first; empty when there was none. */
export function driftCounts(events: readonly TaskEvent[]): string {
  const counts = new Map<string, number>();
  for (const event of events) {
    if (event.type !== "call.drifted") continue;
    const name = nameOf(event.data);
    counts.set(name, (counts.get(name) ?? 0) + event.data.count);
  }
  const sorted = [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return sorted.map(([name, count]) => `${name} ×${count}`).join(", ");
}

function nameOf({ kind, dialect }: Pick<Drifted, "kind" | "dialect">): string {
  return dialect === undefined ? kind : `${kind} (${dialect})`;
}
