// What a worker can do with its task: fetch its prompt, post progress and its result, and ask. One file for each.

import type { Tasks } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import { operatorKeys } from "../../protocol/operator/operator-waits.ts";
import {
  submittedOk,
  submittedUsage,
  type WorkerAsk,
  type WorkerAskAnswer,
  type WorkerEvents,
  type WorkerEventsAccepted,
  type WorkerPrompt,
  type WorkerPromptQuery,
  type WorkerRecorded,
  type WorkerResult,
  type WorkerSubmitQuery,
} from "../../protocol/operator/worker.ts";
import type { Store } from "../../store/store.ts";
import { type AuthorizedWorker, authorizeWorker, refuseEnded, whyUnknown } from "./authorize-worker.ts";
import type { Leases } from "./leases.ts";
import { askForWorker, type WorkerAskContext } from "./worker-ask.ts";
import { progressRecorder, type WorkAdmission } from "./worker-progress.ts";
import { workerPrompt } from "./worker-prompt.ts";
import { refuseWorker, type WorkerRefusal, type WorkerReply } from "./worker-reply.ts";
import { type RenewContext, renewRights } from "./renew-rights.ts";
import { recordResult } from "./worker-result.ts";

export interface WorkerServiceOptions extends Omit<WorkerAskContext, "records"> {
  readonly records: WorkerAskContext["records"] & RenewContext["records"];
  readonly store: Store;
  /** Resolves when everything queued so far is on disk. */
  readonly committed: () => Promise<void>;
  readonly engine: Pick<Tasks, "deliver" | "message"> & WorkAdmission;
  readonly leases: Leases;
}

export interface WorkerService extends WorkerCalls {
  /** Why this was never a secret of a worker. One that has expired was, so it is no guess. */
  whyUnknown(bearer: string | undefined): Promise<WorkerRefusal | undefined>;
  /** The same calls for other nodes, which have asked who runs the task; absent where there is one process. */
  readonly forOtherNodes?: WorkerCalls;
}

export interface WorkerCalls {
  prompt(bearer: string | undefined, query: WorkerPromptQuery): Promise<WorkerReply<WorkerPrompt>>;
  result(bearer: string | undefined, body: WorkerResult): Promise<WorkerReply<WorkerRecorded>>;
  /** The text is the result, without the white space at its end. */
  submit(bearer: string | undefined, text: string, query: WorkerSubmitQuery): Promise<WorkerReply<WorkerRecorded>>;
  events(bearer: string | undefined, body: WorkerEvents): Promise<WorkerReply<WorkerEventsAccepted>>;
  ask(bearer: string | undefined, body: WorkerAsk, signal: AbortSignal): Promise<WorkerReply<WorkerAskAnswer>>;
}

export function workerService(options: WorkerServiceOptions): WorkerService {
  const recordProgress = progressRecorder(options);
  return {
    whyUnknown: (bearer) => whyUnknown(options, bearer),
    async prompt(bearer, { task_id }) {
      const worker = await authorizeWorker(options, bearer, { verb: "prompt", task: task_id });
      return worker.ok ? (refuseEnded(options, worker) ?? givePrompt(options, worker)) : worker;
    },
    async result(bearer, { task_id, value, ok, attempt, usage }) {
      const worker = await authorizeWorker(options, bearer, { verb: "result", task: task_id, attempt });
      return worker.ok ? recordResult(options, worker, { value, ok, usage }) : worker;
    },
    async submit(bearer, text, query) {
      const worker = await authorizeWorker(options, bearer, { verb: "result" });
      const about = { ok: submittedOk(query), usage: submittedUsage(query) };
      return worker.ok ? recordResult(options, worker, { value: text.trimEnd(), ...about }) : worker;
    },
    async events(bearer, body) {
      const worker = await authorizeWorker(options, bearer, { verb: "events" });
      if (!worker.ok) return worker;
      return refuseFinished(options, worker) ?? refuseIfEnding(() => recordProgress(worker, body));
    },
    async ask(bearer, body, signal) {
      const worker = await authorizeWorker(options, bearer, { verb: "ask" });
      if (!worker.ok) return worker;
      const finished = refuseFinished(options, worker);
      if (finished !== undefined) return finished;
      options.leases.recordSignOfLife(worker.rights, worker.lives);
      return refuseIfEnding(async () => {
        const asked = await askForWorker(options, worker, body, signal);
        if (!asked.ok) return asked;
        const renewed = await renewRights(options, worker);
        // The next call may come at once, and must find the handle renewed.
        await options.committed();
        return { ok: true, value: { ...asked.value, ...renewed } };
      });
    },
  };
}

/** That the prompt was fetched is on disk before the worker gets it: from then on no other operator is offered the task. */
async function givePrompt(
  options: WorkerServiceOptions,
  { claims, rights, lives }: AuthorizedWorker,
): Promise<WorkerReply<WorkerPrompt>> {
  const row = options.store.task(rights.task);
  if (row === undefined) return refuseWorker("attempt_over");
  const why = await options.leases.recordFetch(rights, lives);
  if (why !== undefined) return refuseWorker(why);
  const about = { task_id: claims.task, attempt: claims.attempt, expires_at: rights.expires_at, lives };
  return { ok: true, value: workerPrompt(options, row, about) };
}

/** Refuses if the task has ended, or has its result: nothing that comes after it is kept. */
function refuseFinished(options: WorkerServiceOptions, worker: AuthorizedWorker): WorkerRefusal | undefined {
  const { store } = options;
  const row = store.waitAt(worker.rights.task, worker.rights.attempt, operatorKeys.result);
  const hasResult = row !== undefined && store.answer(row.id)?.kind === "answered";
  return refuseEnded(options, worker) ?? (hasResult ? refuseWorker("already_posted") : undefined);
}

/** The engine throws if the task ends while a message is sent to it. */
async function refuseIfEnding<T>(work: () => Promise<WorkerReply<T>>): Promise<WorkerReply<T>> {
  try {
    return await work();
  } catch (thrown) {
    const ended = thrown instanceof TuttiError && (thrown.code === "conflict" || thrown.code === "not_found");
    if (ended) return refuseWorker("attempt_over");
    throw thrown;
  }
}
