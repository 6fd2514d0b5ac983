// Drives loops: gives a task its turn, runs its runner over a durable run, and follows it through handovers and attempts.

import { stopReason } from "../core/end-reasons.ts";
import { missingRunnerIn } from "../protocol/missing-runner.ts";
import { toTuttiError, TuttiError } from "../protocol/error.ts";
import { toFailure } from "../protocol/failure.ts";
import type { GivenUp } from "../ports.ts";
import type { TaskRow } from "../store/store.ts";
import { countResume } from "./crash-guard.ts";
import { DurableRun, HandedOver, Replayed, TriedAgain } from "./durable-run.ts";
import { cancelTask, endTask } from "./end-task.ts";
import { raiseStopAsk, stopAskOf } from "./stopped-task.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { LiveTask } from "./live-task.ts";
import { waitForRunner } from "./missing-runners.ts";
import type { RunInfo } from "./run-core.ts";
import { awaitTurn } from "./thread-turns.ts";
import { type RunBody, runBodyIn, taskBodyIn } from "./task-body.ts";

/** Ends a run whose attempt was given up. */
class NextAttempt {}

/** For what a loop left under way when it returned; one for all, since an error for every run would cost more than the run's end. */
const loopReturned = new TuttiError("canceled", "the run is over");

interface KnownRun {
  readonly id: number;
  readonly attempt: number;
  readonly run: number;
  readonly body: RunBody | null;
}

export class Driver {
  readonly #parts: EngineParts;
  /** Runs begun in this process by a handover or a retry: nothing of them can have been recorded before. */
  readonly #made = new WeakMap<LiveTask, KnownRun>();

