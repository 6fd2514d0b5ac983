// A step: a body that runs once. Its outcome is recorded after it and, if it may not be repeated, its start before it.

import { z } from "zod";

import type { LiveChannel } from "../protocol/task/event.ts";
import { Answer } from "../protocol/task/ask.ts";
import { budgetQuestion } from "../core/budget-question.ts";
import type { Usage } from "../protocol/task/budget.ts";
import { toTuttiError, TuttiError } from "../protocol/error.ts";
import { Failure, toFailure } from "../protocol/failure.ts";
import type { DuringStep, RunningStep, StepOptions, Wait } from "../ports.ts";
import { type BudgetAsker, isOverTime, passTime, passUsage, settleUsage, tryHold } from "./budget-gate.ts";
import { WorkDuringStep } from "./during-step.ts";
import { fingerprint } from "../core/fingerprint.ts";
import { taskName } from "../store/names.ts";
import { dayPasser, waitedForDay, withdrawDayWaits } from "./pass-day-cap.ts";
import { nothingUsed, otherInput, type RunCore } from "./run-core.ts";
import { awaitAnswer, openWaitAt } from "./run-waits.ts";
import { failedStep, type Made, outcomeOf, outcomeToRecord } from "./step-outcome.ts";

type StepBody<T> = (context: RunningStep) => Promise<T> | T;

export async function runStep<T>(core: RunCore, key: string, options: StepOptions<T>, body: StepBody<T>): Promise<T> {
  core.use(key);
  const input = fingerprint(options.input);
  const recorded = core.recorded(key, input);
  if (recorded !== undefined) return outcomeOf(core, recorded, options.schema);
  const noted = earlierNote(core, key, input, options);
  const step = { key, input, noted, options };
  const room = core.roomAgain();
  if (room !== undefined) await room;
  if (options.looks === true) return perform(core, step, body);
  const slot = core.beginStep();
  core.task.tree.steps += 1;
  try {
    if (slot !== undefined) await slot;
    // A paid call never runs ahead of what the run recorded before it: a crash would pay for those steps a second time.
    // Before anything is held against the budget, so that a run that is ended meanwhile leaves nothing held.
    const recording = options.reserve === undefined ? undefined : core.recordsDurable();
    if (recording !== undefined) {
      await recording;
      core.check();
    }
    if (!isWithinLimits(core, options)) await passLimits(core, step);
    if (!core.info.fresh && options.reserve !== undefined) withdrawDayWaits(core, key);
  } catch (thrown) {
    endStep(core);
    throw thrown;
  }
  // Not awaited here: the body may run for long, and nothing of this call need stay in memory meanwhile.
  return perform(core, step, body);
}

interface Performed<T> {
  readonly key: string;
  readonly input: number;
  /** What an earlier try noted; null when there was none. */
  readonly noted: string | null;
  readonly options: StepOptions<T>;
}

/** The usual case, without waiting: true when there is time and the reservation is held. */
function isWithinLimits<T>(core: RunCore, { reserve }: StepOptions<T>): boolean {
  return !isOverTime(core.parts.recorder, core.task) && (reserve === undefined || holdAll(core, reserve));
}

/** Within the budget of the tree and the cap of the day, or neither is touched. */
function holdAll({ parts, task }: RunCore, reserve: Usage): boolean {
  if (!tryHold(task, reserve)) return false;
  if (parts.day.tryHold(reserve)) return true;
  settleUsage(task, reserve, nothingUsed);
  return false;
}

/** Waits for a person at each limit in the way, until the reservation is held. */
async function passLimits<T>(core: RunCore, { key, input, options }: Performed<T>): Promise<void> {
  const { task } = core;
  const { recorder } = core.parts;
  const { reserve } = options;
  const ask = budgetAsker(core, key);
  const passDay = dayPasser(core, key);
  try {
    if (isOverTime(recorder, task)) await core.resting(() => passTime(recorder, task, ask));
    while (reserve !== undefined && !holdAll(core, reserve)) {
      await core.resting(async () => {
        await passUsage(recorder, task, reserve, ask);
        await passDay(reserve);
      });
    }
  } catch (thrown) {
    core.check();
    throw recordFailure(core, key, { input, failure: toFailure(toTuttiError(thrown)), used: nothingUsed });
  }
}

