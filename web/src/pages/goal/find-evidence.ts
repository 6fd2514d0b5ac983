// Finds a piece of evidence by its id among the events of a tree.

import type { TaskEvent, TaskId, Tutti } from "../../../../src/client/index.ts";

type Evidence = Extract<TaskEvent, { type: "evidence.added" }>["data"]["evidence"];

const pageSize = 1_000;
const mostPages = 200;

/** The task of the evidence stands in its id, so only its events are read where that is so. */
export async function findEvidence(tutti: Pick<Tutti, "events">, root: TaskId, id: string): Promise<Evidence> {
  for (let page = 0, after = 0; page < mostPages; page += 1) {
    const events = await tutti.events({ task: root, after, limit: pageSize });
    for (const event of events) {
      if (event.type === "evidence.added" && event.data.evidence.id === id) return event.data.evidence;
    }
    if (events.length < pageSize) break;
    after = events.at(-1)?.seq ?? after;
  }
  throw new Error(`there is no evidence ${id} in this goal`);
}
