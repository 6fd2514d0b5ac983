// Every event there is, page by page: of a task and all below it, or of everything.
import type { Reader } from "../client/client.ts";
import type { TaskEvent } from "../protocol/task/event.ts";
import type { TaskId } from "../protocol/ids.ts";

const batch = 500;

export async function* allEvents(reader: Reader, task?: TaskId): AsyncGenerator<TaskEvent> {
  for (let after = 0; ;) {
    const events = await reader.events({ after, limit: batch, ...(task === undefined ? {} : { task }) });
    yield* events;
    after = events.at(-1)?.seq ?? after;
    if (events.length < batch) return;
  }
}
