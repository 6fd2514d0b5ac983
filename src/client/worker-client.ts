// The client of a worker, for one task: fetch the prompt, report progress, ask, and submit the result; failed calls are repeated.

import { TuttiError } from "../protocol/error.ts";
import {
  type WorkerAskState,
  type WorkerEvent,
  type WorkerPrompt,
  type WorkerRecorded,
  WorkerUsage,
} from "../protocol/operator/worker.ts";
import { service } from "./call.ts";
import { withRetry } from "./retry.ts";

export interface WorkerOptions {
  readonly base_url: string;
  /** A worker handle or a token. */
  readonly handle: string;
  readonly task_id: string;
  readonly fetch?: typeof fetch;
  readonly signal?: AbortSignal;
  /** How long the service may be away before a call fails; two minutes when absent. */
  readonly giveUpAfterMs?: number;
}

/** Every call may be repeated. The first final result counts; submitting the same result again reports `already`. */
export interface WorkerClient {
  prompt(): Promise<WorkerPrompt>;
  /** Also renews the lease, and the token that later calls are made with. */
  progress(text: string, options?: { readonly fraction?: number }): Promise<void>;
  /** Publishes a part of the result before the rest is ready. */
  partial(value: unknown): Promise<void>;
  /** Reports what was used since the last report. It is settled against the budget of the task. */
  usage(used: Partial<WorkerUsage>): Promise<void>;
  /** Waits for the answer. A question with the same key is the same question, also after a restart of the worker. */
  ask(question: unknown, options: { readonly key: string }): Promise<Exclude<WorkerAskState, { state: "waiting" }>>;
  /** Submits the result as text. */
  submit(text: string, options?: { readonly ok?: boolean }): Promise<WorkerRecorded>;
  /** Submits the result as JSON. */
  result(value: unknown, options?: { readonly ok?: boolean }): Promise<WorkerRecorded>;
}

const defaultGiveUpAfterMs = 120_000;
/** How long one request waits for an answer, and how much longer its reply may take. */
const pollMs = 30_000;
const pollSlackMs = 15_000;

/** When the service refuses a call, the error has `details.reason`, such as `already_posted` or `attempt_over`. */
export function workerClient(options: WorkerOptions): WorkerClient {
  const { task_id, signal } = options;
  let bearer = options.handle;
  const { call } = service({
    url: options.base_url,
    bearer: () => bearer,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    ...(signal === undefined ? {} : { signal }),
  });
  const retry = { giveUpAfterMs: options.giveUpAfterMs ?? defaultGiveUpAfterMs, signal };
  const post = async (event: WorkerEvent): Promise<void> => {
    // The same key at every try: a post whose reply was lost is recorded once.
    const body = { events: [event], key: crypto.randomUUID() };
    const accepted = await withRetry(() => call("workerEvents", { body }), retry);
    bearer = accepted.capability_token;
  };
  return {
    prompt: () => withRetry(() => call("workerPrompt", { query: { task_id } }), retry),
    progress: (text, { fraction } = {}) =>
      post({ type: "progress", text, ...(fraction === undefined ? {} : { fraction }) }),
    partial: (value) => post({ type: "partial", value }),
    usage: (used) => post({ type: "usage", ...WorkerUsage.parse(used) }),
    async ask(question, { key }) {
      for (;;) {
        if (signal?.aborted === true) throw new TuttiError("canceled", "the worker was stopped");
        const body = { key, question, wait_ms: pollMs };
        const answer = await withRetry(() => call("workerAsk", { body }, { timeoutMs: pollMs + pollSlackMs }), retry);
        bearer = answer.capability_token;
        if (answer.state === "answered") return { state: "answered", value: answer.value };
        if (answer.state === "expired") return { state: "expired" };
      }
    },
    submit: (text, { ok = true } = {}) => withRetry(() => call("workerSubmit", { query: { ok }, body: text }), retry),
    result: (value, { ok = true } = {}) =>
      withRetry(() => call("workerResult", { body: { task_id, value, ok } }), retry),
  };
}
