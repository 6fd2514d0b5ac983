// A worker's question: opened once per key by its task, and polled for its answer by asking again.

import { createHash } from "node:crypto";

import type { Tasks } from "../../ports.ts";
import { Answer } from "../../protocol/task/ask.ts";
import { WorkerAskDetails, type WorkerAskPart } from "../../protocol/operator/operator-request.ts";
import type { WorkerAsk, WorkerAskAnswer } from "../../protocol/operator/worker.ts";
import type { WaitRow } from "../../store/store.ts";
import type { EventFeed } from "../state/event-feed.ts";
import { stableJson } from "./stable-json.ts";
import { type Bearers, refuseEnded, type RefusedWorker, refuseWorker, type Worker } from "./worker-bearer.ts";

export interface Asking extends Bearers {
  readonly engine: Pick<Tasks, "message">;
  readonly feed: Pick<EventFeed, "subscribe">;
}

export type Asked = { readonly ok: true; readonly value: WorkerAskAnswer } | RefusedWorker;

/** Stays until there is an answer, `wait_ms` have passed, or the signal says that nobody listens any more. */
export async function workerAsk(asking: Asking, worker: Worker, body: WorkerAsk, signal: AbortSignal): Promise<Asked> {
  const { view, clock, engine } = asking;
  const { task, claims } = worker;
  const wait = `ask.${createHash("sha256").update(body.key).digest("hex").slice(0, 32)}`;
  const digest = asking.signingKey.mac("ask", stableJson(body.question));
  const until = clock.now() + body.wait_ms;
  const find = (): WaitRow | undefined => view.waitAt(task, claims.attempt, wait);
  if (find() === undefined) {
    const part: WorkerAskPart = {
      worker_ask: { attempt: claims.attempt, wait, digest, question: body.question ?? null },
    };
    await engine.message(claims.task, {
      name: "worker",
      role: "assistant",
      parts: [{ part_type: "data", data: part }],
    });
  }
  for (;;) {
    const row = find();
    const settled = row === undefined ? undefined : standing(asking, row, digest);
    if (settled !== undefined) return settled;
    const ended = refuseEnded(asking, worker);
    if (ended !== undefined) return ended;
    const left = until - clock.now();
    if (left <= 0 || signal.aborted) return { ok: true, value: { state: "waiting" } };
    await change(asking, { task: claims.task, ms: left, signal });
  }
}

/** Undefined while it is open. */
function standing({ view }: Asking, row: WaitRow, digest: string): Asked | undefined {
  const { ask }: { ask?: { details?: unknown } } = JSON.parse(row.body);
  if (WorkerAskDetails.safeParse(ask?.details).data?.worker.digest !== digest) return refuseWorker("key_reused");
  const answer = view.answer(row.id);
  switch (answer?.kind) {
    case undefined:
      return undefined;
    case "expired":
      return { ok: true, value: { state: "expired" } };
    case "withdrawn":
      return refuseWorker("attempt_over");
    case "answered": {
      const { value }: { value?: unknown } = JSON.parse(answer.body ?? "{}");
      const given = Answer.parse(value);
      return { ok: true, value: { state: "answered", value: given.kind === "question" ? given.value : given } };
    }
  }
}

/** Until something happened in the task, the time is over, or nobody listens. */
function change(
  { feed, clock }: Asking,
  { task, ms, signal }: { readonly task: string; readonly ms: number; readonly signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      off();
      callOff();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const off = feed.subscribe((events) => {
      if (events.some(({ event }) => event.task === task)) done();
    });
    const callOff = clock.timer(ms, done);
    signal.addEventListener("abort", done);
  });
}