/** Runs the body, records its outcome, and ends the step. */
async function perform<T>(core: RunCore, step: Performed<T>, body: StepBody<T>): Promise<T> {
  const { key, options } = step;
  const { store } = core.parts;
  const start = new StartNote(core, step);
  let context: Context | undefined;
  try {
    let made: Made<T>;
    try {
      if (!options.repeatable) {
        core.task.tree.begunHere = true;
        start.note(null);
        await store.committed();
        core.check();
      }
      const given = await bounded(core, step, (signal) => {
        context = new Context(core, { key, noted: step.noted, signal, start });
        return body(context);
      });
      context?.end();
      made = outcomeToRecord(core, step, given);
    } catch (thrown) {
      context?.end();
      throw await failureOf(core, step, { thrown, start });
    }
    return recordOutcome(core, step, made);
  } finally {
    if (options.looks !== true) endStep(core);
  }
}

function endStep(core: RunCore): void {
  const { tree } = core.task;
  core.endStep();
  tree.steps -= 1;
  if (tree.steps === 0) tree.onIdle?.();
}

/** The row that says that a step has begun, with what its body noted. */
class StartNote {
  readonly #core: RunCore;
  readonly #step: Pick<Performed<unknown>, "key" | "input">;
  isWritten: boolean;
  last: string | null = null;

  constructor(core: RunCore, step: Pick<Performed<unknown>, "key" | "input" | "noted">) {
    this.#core = core;
    this.#step = step;
    this.isWritten = step.noted !== null;
  }

  note(note: string | null): void {
    const { parts, info } = this.#core;
    const { key, input } = this.#step;
    this.last = note;
    if (this.isWritten) parts.store.noteStepStart(info.id, key, note ?? "null");
    else parts.store.addStepStart({ run: info.id, key, input, note });
    this.isWritten = true;
  }
}

function recordOutcome<T>(core: RunCore, step: Performed<T>, { outcome, text, event, at }: Made<T>): T {
  const { key, input, options } = step;
  const used = options.spent?.(outcome) ?? nothingUsed;
  settle(core, options, used);
  if (core.hasEnded && used !== nothingUsed) keepSpent(core, key, used);
  core.check();
  core.record(key, { kind: "ok", input, body: text, used, event, at });
  return outcome;
}

/** Records that the body failed, unless the run was ended; what the caller is to be thrown. */
async function failureOf<T>(
  core: RunCore,
  { key, input, options }: Performed<T>,
  { thrown, start }: { readonly thrown: unknown; readonly start: StartNote },
): Promise<TuttiError> {
  const failure = toFailure(toTuttiError(thrown));
  if (failure.code === "stopped" && !core.hasEnded && core.parts.pause.isStopping) await untilHalted(core);
  if (core.halted?.code === "stopped" && start.isWritten && !options.repeatable) start.note(stoppedNote(start.last));
  // Cut off or of unknown outcome: what was held is booked, since it may have been used.
  const used = core.hasEnded || failure.retry === "unknown" ? options.reserve : undefined;
  settle(core, options, used ?? nothingUsed);
  if (core.hasEnded && used !== undefined) keepSpent(core, key, used);
  core.check();
  return recordFailure(core, key, { input, failure, used: used ?? nothingUsed });
}

/** Gives the slot back and waits until the stop ends the run. The step has no outcome, so the next start decides about it. */
async function untilHalted(core: RunCore): Promise<void> {
  await core.resting(() => new Promise<void>(() => undefined)).catch(() => undefined);
}

const StoppedNote = z.object({ stopped: z.literal(true) });

/** What the body noted, and that it was Tutti's own stop that cut the step off. */
function stoppedNote(note: string | null): string {
  return JSON.stringify({ ...Object(JSON.parse(note ?? "null")), stopped: true });
}

