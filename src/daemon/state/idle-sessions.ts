// Ends sessions of coding agents of which nothing was heard for long. They can be resumed.

import type { Tutti } from "../../client/client.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { DetailedObservation, Observation } from "../../protocol/task/observation.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import type { ServiceLog } from "../operators/service-log.ts";

export interface IdleSessionsDeps {
  readonly client: Pick<Tutti, "sessions" | "observe" | "stopTask">;
  /** The setting of the user's own config; undefined when sessions are never ended. */
  readonly idleAfter: () => Promise<number | undefined>;
  readonly now: () => number;
  readonly log: ServiceLog;
}

/** How many of a session's latest events are looked at. */
const lookedAt = 100;
/** Other activities end by themselves, or tell of work. */
const resting: readonly Observation["activity"][] = ["waiting", "stalled", "idle"];

/** Returns the tasks whose sessions were ended. */
export async function endIdleSessions({ client, idleAfter, now, log }: IdleSessionsDeps): Promise<TaskId[]> {
  const limit = await idleAfter();
  if (limit === undefined) return [];
  const ended: TaskId[] = [];
  for (const { task, runner, activity, last_event_at } of await client.sessions()) {
    // Other runners have no process that only waits, or have time limits of their own.
    if (runner !== "acp" || !resting.includes(activity) || now() - last_event_at < limit) continue;
    const seen = await client.observe(task, { recent: lookedAt });
    if (now() - seen.last_event_at < limit || !hasProcess(seen.recent)) continue;
    try {
      await client.stopTask(task, reasonOf(seen, limit));
      ended.push(task);
      log.info({ task }, "an idle session was ended; it can be resumed");
    } catch (thrown) {
      log.warn({ task, err: thrown }, "an idle session could not be ended");
    }
  }
  return ended;
}

const begins = new Set<TaskEvent["type"]>(["task.started", "run.started", "attempt.ended", "session.ended"]);

/** A task that waits before its session begins, or until a usage limit is reset, has no process that could be ended. */
function hasProcess(events: readonly TaskEvent[]): boolean {
  const last = events.findLast(
    ({ type }) => begins.has(type) || type.startsWith("session.") || type === "message.added",
  );
  return last !== undefined && !begins.has(last.type);
}

function reasonOf({ activity, summary }: DetailedObservation, limit: number): string {
  const minutes = Math.round(limit / 60_000);
  const time = minutes >= 1 ? `${minutes} min` : `${Math.round(limit / 1_000)} s`;
  return `nothing was heard of it for ${time}${activity === "waiting" ? `; it had asked: ${summary}` : ""}`;
}
