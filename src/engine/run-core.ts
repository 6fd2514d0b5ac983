// What every durable operation of a run is built on: its keys, its records, its slot, and how it is ended from outside.

import type { Usage } from "../protocol/task/budget.ts";
import { TuttiError } from "../protocol/error.ts";
import type { EventType, LogRow, StepKind } from "../store/store.ts";
import type { RunPosition } from "../core/message-id.ts";
import { gotFurther } from "./crash-guard.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { LiveTask } from "./live-task.ts";
import { KeySet } from "./key-set.ts";
import type { MessageLine } from "./recorded-message.ts";

/** Which run of its task it is, what it was given, and whether anything of it can already be in the store. */
export interface RunInfo {
  readonly id: number;
  readonly attempt: number;
  readonly run: number;
  /** Made in this process: no key of it can have been recorded before. */
  readonly fresh: boolean;
  readonly input: unknown;
  readonly shared: unknown;
  /** The attempt whose work it goes on with, through all that were stopped and resumed; its own when it began anew. */
  readonly since: number;
  /** The row of the run that was stopped, when this one goes on with it. */
  readonly stopped: number | undefined;
}

interface Record {
  readonly kind: StepKind;
  readonly input?: number;
  readonly body: string | null;
  /** Now when absent. */
  readonly at?: number;
  readonly used?: Usage;
  /** The event that readers are shown for it; none when absent. */
  readonly event?: EventType;
  /** The message from outside that was taken. */
  readonly mail?: number;
  /** Tells of the time before the restart; the run has not got any further by it. */
  readonly presumed?: true;
}

export const nothingUsed: Usage = { input_tokens: 0, output_tokens: 0, money_micro_usd: 0 };

export class RunCore {
  readonly parts: EngineParts;
  readonly task: LiveTask;
  readonly info: RunInfo;
  #controller: AbortController | undefined;
  /** Every key the loop has used, so that a key used twice is an error and never two rows. */
  readonly #keys = new KeySet();
  /** What to reject when the run is ended from outside; a few at most, so a list is smaller than a set. */
  #pending: ((reason: unknown) => void)[] = [];
  #ended: { readonly reason: unknown } | undefined;
  #state: string | null = null;
  #holdsSlot = true;
  #slotComing: Promise<void> | undefined;
  #steps = 0;
  #waits = 0;
  #resuming: boolean;
  /** The run only waits, so it is not what ends the process: its resume is not counted meanwhile. */
  #rests = false;
  /** The batch its last record was queued in. */
  #recordedIn = 0;
  /** The last message it has taken from the mail, recorded or about to be. */
  mailTaken: number | undefined;

  constructor(parts: EngineParts, task: LiveTask, info: RunInfo) {
    this.parts = parts;
    this.task = task;
    this.info = info;
    this.#resuming = !info.fresh;
  }

  get position(): RunPosition {
    return { task: this.task.name, attempt: this.info.attempt, run: this.info.run };
  }

  /** A line of this run, as what a message on it follows from. */
  lineOf({ key, at }: Pick<LogRow, "key" | "at">): MessageLine {
    return { task: this.task.name, attempt: this.info.attempt, run: this.info.run, key, at };
  }

