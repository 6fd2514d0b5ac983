// Records a worker's progress as messages of its task, and gives the worker a fresh token.

import type { Tasks } from "../../ports.ts";
import type { TuttiError } from "../../protocol/error.ts";
import type { Message } from "../../protocol/task/message.ts";
import type { WorkerUsagePart } from "../../protocol/operator/operator-request.ts";
import type { WorkerEvent, WorkerEvents, WorkerEventsAccepted } from "../../protocol/operator/worker.ts";
import type { Store } from "../../store/store.ts";
import type { AuthorizedWorker } from "./authorize-worker.ts";
import type { Leases } from "./leases.ts";
import { type RenewContext, renewRights } from "./renew-rights.ts";
import { stableJson } from "./stable-json.ts";
import type { WorkerQuotas } from "./worker-quota.ts";
import { refuseWorker, type WorkerRefusal, type WorkerReply } from "./worker-reply.ts";

export interface WorkAdmission {
  /** Why no new work is taken, such as a disk that is almost full; undefined while it is. */
  readonly refusesWork: TuttiError | undefined;
}

export interface WorkerProgressContext extends RenewContext {
  readonly store: Pick<Store, "boundKey" | "bindKey" | "mailSent">;
  /** Resolves when everything queued so far is on disk. */
  readonly committed: () => Promise<void>;
  readonly engine: Pick<Tasks, "message"> & WorkAdmission;
  readonly workerQuotas: WorkerQuotas;
  readonly leases: Leases;
}

type RecordProgress = (worker: AuthorizedWorker, body: WorkerEvents) => Promise<WorkerReply<WorkerEventsAccepted>>;

/** A post with a key is recorded once, however often it is repeated. */
export function progressRecorder(context: WorkerProgressContext): RecordProgress {
  const { store, committed, engine, leases, signingKey, workerQuotas } = context;
  /**
   * Keys of posts that are queued and cannot be read from the store yet. Memory is enough for these: messages of a task
   * are written only by the process that runs the task, and once they are committed the stored key decides. The value is
   * a digest of what is posted.
   */
  const beingPosted = new Map<string, string>();

  const post = async (
    worker: AuthorizedWorker,
    events: readonly WorkerEvent[],
    key?: string,
  ): Promise<WorkerRefusal | undefined> => {
    const { claims, rights } = worker;
    const digest = signingKey.mac("events", stableJson(events));
    const before = key === undefined ? undefined : (beingPosted.get(key) ?? store.boundKey(key)?.content);
    // A key that was bound before its content was kept has none to compare.
    if (before !== undefined) return before === digest || before === "" ? undefined : refuseWorker("key_reused");
    // Before the key is bound: a post that is refused must not count as recorded when it comes again.
    if (engine.refusesWork !== undefined) throw engine.refusesWork;
    const refusal = workerQuotas.take("workerEvents", { store, rights, posted: events });
    if (refusal !== undefined) return refusal;
    if (key !== undefined) {
      store.bindKey(key, { task: rights.task, content: digest });
      beingPosted.set(key, digest);
    }
    try {
      // The messages are queued in order and in the same tick as the key, so all of it is in one commit.
      await Promise.all(events.map((event) => engine.message(claims.task, messageOf(event), { admitted: true })));
    } finally {
      if (key !== undefined) beingPosted.delete(key);
    }
    return undefined;
  };

  return async (worker, { events, key }) => {
    const { claims, rights } = worker;
    // Also when the post is refused: the worker is alive.
    leases.recordProgress(rights, worker.lives);
    const name = key === undefined ? undefined : `worker ${claims.task} ${claims.attempt} ${key}`;
    const refusal = await post(worker, events, name);
    if (refusal !== undefined) return refusal;
    const renewed = await renewRights(context, worker);
    await committed();
    return { ok: true, value: { accepted: events.length, ...renewed } };
  };
}

function messageOf(event: WorkerEvent): Message {
  const about = { name: "worker", role: "assistant" as const };
  if (event.type === "partial")
    return { ...about, parts: [{ part_type: "data", data: { partial: event.value ?? null } }] };
  if (event.type === "usage") {
    const { input_tokens, output_tokens, money_micro_usd } = event;
    const data: WorkerUsagePart = { worker_usage: { input_tokens, output_tokens, money_micro_usd } };
    return { ...about, parts: [{ part_type: "data", data }] };
  }
  const { text, fraction } = event;
  const more = fraction === undefined ? [] : [{ part_type: "data" as const, data: { fraction } }];
  return { ...about, parts: [{ part_type: "text", data: text }, ...more] };
}
