// Waits that are open: delivered to, expired or withdrawn, whichever comes first; the others are told (invariant 8).

import { dayCapLabel } from "../core/day-question.ts";
import { expiryMeaning } from "../protocol/task/ask.ts";
import { toTuttiError, TuttiError } from "../protocol/error.ts";
import type { Clock, Schema } from "../ports.ts";
import type { AnswerRow, Store, WaitRow } from "../store/store.ts";
import { decideBudget } from "./budget-gate.ts";
import { countAsk, type LiveTask } from "./live-task.ts";
import { askName } from "../store/names.ts";
import { chosen, type DayQuestions } from "./day-answers.ts";
import type { Recorder } from "./recorder.ts";
import type { Slots } from "./slots.ts";
import { storedAnswerIn, type WaitBody, waitBodyIn } from "./wait-body.ts";

interface OpenWait {
  readonly id: number;
  readonly task: LiveTask;
  readonly body: WaitBody;
  readonly due: number;
  /** Known once the loop has come to it; an answer that does not fit leaves the wait open. */
  schema: Schema<unknown> | undefined;
  callOff: () => void;
  listeners: Set<(answer: AnswerRow) => void>;
}

export class Waits {
  readonly #recorder: Recorder;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #slots: Slots;
  readonly #day: DayQuestions;
  readonly #open = new Map<number, OpenWait>();
  readonly #adopted = new Set<number>();
  /** Settled but perhaps not yet committed, so the store cannot tell. */
  readonly #justSettled = new Map<number, AnswerRow>();

  constructor(recorder: Recorder, slots: Slots, day: DayQuestions) {
    this.#recorder = recorder;
    this.#store = recorder.store;
    this.#clock = recorder.clock;
    this.#slots = slots;
    this.#day = day;
  }

  get(id: number): Readonly<Pick<OpenWait, "task" | "body" | "schema">> | undefined {
    return this.#open.get(id);
  }

  open(task: LiveTask, row: Omit<WaitRow, "id" | "task" | "root" | "ask" | "body">, wanted: WaitBody): number {
    const body = JSON.stringify(wanted);
    const clean = this.#recorder.clean(body);
    const kept = clean === body ? wanted : waitBodyIn({ body: clean });
    const { ask, label = "" } = kept;
    const place = { task: task.id, root: task.tree.root, ask: ask?.kind ?? null };
    const id = this.#store.addWait({ ...row, ...place, body: clean });
    this.#hold({ id, task, body: kept, due: row.due });
    const name = askName(this.#store.salt, id);
    if (ask === undefined) {
      if (label === dayCapLabel) countAsk(task, 1, this.#clock.now());
      this.#recorder.emit(task, "wait.opened", { wait: name, label });
    } else this.#askOpened(task, id, "ask.raised", { ask: name });
    return id;
  }

  /** After a restart: the wait is in the store and nobody has settled it. The clocks it stopped are set by the caller. */
  adopt(row: WaitRow, task: LiveTask): void {
    this.#adopted.add(row.id);
    this.#hold({ id: row.id, task, body: waitBodyIn(row), due: row.due });
    if (row.ask !== null) task.openAsks += 1;
  }

  /** Nobody had settled it when the process before this one ended. */
  wasOpenAtStart(id: number): boolean {
    return this.#adopted.has(id);
  }

  #hold(wait: { id: number; task: LiveTask; body: WaitBody; due: number }): void {
    const { id, task, body, due } = wait;
    const now = this.#clock.now();
    const callOff = this.#clock.timer(Math.max(0, due - now), () => this.settle(id, "expired", null));
    this.#open.set(id, { id, task, body, due, schema: undefined, callOff, listeners: new Set() });
    (task.waits ??= new Set()).add(id);
  }

  /** A task needs input exactly while one of its asks is open: the events that say so come with the ask's own. */
  #askOpened(task: LiveTask, id: number, type: "ask.raised" | "ask.reopened", data: unknown): void {
    task.openAsks += 1;
    countAsk(task, 1, this.#clock.now());
    this.#recorder.emit(task, type, data);
    this.#recorder.emit(task, "task.input_required", { ask: askName(this.#store.salt, id) });
  }

  #askClosed(task: LiveTask, at: number): void {
    task.openAsks -= 1;
    countAsk(task, -1, at);
    if (task.openAsks === 0 && task.status === "input_required") this.#recorder.emit(task, "task.resumed");
  }

  /** From now on an answer that does not fit is refused. */
  expect(id: number, schema: Schema<unknown>): void {
    const wait = this.#open.get(id);
    if (wait !== undefined) wait.schema = schema;
  }

