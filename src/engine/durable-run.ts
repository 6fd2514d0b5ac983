// One run of a task, as its loop sees it: the durable operations, each a few lines over what the run stands on.

import { messageId } from "../core/message-id.ts";
import { narrow, type Rights } from "../core/rights.ts";
import { TuttiError } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { AgentResult, TaskSnapshot } from "../protocol/invocation/invocation-result.ts";
import type { CompleteMessage, Message } from "../protocol/task/message.ts";
import { maxHandovers } from "../protocol/task/max-handovers.ts";
import type {
  Durable,
  GivenUp,
  Handover,
  NewTask,
  OwnEvent,
  RunningStep,
  Schema,
  Selected,
  Source,
  StepOptions,
  Wait,
  Waited,
  WaitOptions,
} from "../ports.ts";
import { taskName } from "../store/names.ts";
import { sayAt, tellAt } from "./during-step.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { LiveTask } from "./live-task.ts";
import { messageIn } from "./recorded-message.ts";
import { cancelChild, joinChildren, sendMail, snapshotChildren, spawnChildren } from "./run-children.ts";
import { rootRecord } from "./root-record.ts";
import { RunCore, type RunInfo } from "./run-core.ts";
import { budgetAsker, runStep } from "./run-step.ts";
import { awaitAnswer, openWait, receiveMail, selectFirst, sleepFor, withdrawWait } from "./run-waits.ts";

/** Thrown to leave a loop whose task goes on under another agent. */
export class HandedOver {
  readonly to: Handover;
  constructor(to: Handover) {
    this.to = to;
  }
}

/** Thrown to leave a loop whose task starts over as its next attempt. */
export class TriedAgain {
  readonly why: GivenUp;
  constructor(why: GivenUp) {
    this.why = why;
  }
}

/** Thrown to leave a loop whose code was lost: the same run begins again over what it recorded. */
export class Replayed {}

/** A task that gives itself up time and again ends somewhere. */
const maxAttempts = 8;

export class DurableRun implements Durable {
  readonly task: TaskId;
  readonly attempt: number;
  readonly run: number;
  readonly agent: string;
  readonly rights: Rights;
  readonly input: unknown;
  readonly shared: unknown;
  readonly #core: RunCore;

  constructor(parts: EngineParts, task: LiveTask, info: RunInfo) {
    this.#core = new RunCore(parts, task, info);
    this.task = task.name;
    this.attempt = info.attempt;
    this.run = info.run;
    this.agent = task.agent;
    this.rights = task.rights;
    this.input = info.input;
    this.shared = info.shared;
  }

  get since(): number {
    return this.#core.info.since;
  }

  get resumed(): boolean {
    return this.run === 1 && this.since < this.attempt;
  }

  get root(): TaskId {
    const { parts, task } = this.#core;
    return taskName(parts.store.salt, task.tree.root);
  }

