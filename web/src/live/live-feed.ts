// The one event stream of the page: it resumes by sequence, says when it is offline, and tells batches to those who listen.

import type { LiveDelta, TaskEvent, Tutti } from "../../../src/client/index.ts";
import { TuttiError } from "../../../src/client/index.ts";
import { resumePlan, retryDelayMs } from "./resume-plan.ts";

export type FeedState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  | { readonly kind: "offline"; readonly since: number; readonly reason: string }
  /** The key or token is no longer good. */
  | { readonly kind: "signed_out"; readonly reason: string };

export interface FeedListeners {
  /** Events in order, gathered for a moment, so that a busy service changes the page a few times a second. */
  readonly onEvents: (events: readonly TaskEvent[]) => void;
  /** Everything that the page keeps must be read again. */
  readonly onReload: () => void;
}

const batchMs = 120;

export class LiveFeed {
  /** The last event that was received; undefined before the first connection. */
  position: number | undefined;
  #state: FeedState = { kind: "connecting" };
  #pending: TaskEvent[] = [];
  #flush: ReturnType<typeof setTimeout> | undefined;
  readonly #collectors = new Set<TaskEvent[]>();
  readonly #stateListeners = new Set<() => void>();
  readonly #deltaListeners = new Set<(delta: LiveDelta) => void>();
  readonly #stop = new AbortController();
  #wake: (() => void) | undefined;

  readonly #tutti: Pick<Tutti, "status" | "follow">;
  readonly #listeners: FeedListeners;

  constructor(tutti: Pick<Tutti, "status" | "follow">, listeners: FeedListeners) {
    this.#tutti = tutti;
    this.#listeners = listeners;
  }

  get state(): FeedState {
    return this.#state;
  }

  readonly watchState = (listener: () => void): (() => void) => {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  };

  watchDeltas(listener: (delta: LiveDelta) => void): () => void {
    this.#deltaListeners.add(listener);
    return () => this.#deltaListeners.delete(listener);
  }

  /** Gathers every event from now on, for a reader that waits for a snapshot. */
  collect(): { readonly events: readonly TaskEvent[]; readonly from: number; end(): void } {
    const events: TaskEvent[] = [];
    this.#collectors.add(events);
    return { events, from: this.position ?? 0, end: () => this.#collectors.delete(events) };
  }

  stop(): void {
    this.#stop.abort();
    clearTimeout(this.#flush);
    this.#wake?.();
  }

  /** Tries again at once, such as when the machine woke up. */
  readonly retryNow = (): void => this.#wake?.();

  async run(): Promise<void> {
    const { signal } = this.#stop;
    let failures = 0;
    while (!signal.aborted) {
      try {
        const { seq } = await this.#tutti.status();
        const plan = resumePlan(this.position, seq);
        this.position = plan.after;
        if (plan.kind === "reload") this.#pending = [];
        this.#become({ kind: "live" });
        if (plan.kind === "reload") this.#listeners.onReload();
        failures = 0;
        for await (const item of this.#tutti.follow({ after: plan.after, live: true, signal })) {
          if ("event" in item) this.#take(item.event);
          else for (const listener of this.#deltaListeners) listener(item.live);
        }
      } catch (thrown) {
        if (signal.aborted) return;
        const reason = thrown instanceof Error ? thrown.message : String(thrown);
        if (thrown instanceof TuttiError && thrown.code === "unauthorized") {
          this.#become({ kind: "signed_out", reason });
          return;
        }
        if (failures > 0 || !isShort(thrown)) this.#goOffline(reason);
      }
      if (signal.aborted) return;
      await this.#sleep(retryDelayMs(failures));
      failures += 1;
    }
  }

  #goOffline(reason: string): void {
    const since = this.#state.kind === "offline" ? this.#state.since : Date.now();
    this.#become({ kind: "offline", since, reason });
  }

  #take(event: TaskEvent): void {
    if (this.position !== undefined && event.seq <= this.position) return;
    this.position = event.seq;
    for (const collected of this.#collectors) collected.push(event);
    this.#pending.push(event);
    this.#flush ??= setTimeout(() => {
      this.#flush = undefined;
      const events = this.#pending;
      this.#pending = [];
      if (events.length > 0) this.#listeners.onEvents(events);
    }, batchMs);
  }

  #become(state: FeedState): void {
    this.#state = state;
    for (const listener of this.#stateListeners) listener();
  }

  async #sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }
}

/** The service ended the stream itself, such as for a reader that was too slow: the next connection goes on at once. */
function isShort(thrown: unknown): boolean {
  return thrown instanceof TuttiError && thrown.code === "slow_down";
}
