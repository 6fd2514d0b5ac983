// How a run waits: for answers, for messages, for time, and for the first of several things.

import { z } from "zod";

import { Answerer, defaultAskMs } from "../protocol/task/ask.ts";
import { TuttiError } from "../protocol/error.ts";
import { AgentResult } from "../protocol/invocation/invocation-result.ts";
import { CompleteMessage } from "../protocol/task/message.ts";
import type { Schema, Selected, Source, Wait, Waited, WaitOptions } from "../ports.ts";
import type { AnswerRow } from "../store/store.ts";
import { askName, idInName } from "../store/names.ts";
import type { RunCore } from "./run-core.ts";
import { ownChild, storedResult } from "./run-children.ts";
import { storedAnswerIn } from "./wait-body.ts";
import { onResult } from "./live-task.ts";

export async function openWait<T>(core: RunCore, key: string, options: WaitOptions<T>): Promise<Wait<T>> {
  core.use(key);
  return openWaitAt(core, key, options);
}

/** The key is in use already, or follows from one that is. */
export async function openWaitAt<T>(core: RunCore, key: string, options: WaitOptions<T>): Promise<Wait<T>> {
  const { parts, info, task } = core;
  const { store, waits } = parts;
  const known = info.fresh ? undefined : store.wait(info.id, key);
  if (known !== undefined) {
    waits.verify(known, task, options.schema);
    return { id: askName(store.salt, known.id), schema: options.schema };
  }
  const now = parts.clock.now();
  const { ask, label, details } = options;
  const id = waits.open(
    task,
    { run: info.id, key, raised_at: now, due: now + (options.within ?? defaultAskMs) },
    {
      ...(ask === undefined ? {} : { ask }),
      ...(label === undefined ? {} : { label }),
      ...(details === undefined ? {} : { details }),
    },
  );
  waits.expect(id, options.schema);
  core.flushState();
  await core.committed();
  return { id: askName(store.salt, id), schema: options.schema };
}

export async function awaitAnswer<T>(core: RunCore, wait: Wait<T>): Promise<Waited<T>> {
  const id = waitId(core, wait);
  const answer = await core.waiting<AnswerRow>((resolve) => core.parts.waits.listen(id, wait.schema, resolve));
  return waitedIn(answer, wait.schema);
}

export async function withdrawWait(core: RunCore, key: string, wait: Wait<unknown>): Promise<void> {
  core.use(key);
  core.parts.waits.settle(waitId(core, wait), "withdrawn", null);
  await core.committed();
}

export async function selectFirst(core: RunCore, key: string, sources: readonly Source[]): Promise<Selected> {
  core.use(key);
  const recorded = core.recorded(key);
  if (recorded !== undefined) return RecordedSelect.parse(JSON.parse(recorded.body ?? "null"));
  const start = startOf(core, key, sources);
  // A child that has just ended is gone from memory and perhaps not yet on disk.
  if (sources.some((source) => "child" in source && core.parts.tasks.find(source.child) === undefined))
    await core.committed();
  const selected = await core.waiting<Selected>((resolve) => firstOf(core, { sources, start }, resolve));
  const body = JSON.stringify(selected);
  if (selected.kind === "message") recordMail(core, key, body);
  else core.record(key, { kind: "selected", body });
  return selected;
}

function firstOf(
  core: RunCore,
  race: { readonly sources: readonly Source[]; readonly start: number },
  resolve: (selected: Selected) => void,
): () => void {
  let done = false;
  const offs: (() => void)[] = [];
  const off = (): void => {
    for (const each of offs) each();
  };
  const win = (winner: Selected): void => {
    if (done) return;
    done = true;
    off();
    resolve(winner);
  };
  try {
    race.sources.forEach((source, index) => {
      if (!done) offs.push(listen(core, { source, index, start: race.start }, win));
    });
  } catch (thrown) {
    // A source that is not ours: the others must not go on listening, they could take mail nobody sees.
    off();
    throw thrown;
  }
  if (done) off();
  return off;
}

function listen(
  core: RunCore,
  at: { readonly source: Source; readonly index: number; readonly start: number },
  win: (selected: Selected) => void,
): () => void {
  const { source, index } = at;
  const { tasks, waits, clock } = core.parts;
  if ("child" in source) {
    const child = tasks.find(source.child);
    const deliver = (value: AgentResult): void => win({ index, kind: "child", value });
    if (child !== undefined && ownChild(core, child).result === undefined) return onResult(child, deliver);
    deliver(child?.result ?? storedResult(core, source.child));
    return () => undefined;
  }
  if ("wait" in source) {
    const { schema } = source.wait;
    return waits.listen(waitId(core, source.wait), schema, (answer) =>
      win({ index, kind: "wait", value: waitedIn(answer, schema) }),
    );
  }
  if ("message" in source) return onMail(core, (value) => win({ index, kind: "message", value }));
  const due = at.start + source.after;
  return clock.timer(Math.max(0, due - clock.now()), () => win({ index, kind: "after" }));
}