  get rootInput(): unknown {
    return rootRecord(this.#core.parts.store, this.#core.task.tree).input;
  }

  get rootConfig(): unknown {
    return rootRecord(this.#core.parts.store, this.#core.task.tree).config;
  }

  get signal(): AbortSignal {
    return this.#core.signal;
  }

  /** From outside: aborts what is under way; every operation from now on throws `reason`. */
  end(reason: unknown): void {
    this.#core.end(reason);
  }

  async restore<T>(schema: Schema<T>): Promise<{ state: T; messages: CompleteMessage[] } | undefined> {
    const { parts, info } = this.#core;
    this.#core.check();
    const state = info.fresh ? null : (parts.store.lastState(info.id)?.state ?? null);
    if (state === null) return undefined;
    return {
      state: schema.parse(JSON.parse(state)),
      messages: this.#messages(),
    };
  }

  stoppedState<T>(schema: Schema<T>): T | undefined {
    const { parts, info } = this.#core;
    const state = info.stopped === undefined ? undefined : parts.store.lastState(info.stopped)?.state;
    return state === undefined || state === null ? undefined : schema.parse(JSON.parse(state));
  }

  save(key: string, state: unknown): void {
    this.#core.use(key);
    this.#core.keepState(state);
  }

  step<T>(key: string, options: StepOptions<T>, body: (context: RunningStep) => Promise<T> | T): Promise<T> {
    return runStep(this.#core, key, options, body);
  }

  spawn(key: string, children: readonly NewTask[], shared?: unknown): Promise<TaskId[]> {
    return spawnChildren(this.#core, key, { children, shared }, budgetAsker(this.#core, key));
  }

  join(ids: readonly TaskId[]): Promise<AgentResult[]> {
    return joinChildren(this.#core, ids);
  }

  select(key: string, sources: readonly Source[]): Promise<Selected> {
    return selectFirst(this.#core, key, sources);
  }

  open<T>(key: string, options: WaitOptions<T>): Promise<Wait<T>> {
    return openWait(this.#core, key, options);
  }

  async wait<T>(key: string, options: WaitOptions<T>): Promise<Waited<T>> {
    return awaitAnswer(this.#core, await openWait(this.#core, key, options));
  }

  withdraw(key: string, wait: Wait<unknown>): Promise<void> {
    return withdrawWait(this.#core, key, wait);
  }

  receive(key: string, options: { readonly block: boolean }): Promise<CompleteMessage | undefined> {
    return receiveMail(this.#core, key, options);
  }

  sleep(key: string, ms: number): Promise<void> {
    return sleepFor(this.#core, key, ms);
  }

  async now(key: string): Promise<number> {
    this.#core.use(key);
    const recorded = this.#core.recorded(key);
    if (recorded !== undefined) return Number(recorded.body);
    const now = this.#core.parts.clock.now();
    this.#core.record(key, { kind: "noted", body: String(now) });
    return now;
  }

  /** Follows from the place of the call, so nothing needs to be recorded. */
  async id(key: string): Promise<string> {
    this.#core.use(key);
    return messageId(this, key);
  }

  async messages(): Promise<CompleteMessage[]> {
    await this.#core.committed();
    return this.#messages();
  }

  #messages(): CompleteMessage[] {
    const { parts, task, info } = this.#core;
    const said: CompleteMessage[] = [];
    for (let attempt = info.since; attempt <= info.attempt; attempt += 1) {
      for (const line of parts.store.messages(task.id, attempt)) {
        said.push(messageIn(line.body, { ...line, task: task.name }));
      }
    }
    return said;
  }

  history(): Promise<CompleteMessage[]> {
    const { parts, task } = this.#core;
    return parts.history(task.name);
  }

  say(key: string, message: Message): CompleteMessage {
    this.#core.use(key);
    return sayAt(this.#core, key, message);
  }

  tell(key: string, event: OwnEvent): void {
    this.#core.use(key);
    tellAt(this.#core, key, event);
  }

  cancel(key: string, id: TaskId): Promise<TaskId[]> {
    return cancelChild(this.#core, key, id);
  }

  send(key: string, id: TaskId, message: Message): Promise<void> {
    return sendMail(this.#core, key, id, message);
  }

  snapshot(key: string, ids: readonly TaskId[] | "descendants"): Promise<TaskSnapshot[]> {
    return snapshotChildren(this.#core, key, ids);
  }

  async handover(key: string, to: Handover): Promise<never> {
    this.#core.use(key);
    if (this.run > maxHandovers) {
      throw new TuttiError("refused", `the task was handed over ${maxHandovers} times already; finish it here`);
    }
    const narrowed = narrow(this.rights, to.rights ?? this.rights);
    if (!narrowed.ok) throw new TuttiError("refused", narrowed.message);
    throw new HandedOver({ ...to, rights: narrowed.rights });
  }

  async again(key: string, why: GivenUp): Promise<never> {
    this.#core.use(key);
    if (this.attempt >= maxAttempts) {
      throw new TuttiError("refused", `the task was tried ${maxAttempts} times; it is not tried again: ${why.reason}`);
    }
    if (why.runner !== undefined) this.#core.parts.runners.check(why.runner.kind);
    throw new TriedAgain(why);
  }

  async replay(): Promise<never> {
    this.#core.check();
    throw new Replayed();
  }
}