function recordFailure(
  core: RunCore,
  key: string,
  what: { readonly input: number; readonly failure: Failure; readonly used: Usage },
): TuttiError {
  const { input, failure, used } = what;
  const body = core.parts.recorder.clean(JSON.stringify(failure));
  core.record(key, { kind: "failed", input, body, used, event: "step.finished" });
  return failedStep(Failure.parse(JSON.parse(body)));
}

/** The run was ended under the call: no outcome is recorded, but what it used stays used after a restart too. */
function keepSpent(core: RunCore, key: string, used: Usage): void {
  if (core.halted !== undefined) return;
  const body = JSON.stringify({ key, spent: used });
  core.record(`${key}!spent`, { kind: "noted", body, used, event: "budget.settled" });
}

interface ContextOptions {
  readonly key: string;
  readonly noted: string | null;
  readonly signal: () => AbortSignal;
  readonly start: StartNote;
}

/** A class, since one is made for every step and most bodies look at nothing of it: its parts are made when they are asked for. */
class Context implements RunningStep {
  readonly #core: RunCore;
  readonly #options: ContextOptions;
  #during: WorkDuringStep | undefined;
  /** How many characters were shown on each channel; made when something is shown. */
  #shown: Map<LiveChannel, number> | undefined;

  constructor(core: RunCore, options: ContextOptions) {
    this.#core = core;
    this.#options = options;
  }

  get signal(): AbortSignal {
    return this.#options.signal();
  }

