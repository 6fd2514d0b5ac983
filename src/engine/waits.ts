// Waits that are open: delivered to, expired or withdrawn, whichever comes first; the others are told (invariant 8).

import { z } from "zod";

import { Answer, Answerer, expiryMeaning } from "../protocol/task/ask.ts";
import { toTuttiError, TuttiError } from "../protocol/error.ts";
import type { AskSpec, Clock, Schema, Settled } from "../ports.ts";
import type { AnswerRow, Store, WaitRow } from "../store/store.ts";
import { countAsk, type LiveTask } from "./live.ts";
import { askName } from "./names.ts";

/** `{ask?, label?, details?}` as it stands in the row. */
export interface WaitBody {
  readonly ask?: AskSpec;
  readonly label?: string;
  readonly details?: unknown;
}

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

interface WaitsDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Text as it may be recorded. */
  readonly clean: (text: string) => string;
  readonly emit: (task: LiveTask, type: string, data: unknown) => void;
  /** A budget ask was answered, or nobody did in time. */
  readonly onBudget: (task: LiveTask, details: unknown, answer: AnswerRow) => void;
}

/** `unverified`: it came after a restart, before the loop had said what it takes. */
const StoredAnswer = z.object({ value: z.unknown(), by: Answerer, unverified: z.literal(true).optional() });
export type StoredAnswer = z.infer<typeof StoredAnswer>;

/** Undefined for a wait that expired or was withdrawn. */
export function storedAnswerIn({ kind, body }: AnswerRow): StoredAnswer | undefined {
  return kind === "answered" ? StoredAnswer.parse(JSON.parse(body ?? "null")) : undefined;
}

export function settledIn({ kind, body }: AnswerRow): Settled {
  if (kind !== "answered") return { kind };
  const { value, by } = StoredAnswer.parse(JSON.parse(body ?? "null"));
  return { kind, value, by };
}

/** The answer to an ask; undefined when nobody gave one. */
export function answerIn(row: AnswerRow): Answer | undefined {
  return Answer.safeParse(storedAnswerIn(row)?.value).data;
}

export class Waits {
  readonly #deps: WaitsDeps;
  readonly #open = new Map<number, OpenWait>();
  readonly #adopted = new Set<number>();

  constructor(deps: WaitsDeps) {
    this.#deps = deps;
  }

  get(id: number): { readonly body: WaitBody; readonly schema: Schema<unknown> | undefined } | undefined {
    return this.#open.get(id);
  }

  open(task: LiveTask, row: Omit<WaitRow, "id" | "task" | "root" | "body">, asked: WaitBody): number {
    const { store } = this.#deps;
    const given = JSON.stringify(asked);
    const text = this.#deps.clean(given);
    const body: WaitBody = text === given ? asked : JSON.parse(text);
    const id = store.addWait({ ...row, task: task.id, root: task.tree.root, body: text });
    this.#hold({ id, task, body, due: row.due });
    if (body.ask !== undefined) countAsk(task, 1, row.raised_at);
    const name = askName(store.salt, id);
    if (body.ask === undefined) this.#deps.emit(task, "wait.opened", { wait: name, label: body.label ?? "" });
    else this.#deps.emit(task, "ask.raised", { ask: name });
    return id;
  }

  /** After a restart: the wait is in the store and nobody has settled it. The time asked before is counted by the caller. */
  adopt(row: WaitRow, task: LiveTask): void {
    const body: WaitBody = JSON.parse(row.body);
    this.#adopted.add(row.id);
    this.#hold({ id: row.id, task, body, due: row.due });
  }

  /** Nobody had settled it when the process before this one ended. */
  wasOpenAtStart(id: number): boolean {
    return this.#adopted.has(id);
  }

