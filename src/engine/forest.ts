// The tasks that are not over, as trees in memory: how one is added, ended, canceled with all below it, and forgotten.

import { narrow, type Rights } from "../core/rights.ts";
import { TuttiError } from "../protocol/error.ts";
import type { LiveDelta } from "../protocol/task/event.ts";
import { toFailure } from "../protocol/failure.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import type { TerminalStatus } from "../protocol/task/task-status.ts";
import type { Clock, NewTask } from "../ports.ts";
import type { AnswerRow, Store } from "../store/store.ts";
import { allot, giveBack } from "./allotment.ts";
import { applyAnswer, LimitReached } from "./budget-gate.ts";
import type { Kernel } from "./kernel.ts";
import { askedTime, liveTask, type LiveTask, rootAccounts, rootBudget, type Tree } from "./live.ts";
import { taskName } from "./names.ts";
import { contentOf, type Outcome, resultIn } from "./outcome.ts";
import { Pause } from "./pause-switch.ts";
import { Slots } from "./slots.ts";
import { TaskBody } from "./task-body.ts";
import { answerIn, Waits } from "./waits.ts";

/** Characters of a task's record that are held in memory until it runs. */
const heldRecord = 1_000;

interface ForestDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly slots: number;
  /** Throws for a kind nobody runs. */
  readonly checkRunner: (kind: string) => void;
  readonly launch: (task: LiveTask) => void;
  readonly onLive: (delta: LiveDelta) => void;
  /** The last task is over. */
  readonly onEmpty: () => void;
  /** Takes out of recorded text what must not be kept; JSON stays JSON. */
  readonly redact: ((text: string) => string) | undefined;
}

export class Forest implements Kernel {
  readonly store: Store;
  readonly clock: Clock;
  readonly slots: Slots;
  readonly waits: Waits;
  readonly pause: Pause;
  /** Set when the engine is being stopped. */
  stopped: TuttiError | undefined;
  readonly #deps: ForestDeps;
  readonly #live = new Map<string, LiveTask>();

  constructor(deps: ForestDeps) {
    this.#deps = deps;
    this.store = deps.store;
    this.clock = deps.clock;
    this.slots = new Slots(deps.slots);
    this.pause = new Pause({ store: deps.store, clock: deps.clock, slots: this.slots, tasks: () => this.all() });
    this.waits = new Waits({
      store: deps.store,
      clock: deps.clock,
      emit: (task, type, data) => this.emit(task, type, data),
      clean: (text) => this.clean(text),
      onBudget: (task, details, answer) => this.#budgetDecided(task, details, answer),
    });
  }

  get halted(): TuttiError | undefined {
    return this.stopped ?? this.store.failure;
  }

  get size(): number {
    return this.#live.size;
  }

  all(): Iterable<LiveTask> {
    return this.#live.values();
  }

  find(name: string): LiveTask | undefined {
    return this.#live.get(name);
  }

  rootOf({ tree }: LiveTask): { readonly input: unknown; readonly config: unknown } {
    if (tree.given === undefined) {
      const { input, config } = TaskBody.parse(JSON.parse(this.store.task(tree.root)?.body ?? "null"));
      tree.given = { input, config };
    }
    return tree.given;
  }

  launch(task: LiveTask): void {
    this.#deps.launch(task);
  }

  live(delta: LiveDelta): void {
    this.#deps.onLive(delta);
  }

  clean(text: string): string {
    const { redact } = this.#deps;
    return redact === undefined ? text : redact(text);
  }

  cleanValue(value: unknown): unknown {
    if (this.#deps.redact === undefined || value === undefined) return value;
    const text = JSON.stringify(value) ?? "null";
    const clean = this.#deps.redact(text);
    return clean === text ? value : JSON.parse(clean);
  }

  emit(task: LiveTask, type: string, data?: unknown): void {
    const body = data === undefined ? null : this.clean(JSON.stringify(data));
    this.store.addEvent({ run: task.run, at: this.clock.now(), type, body });
  }

  /** Applied with the answer itself, whether or not the loop that asked is there to hear it. */
  #budgetDecided(task: LiveTask, details: unknown, answer: AnswerRow): void {
    const raised = applyAnswer(task, LimitReached.parse(details), answerIn(answer));
    if (!raised) return;
    this.emit(task, "budget.raised", { budget: task.tree.budget });
    this.slots.next();
  }

  addRoot(task: NewTask): LiveTask {
    this.#deps.checkRunner(task.runner.kind);
    const budget = rootBudget(task.budget ?? {});
    const tree: Tree = {
      root: 0,
      budget,
      tasks: 1,
      slots: this.slots.queue(() => tree.budget.concurrency),
      given: undefined,
      startedAt: this.clock.now(),
      budgetAsk: undefined,
      exhausted: undefined,
      unpriced: false,
    };
    const made = this.#add(task, { parent: undefined, tree, rights: task.rights, shared: null });
    made.accounts = rootAccounts(budget);
    return made;
  }

