// The one stream of events: what a commit brought is read once, whatever the number of subscribers.

import { eventView } from "../../engine/event-view.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import { idInName, type Salt } from "../../store/names.ts";
import type { Store } from "../../store/store.ts";
import type { EventRecord, Page, StoreView } from "../../store/view.ts";

export interface FeedEvent {
  readonly event: TaskEvent;
  /** JSON of the event, made once. */
  readonly json: string;
}

interface FeedPage {
  readonly events: FeedEvent[];
  /** There were more when it was read. */
  readonly more: boolean;
}

export interface EventFeed {
  /** The sequence of the last event that was passed on. Events that are stored may be ahead of it. */
  readonly position: number;
  /** Calls `listener` in order with every event committed after now, in batches. The first may have events from before. */
  subscribe(listener: (events: readonly FeedEvent[]) => void): () => void;
  /**
   * Stored events after `after`, within the limits; of the task and all below it when given. A reader that wants all
   * events subscribes first, then reads while there are more, and drops what it was given twice.
   */
  read(options: Page & { readonly task?: TaskId | undefined }): Promise<FeedPage>;
  close(): void;
}

/** Events that are read and passed on at a time. */
const batch = { limit: 500, maxLength: 1024 * 1024 };
const retryMs = 1_000;

/**
 * `onError` is told of mistakes of listeners, and of reads that failed: these are tried again. `pages`: where the events are
 * read that somebody asks for; what is new does not wait for them.
 */
export async function openEventFeed(
  store: Pick<Store, "onCommit" | "failure">,
  view: StoreView,
  onError: (error: unknown) => void = raise,
  pages: StoreView = view,
): Promise<EventFeed> {
  const listeners = new Set<(events: readonly FeedEvent[]) => void>();
  let position = 0;
  let [reading, again, closed] = [false, false, false];
  let retry: NodeJS.Timeout | undefined;

  const tell = (events: readonly FeedEvent[]): void => {
    // A listener that is added by another listener reads this batch from the store.
    const present = [...listeners];
    for (const listener of present) {
      if (!listeners.has(listener)) continue;
      try {
        listener(events);
      } catch (thrown) {
        // The other listeners are called all the same.
        onError(thrown);
      }
    }
  };
  const readOn = async (): Promise<void> => {
    if (listeners.size === 0) {
      const last = await view.lastEvent();
      if (listeners.size === 0) {
        position = last;
        return;
      }
      // Whoever subscribed during the read may not have these events, so they are passed on.
    }
    for (let more = true; more && !closed;) {
      const page = await view.eventsAfter({ ...batch, after: position });
      const { rows } = page;
      more = page.more;
      const last = rows.at(-1);
      if (last === undefined || closed) return;
      position = last.seq;
      tell(rows.map((row) => new Fed(view.salt, row)));
    }
  };
  /** One read at a time, and another if a commit came meanwhile: events are passed on in order, none twice. */
  const pump = async (): Promise<void> => {
    reading = true;
    try {
      for (again = true; again && !closed;) {
        again = false;
        await readOn();
      }
    } finally {
      reading = false;
    }
  };
  const passOn = (): void => {
    again = true;
    if (reading || closed) return;
    clearTimeout(retry);
    pump().catch((thrown: unknown) => {
      // The store may be closed together with the feed, while a read is under way.
      if (closed) return;
      onError(thrown);
      retry = setTimeout(passOn, retryMs).unref();
    });
  };
  const off = store.onCommit(() => {
    if (store.failure === undefined) passOn();
  });
  await pump();

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
    async read({ task, ...page }) {
      const { rows, more } = await (task === undefined
        ? pages.eventsAfter(page)
        : pages.events(await idOf(view, task), page));
      return { events: rows.map((row) => new Fed(view.salt, row)), more };
    },
    close() {
      closed = true;
      clearTimeout(retry);
      off();
      listeners.clear();
    },
  };
}

/** Nobody awaits the feed, so an error that is not handled ends the process with its stack. */
function raise(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}

async function idOf(view: StoreView, task: TaskId): Promise<number> {
  const id = idInName(view.salt, task);
  if (id === undefined || (await view.place(id)) === undefined) {
    throw new TuttiError("not_found", `there is no task ${task}`);
  }
  return id;
}

/** Its text is made when somebody sends it on: some subscribers only look. */
class Fed implements FeedEvent {
  readonly event: TaskEvent;
  #json: string | undefined;

  constructor(salt: Salt, row: EventRecord) {
    this.event = eventView(salt, row);
  }

  get json(): string {
    this.#json ??= JSON.stringify(this.event);
    return this.#json;
  }
}
