// Records a worker's progress as messages of its task, and gives the worker a fresh token.

import type { Clock, Tasks } from "../../ports.ts";
import type { Message } from "../../protocol/task/message.ts";
import { issueToken } from "../../protocol/operator/capability-token.ts";
import type { WorkerEvent, WorkerEvents, WorkerEventsAccepted } from "../../protocol/operator/worker.ts";
import type { Store } from "../../store/store.ts";
import type { AuthorizedWorker } from "./authorize-worker.ts";
import type { Leases } from "./leases.ts";
import type { SigningKey } from "./signing-key.ts";
import type { WorkerReply } from "./worker-reply.ts";

export interface WorkerProgressContext {
  readonly store: Pick<Store, "boundKey" | "bindKey">;
  /** Resolves when everything queued so far is on disk. */
  readonly committed: () => Promise<void>;
  readonly engine: Pick<Tasks, "message">;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly signingKey: SigningKey;
}

type RecordProgress = (worker: AuthorizedWorker, body: WorkerEvents) => Promise<WorkerReply<WorkerEventsAccepted>>;

/** A post with a key is recorded once, however often it is repeated. */
export function progressRecorder(context: WorkerProgressContext): RecordProgress {
  const { store, committed, engine, leases, clock, signingKey } = context;
  /**
   * Keys of posts that are queued and cannot be read from the store yet. Memory is enough for these: messages of a task
   * are written only by the process that runs the task, and once they are committed the stored key decides.
   */
  const beingPosted = new Set<string>();

  const post = async (worker: AuthorizedWorker, events: readonly WorkerEvent[], key?: string): Promise<void> => {
    const { claims, rights } = worker;
    if (key !== undefined) {
      if (beingPosted.has(key) || store.boundKey(key) !== undefined) return;
      store.bindKey(key, { task: rights.task, content: "" });
      beingPosted.add(key);
    }
    try {
      // The messages are queued in order and in the same tick as the key, so all of it is in one commit.
      await Promise.all(events.map((event) => engine.message(claims.task, messageOf(event))));
    } finally {
      if (key !== undefined) beingPosted.delete(key);
    }
  };

  return async (worker, { events, key }) => {
    const { claims, rights } = worker;
    leases.recordProgress(rights);
    await post(worker, events, key === undefined ? undefined : `worker ${claims.task} ${claims.attempt} ${key}`);
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