  #hold(wait: { id: number; task: LiveTask; body: WaitBody; due: number }): void {
    const { id, task, body, due } = wait;
    const now = this.#deps.clock.now();
    const callOff = this.#deps.clock.timer(Math.max(0, due - now), () => this.settle(id, "expired", null));
    this.#open.set(id, { id, task, body, due, schema: undefined, callOff, listeners: new Set() });
    (task.waits ??= new Set()).add(id);
  }

  /** From now on an answer that does not fit is refused. */
  expect(id: number, schema: Schema<unknown>): void {
    const wait = this.#open.get(id);
    if (wait !== undefined) wait.schema = schema;
  }

  /** The loop has come back to a wait: an answer that nobody could check before must fit, or the wait is open again. */
  verify(row: WaitRow, task: LiveTask, schema: Schema<unknown>): void {
    const { store, clock } = this.#deps;
    if (!this.#open.has(row.id)) {
      const answer = this.settled(row.id) ?? store.answer(row.id);
      const given = answer === undefined ? undefined : storedAnswerIn(answer);
      const problem = given?.unverified === true ? problemOf(schema, given.value) : undefined;
      if (problem === undefined) return;
      store.dropAnswer(row.id);
      this.#justSettled.delete(row.id);
      this.adopt(row, task);
      const name = askName(store.salt, row.id);
      const isAsk = this.#open.get(row.id)?.body.ask !== undefined;
      if (isAsk) countAsk(task, 1, clock.now());
      this.#deps.emit(
        task,
        isAsk ? "ask.reopened" : "wait.reopened",
        isAsk ? { ask: name, reason: problem } : { wait: name, reason: problem },
      );
    }
    this.expect(row.id, schema);
  }

  /** Calls back with the answer, at once if there is one; the returned function stops listening. */
  listen(id: number, schema: Schema<unknown>, listener: (answer: AnswerRow) => void): () => void {
    const wait = this.#open.get(id);
    if (wait === undefined) {
      const answer = this.settled(id) ?? this.#deps.store.answer(id);
      if (answer === undefined) throw new TuttiError("internal", `the wait ${id} is neither open nor settled`);
      listener(answer);
      return () => undefined;
    }
    wait.schema = schema;
    wait.listeners.add(listener);
    return () => wait.listeners.delete(listener);
  }

  /** Settled but perhaps not yet committed, so the store cannot tell. */
  readonly #justSettled = new Map<number, AnswerRow>();

  settled(id: number): AnswerRow | undefined {
    return this.#justSettled.get(id);
  }

  /** False when somebody else was first. */
  settle(id: number, kind: AnswerRow["kind"], body: string | null): boolean {
    const wait = this.#open.get(id);
    const { store, clock } = this.#deps;
    if (wait === undefined || store.failure !== undefined) return false;
    // Its time may have passed while no process ran, and its clock not have struck yet.
    if (kind === "answered" && clock.now() >= wait.due) {
      this.settle(id, "expired", null);
      return false;
    }
    this.#open.delete(id);
    wait.callOff();
    wait.task.waits?.delete(id);
    const answer: AnswerRow = { wait: id, kind, at: clock.now(), body };
    store.addAnswer(answer);
    this.#justSettled.set(id, answer);
    store.committed().then(
      () => this.#justSettled.delete(id),
      () => undefined,
    );
    if (wait.body.ask !== undefined) countAsk(wait.task, -1, answer.at);
    const name = askName(store.salt, id);
    const { ask } = wait.body;
    if (ask === undefined) this.#deps.emit(wait.task, "wait.settled", { wait: name, outcome: kind });
    else if (kind === "expired")
      this.#deps.emit(wait.task, "ask.expired", { ask: name, meaning: expiryMeaning[ask.kind] });
    else this.#deps.emit(wait.task, `ask.${kind}`, { ask: name, ...inFull(answer) });
    if (ask?.kind === "budget" && kind !== "withdrawn") this.#deps.onBudget(wait.task, ask.details, answer);
    for (const listener of wait.listeners) listener(answer);
    return true;
  }

  /** The task is over: nobody needs these any more. */
  withdrawAll(task: LiveTask): void {
    for (const id of task.waits ?? []) this.settle(id, "withdrawn", null);
  }

  /** Stops the clocks without settling anything; the store keeps the waits for the next start. */
  close(): void {
    for (const wait of this.#open.values()) wait.callOff();
    this.#open.clear();
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
