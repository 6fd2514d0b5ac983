// A worker's side of one task: fetches its prompt, tells how it goes, asks, and hands in the result, whatever the network does.

import { TuttiError } from "../protocol/error.ts";
import type { WorkerAskAnswer, WorkerEvent, WorkerPrompt, WorkerRecorded } from "../protocol/operator/worker.ts";
import { patiently } from "./backoff.ts";
import { service } from "./call.ts";

export interface WorkerOptions {
  readonly base_url: string;
  /** A worker handle or a token. */
  readonly handle: string;
  readonly task_id: string;
  readonly fetch?: typeof fetch;
  readonly signal?: AbortSignal;
  /** How long the service may be away before a call gives up; two minutes when absent. */
  readonly awayMs?: number;
}

/** Every call may be repeated: the first final result wins, and the same one again is told so. */
export interface WorkerClient {
  prompt(): Promise<WorkerPrompt>;
  /** Renews the lease, and the token of the calls that follow. */
  progress(text: string, options?: { readonly fraction?: number }): Promise<void>;
  /** A part of the result that is worth seeing before the rest. */
  partial(value: unknown): Promise<void>;
  /** Waits for the answer. The same key is the same question, over restarts of the worker too. */
  ask(question: unknown, options: { readonly key: string }): Promise<Exclude<WorkerAskAnswer, { state: "waiting" }>>;
  /** The result as text. */
  submit(text: string, options?: { readonly ok?: boolean }): Promise<WorkerRecorded>;
  /** The result as JSON. */
  result(value: unknown, options?: { readonly ok?: boolean }): Promise<WorkerRecorded>;
}

const usualAwayMs = 120_000;
const pollMs = 30_000;
const pollSlackMs = 15_000;

/** A refusal is thrown with `details.reason`, such as `already_posted` or `attempt_over`. */
export function workerClient(options: WorkerOptions): WorkerClient {
  const { task_id, signal } = options;
  let bearer = options.handle;
  const { call } = service({
    url: options.base_url,
    bearer: () => bearer,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    ...(signal === undefined ? {} : { signal }),
  });
  const patience = { awayMs: options.awayMs ?? usualAwayMs, signal };
  const post = async (event: WorkerEvent): Promise<void> => {
    // The same key at every try: a post whose answer was lost is kept once.
    const body = { events: [event], key: crypto.randomUUID() };
    const accepted = await patiently(() => call("workerEvents", { body }), patience);
    bearer = accepted.capability_token;
  };
  return {
    prompt: () => patiently(() => call("workerPrompt", { query: { task_id } }), patience),
    progress: (text, { fraction } = {}) =>
      post({ type: "progress", text, ...(fraction === undefined ? {} : { fraction }) }),
    partial: (value) => post({ type: "partial", value }),
    async ask(question, { key }) {
      for (;;) {
        if (signal?.aborted === true) throw new TuttiError("canceled", "the worker was told to stop");
        const body = { key, question, wait_ms: pollMs };
        const answer = await patiently(
          () => call("workerAsk", { body }, { timeoutMs: pollMs + pollSlackMs }),
          patience,
        );
        if (answer.state !== "waiting") return answer;
      }
    },
    submit: (text, { ok = true } = {}) =>
      patiently(() => call("workerSubmit", { query: { ok }, body: text }), patience),
    result: (value, { ok = true } = {}) =>
      patiently(() => call("workerResult", { body: { task_id, value, ok } }), patience),
  };
}
