// Follows the waits of all tasks: requests to operators that are opened, opened again, and settled, in the order of the events.

import { idInName } from "../../store/names.ts";
import type { Clock } from "../../ports.ts";
import { toTuttiError } from "../../protocol/error.ts";
import { isOperatorLabel, operatorLabel } from "../../protocol/operator/operator-waits.ts";
import type { TreeOperators } from "../../protocol/invocation/invocation-file.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import type { OperatorReads } from "../../store/reads-for-operators.ts";
import { endsRun } from "./hook-after.ts";
import { requestReader } from "./read-requests.ts";
import type { RequestRouter } from "./request-router.ts";
import type { ServiceLog } from "./service-log.ts";
import type { PendingRequest } from "./session-state.ts";

export interface RequestIntakeOptions {
  readonly reads: OperatorReads;
  readonly operatorsOf: (root: number) => Promise<TreeOperators>;
  readonly clock: Clock;
  readonly log: ServiceLog;
  readonly router: RequestRouter;
  /** Whether anybody here would be told that a run has ended. */
  readonly tellsOfEnds: () => boolean;
  /** Told of events that end runs, in their order. Never rejects. */
  readonly onEnd: (event: TaskEvent) => Promise<void>;
}

type WaitChange =
  | { readonly change: "opened" | "reopened" | "settled"; readonly wait: number }
  | { readonly change: "ended"; readonly event: TaskEvent };

/** Requests that are read at a time. */
const readAtOnce = 500;
const retryMs = 1_000;

export class RequestIntake {
  readonly #options: RequestIntakeOptions;
  readonly #read: (ids: readonly number[]) => Promise<PendingRequest[]>;
  /** Resolves when everything that came so far was seen to. */
  #done: Promise<void> = Promise.resolve();
  #closed = false;
  #endRetry: (() => void) | undefined;

  constructor(options: RequestIntakeOptions) {
    this.#options = options;
    this.#read = requestReader(options.reads, options.operatorsOf);
  }

  /** Takes in the requests that are open already. To be called after the events are subscribed to, so that none is missed. */
  start(): void {
    this.#enqueue(async () => {
      const ids = await this.#options.reads.openRequestIds();
      for (let at = 0; at < ids.length && !this.#closed; at += readAtOnce) {
        const requests = await this.#read(ids.slice(at, at + readAtOnce));
        for (const request of requests) this.#options.router.open(request);
      }
    });
  }

  take(events: readonly TaskEvent[]): void {
    const changes = events.map((event) => this.#changeIn(event)).filter((change) => change !== undefined);
    if (changes.length > 0) this.#enqueue(() => this.#apply(changes));
  }

  /** Resolves when all requests that were open at the start are known, and all that events have told of since. */
  caughtUp(): Promise<void> {
    return this.#done;
  }

  close(): void {
    this.#closed = true;
    this.#endRetry?.();
  }

  /** What an event says is never dropped: if the records cannot be read, it is tried again. */
  #enqueue(work: () => Promise<void>): void {
    const { log } = this.#options;
    this.#done = this.#done.then(async () => {
      while (!this.#closed) {
        try {
          return await work();
        } catch (thrown) {
          if (this.#closed) return;
          const error = toTuttiError(thrown);
          log.warn({ err: error }, "requests to operators could not be read");
          if (error.retry === "never") return;
          await this.#pause();
        }
      }
    });
  }

  /** All that were opened are read at once. Those that are settled by then need no operator. */
  async #apply(changes: readonly WaitChange[]): Promise<void> {
    const { router, onEnd } = this.#options;
    const opened = changes.flatMap((each) =>
      each.change === "opened" || each.change === "reopened" ? [each.wait] : [],
    );
    const read = opened.length === 0 ? [] : await this.#read(opened);
    const found = new Map(read.map((request) => [request.id, request]));
    for (const each of changes) {
      if (each.change === "ended") await onEnd(each.event);
      else if (each.change === "settled") router.close(each.wait);
      else {
        if (each.change === "reopened") router.forgetSent(each.wait);
        const request = found.get(each.wait);
        if (request !== undefined) router.open({ ...request });
      }
    }
  }

  #changeIn(event: TaskEvent): WaitChange | undefined {
    switch (event.type) {
      case "wait.opened": {
        const { label, wait } = event.data;
        const isRequest = isOperatorLabel(label) && label !== operatorLabel("result");
        return isRequest ? this.#change("opened", wait) : undefined;
      }
      case "wait.reopened":
        return this.#change("reopened", event.data.wait);
      case "ask.raised":
        return this.#change("opened", event.data.ask.id);
      case "ask.reopened":
        return this.#change("reopened", event.data.ask);
      case "wait.settled":
        return this.#change("settled", event.data.wait);
      case "ask.answered":
      case "ask.expired":
      case "ask.withdrawn":
        return this.#change("settled", event.data.ask);
      default:
        return endsRun(event) && this.#options.tellsOfEnds() ? { change: "ended", event } : undefined;
    }
  }

  #change(change: "opened" | "reopened" | "settled", name: string): WaitChange {
    return { change, wait: idInName(this.#options.reads.salt, name) ?? 0 };
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.timer(retryMs, resolve);
      this.#endRetry = () => {
        cancel();
        resolve();
      };
    });
  }
}