  get during(): DuringStep {
    return (this.#during ??= new WorkDuringStep(this.#core, { key: this.#options.key, asker: budgetAsker }));
  }

  end(): void {
    this.#during?.end();
  }

  get key(): string {
    const { task, info } = this.#core;
    return `${task.name}/${info.attempt}.${info.run}/${this.#options.key}`;
  }

  get noted(): unknown {
    const { noted } = this.#options;
    return noted === null ? undefined : JSON.parse(noted);
  }

  get stopping(): boolean {
    return this.#core.parts.pause.isStopping;
  }

  now(): number {
    return this.#core.parts.clock.now();
  }

  async note(value: unknown): Promise<void> {
    this.#core.check();
    this.#options.start.note(JSON.stringify(value));
    await this.#core.committed();
    await this.#core.parts.guard?.(value);
  }

  live(channel: LiveChannel, text: string): void {
    const { parts, task, info } = this.#core;
    const root = taskName(parts.store.salt, task.tree.root);
    const { attempt, run } = info;
    const shown = (this.#shown ??= new Map<LiveChannel, number>());
    const offset = shown.get(channel) ?? 0;
    // After a notice the text begins anew.
    if (channel === "notice") shown.clear();
    else shown.set(channel, offset + text.length);
    parts.onLive({ task: task.name, root, attempt, run, key: this.#options.key, channel, offset, text });
  }
}

/** Ends the wait for the body at its time limit, and tells the body through its signal. */
function bounded<T>(
  core: RunCore,
  step: Performed<T>,
  body: (signal: () => AbortSignal) => Promise<T> | T,
): Promise<T> | T {
  const { timeout } = step.options;
  if (timeout !== undefined) return timed(core, { key: step.key, timeout }, body);
  const given = body(() => core.signal);
  return given instanceof Promise ? core.interruptible(given) : given;
}

async function timed<T>(
  core: RunCore,
  { key, timeout }: { readonly key: string; readonly timeout: number },
  body: (signal: () => AbortSignal) => Promise<T> | T,
): Promise<T> {
  const limit = new AbortController();
  const late = new TuttiError("deadline", `${key} took longer than ${timeout} ms`, { retry: "unknown" });
  let callOff: (() => void) | undefined;
  try {
    const either = AbortSignal.any([core.signal, limit.signal]);
    const given = Promise.resolve(body(() => either));
    const over = new Promise<never>((_, reject) => {
      callOff = core.parts.clock.timer(timeout, () => {
        reject(late);
        limit.abort(late);
      });
    });
    return await core.interruptible(Promise.race([given, over]));
  } finally {
    callOff?.();
  }
}

function settle<T>(core: RunCore, options: StepOptions<T>, used: Usage): void {
  if (options.reserve === undefined && used === nothingUsed) return;
  settleUsage(core.task, options.reserve ?? nothingUsed, used);
  core.parts.day.settle(options.reserve ?? nothingUsed, used);
}

/** The note of an earlier try; records and throws `outcome_unknown` when a try that may not be repeated was cut off. */
function earlierNote<T>(core: RunCore, key: string, input: number, options: StepOptions<T>): string | null {
  if (core.info.fresh) return null;
  const start = core.parts.store.stepStart(core.info.id, key);
  if (start !== undefined && start.input !== input) throw otherInput(key);
  if (start !== undefined && !options.repeatable) {
    const failure: Failure = {
      code: "outcome_unknown",
      message: wasStopped(start.note)
        ? `Tutti was stopped while ${key} was under way, and ended it; part of it may have happened, and it is not done a second time`
        : `the process ended while ${key} was under way; it may have happened, and it is not done a second time`,
      retry: "unknown",
    };
    withdrawAsks(core, key);
    core.record(key, { kind: "unknown", input, body: JSON.stringify(failure), event: "step.finished" });
    throw failedStep(failure);
  }
  if (core.isResuming && options.reserve !== undefined) presumeSent(core, key, options.reserve);
  return start === undefined ? null : (start.note ?? "null");
}

/** What the body asked while it ran: nobody is there any more to hear the answers. */
function withdrawAsks({ parts, task, info }: RunCore, key: string): void {
  for (const id of task.waits ?? []) {
    const wait = parts.store.waitById(id);
    if (wait?.run === info.id && wait.key.startsWith(`${key}!`)) parts.waits.settle(id, "withdrawn", null);
  }
}

function wasStopped(note: string | null): boolean {
  return StoppedNote.safeParse(JSON.parse(note ?? "null")).success;
}

/**
 * A call that was perhaps under way when the process died is booked as if it had been sent (invariant 1). One that does
 * not fit within the limit was not: all that were sent did.
 */
function presumeSent(core: RunCore, key: string, reserved: Usage): void {
  const { parts, task, info } = core;
  if (askedBeforeItWasSent(core, key) || waitedForDay(core, key)) return;
  let name = `${key}!presumed`;
  for (let count = 2; parts.store.logAt(info.id, name) !== undefined; count += 1) name = `${key}!presumed${count}`;
  if (!tryHold(task, reserved)) return;
  settleUsage(task, reserved, reserved);
  core.record(name, { kind: "noted", body: null, used: reserved, presumed: true });
  parts.recorder.emit(task, "budget.settled", { key, spent: reserved, presumed: true });
}

/** The process ended while the person was asked whether the call may be made at all. */
function askedBeforeItWasSent({ parts, info }: RunCore, key: string): boolean {
  for (let count = 0; ; count += 1) {
    const wait = parts.store.wait(info.id, `${key}!budget${count}`);
    if (wait === undefined) return false;
    if (parts.waits.wasOpenAtStart(wait.id)) return true;
  }
}

/** Asks the person about a limit, under keys that follow from the step's; what was answered before a restart is applied already. */
export function budgetAsker(core: RunCore, key: string): BudgetAsker {
  let count = 0;
  return async (reached) => {
    const { store } = core.parts;
    const nameOf = (): string => `${key}!budget${count}`;
    for (; isSettled(core, nameOf()); count += 1);
    const ask = { kind: "budget" as const, question: budgetQuestion(reached), details: reached };
    core.useDerived(nameOf());
    const wait: Wait<Answer> = await openWaitAt(core, nameOf(), { ask, schema: Answer });
    count += 1;
    await awaitAnswer(core, wait);
    if (store.failure !== undefined) throw store.failure;
  };
}

function isSettled(core: RunCore, key: string): boolean {
  if (core.info.fresh) return false;
  const wait = core.parts.store.wait(core.info.id, key);
  return wait !== undefined && core.parts.store.answer(wait.id) !== undefined;
}
