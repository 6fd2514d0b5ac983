// One process of a program that attends a run: the orders that wait for it, the calls that it makes, and whether it is still there.

import type { Clock } from "../../ports.ts";
import type { AttendNotice, AttendOrder, AttendReply, AttendRequest } from "../../protocol/api/attend-shapes.ts";
import type { TuttiError } from "../../protocol/error.ts";
import type { Attended } from "../../protocol/invocation/attended.ts";

/** A call under way. */
export interface Talk {
  hear(notice: AttendNotice): void;
  /** The process is gone. */
  lost(error: TuttiError): void;
}

export interface ProcessTimes {
  /** How long it may be silent. */
  readonly leaseMs: number;
  /** How long it may be silent after its connection was cut, which is how a process that was killed looks. */
  readonly cutMs: number;
}

interface ProcessOptions extends ProcessTimes {
  readonly clock: Clock;
  readonly onSilent: (process: AttendedProcess) => void;
}

/** One that reports and never takes its orders would fill the memory of this process. */
const mostOrders = 20_000;

export class AttendedProcess {
  readonly id: string;
  readonly talks = new Map<string, Talk>();
  readonly #options: ProcessOptions;
  #has: Readonly<Record<Attended["kind"], ReadonlySet<string>>> = { tool: none, model: none, workflow: none };
  #orders: AttendReply["orders"] = [];
  #last = 0;
  #polls = 0;
  #wake: (() => void) | undefined;
  #callOff: (() => void) | undefined;
  #gone = false;

  constructor(id: string, options: ProcessOptions) {
    this.id = id;
    this.#options = options;
    this.heard();
  }

  get isGone(): boolean {
    return this.#gone;
  }

  has({ kind, name }: Attended): boolean {
    return this.#has[kind].has(name);
  }

  says({ tools, models, workflows }: AttendRequest["has"]): void {
    this.#has = { tool: new Set(tools), model: new Set(models), workflow: new Set(workflows) };
  }

  send(order: AttendOrder): void {
    if (this.#gone) return;
    this.#last += 1;
    this.#orders.push({ number: this.#last, order });
    if (this.#orders.length > mostOrders) this.#options.onSilent(this);
    else this.#wake?.();
  }

  /** The orders after those that it has got; waits for one if there is none. */
  async next(after: number, waitMs: number, signal: AbortSignal): Promise<AttendReply["orders"]> {
    this.#orders = this.#orders.filter(({ number }) => number > after);
    // A poll that is under way is one that the process has given up.
    this.#wake?.();
    this.#polls += 1;
    this.#callOff?.();
    try {
      if (this.#orders.length === 0 && waitMs > 0 && !this.#gone) await this.#nextOrder(waitMs, signal);
    } finally {
      this.#polls -= 1;
      if (this.#polls === 0) this.#expectWithin(signal.aborted ? this.#options.cutMs : this.#options.leaseMs);
    }
    return this.#orders;
  }

  #nextOrder(waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        callOff();
        signal.removeEventListener("abort", done);
        if (this.#wake === done) this.#wake = undefined;
        resolve();
      };
      const callOff = this.#options.clock.timer(waitMs, done);
      signal.addEventListener("abort", done, { once: true });
      this.#wake = done;
      if (signal.aborted) done();
    });
  }

  /** It has said something, so it is there. */
  heard(): void {
    if (this.#polls === 0) this.#expectWithin(this.#options.leaseMs);
  }

  #expectWithin(ms: number): void {
    this.#callOff?.();
    if (this.#gone) return;
    this.#callOff = this.#options.clock.timer(ms, () => this.#options.onSilent(this));
  }

  /** From now on it gets no orders, and nothing that it says counts. */
  end(error: TuttiError): void {
    this.#gone = true;
    this.#callOff?.();
    this.#orders = [];
    this.#wake?.();
    const talks = [...this.talks.values()];
    this.talks.clear();
    for (const talk of talks) talk.lost(error);
  }
}

const none: ReadonlySet<string> = new Set();
