// What a worker may do with its task. Whether it may is decided before anything else.

import { askName } from "../../store/names.ts";
import type { Delivery, Tasks } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { Message } from "../../protocol/task/message.ts";
import { operatorKeys, PostedResult } from "../../protocol/operator/operator-request.ts";
import { issueToken } from "../../protocol/operator/capability-token.ts";
import {
  submittedOk,
  type WorkerAsk,
  type WorkerAskAnswer,
  type WorkerEvent,
  type WorkerEvents,
  type WorkerEventsAccepted,
  type WorkerPrompt,
  type WorkerPromptQuery,
  type WorkerRecorded,
  type WorkerResult,
  type WorkerSubmitQuery,
} from "../../protocol/operator/worker.ts";
import type { Store } from "../../store/store.ts";
import type { Leases } from "./leases.ts";
import { stableJson } from "./stable-json.ts";
import { type Asking, workerAsk } from "./worker-ask.ts";
import { admitWorker, refuseEnded, type RefusedWorker, refuseWorker, type Worker } from "./worker-bearer.ts";
import { workerPrompt } from "./worker-prompt.ts";

export interface WorkerServiceOptions extends Asking {
  readonly store: Pick<Store, "logById" | "boundKey" | "bindKey">;
  /** Resolves when what was queued is on disk. */
  readonly committed: () => Promise<void>;
  readonly engine: Pick<Tasks, "deliver" | "message">;
  readonly leases: Leases;
}

export type WorkerReply<T> = { readonly ok: true; readonly value: T } | RefusedWorker;

export interface WorkerService {
  prompt(bearer: string | undefined, query: WorkerPromptQuery): Promise<WorkerReply<WorkerPrompt>>;
  result(bearer: string | undefined, body: WorkerResult): Promise<WorkerReply<WorkerRecorded>>;
  /** The text is the result, without the white space at its end. */
  submit(bearer: string | undefined, text: string, query: WorkerSubmitQuery): Promise<WorkerReply<WorkerRecorded>>;
  events(bearer: string | undefined, body: WorkerEvents): Promise<WorkerReply<WorkerEventsAccepted>>;
  ask(bearer: string | undefined, body: WorkerAsk, signal: AbortSignal): Promise<WorkerReply<WorkerAskAnswer>>;
}

export function workerService(options: WorkerServiceOptions): WorkerService {
  const posting = new Set<string>();
  return {
    async prompt(bearer, { task_id }) {
      const worker = await admitWorker(options, bearer, { verb: "prompt", task: task_id });
      return worker.ok ? (refuseEnded(options, worker) ?? givePrompt(options, worker)) : worker;
    },
    async result(bearer, { task_id, value, ok, attempt }) {
      const worker = await admitWorker(options, bearer, { verb: "result", task: task_id, attempt });
      return worker.ok ? record(options, worker, { value, ok }) : worker;
    },
    async submit(bearer, text, query) {
      const worker = await admitWorker(options, bearer, { verb: "result" });
      return worker.ok ? record(options, worker, { value: text.trimEnd(), ok: submittedOk(query) }) : worker;
    },
    async events(bearer, body) {
      const worker = await admitWorker(options, bearer, { verb: "events" });
      if (!worker.ok) return worker;
      return refuseDone(options, worker) ?? unlessOver(() => progress({ ...options, posting }, worker, body));
    },
    async ask(bearer, body, signal) {
      const worker = await admitWorker(options, bearer, { verb: "ask" });
      if (!worker.ok) return worker;
      const ended = refuseDone(options, worker);
      if (ended !== undefined) return ended;
      options.leases.heard(worker.task, worker.claims.attempt);
      return unlessOver(() => workerAsk(options, worker, body, signal));
    },
  };
}

/** That it was fetched is on disk before it is told: from then on the task is not offered to anybody else. */
async function givePrompt(options: WorkerServiceOptions, { task, claims }: Worker): Promise<WorkerReply<WorkerPrompt>> {
  const row = options.view.taskRow(task);
  if (row === undefined) return refuseWorker("attempt_over");
  options.leases.fetched(task, claims.attempt, claims.expires_at);
  await options.committed();
  const about = { task_id: claims.task, attempt: claims.attempt };
  return { ok: true, value: workerPrompt(options, row, about) };
}

