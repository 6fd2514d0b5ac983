// Reads all recorded events, page by page.
import type { Reader } from "../client/client.ts";
import type { TaskEvent } from "../protocol/task/event.ts";
import type { TaskId } from "../protocol/ids.ts";

const pageSize = 100;

/** Of the task and all below it; of everything when absent. */
export async function* allEvents(reader: Reader, task?: TaskId): AsyncGenerator<TaskEvent> {
  for (let after = 0; ;) {
    const events = await reader.events({ after, limit: pageSize, ...(task === undefined ? {} : { task }) });
    yield* events;
    after = events.at(-1)?.seq ?? after;
    if (events.length < pageSize) return;
  }
}