/** When a select's clocks began: fixed when it was first reached, so a restart does not start them anew. */
function startOf(core: RunCore, key: string, sources: readonly Source[]): number {
  return sources.some((source) => "after" in source) ? dueAfter(core, key, 0) : 0;
}

function dueAfter(core: RunCore, key: string, ms: number): number {
  const { parts, info } = core;
  const known = info.fresh ? undefined : parts.store.timer(info.id, key);
  if (known !== undefined) return known;
  const due = parts.clock.now() + ms;
  parts.store.addTimer(info.id, key, due);
  core.flushState();
  return due;
}

export async function sleepFor(core: RunCore, key: string, ms: number): Promise<void> {
  core.use(key);
  const due = dueAfter(core, key, ms);
  const remaining = due - core.parts.clock.now();
  if (remaining > 0) await core.waiting<void>((resolve) => core.parts.clock.timer(remaining, resolve));
}

// ---- mail

export async function receiveMail(
  core: RunCore,
  key: string,
  options: { readonly block: boolean },
): Promise<CompleteMessage | undefined> {
  core.use(key);
  const recorded = core.recorded(key);
  if (recorded !== undefined) return RecordedMail.parse(JSON.parse(recorded.body ?? "null")) ?? undefined;
  const message = options.block
    ? await core.waiting<CompleteMessage>((resolve) => onMail(core, resolve))
    : nextMail(core);
  // Nothing there is not worth a row: a restart that comes back here looks again, and what it finds then was not heard before.
  if (message !== undefined) recordMail(core, key, JSON.stringify(message));
  return message;
}

/** Undefined when the signal is aborted first: what comes after that is left to whoever looks next. */
export async function receiveMailAt(
  core: RunCore,
  key: string,
  signal: AbortSignal,
): Promise<CompleteMessage | undefined> {
  const recorded = core.recorded(key);
  if (recorded !== undefined) return CompleteMessage.parse(JSON.parse(recorded.body ?? "null"));
  if (signal.aborted) return undefined;
  const message = await core.waiting<CompleteMessage | undefined>((resolve) => {
    const off = onMail(core, resolve);
    const aborted = (): void => {
      off();
      resolve(undefined);
    };
    signal.addEventListener("abort", aborted);
    return () => {
      signal.removeEventListener("abort", aborted);
      off();
    };
  });
  if (message !== undefined) recordMail(core, key, JSON.stringify(message));
  return message;
}

function onMail(core: RunCore, deliver: (message: CompleteMessage) => void): () => void {
  const look = (): boolean => {
    const message = nextMail(core);
    if (message !== undefined) deliver(message);
    return message !== undefined;
  };
  if (look()) return () => undefined;
  const off = (): void => {
    core.task.onMail?.delete(wake);
  };
  const wake = (): void => {
    if (look()) off();
  };
  (core.task.onMail ??= new Set()).add(wake);
  return off;
}

function nextMail(core: RunCore): CompleteMessage | undefined {
  const next = core.parts.store.nextMail(core.task.id, mailTaken(core));
  if (next === undefined) return undefined;
  core.mailTaken = next.id;
  return CompleteMessage.parse(JSON.parse(next.body));
}

/** The last message this run has taken, or any run of the task has recorded. */
function mailTaken(core: RunCore): number {
  const { fresh, attempt, run } = core.info;
  const isFirst = fresh && attempt === 1 && run === 1;
  core.task.mailTaken ??= isFirst ? 0 : (core.parts.store.lastMailTaken(core.task.id) ?? 0);
  core.mailTaken ??= core.task.mailTaken;
  return core.mailTaken;
}

/** Only now is the mail the run's: one that was ended before leaves it to the next. */
function recordMail(core: RunCore, key: string, body: string): void {
  const taken = mailTaken(core);
  core.task.mailTaken = Math.max(core.task.mailTaken ?? 0, taken);
  core.record(key, { kind: "received", body, mail: taken });
}

// ---- reading back

const RecordedMail = CompleteMessage.nullable();

const RecordedSelect: Schema<Selected> = z.discriminatedUnion("kind", [
  z.object({ index: z.int(), kind: z.literal("child"), value: AgentResult }),
  z.object({
    index: z.int(),
    kind: z.literal("wait"),
    value: z.union([z.object({ expired: z.literal(true) }), z.object({ value: z.unknown(), by: Answerer })]),
  }),
  z.object({ index: z.int(), kind: z.literal("message"), value: CompleteMessage }),
  z.object({ index: z.int(), kind: z.literal("after") }),
]);

export function waitId(core: RunCore, wait: Wait<unknown>): number {
  const id = idInName(core.parts.store.salt, wait.id);
  if (id === undefined) throw new TuttiError("not_found", `there is no wait ${wait.id}`);
  return id;
}

function waitedIn<T>(answer: AnswerRow, schema: Schema<T>): Waited<T> {
  const given = storedAnswerIn(answer);
  return given === undefined ? { expired: true } : { value: schema.parse(given.value), by: given.by };
}