  /** Tasks whose loop has not returned, also after they are over. */
  readonly #driven = new Set<LiveTask>();

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /** The task itself and those below it whose loop has not returned. */
  drivenIn(name: string): LiveTask[] {
    const isIn = (task: LiveTask | undefined): boolean =>
      task !== undefined && (task.name === name || isIn(task.parent));
    return [...this.#driven].filter(isIn);
  }

  /** `inThread`: it was just said into a thread. Of a task that was found in the store only the store can tell. */
  launch(task: LiveTask, { inThread = !task.fresh }: { readonly inThread?: boolean } = {}): void {
    const mayWait = inThread && task.parent === undefined && task.status === "pending";
    if (mayWait && awaitTurn(this.#parts, task, () => this.#launch(task))) return;
    this.#launch(task);
  }

  #launch(task: LiveTask): void {
    const { slots } = this.#parts;
    if (task.tree.onlyVisited) return;
    const begin = (): void => {
      task.stop = undefined;
      const counted = this.#mayRun(task) ? countResume(this.#parts, task) : undefined;
      if (counted === undefined) drive();
      // A store that fails halts every tree.
      else counted.then(drive, drive);
    };
    const drive = (): void => {
      if (this.#mayRun(task)) void this.#drive(task);
      else slots.give(task.tree.slots);
    };
    const ticket = slots.take(task.tree.slots, begin);
    if (ticket === undefined) begin();
    else {
      task.stop = () => {
        ticket.gone = true;
      };
    }
  }

  #mayRun(task: LiveTask): boolean {
    return task.result === undefined && this.#halted(task) === undefined;
  }

  #halted({ tree }: LiveTask): TuttiError | undefined {
    return tree.halted ?? this.#parts.store.failure;
  }

  /** The loop that runs is ended; the task starts over as its next attempt. */
  nextAttempt(task: LiveTask): void {
    const wasStopped = stopAskOf(this.#parts, task) !== undefined;
    if (task.running && !wasStopped) {
      this.#parts.recorder.emit(task, "attempt.ended", { outcome: "unknown", reason: "another attempt was asked for" });
    }
    this.#beginAttempt(task, null);
    if (task.running) task.stop?.(new NextAttempt());
    else if (wasStopped) this.launch(task);
  }

  /** The loop that runs is ended; the next attempt goes on from there when somebody resumes the task. */
  stopAttempt(task: LiveTask, reason: string): void {
    const { recorder } = this.#parts;
    if (stopAskOf(this.#parts, task) !== undefined) {
      throw new TuttiError("conflict", `the task ${task.name} is stopped already; resume it or cancel it`);
    }
    const last = this.#lastRun(task);
    const stop = { attempt: last?.attempt ?? 1, reason };
    // Only a task that has begun can be asked about.
    if (task.status === "pending") recorder.emit(task, "task.started");
    recorder.emit(task, "attempt.ended", { outcome: "stopped", reason });
    const { agent, rights } = task;
    this.#beginAttempt(task, {
      agent,
      rights,
      ...last?.body,
      since: last?.body?.since ?? stop.attempt,
      stopped: task.run,
    });
    raiseStopAsk(this.#parts, task, stop);
    task.stop?.(stopReason(reason));
  }

  /** What belongs to the attempt goes with it: nobody of the next hears its children and its answers. */
  #beginAttempt(task: LiveTask, body: RunBody | null): void {
    const { store, waits } = this.#parts;
    const last = this.#lastRun(task);
    for (const child of task.children ?? []) {
      cancelTask(this.#parts, child, "the attempt it belonged to was given up");
    }
    waits.withdrawAll(task);
    const attempt = (last?.attempt ?? 0) + 1;
    task.run = store.addRun({ task: task.id, attempt, run: 1, body: body === null ? null : JSON.stringify(body) });
    this.#made.set(task, { id: task.run, attempt, run: 1, body });
  }

  async #drive(task: LiveTask): Promise<void> {
    const parts = this.#parts;
    task.tree.loops += 1;
    task.running = true;
    this.#driven.add(task);
    let run: DurableRun | undefined;
    let driven: RunInfo | undefined;
    let again = false;
    try {
      const { info, config } = this.#runOf(task);
      driven = info;
      if (info.fresh || task.status === "pending") this.#announce(task, info);
      const current = new DurableRun(parts, task, info);
      run = current;
      task.stop = (reason) => current.end(reason);
      const content = await parts.runners.run(task, current, config);
      again = this.#isGivenUp(task, info);
      if (!again && task.result === undefined && this.#halted(task) === undefined) {
        task.stop = undefined;
        endTask(parts, task, "completed", { content: content ?? null });
      }
    } catch (thrown) {
      const missing = parts.missing === undefined ? undefined : missingRunnerIn(thrown);
      const givenUp = driven !== undefined && this.#isGivenUp(task, driven);
      again = givenUp || (missing === undefined && this.#caught(task, thrown));
      if (missing !== undefined || (again && thrown instanceof Replayed)) {
        // Nothing may be recorded any more once the records are read, and all of them must be there.
        run?.end(loopReturned);
        await parts.store.committed().catch(() => undefined);
      }
      if (missing !== undefined && !givenUp) this.#wait(task, missing);
    } finally {
      task.running = false;
      task.stop = undefined;
      if (run === undefined) parts.slots.give(task.tree.slots);
      else run.end(loopReturned);
      if (again && stopAskOf(parts, task) === undefined) this.launch(task);
      this.#returned(task);
    }
  }

  #returned(task: LiveTask): void {
    const { tree, onReturned } = task;
    // The next attempt may have begun already.
    if (!task.running) this.#driven.delete(task);
    if (onReturned !== undefined) {
      task.onReturned = undefined;
      for (const tell of onReturned) tell();
    }
    tree.loops -= 1;
    if (tree.loops === 0) tree.onLoopsReturned?.();
  }

  #announce(task: LiveTask, { attempt, run }: RunInfo): void {
    const { recorder } = this.#parts;
    if (attempt === 1 && run === 1) recorder.emit(task, "task.started");
    else recorder.emit(task, "run.started", { agent: task.agent });
  }

