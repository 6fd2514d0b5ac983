// How a run waits for a cap of the day: one of all asks the person, the others wait with it, and all go on by themselves the next day.

import { z } from "zod";

import type { DayReached } from "../core/day-ledger.ts";
import { dayCapLabel, dayQuestion } from "../core/day-question.ts";
import { TuttiError } from "../protocol/error.ts";
import { Answer } from "../protocol/task/ask.ts";
import type { Usage } from "../protocol/task/budget.ts";
import type { Wait } from "../ports.ts";
import { askName } from "../store/names.ts";
import { chosen } from "./day-answers.ts";
import type { RunCore } from "./run-core.ts";
import { awaitAnswer, openWaitAt, waitId } from "./run-waits.ts";
import { waitBodyIn } from "./wait-body.ts";

/** Returns when the call may fit; the caller tries to hold it. Throws `over_budget` when the person wants it to stop. */
export type DayPasser = (usage: Usage) => Promise<void>;

/** Waits under keys that follow from the step's, as they did before a restart. */
export function dayPasser(core: RunCore, key: string): DayPasser {
  const { day } = core.parts;
  const waiter = new DayWaiter(core, key);
  return async (usage) => {
    for (;;) {
      const seen = day.version;
      const reached = await day.take(usage);
      core.check();
      if (reached === undefined) {
        if (!core.info.fresh) withdrawDayWaits(core, key);
        return;
      }
      if (reached === "soon") await day.changedSince(seen);
      else await waiter.wait(usage, reached);
      core.check();
    }
  };
}

class DayWaiter {
  readonly #core: RunCore;
  readonly #key: string;
  #count = 0;

  constructor(core: RunCore, key: string) {
    this.#core = core;
    this.#key = key;
  }

  async wait(usage: Usage, reached: DayReached): Promise<void> {
    const { day } = this.#core.parts;
    await this.#skipSettled();
    const by = `${this.#core.task.name}/${this.#core.info.attempt}.${this.#core.info.run}/${this.#key}`;
    const asks = await day.claim(by);
    try {
      this.#core.check();
      if (day.decision === "stop") throw stoppedToday();
      const wait = await this.#open(reached, asks);
      if (asks) await day.asked(by, wait.id);
      await this.#until(wait, { usage, asks });
    } finally {
      // Once there is a question, its end gives the claim back: see `Waits`.
      if (asks) await day.giveUp(by);
    }
  }

  async #open(reached: DayReached, asks: boolean): Promise<Wait<unknown>> {
    const core = this.#core;
    const { day, clock, store, waits } = core.parts;
    for (;;) {
      const name = `${this.#key}!day${this.#count}`;
      this.#count += 1;
      const known = core.info.fresh ? undefined : store.wait(core.info.id, name);
      // It was the other one's turn to ask when it was opened.
      if (known !== undefined && (known.ask !== null) !== asks) {
        waits.settle(known.id, "withdrawn", null);
        continue;
      }
      core.useDerived(name);
      const within = Math.max(0, day.until - clock.now());
      const { details, ...question } = dayQuestion(reached, day.limitOf(reached.kind));
      return asks
        ? openWaitAt(core, name, {
            ask: { kind: "question", ...question, details },
            label: dayCapLabel,
            within,
            schema: Answer,
          })
        : openWaitAt(core, name, { label: dayCapLabel, details, within, schema: z.unknown() });
    }
  }

  async #until(wait: Wait<unknown>, { usage, asks }: { readonly usage: Usage; readonly asks: boolean }): Promise<void> {
    const core = this.#core;
    const { day, waits, clock, store } = core.parts;
    const { until } = day;
    const id = waitId(core, wait);
    const look = (): void => {
      const isFree = !asks && !day.isClaimed && day.decision === undefined;
      if (day.fits(usage) || day.decision === "stop" || isFree) waits.settle(id, "withdrawn", null);
    };
    const off = day.onChange(look);
    try {
      look();
      await awaitAnswer(core, wait);
    } finally {
      off();
    }
    const settled = waits.settled(id) ?? store.answer(id);
    await core.committed();
    await day.quiet();
    if (asks && settled?.kind === "expired" && clock.now() < until) throw notAnswered();
  }

  /** Waits of this step from before a restart. The process may have ended before what the person said was applied. */
  async #skipSettled(): Promise<void> {
    const { parts, info } = this.#core;
    if (info.fresh) return;
    for (; ; this.#count += 1) {
      const wait = parts.store.wait(info.id, `${this.#key}!day${this.#count}`);
      const answer = wait === undefined ? undefined : (parts.waits.settled(wait.id) ?? parts.store.answer(wait.id));
      if (wait === undefined || answer === undefined) return;
      if (wait.ask !== null)
        await parts.day.closed(askName(parts.store.salt, wait.id), chosen(waitBodyIn(wait), answer));
    }
  }
}

/** The call fits after a restart: what it waited for before is not needed any more. */
export function withdrawDayWaits({ parts, task, info }: RunCore, key: string): void {
  for (const id of task.waits ?? []) {
    const wait = parts.store.waitById(id);
    if (wait?.run === info.id && wait.key.startsWith(`${key}!day`)) parts.waits.settle(id, "withdrawn", null);
  }
}

/** The process ended while the call waited for the cap, so it was not sent. */
export function waitedForDay({ parts, info }: RunCore, key: string): boolean {
  for (let count = 0; ; count += 1) {
    const wait = parts.store.wait(info.id, `${key}!day${count}`);
    if (wait === undefined) return false;
    if (parts.waits.wasOpenAtStart(wait.id)) return true;
  }
}

function stoppedToday(): TuttiError {
  const message =
    "today's cap is used up, and a person said to stop what waits for it; raise `limits` in ~/.tutti/tutti.config.*, or try again after 00:00 UTC";
  return new TuttiError("over_budget", message);
}

function notAnswered(): TuttiError {
  const message =
    "today's cap is used up, and nobody is there to raise it; raise `limits` in ~/.tutti/tutti.config.*, or try again after 00:00 UTC";
  return new TuttiError("over_budget", message);
}
