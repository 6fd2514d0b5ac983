// A worker's question: its task raises it once per key, and the worker polls for the answer by asking again.

import { createHash } from "node:crypto";

import { answerSchemaProblem } from "../../engine/check-answer.ts";
import { storedAnswerIn, waitBodyIn } from "../../engine/wait-body.ts";
import type { Tasks } from "../../ports.ts";
import { Answer } from "../../protocol/task/ask.ts";
import { WorkerAskDetails, type WorkerAskPart } from "../../protocol/operator/operator-request.ts";
import { type WorkerAsk, type WorkerAskState, WorkerQuestion } from "../../protocol/operator/worker.ts";
import type { WaitRow } from "../../store/store.ts";
import type { EventFeed } from "../state/event-feed.ts";
import { type AuthorizedWorker, refuseEnded, type WorkerAuthContext } from "./authorize-worker.ts";
import type { WorkAdmission } from "./worker-progress.ts";
import type { WorkerQuotas } from "./worker-quota.ts";
import { stableJson } from "./stable-json.ts";
import { refuseWorker, type WorkerReply } from "./worker-reply.ts";

export interface WorkerAskContext extends WorkerAuthContext {
  readonly engine: Pick<Tasks, "message"> & WorkAdmission;
  readonly workerQuotas: WorkerQuotas;
  readonly feed: Pick<EventFeed, "subscribe">;
}

/** Returns when there is an answer, `wait_ms` have passed, or the signal says that the worker has hung up. */
export async function askForWorker(
  context: WorkerAskContext,
  worker: AuthorizedWorker,
  body: WorkerAsk,
  signal: AbortSignal,
): Promise<WorkerReply<WorkerAskState>> {
  const { store, clock, engine, signingKey, workerQuotas } = context;
  const { claims, rights } = worker;
  const wait = `ask.${createHash("sha256").update(body.key).digest("hex").slice(0, 32)}`;
  const digest = signingKey.mac("ask", stableJson(body.question));
  const until = clock.now() + body.wait_ms;
  const find = (): WaitRow | undefined => store.waitAt(rights.task, rights.attempt, wait);
  if (find() === undefined) {
    const question = body.question ?? null;
    const unusable = schemaProblemIn(question);
    if (unusable !== undefined) return refuseWorker("bad_answer_schema", unusable);
    if (engine.refusesWork !== undefined) throw engine.refusesWork;
    const refusal = workerQuotas.take("workerAsks", { store, rights, posted: [question] });
    if (refusal !== undefined) return refusal;
    const part: WorkerAskPart = { worker_ask: { attempt: claims.attempt, wait, digest, question } };
    const parts = [{ part_type: "data" as const, data: part }];
    await engine.message(claims.task, { name: "worker", role: "assistant", parts }, { admitted: true });
  }
  for (let isHeard = false; ; isHeard = true) {
    const row = find();
    const reply = row === undefined ? undefined : replyFrom(context, row, digest);
    if (reply !== undefined) return reply;
    const ended = refuseEnded(context, worker);
    if (ended !== undefined) return ended;
    const left = until - clock.now();
    if (left <= 0 || signal.aborted) return { ok: true, value: { state: "waiting" } };
    await nextEvent(context, { task: claims.task, ms: left, signal, isHeard });
  }
}

function schemaProblemIn(question: unknown): string | undefined {
  const schema = WorkerQuestion.safeParse(question).data?.answer_schema;
  return schema === undefined ? undefined : answerSchemaProblem(schema);
}

/** Returns undefined while the question is open. */
function replyFrom({ store }: WorkerAskContext, row: WaitRow, digest: string): WorkerReply<WorkerAskState> | undefined {
  const asked = WorkerAskDetails.safeParse(waitBodyIn(row).ask?.details).data;
  if (asked?.worker.digest !== digest) return refuseWorker("key_reused");
  const answer = store.answer(row.id);
  switch (answer?.kind) {
    case undefined:
      return undefined;
    case "expired":
      return { ok: true, value: { state: "expired" } };
    case "withdrawn":
      return refuseWorker("attempt_over");
    case "answered": {
      const given = Answer.parse(storedAnswerIn(answer)?.value);
      return { ok: true, value: { state: "answered", value: given.kind === "question" ? given.value : given } };
    }
  }
}

interface NextEvent {
  readonly task: string;
  readonly ms: number;
  readonly signal: AbortSignal;
  /** An event was told before. The rows of its commit may come to the store of this process only after it. */
  readonly isHeard: boolean;
}

/** Resolves when something happened in the task, the time is over, or the signal aborts. */
function nextEvent({ feed, clock, store }: WorkerAskContext, { task, ms, signal, isHeard }: NextEvent): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      unsubscribe();
      offCommit?.();
      cancelTimer();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const unsubscribe = feed.subscribe((events) => {
      if (events.some(({ event }) => event.task === task)) done();
    });
    const offCommit = isHeard ? store.onCommit(done) : undefined;
    const cancelTimer = clock.timer(ms, done);
    signal.addEventListener("abort", done);
  });
}