/** The first result wins. The same again is told so, since whoever posts twice may not have heard the answer to the first. */
async function record(
  options: WorkerServiceOptions,
  { task, claims }: Worker,
  given: { readonly value: unknown; readonly ok: boolean },
): Promise<WorkerReply<WorkerRecorded>> {
  const { view, engine, signingKey } = options;
  const row = view.waitAt(task, claims.attempt, operatorKeys.result);
  if (row === undefined) return refuseWorker("attempt_over");
  const value = given.value ?? null;
  const digest = signingKey.mac("result", stableJson({ ok: given.ok, value }));
  const by = { kind: "operator" as const, name: `worker of ${claims.agent ?? claims.task}` };
  const posted: PostedResult = { value, ok: given.ok, digest };
  return recorded(await engine.deliver(askName(view.salt, row.id), posted, by), digest);
}

function recorded(delivery: Delivery, digest: string): WorkerReply<WorkerRecorded> {
  switch (delivery.outcome) {
    case "accepted":
      return { ok: true, value: { recorded: true, already: false } };
    case "late": {
      if (delivery.settled.kind !== "answered") return refuseWorker("attempt_over");
      const first = PostedResult.safeParse(delivery.settled.value).data;
      if (first?.digest !== digest) return refuseWorker("already_posted");
      return { ok: true, value: { recorded: true, already: true } };
    }
    case "unknown":
      return refuseWorker("attempt_over");
    case "invalid":
      throw new TuttiError("internal", `a result was refused by its own wait: ${delivery.message}`);
  }
}

async function progress(
  options: WorkerServiceOptions & { readonly posting: Set<string> },
  { task, claims }: Worker,
  { events, key }: WorkerEvents,
): Promise<WorkerReply<WorkerEventsAccepted>> {
  const { engine, store, leases, clock, signingKey, committed, posting } = options;
  leases.progressed(task, claims.attempt);
  const name = key === undefined ? undefined : `worker ${claims.task} ${claims.attempt} ${key}`;
  if (name === undefined || !(posting.has(name) || store.boundKey(name) !== undefined)) {
    // Queued in order in this tick, the key with them, so all of it is kept or nothing.
    if (name !== undefined) {
      store.bindKey(name, { task, content: "" });
      posting.add(name);
    }
    try {
      await Promise.all(events.map((event) => engine.message(claims.task, messageOf(event))));
    } finally {
      if (name !== undefined) posting.delete(name);
    }
  }
  await committed();
  const { token, claims: fresh } = await issueToken(claims, signingKey.tokens, { now: clock.now() });
  return { ok: true, value: { accepted: events.length, capability_token: token, expires_at: fresh.expires_at } };
}

function messageOf(event: WorkerEvent): Message {
  const about = { name: "worker", role: "assistant" as const };
  if (event.type === "partial")
    return { ...about, parts: [{ part_type: "data", data: { partial: event.value ?? null } }] };
  const { text, fraction } = event;
  const more = fraction === undefined ? [] : [{ part_type: "data" as const, data: { fraction } }];
  return { ...about, parts: [{ part_type: "text", data: text }, ...more] };
}

/** Refused when the task is over, or has its result: what is said after it would be kept nowhere. */
function refuseDone(options: WorkerServiceOptions, worker: Worker): RefusedWorker | undefined {
  const row = options.view.waitAt(worker.task, worker.claims.attempt, operatorKeys.result);
  const posted = row !== undefined && options.view.answer(row.id)?.kind === "answered";
  return refuseEnded(options, worker) ?? (posted ? refuseWorker("already_posted") : undefined);
}

/** A task that ends while it is spoken to says so by an error. */
async function unlessOver<T>(work: () => Promise<WorkerReply<T>>): Promise<WorkerReply<T>> {
  try {
    return await work();
  } catch (thrown) {
    const over = thrown instanceof TuttiError && (thrown.code === "conflict" || thrown.code === "not_found");
    if (over) return refuseWorker("attempt_over");
    throw thrown;
  }
}
