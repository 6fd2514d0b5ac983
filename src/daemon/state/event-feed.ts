// The one stream of events: read once per commit, whatever the number of those who are told.

import { eventView } from "../../engine/event-view.ts";
import { idInName } from "../../store/names.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Store } from "../../store/store.ts";
import type { EventRecord, StoreView } from "../../store/view.ts";

export interface FeedEvent {
  readonly event: TaskEvent;
  /** JSON of the event, made once. */
  readonly json: string;
}

export interface EventFeed {
  /** The last sequence the feed has told. */
  readonly position: number;
  /** Called in order with every event committed after now; batches as they are committed. */
  subscribe(listener: (events: readonly FeedEvent[]) => void): () => void;
  /**
   * Stored events after `after` and up to `position`, at most `limit`; of the task and all below it when given. Whoever
   * is given fewer than `limit` has caught up: subscribing in the same tick leaves no gap and repeats nothing.
   */
  read(options: { readonly after: number; readonly limit: number; readonly task?: TaskId }): FeedEvent[];
  close(): void;
}

/** Events that are read and told at a time. */
const pageSize = 500;

export function eventFeed(store: Pick<Store, "onCommit" | "failure">, view: StoreView): EventFeed {
  const listeners = new Set<(events: readonly FeedEvent[]) => void>();
  let position = view.lastEvent();

  const tell = (events: readonly FeedEvent[]): void => {
    const thrown: unknown[] = [];
    // Whoever subscribes from inside a listener stands after this batch already.
    const present = [...listeners];
    for (const listener of present) {
      if (!listeners.has(listener)) continue;
      try {
        listener(events);
      } catch (error) {
        thrown.push(error);
      }
    }
    // A mistake of one listener keeps nothing from the others, and is not hidden.
    if (thrown.length > 0) throw thrown[0];
  };
  const onCommit = (): void => {
    if (store.failure !== undefined) return;
    if (listeners.size === 0) {
      position = view.lastEvent();
      return;
    }
    for (let full = true; full;) {
      const rows = view.eventsAfter(position, pageSize);
      full = rows.length === pageSize;
      const last = rows.at(-1);
      if (last === undefined) return;
      position = last.seq;
      tell(rows.map((row) => new Fed(view.salt, row)));
    }
  };
  const off = store.onCommit(onCommit);

  return {
    get position() {
      return position;
    },
    subscribe(listener) {
      // One entry for each call, also when the same function is given twice.
      const own = (events: readonly FeedEvent[]): void => listener(events);
      listeners.add(own);
      return () => listeners.delete(own);
    },
    read({ after, limit, task }) {
      const rows = task === undefined ? view.eventsAfter(after, limit) : view.events(idOf(view, task), after, limit);
      return rows.filter((row) => row.seq <= position).map((row) => new Fed(view.salt, row));
    },
    close() {
      off();
      listeners.clear();
    },
  };
}

function idOf(view: StoreView, task: TaskId): number {
  const id = idInName(view.salt, task);
  if (id === undefined || view.taskRow(id) === undefined) throw new TuttiError("not_found", `there is no task ${task}`);
  return id;
}

/** Its text is made when somebody sends it on: some only look. */
class Fed implements FeedEvent {
  readonly event: TaskEvent;
  #json: string | undefined;

  constructor(salt: string, row: EventRecord) {
    this.event = eventView(salt, row);
  }

  get json(): string {
    this.#json ??= JSON.stringify(this.event);
    return this.#json;
  }
}