  /** The loop has come back to a wait: an answer that nobody could check before must fit, or the wait is open again. */
  verify(row: WaitRow, task: LiveTask, schema: Schema<unknown>): void {
    if (!this.#open.has(row.id)) {
      const answer = this.settled(row.id) ?? this.#store.answer(row.id);
      const given = answer === undefined ? undefined : storedAnswerIn(answer);
      const reason = given?.unverified === true ? problemOf(schema, given.value) : undefined;
      if (reason === undefined) return;
      this.#reopen(row, task, reason);
    }
    this.expect(row.id, schema);
  }

  #reopen(row: WaitRow, task: LiveTask, reason: string): void {
    this.#store.dropAnswer(row.id);
    this.#justSettled.delete(row.id);
    this.#adopted.add(row.id);
    this.#hold({ id: row.id, task, body: waitBodyIn(row), due: row.due });
    const name = askName(this.#store.salt, row.id);
    if (row.ask === null) this.#recorder.emit(task, "wait.reopened", { wait: name, reason });
    else this.#askOpened(task, row.id, "ask.reopened", { ask: name, reason });
  }

  /** Calls back with the answer, at once if there is one; the returned function stops listening. */
  listen(id: number, schema: Schema<unknown>, listener: (answer: AnswerRow) => void): () => void {
    const wait = this.#open.get(id);
    if (wait === undefined) {
      const answer = this.settled(id) ?? this.#store.answer(id);
      if (answer === undefined) throw new TuttiError("internal", `the wait ${id} is neither open nor settled`);
      listener(answer);
      return () => undefined;
    }
    wait.schema = schema;
    wait.listeners.add(listener);
    return () => wait.listeners.delete(listener);
  }

  settled(id: number): AnswerRow | undefined {
    return this.#justSettled.get(id);
  }

  /** False when somebody else was first. */
  settle(id: number, kind: AnswerRow["kind"], given: string | null): boolean {
    const wait = this.#open.get(id);
    if (wait === undefined || this.#store.failure !== undefined) return false;
    // Its time may have passed while no process ran, and its timer not have fired yet.
    if (kind === "answered" && this.#clock.now() >= wait.due) {
      this.settle(id, "expired", null);
      return false;
    }
    const { task, body } = wait;
    this.#open.delete(id);
    wait.callOff();
    task.waits?.delete(id);
    const answer: AnswerRow = { wait: id, kind, at: this.#clock.now(), body: given };
    this.#store.addAnswer(answer);
    this.#justSettled.set(id, answer);
    this.#store.committed().then(
      () => {
        this.#justSettled.delete(id);
        return body.label === dayCapLabel && body.ask !== undefined ? this.#dayDecided(wait, answer) : undefined;
      },
      () => undefined,
    );
    this.#tell(wait, answer);
    for (const listener of wait.listeners) listener(answer);
    return true;
  }

  /** After the commit: what the person said counts once. */
  async #dayDecided({ id, body }: OpenWait, answer: AnswerRow): Promise<void> {
    await this.#day.closed(askName(this.#store.salt, id), chosen(body, answer)).catch(() => undefined);
  }

  #tell({ id, task, body }: OpenWait, answer: AnswerRow): void {
    const { ask } = body;
    const { kind } = answer;
    const name = askName(this.#store.salt, id);
    if (ask === undefined) {
      if (body.label === dayCapLabel) countAsk(task, -1, answer.at);
      this.#recorder.emit(task, "wait.settled", { wait: name, outcome: kind });
      return;
    }
    if (kind === "expired") this.#recorder.emit(task, "ask.expired", { ask: name, meaning: expiryMeaning[ask.kind] });
    else this.#recorder.emit(task, `ask.${kind}`, { ask: name, ...inFull(answer) });
    this.#askClosed(task, answer.at);
    if (ask.kind === "budget" && kind !== "withdrawn") {
      decideBudget({ recorder: this.#recorder, slots: this.#slots }, task, ask.details, answer);
    }
  }

  /** The task is over, or goes on without them: nobody needs these any more. */
  withdrawAll(task: LiveTask): void {
    for (const id of task.waits ?? []) this.settle(id, "withdrawn", null);
  }

  /** Calls off the timers of the task's waits without settling anything: the store keeps the waits for the next start. */
  release(task: LiveTask): void {
    for (const id of task.waits ?? []) {
      this.#open.get(id)?.callOff();
      this.#open.delete(id);
    }
  }
}

/** Why the value does not fit; undefined when it does. */
export function problemOf(schema: Schema<unknown>, value: unknown): string | undefined {
  try {
    schema.parse(value);
    return undefined;
  } catch (thrown) {
    return toTuttiError(thrown).message;
  }
}

/** The event points at the answer, unless that may have to go again. */
function inFull(answer: AnswerRow): { readonly answer?: unknown; readonly by?: unknown } {
  const given = storedAnswerIn(answer);
  return given?.unverified === true ? { answer: given.value, by: given.by } : {};
}
