// Drives loops: gives a task its turn, runs its runner over a durable run, and follows it through handovers and attempts.

import { toTuttiError, TuttiError } from "../protocol/error.ts";
import { toFailure } from "../protocol/failure.ts";
import type { Runner, RunnerRegistry } from "../ports.ts";
import { DurableRun, HandedOver, TriedAgain } from "./durable-run.ts";
import type { Forest } from "./forest.ts";
import type { LiveTask } from "./live.ts";
import type { RunPlace } from "./run-core.ts";
import type { TaskRow } from "../store/store.ts";
import { type RunBody, runBodyIn, TaskBody } from "./task-body.ts";

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
  readonly #forest: Forest;
  readonly #runners: RunnerRegistry;
  /** Runs begun in this process by a handover or a retry: nothing of them can have been recorded before. */
  readonly #made = new WeakMap<LiveTask, KnownRun>();
  #loops = 0;

  constructor(forest: Forest, runners: RunnerRegistry) {
    this.#forest = forest;
    this.#runners = runners;
  }

  /** Loops that have not returned. */
  get loops(): number {
    return this.#loops;
  }

  knows(kind: string): boolean {
    return Object.hasOwn(this.#runners, kind);
  }

  runnerOf(kind: string): Runner {
    const runner = this.knows(kind) ? this.#runners[kind] : undefined;
    if (runner !== undefined) return runner;
    const known = Object.keys(this.#runners).join(", ");
    throw new TuttiError("not_found", `there is no runner of kind ${kind}; there are: ${known}`);
  }

  launch(task: LiveTask): void {
    const { slots } = this.#forest;
    const begin = (): void => {
      task.stop = undefined;
      if (task.result === undefined && this.#forest.halted === undefined) void this.#drive(task);
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

  /** The loop that runs is ended; the task starts over as its next attempt. */
  nextAttempt(task: LiveTask): void {
    this.#beginAttempt(task);
    if (task.running) task.stop?.(new NextAttempt());
  }

  /** What belongs to the attempt goes with it: nobody of the next hears its children and its answers. */
  #beginAttempt(task: LiveTask): void {
    for (const child of task.children ?? []) this.#forest.cancel(child, "the attempt it belonged to was given up");
    this.#forest.waits.withdrawAll(task);
    const last = this.#made.get(task) ?? this.#forest.store.lastRun(task.id);
    const attempt = (last?.attempt ?? 0) + 1;
    task.run = this.#forest.store.addRun({ task: task.id, attempt, run: 1, body: null });
    this.#made.set(task, { id: task.run, attempt, run: 1, body: null });
  }

  async #drive(task: LiveTask): Promise<void> {
    const forest = this.#forest;
    this.#loops += 1;
    task.running = true;
    let run: DurableRun | undefined;
    let driven: RunPlace | undefined;
    let again = false;
    try {
      const { place, config } = this.#place(task);
      driven = place;
      this.#needsNoInput(task);
      if (place.fresh || task.status === "pending") this.#announce(task, place);
      task.status = "running";
      const current = new DurableRun(forest, task, place);
      run = current;
      task.stop = (reason) => current.end(reason);
      const content = await this.runnerOf(task.kind)(current, config);
      again = this.#isGivenUp(task, place);
      if (!again && task.result === undefined && forest.halted === undefined) {
        this.#needsNoInput(task);
        task.stop = undefined;
        forest.end(task, "completed", { content: content ?? null });
      }
    } catch (thrown) {
      again = (driven !== undefined && this.#isGivenUp(task, driven)) || this.#caught(task, thrown);
    } finally {
      this.#loops -= 1;
      task.running = false;
      task.stop = undefined;
      if (run === undefined) forest.slots.give(task.tree.slots);
      else run.end(loopReturned);
      if (again) this.launch(task);
    }
  }

  /** Its loop begins, or has gone on without the answer it waited for. */
  #needsNoInput(task: LiveTask): void {
    if (task.status !== "input_required") return;
    task.status = "running";
    this.#forest.emit(task, "task.resumed");
  }

  #announce(task: LiveTask, place: RunPlace): void {
    if (place.attempt === 1 && place.run === 1) this.#forest.emit(task, "task.started");
    else this.#forest.emit(task, "run.started", { agent: task.agent });
  }

  /** A retry began another attempt under the loop: how the loop ended, even well, is not the task's outcome any more. */
  #isGivenUp(task: LiveTask, place: RunPlace): boolean {
    const current = this.#made.get(task);
    return (
      current !== undefined && current.id !== place.id && this.#forest.halted === undefined && task.result === undefined
    );
  }

  /** True when the task goes on with another run. */
  #caught(task: LiveTask, thrown: unknown): boolean {
    if (this.#forest.halted !== undefined || task.result !== undefined) return false;
    if (thrown instanceof NextAttempt) return true;
    try {
      if (thrown instanceof HandedOver) {
        this.#handOver(task, thrown);
        return true;
      }
      if (thrown instanceof TriedAgain) {
        const { outcome = "unknown", reason } = thrown.why;
        this.#forest.emit(task, "attempt.ended", { outcome, reason });
        this.#beginAttempt(task);
        return true;
      }
      this.#forest.end(task, "failed", { error: toFailure(toTuttiError(thrown)) });
    } catch (failure) {
      // Recording the end failed: the store has stopped, and the task goes on at the next start.
      if (this.#forest.halted === undefined) throw failure;
    }
    return false;
  }

  #handOver(task: LiveTask, { to }: HandedOver): void {
    const { store, waits } = this.#forest;
    // Nobody of the next run can hear an answer to this one's questions.
    waits.withdrawAll(task);
    this.#needsNoInput(task);
    const last = this.#made.get(task) ?? store.lastRun(task.id);
    const input = this.#forest.cleanValue(to.input) ?? null;
    const body: RunBody = { agent: to.agent, input, rights: to.rights ?? task.rights };
    const [attempt, run] = [last?.attempt ?? 1, (last?.run ?? 1) + 1];
    const reason = to.reason === undefined ? {} : { reason: to.reason };
    this.#forest.emit(task, "task.handed_over", {
      from_agent: task.agent,
      to_agent: to.agent,
      ...reason,
      hop: run - 1,
    });
    task.run = store.addRun({ task: task.id, attempt, run, body: JSON.stringify(body) });
    this.#made.set(task, { id: task.run, attempt, run, body });
  }

  /** The run to drive: the last one recorded, or the first one ever. */
  #place(task: LiveTask): { place: RunPlace; config: unknown } {
    const { store } = this.#forest;
    // The agent of a task whose record is held is its own: no handover can have come before its first run.
    const { body, shared: line, agent } = takeRecord(task) ?? this.#storedTask(task);
    const { input, config, rights } = TaskBody.parse(JSON.parse(body));
    const shared: unknown = line === null ? undefined : JSON.parse(store.logById(line)?.body ?? "null");
    const made = this.#made.get(task) ?? (task.fresh ? { id: task.run, attempt: 1, run: 1, body: null } : undefined);
    const run = made ?? this.#stored(task);
    const fresh = made !== undefined;
    task.agent = run.body?.agent ?? agent;
    task.rights = run.body?.rights ?? rights;
    const place = { id: run.id, attempt: run.attempt, run: run.run, fresh, input: run.body?.input ?? input, shared };
    return { place, config };
  }

  #storedTask(task: LiveTask): TaskRow {
    const row = this.#forest.store.task(task.id);
    if (row === undefined) throw new TuttiError("corrupt", `the task ${task.name} is not in the store`);
    return row;
  }

  #stored(task: LiveTask): KnownRun {
    const found = this.#forest.store.lastRun(task.id);
    if (found === undefined) throw new TuttiError("corrupt", `the task ${task.name} has no run in the store`);
    return { ...found, body: runBodyIn(found.body) };
  }
}

function takeRecord(task: LiveTask): Pick<TaskRow, "body" | "shared" | "agent"> | undefined {
  const { recorded, agent } = task;
  task.recorded = undefined;
  return recorded === undefined ? undefined : { ...recorded, agent };
}