  /** Made when somebody looks at it: most runs end without. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#ended !== undefined) this.#controller.abort(this.#ended.reason);
    }
    return this.#controller.signal;
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Aborts what is under way; every operation from now on throws `reason`. */
  end(reason: unknown): void {
    if (this.#ended !== undefined) return;
    this.#ended = { reason };
    this.#controller?.abort(reason);
    const pending = this.#pending;
    this.#pending = [];
    for (const reject of pending) reject(reason);
    if (this.#holdsSlot) this.parts.slots.give(this.task.tree.slots);
    this.#holdsSlot = false;
  }

  /** Why no loop of the tree may go on; undefined while they may. */
  get halted(): TuttiError | undefined {
    return this.task.tree.halted ?? this.parts.store.failure;
  }

  check(): void {
    if (this.#ended !== undefined) throw this.#ended.reason;
    const { halted } = this;
    if (halted !== undefined) throw halted;
  }

  // ---- keys and records

  /** A key of the loop's choosing; `!` is kept for the keys that follow from one. */
  use(key: string): void {
    if (key.includes("!")) throw new TuttiError("invalid_input", `the key ${key} may not contain "!"`);
    this.useDerived(key);
  }

  useDerived(key: string): void {
    this.check();
    if (!this.#keys.add(key)) {
      throw new TuttiError("conflict", `the key ${key} was used twice in one run of ${this.task.name}`);
    }
  }

  /** What was recorded under the key before a restart. */
  recorded(key: string, input = 0): LogRow | undefined {
    if (this.info.fresh) return undefined;
    const step = this.parts.store.logAt(this.info.id, key);
    if (step !== undefined && step.input !== input) throw otherInput(key);
    return step;
  }

  /** True until the run has got further than before the restart: what it comes to now may have been under way then. */
  get isResuming(): boolean {
    return this.#resuming;
  }

  record(key: string, what: Record): number {
    if (what.presumed !== true) this.#resuming = false;
    if (this.task.resume !== undefined) this.#noteProgress(what);
    const used = what.used ?? nothingUsed;
    const { store } = this.parts;
    this.#recordedIn = store.batch;
    const line = store.addLog({
      run: this.info.id,
      key,
      at: what.at ?? this.parts.clock.now(),
      kind: what.kind,
      type: what.event ?? null,
      input: what.input ?? 0,
      tokens: used.input_tokens + used.output_tokens,
      money: used.money_micro_usd ?? 0,
      body: what.body,
      state: this.#state,
      mail: what.mail ?? null,
    });
    this.#state = null;
    return line;
  }

  #noteProgress({ kind, presumed }: Record): void {
    const { resume } = this.task;
    if (resume !== undefined && kind === "unknown") resume.diedInStep = true;
    if (presumed !== true) gotFurther(this.parts, this.task);
  }

  /** Written with the next record. */
  keepState(state: unknown): void {
    this.#state = JSON.stringify(state);
  }

  /** Before the run may wait for long: its state must not wait for the next record. */
  flushState(): void {
    if (this.#state !== null) this.record(`!saved:${crypto.randomUUID()}`, { kind: "saved", body: null });
  }

  /** Resolves when all that the run has recorded is on disk; undefined, at once, when it is already. */
  recordsDurable(): Promise<void> | undefined {
    const { store } = this.parts;
    return store.isDurable(this.#recordedIn) ? undefined : store.committed();
  }

  /** While the disk is full no step begins: its outcome would be held in memory, and many of them would fill it. */
  roomAgain(): Promise<void> | undefined {
    return this.parts.store.stalled === undefined ? undefined : this.#committedUnlessEnded();
  }

  async #committedUnlessEnded(): Promise<void> {
    await this.interruptible(this.parts.store.committed());
    this.check();
  }

  async committed(): Promise<void> {
    await this.parts.store.committed();
    this.check();
  }

  // ---- slots: held while a step runs, given up while the run only waits

  /** A step begins, and needs a slot: undefined when the run holds one. Whatever comes of it, `endStep` has to follow. */
  beginStep(): Promise<void> | undefined {
    this.#steps += 1;
    const counted = this.#rests ? this.#countAgain() : undefined;
    const permitted = this.#holdsSlot && !this.parts.slots.paused ? undefined : this.#permitted();
    return counted === undefined ? permitted : Promise.all([counted, permitted]).then(() => undefined);
  }

  #stopCounting(): void {
    if (this.task.resume === undefined || this.#steps > 0 || this.#rests) return;
    this.#rests = true;
    this.parts.store.setResumes(this.task.id, 0);
    this.parts.trials.over(this.task);
  }

  #countAgain(): Promise<void> | undefined {
    const { resume, id } = this.task;
    this.#rests = false;
    if (resume === undefined) return undefined;
    this.parts.store.setResumes(id, resume.count);
    return this.committed();
  }

  endStep(): void {
    this.#steps -= 1;
    if (this.#waits > 0) this.#giveSlot();
  }

  /** The body of a step waits for a person: if nothing else of the run works, it needs no slot meanwhile. */
  stepWaits(): void {
    this.#steps -= 1;
    if (this.#waits > 0) this.#giveSlot();
  }

  /** After `stepWaits`: the body works again once it has a slot and nothing is paused. */
  stepGoesOn(): Promise<void> {
    this.#steps += 1;
    return this.hasEnded ? Promise.resolve() : this.#permitted();
  }

  /** Waits until `subscribe` calls back, or the run is ended; it returns how to stop listening. */
  async waiting<T>(subscribe: (resolve: (value: T) => void) => () => void): Promise<T> {
    this.#waits += 1;
    this.#giveSlot();
    try {
      return await new Promise<T>((resolve, reject) => {
        let off: (() => void) | undefined;
        const stop = (reason: unknown): void => {
          off?.();
          reject(reason);
        };
        this.#pending.push(stop);
        off = subscribe((value) => {
          // Called from inside `subscribe`, it was there already and the run may have been past it.
          if (off !== undefined) {
            this.#resuming = false;
            if (this.#rests) this.#countAgain()?.catch(() => undefined);
          }
          this.#drop(stop);
          resolve(value);
        });
        if (this.#pending.includes(stop)) this.#stopCounting();
        // The run may have been ended after the callback, in the same turn: then what came is not for it any more.
      }).finally(() => this.check());
    } finally {
      this.#waits -= 1;
    }
  }

  /** For a step that must wait before it may begin: gives its slot up meanwhile, and does not outlast the run. */
  async resting(wait: () => Promise<void>): Promise<void> {
    await this.#rest(wait);
    await this.#permitted();
  }

  /** A slot is held and nothing is paused: the step may begin. */
  async #permitted(): Promise<void> {
    const { slots } = this.parts;
    while (slots.paused || !this.#holdsSlot) {
      await (slots.paused ? this.#rest(() => slots.resumed()) : this.#takeSlot());
      // Ended meanwhile, it has given back what it got.
      this.check();
    }
  }

  async #rest(wait: () => Promise<void>): Promise<void> {
    this.#steps -= 1;
    this.#waits += 1;
    this.#giveSlot();
    try {
      await this.interruptible(wait());
    } finally {
      this.#waits -= 1;
      this.#steps += 1;
    }
    this.check();
  }

  /** Waits for work that may not listen to its signal: an end from outside does not wait for it. */
  interruptible<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#pending.push(reject);
      work.then(
        (value) => {
          this.#drop(reject);
          resolve(value);
        },
        (thrown: unknown) => {
          this.#drop(reject);
          reject(thrown);
        },
      );
    });
  }

  #drop(pending: (reason: unknown) => void): void {
    const at = this.#pending.indexOf(pending);
    if (at >= 0) this.#pending.splice(at, 1);
  }

  #giveSlot(): void {
    if (!this.#holdsSlot || this.#steps > 0) return;
    this.#holdsSlot = false;
    this.parts.slots.give(this.task.tree.slots);
  }

  /** Chains that need a slot at the same time wait for the same one. */
  #takeSlot(): Promise<void> {
    if (this.#slotComing !== undefined) return this.#slotComing;
    let arrived: (() => void) | undefined;
    const ticket = this.parts.slots.take(this.task.tree.slots, () => arrived?.());
    if (ticket === undefined) {
      this.#holdsSlot = true;
      return Promise.resolve();
    }
    this.#slotComing = new Promise<void>((resolve, reject) => {
      const leave = (reason: unknown): void => {
        ticket.gone = true;
        this.#slotComing = undefined;
        reject(reason);
      };
      arrived = () => {
        this.#holdsSlot = true;
        this.#slotComing = undefined;
        this.#drop(leave);
        resolve();
      };
      this.#pending.push(leave);
    });
    return this.#slotComing;
  }
}

export function otherInput(key: string): TuttiError {
  return new TuttiError(
    "conflict",
    `${key} was recorded with another input; the code of the loop changed under a running task`,
  );
}