  /** A retry began another attempt under the loop: how the loop ended, even well, is not the task's outcome any more. */
  #isGivenUp(task: LiveTask, { id }: RunInfo): boolean {
    const current = this.#made.get(task);
    return current !== undefined && current.id !== id && this.#halted(task) === undefined && task.result === undefined;
  }

  /** The same run goes on where its runner is, from what was recorded. */
  #wait(task: LiveTask, runner: string): void {
    if (!this.#mayRun(task)) return;
    this.#made.delete(task);
    task.fresh = false;
    waitForRunner(this.#parts, task, runner);
  }

  /** True when the task goes on with another run. */
  #caught(task: LiveTask, thrown: unknown): boolean {
    if (this.#halted(task) !== undefined || task.result !== undefined) return false;
    if (thrown instanceof NextAttempt) return true;
    if (thrown instanceof Replayed) {
      this.#made.delete(task);
      task.fresh = false;
      return true;
    }
    try {
      if (thrown instanceof HandedOver) {
        this.#handOver(task, thrown);
        return true;
      }
      if (thrown instanceof TriedAgain) {
        const { outcome = "unknown", reason } = thrown.why;
        this.#parts.recorder.emit(task, "attempt.ended", { outcome, reason });
        this.#beginAttempt(task, this.#startOf(task, thrown.why));
        return true;
      }
      endTask(this.#parts, task, "failed", { error: toFailure(toTuttiError(thrown)) });
    } catch (failure) {
      // Recording the end failed: the store has stopped, and the task goes on at the next start.
      if (this.#halted(task) === undefined) throw failure;
    }
    return false;
  }

  /** What the next attempt starts from; null when that is what the task itself was given. */
  #startOf(task: LiveTask, { input, runner }: GivenUp): RunBody | null {
    if (input === undefined && runner === undefined) return null;
    const { agent, body } = this.#storedTask(task);
    const { rights } = taskBodyIn(body);
    return {
      agent,
      rights,
      input: this.#parts.recorder.cleanValue(input),
      ...(runner === undefined ? {} : { runner }),
    };
  }

  #handOver(task: LiveTask, { to }: HandedOver): void {
    const { store, waits, recorder } = this.#parts;
    // Nobody of the next run can hear an answer to this one's questions.
    waits.withdrawAll(task);
    const last = this.#lastRun(task);
    const input = recorder.cleanValue(to.input) ?? null;
    const { runner, since } = last?.body ?? {};
    const body: RunBody = {
      agent: to.agent,
      input,
      rights: to.rights ?? task.rights,
      ...(runner === undefined ? {} : { runner }),
      ...(since === undefined ? {} : { since }),
    };
    const [attempt, run] = [last?.attempt ?? 1, (last?.run ?? 1) + 1];
    const reason = to.reason === undefined ? {} : { reason: to.reason };
    recorder.emit(task, "task.handed_over", {
      from_agent: task.agent,
      to_agent: to.agent,
      ...reason,
      hop: run - 1,
    });
    task.run = store.addRun({ task: task.id, attempt, run, body: JSON.stringify(body) });
    this.#made.set(task, { id: task.run, attempt, run, body });
  }

  /** The run to drive: the last one recorded, or the first one ever. */
  #runOf(task: LiveTask): { info: RunInfo; config: unknown } {
    const { store } = this.#parts;
    // The agent of a task whose record is held is its own: no handover can have come before its first run.
    const { body, shared: line, agent, kind } = takeRecord(task) ?? this.#storedTask(task);
    const { input, config, rights } = taskBodyIn(body);
    const shared: unknown = line === null ? undefined : JSON.parse(store.logById(line)?.body ?? "null");
    const made = this.#made.get(task) ?? (task.fresh ? { id: task.run, attempt: 1, run: 1, body: null } : undefined);
    const run = made ?? this.#stored(task);
    const fresh = made !== undefined;
    task.agent = run.body?.agent ?? agent;
    task.rights = run.body?.rights ?? rights;
    task.kind = run.body?.runner?.kind ?? kind;
    const { id, attempt } = run;
    const info: RunInfo = {
      id,
      attempt,
      run: run.run,
      fresh,
      input: run.body?.input ?? input,
      shared,
      since: run.body?.since ?? attempt,
      stopped: run.body?.stopped,
    };
    return { info, config: run.body?.runner === undefined ? config : run.body.runner.config };
  }

  #storedTask(task: LiveTask): TaskRow {
    const row = this.#parts.store.task(task.id);
    if (row === undefined) throw new TuttiError("corrupt", `the task ${task.name} is not in the store`);
    return row;
  }

  #stored(task: LiveTask): KnownRun {
    const found = this.#lastRun(task);
    if (found === undefined) throw new TuttiError("corrupt", `the task ${task.name} has no run in the store`);
    return found;
  }

  #lastRun(task: LiveTask): KnownRun | undefined {
    const made = this.#made.get(task);
    if (made !== undefined) return made;
    const found = this.#parts.store.lastRun(task.id);
    return found === undefined ? undefined : { ...found, body: runBodyIn(found.body) };
  }
}

function takeRecord(task: LiveTask): Pick<TaskRow, "body" | "shared" | "agent" | "kind"> | undefined {
  const { recorded, agent, kind } = task;
  task.recorded = undefined;
  return recorded === undefined ? undefined : { ...recorded, agent, kind };
}