  addChildren(parent: LiveTask, children: readonly NewTask[], keepShared: () => number | null): LiveTask[] {
    const { tree } = parent;
    if (parent.depth + 1 > tree.budget.depth) {
      throw new TuttiError("refused", `tasks may be nested ${tree.budget.depth} levels deep; do the work here instead`);
    }
    const rights = children.map((child) => {
      this.#deps.checkRunner(child.runner.kind);
      const narrowed = narrow(parent.rights, child.rights);
      if (!narrowed.ok) throw new TuttiError("refused", narrowed.message);
      return narrowed.rights;
    });
    const accounts = allot(
      parent,
      children.map((child) => child.budget),
    );
    tree.tasks += children.length;
    const shared = keepShared();
    return children.map((child, index) => {
      const task = this.#add(child, { parent, tree, rights: rights[index] ?? child.rights, shared });
      task.accounts = accounts[index];
      return task;
    });
  }

  #add(
    task: NewTask,
    place: { parent: LiveTask | undefined; tree: Tree; rights: Rights; shared: number | null },
  ): LiveTask {
    const { parent, tree, rights, shared } = place;
    const { kind, config } = task.runner;
    const createdAt = this.clock.now();
    // The time people were asked above has moved the parent's end; a child made after that must not have the old one.
    const above = parent?.deadline ?? null;
    const deadline = earliest(
      task.deadline,
      parent === undefined || above === null ? null : above + askedTime(parent, createdAt),
    );
    const input = this.cleanValue(task.input) ?? null;
    const recorded: TaskBody = { input, config: config ?? {}, rights, budget: task.budget ?? null };
    const body = JSON.stringify(recorded);
    const id = this.store.addTask({
      parent: parent?.id ?? null,
      root: parent === undefined ? null : tree.root,
      depth: parent === undefined ? 0 : parent.depth + 1,
      kind,
      agent: task.agent,
      detached: task.detached === true,
      created_at: createdAt,
      deadline,
      shared,
      body,
    });
    if (parent === undefined) tree.root = id;
    const name = taskName(this.store.salt, id);
    const run = this.store.addRun({ task: id, attempt: 1, run: 1, body: null });
    const made = liveTask({
      id,
      name,
      run,
      fresh: true,
      parent,
      tree,
      kind,
      agent: task.agent,
      rights,
      createdAt,
      deadline,
    });
    if (body.length <= heldRecord) made.recorded = { body, shared };
    this.pause.madeMeanwhile(made);
    this.adopt(made);
    this.emit(made, "task.created");
    return made;
  }

  /** Takes a task into memory, new or found at the start, and watches its deadline. */
  adopt(task: LiveTask): void {
    this.#live.set(task.name, task);
    if (task.deadline !== null && task.result === undefined) this.#watchDeadline(task, task.deadline);
  }

  #watchDeadline(task: LiveTask, deadline: number): void {
    const now = this.clock.now();
    const remaining = deadline + askedTime(task, now) - now;
    task.callOffDeadline = this.clock.timer(Math.max(remaining, 0), () => {
      if (task.result !== undefined || this.halted !== undefined) return;
      const later = this.clock.now();
      if (task.asks > 0 || deadline + askedTime(task, later) > later) {
        // While a person is asked the end moves away as fast as the clock goes; looking again in a second is enough.
        task.callOffDeadline = this.clock.timer(1_000, () => this.#watchDeadline(task, deadline));
        return;
      }
      const error = new TuttiError("deadline", "the task did not end before its deadline");
      this.slots.hold(() => {
        this.end(task, "failed", { error: toFailure(error) });
        for (const child of task.children ?? []) this.cancel(child, "the deadline of its parent passed");
      });
    });
  }

  /** Parents first, so that no loop can spawn a child behind our back. */
  cancel(task: LiveTask, reason: string): LiveTask[] {
    const canceled: LiveTask[] = [];
    const visit = (at: LiveTask): void => {
      const below = [...(at.children ?? [])];
      if (at.result === undefined) {
        canceled.push(at);
        this.end(at, "canceled", { reason });
      }
      for (const child of below) visit(child);
    };
    this.slots.hold(() => visit(task));
    return canceled;
  }

  /** The one place where a task becomes terminal (invariant 2). */
  end(task: LiveTask, status: TerminalStatus, outcome: Outcome): void {
    const given = JSON.stringify(outcome);
    const body = this.clean(given);
    const row = { task: task.id, status, at: this.clock.now(), body };
    // Whoever joins gets what a restart would give: what JSON keeps of it, and a copy of its own.
    const plain =
      typeof outcome.content === "string" && body === given
        ? { content: contentOf(outcome), task_id: task.name, status }
        : undefined;
    const result: AgentResult = plain ?? resultIn(row, task.name);
    task.result = result;
    task.status = status;
    this.store.addResult(row);
    this.emit(task, `task.${status}`);
    this.waits.withdrawAll(task);
    task.callOffDeadline?.();
    task.stop?.(new TuttiError("canceled", `the task ${task.name} is over`));
    const joiners = task.joiners;
    task.joiners = undefined;
    for (const join of joiners ?? []) join(result);
    this.#retire(task);
  }

  /** Forgets a task when it and all below it are over; what was carved out for it and not used goes back. */
  #retire(task: LiveTask): void {
    for (let at: LiveTask | undefined = task; at !== undefined; at = at.parent) {
      if (at.result === undefined || (at.children?.size ?? 0) > 0) return;
      this.#live.delete(at.name);
      at.parent?.children?.delete(at);
      giveBack(at);
      for (const tell of at.onSettled ?? []) tell();
    }
    if (this.#live.size === 0) this.#deps.onEmpty();
  }
}

function earliest(a: number | undefined, b: number | null | undefined): number | null {
  const known = [a, b].filter((value) => typeof value === "number");
  return known.length === 0 ? null : Math.min(...known);
}
