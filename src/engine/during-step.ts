// What the body of a step can do while it runs: ask people, take messages, record messages, events and usage, wait at limits.

import { messageId } from "../core/message-id.ts";
import { TuttiError } from "../protocol/error.ts";
import type { Usage } from "../protocol/task/budget.ts";
import { type CompleteMessage, completeMessage, type Message } from "../protocol/task/message.ts";
import type { DuringStep, OwnEvent, StepAsk, Waited } from "../ports.ts";
import { type BudgetAsker, hasUsageLeft, isOverTime, passTime, passUsage, settleUsage } from "./budget-gate.ts";
import { leastUsage } from "./day-cap.ts";
import { type DayPasser, dayPasser } from "./pass-day-cap.ts";
import { lineTime, messageIn, shortMessage } from "./recorded-message.ts";
import { nothingUsed, type RunCore } from "./run-core.ts";
import { awaitAnswer, openWaitAt, receiveMailAt, waitId } from "./run-waits.ts";

export interface OfStep {
  /** Of the step. What happens during it is recorded under keys that begin with it. */
  readonly key: string;
  /** Asks about the limits that are reached while the body runs. */
  readonly asker: (core: RunCore, key: string) => BudgetAsker;
}

export class WorkDuringStep implements DuringStep {
  readonly #core: RunCore;
  readonly #key: string;
  readonly #askAboutLimit: BudgetAsker;
  readonly #passDay: DayPasser;
  /** Asks that are open. While there is one, the step counts as waiting. */
  #asking = 0;
  readonly #waits = new Set<number>();
  readonly #over = new AbortController();

  constructor(core: RunCore, { key, asker }: OfStep) {
    this.#core = core;
    this.#key = key;
    this.#askAboutLimit = asker(core, this.#named("limit"));
    this.#passDay = dayPasser(core, this.#named("limit"));
  }

  /** The body has ended: nobody hears an answer any more, and nobody takes a message. */
  end(): void {
    this.#over.abort(new TuttiError("canceled", `the step ${this.#key} is over`));
    for (const id of this.#waits) this.#core.parts.waits.settle(id, "withdrawn", null);
  }

  #named(key: string): string {
    return `${this.#key}!${key}`;
  }

  /** Throws when the step is over or the key was used in it before. */
  #use(key: string): string {
    this.#over.signal.throwIfAborted();
    const name = this.#named(key);
    this.#core.useDerived(name);
    return name;
  }

  ask<T>(key: string, { signal, ...options }: StepAsk<T>): Promise<Waited<T>> {
    const core = this.#core;
    const name = this.#use(key);
    return this.#waiting(async () => {
      const wait = await openWaitAt(core, name, options);
      const id = waitId(core, wait);
      const withdraw = (): void => {
        core.parts.waits.settle(id, "withdrawn", null);
      };
      this.#waits.add(id);
      // The step may have ended while the ask was being recorded.
      if (this.#over.signal.aborted || signal?.aborted === true) withdraw();
      signal?.addEventListener("abort", withdraw);
      try {
        return await awaitAnswer(core, wait);
      } finally {
        signal?.removeEventListener("abort", withdraw);
        this.#waits.delete(id);
      }
    });
  }

  /** Gives the slot up while the body waits for a person, and takes one again before it goes on. */
  async #waiting<T>(wait: () => Promise<T>): Promise<T> {
    this.#asking += 1;
    if (this.#asking === 1) this.#core.stepWaits();
    try {
      return await wait();
    } finally {
      this.#asking -= 1;
      if (this.#asking === 0) await this.#core.stepGoesOn();
    }
  }

  receive(key: string, signal?: AbortSignal): Promise<CompleteMessage | undefined> {
    const over = this.#over.signal;
    const name = this.#use(key);
    return receiveMailAt(this.#core, name, signal === undefined ? over : AbortSignal.any([over, signal]));
  }

  say(key: string, message: Message): CompleteMessage {
    return sayAt(this.#core, this.#use(key), message);
  }

  tell(key: string, event: OwnEvent): void {
    tellAt(this.#core, this.#use(key), event);
  }

  spend(key: string, usage: Usage): void {
    const name = this.#use(key);
    const core = this.#core;
    if (core.recorded(name) !== undefined) return;
    settleUsage(core.task, nothingUsed, usage);
    core.parts.day.settle(nothingUsed, usage);
    const body = JSON.stringify({ key: this.#key, spent: usage });
    core.record(name, { kind: "noted", body, used: usage, event: "budget.settled" });
  }

  get withinLimits(): boolean {
    const { task, parts } = this.#core;
    return !isOverTime(parts.recorder, task) && hasUsageLeft(task) && parts.day.hasLeft;
  }

  async passLimits(): Promise<void> {
    this.#over.signal.throwIfAborted();
    const { task, parts } = this.#core;
    if (this.withinLimits && !parts.slots.paused && !parts.day.isOn) return;
    await this.#waiting(async () => {
      do {
        if (isOverTime(parts.recorder, task)) await passTime(parts.recorder, task, this.#askAboutLimit);
        else if (!hasUsageLeft(task)) await passUsage(parts.recorder, task, nothingUsed, this.#askAboutLimit);
        else await this.#passDay(leastUsage);
        this.#core.check();
      } while (!this.withinLimits);
    });
  }
}

export function sayAt(core: RunCore, name: string, message: Message): CompleteMessage {
  const recorded = core.recorded(name);
  if (recorded !== undefined) return messageIn(recorded.body, core.lineOf(recorded));
  const now = core.parts.clock.now();
  const complete = completeMessage(message, { id: messageId(core.position, name), now });
  const line = core.lineOf({ key: name, at: lineTime(complete, now) });
  const body = core.parts.recorder.clean(JSON.stringify(shortMessage(complete, line)));
  core.record(name, { kind: "noted", body, event: "message.added", at: line.at });
  return messageIn(body, line);
}

export function tellAt(core: RunCore, name: string, { type, data }: OwnEvent): void {
  if (core.recorded(name) !== undefined) return;
  core.record(name, { kind: "noted", body: core.parts.recorder.clean(JSON.stringify(data)), event: type });
}
