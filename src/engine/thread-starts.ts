// Says root tasks into threads, one after the other, and makes and copies threads. All of it is in the commit that is being made.

import { TuttiError } from "../protocol/error.ts";
import type { TaskId, ThreadId } from "../protocol/ids.ts";
import type { ThreadPlace } from "../ports.ts";
import { idInName, threadName } from "../store/names.ts";
import type { ThreadEntry, ThreadRow } from "../store/threads.ts";
import type { EngineParts } from "./engine-parts.ts";

/** A thread is read from its end, so it may be long; but not so long that a fork of it would stop everything else. */
const mostEntries = 10_000;

/** The place after the last task of a thread. */
export interface NextPlace {
  /** Says the root task there. */
  add(task: number): ThreadId;
}

/** Up to which message a fork goes: the entry, and the sequence of its last message; null for all of it. */
export interface ForkPoint {
  readonly position: number;
  readonly until: number | null;
}

export class ThreadStarts {
  readonly #parts: Pick<EngineParts, "store" | "clock" | "tasks">;
  /** Threads and entries that the store cannot tell yet, because they are not on disk. */
  readonly #made = new Map<number, ThreadRow>();
  readonly #said = new Map<number, ThreadEntry>();

  constructor(parts: Pick<EngineParts, "store" | "clock" | "tasks">) {
    this.#parts = parts;
  }

  /** Nothing is recorded before `add`. Throws when nothing can be said there. */
  placeFor({ project, thread, kind }: ThreadPlace): NextPlace {
    const found = thread === null ? undefined : this.#find(project, thread);
    if (found !== undefined) this.#checkPlace(found, project, kind);
    const last = found === undefined ? undefined : this.#last(found.id);
    const position = (last?.position ?? 0) + 1;
    if (position > mostEntries) {
      throw new TuttiError(
        "refused",
        `${shown(found)} has ${mostEntries} tasks and takes no more; begin another thread`,
      );
    }
    return {
      add: (task) => {
        const id = found?.id ?? this.#make({ name: thread, project, kind, forked_from: null });
        return this.#say({ thread: id, position, task, until: null });
      },
    };
  }

  /** The thread that the root task was said into. It must be on disk. */
  of(task: TaskId): ThreadId | undefined {
    const { store } = this.#parts;
    const id = idInName(store.salt, task);
    const entry = id === undefined ? undefined : store.threadEntryOf(id);
    return entry === undefined ? undefined : threadName(store.salt, entry.thread);
  }

  /** A thread whose first task is one that was in none. */
  begin(task: number, { project, name }: Pick<ThreadRow, "project" | "name">): ThreadId {
    this.#mustBeNew(project, name);
    const id = this.#make({ name, project, kind: "agent", forked_from: null });
    return this.#say({ thread: id, position: 1, task, until: null });
  }

  /** A copy of a thread up to a message. The two have the same tasks up to there, and go on by themselves. */
  fork(from: ThreadRow, name: string | null, point: ForkPoint | undefined): ThreadId {
    const { store } = this.#parts;
    this.#mustBeNew(from.project, name);
    const last = this.#last(from.id);
    if (last === undefined)
      throw new TuttiError("refused", `nothing was said in ${shown(from)}, so there is nothing to copy`);
    const end = point ?? { position: last.position, until: last.until };
    const id = this.#make({ name, project: from.project, kind: "agent", forked_from: from.id });
    store.copyThreadEntries({ from: from.id, to: id }, end);
    return threadName(store.salt, id);
  }

  #find(project: string, thread: string): ThreadRow | undefined {
    const { store } = this.#parts;
    if (!thread.startsWith("thr_")) {
      const made = [...this.#made.values()].find((row) => row.project === project && row.name === thread);
      return made ?? store.threadNamed(project, thread);
    }
    const id = idInName(store.salt, thread);
    const found = id === undefined ? undefined : (this.#made.get(id) ?? store.thread(id));
    if (found === undefined) throw new TuttiError("not_found", `there is no thread ${thread}`);
    return found;
  }

  #checkPlace(found: ThreadRow, project: string, kind: ThreadPlace["kind"]): void {
    const { store } = this.#parts;
    const thread = threadName(store.salt, found.id);
    if (found.project !== project) {
      const where = found.project === "" ? "no project" : `the project ${found.project}`;
      throw new TuttiError("refused", `${shown(found)} belongs to ${where}; what was said there stays there`, {
        details: { thread },
      });
    }
    if (found.kind === "manager" || kind === "manager") {
      const message = `${thread} is a conversation with the manager; go on with it by \`tutti chat\`, or fork it`;
      throw new TuttiError("refused", message, { details: { thread } });
    }
  }

  #last(thread: number): ThreadEntry | undefined {
    return this.#said.get(thread) ?? this.#parts.store.lastThreadEntry(thread);
  }

  #mustBeNew(project: string, name: string | null): void {
    if (name === null || this.#find(project, name) === undefined) return;
    throw new TuttiError("conflict", `there is a thread ${name} already; choose another name`);
  }

  #make(row: Pick<ThreadRow, "name" | "project" | "kind" | "forked_from">): number {
    const { store, clock } = this.#parts;
    const now = clock.now();
    const full = { ...row, created_at: now, said_at: now };
    const id = store.addThread(full);
    this.#made.set(id, { ...full, id });
    this.#whenOnDisk(() => this.#made.delete(id));
    return id;
  }

  #say(entry: ThreadEntry): ThreadId {
    const { store, clock } = this.#parts;
    store.addThreadEntry(entry, clock.now());
    this.#said.set(entry.thread, entry);
    this.#whenOnDisk(() => this.#said.get(entry.thread) === entry && this.#said.delete(entry.thread));
    return threadName(store.salt, entry.thread);
  }

  /** If it never gets there, the process has to stop, and nobody looks here again. */
  #whenOnDisk(forget: () => void): void {
    this.#parts.store.committed().then(forget, () => undefined);
  }
}

function shown(row: Pick<ThreadRow, "name"> | undefined): string {
  return row?.name === null || row === undefined ? "the thread" : `the thread ${row.name}`;
}
