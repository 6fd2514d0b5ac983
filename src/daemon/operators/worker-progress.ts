// Records a worker's progress as messages of its task, and gives the worker a fresh token.

import type { Clock, Tasks } from "../../ports.ts";
import type { TuttiError } from "../../protocol/error.ts";
import type { Message } from "../../protocol/task/message.ts";
import { issueToken } from "../../protocol/operator/capability-token.ts";
import type { WorkerEvent, WorkerEvents, WorkerEventsAccepted } from "../../protocol/operator/worker.ts";
import type { Store } from "../../store/store.ts";
import type { AuthorizedWorker } from "./authorize-worker.ts";
import type { Leases } from "./leases.ts";
import type { SigningKey } from "./signing-key.ts";
import type { WorkerQuotas } from "./worker-quota.ts";
import type { WorkerRefusal, WorkerReply } from "./worker-reply.ts";

export interface WorkAdmission {
  /** Why no new work is taken, such as a disk that is almost full; undefined while it is. */
  readonly refusesWork: TuttiError | undefined;
}

export interface WorkerProgressContext {
  readonly store: Pick<Store, "boundKey" | "bindKey" | "mailSent">;
  /** Resolves when everything queued so far is on disk. */
  readonly committed: () => Promise<void>;
  readonly engine: Pick<Tasks, "message"> & WorkAdmission;
  readonly workerQuotas: WorkerQuotas;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly signingKey: SigningKey;
}

type RecordProgress = (worker: AuthorizedWorker, body: WorkerEvents) => Promise<WorkerReply<WorkerEventsAccepted>>;

/** A post with a key is recorded once, however often it is repeated. */
export function progressRecorder(context: WorkerProgressContext): RecordProgress {
  const { store, committed, engine, leases, clock, signingKey, workerQuotas } = context;
  /**
   * Keys of posts that are queued and cannot be read from the store yet. Memory is enough for these: messages of a task
   * are written only by the process that runs the task, and once they are committed the stored key decides.
   */
  const beingPosted = new Set<string>();

  const post = async (
    worker: AuthorizedWorker,
    events: readonly WorkerEvent[],
    key?: string,
  ): Promise<WorkerRefusal | undefined> => {
    const { claims, rights } = worker;
    if (key !== undefined && (beingPosted.has(key) || store.boundKey(key) !== undefined)) return undefined;
    // Before the key is bound: a post that is refused must not count as recorded when it comes again.
    if (engine.refusesWork !== undefined) throw engine.refusesWork;
    const refusal = workerQuotas.take("workerEvents", { store, rights, posted: events });
    if (refusal !== undefined) return refusal;
    if (key !== undefined) {
      store.bindKey(key, { task: rights.task, content: "" });
      beingPosted.add(key);
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
    leases.recordProgress(rights);
    const name = key === undefined ? undefined : `worker ${claims.task} ${claims.attempt} ${key}`;
    const refusal = await post(worker, events, name);
    if (refusal !== undefined) return refusal;
    await committed();
    const { token, claims: fresh } = await issueToken(claims, signingKey.tokens, { now: clock.now() });
    return { ok: true, value: { accepted: events.length, capability_token: token, expires_at: fresh.expires_at } };
  };
}

function messageOf(event: WorkerEvent): Message {
  const about = { name: "worker", role: "assistant" as const };
  if (event.type === "partial")
    return { ...about, parts: [{ part_type: "data", data: { partial: event.value ?? null } }] };
  const { text, fraction } = event;
  const more = fraction === undefined ? [] : [{ part_type: "data" as const, data: { fraction } }];
  return { ...about, parts: [{ part_type: "text", data: text }, ...more] };
}
