// Tutti over the wire: what a front can do with a service, by fetch alone, so it runs in a browser too.

import type { EventPage } from "../protocol/api/task-shapes.ts";
import { Answer } from "../protocol/task/ask.ts";
import { type ErrorCode, TuttiError } from "../protocol/error.ts";
import type { TaskEvent } from "../protocol/task/event.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import { describeIssues, issuesOf } from "../protocol/lenient-read.ts";
import { patiently } from "./backoff.ts";
import { type Service, service } from "./call.ts";
import type { Delivered, Tutti } from "./client.ts";
import { follow } from "./follow-events.ts";

export interface HttpClientOptions {
  /** Where the service is, such as `http://127.0.0.1:7878`. */
  readonly url: string;
  /** An API key, `tk_…`. */
  readonly key: string;
  /** Instead of the global one. */
  readonly fetch?: typeof fetch;
  /** Ends everything that is under way. */
  readonly signal?: AbortSignal;
  /** How long the service may be away before a following or a wait for a result gives up; a minute when absent. */
  readonly awayMs?: number;
  /** How long an event stream may be silent, heartbeats included, before it is opened anew. */
  readonly silenceMs?: number;
}

const usualAwayMs = 60_000;
const usualSilenceMs = 45_000;
const pollMs = 30_000;
const pollSlackMs = 15_000;

export function httpClient(options: HttpClientOptions): Tutti & { readonly url: string } {
  const closed = new AbortController();
  const signal = options.signal === undefined ? closed.signal : AbortSignal.any([options.signal, closed.signal]);
  const patience = { awayMs: options.awayMs ?? usualAwayMs, silenceMs: options.silenceMs ?? usualSilenceMs };
  const remote = service({
    url: options.url,
    bearer: () => options.key,
    signal,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  });
  const { call } = remote;
  const until = (given: AbortSignal | undefined): AbortSignal =>
    given === undefined ? signal : AbortSignal.any([signal, given]);
  const following: Tutti["follow"] = (given) => follow(remote, { ...given, signal: until(given.signal) }, patience);

  return {
    url: remote.url,
    status: () => call("status", {}),
    tasks: (query = {}) => call("listTasks", { query }),
    task: (task) => call("task", { params: { task } }),
    tree: async (task) => (await call("tree", { params: { task } })).tasks,
    messages: (task, query) => call("messages", { params: { task }, query }),
    steps: (task, query) => call("steps", { params: { task }, query }),
    async events({ task, after, limit }) {
      const events: TaskEvent[] = [];
      // A page of long events ends before its limit, and says where the next begins.
      for (let next: number | null = after; next !== null && events.length < limit;) {
        const query = { after: next, limit: limit - events.length };
        const page: EventPage =
          task === undefined
            ? await call("events", { query, headers: {} })
            : await call("taskEvents", { params: { task }, query, headers: {} });
        events.push(...page.events);
        next = page.next;
      }
      return events;
    },
    follow: following,
    asks: async (task) => (await call("asks", { query: { task } })).asks,
    waits: async (task) => (await call("waits", { query: { task } })).waits,
    async invoke(text, { folder, anew, key }) {
      refuseWhatIsNotJson(text);
      // As it was written, to the byte: the same file is found again by its text, whoever works on it.
      return call(
        "invoke",
        {
          query: { folder, ...(anew === true ? { anew } : {}) },
          headers: key === undefined ? {} : { "idempotency-key": key },
          body: undefined,
        },
        { raw: text },
      );
    },
    result: (task, given) => resultOf(remote, task, { awayMs: patience.awayMs, signal: until(given) }),
    async settled(task, given) {
      const ended = until(given);
      const { seq } = await patiently(() => call("status", {}, { signal: ended }), {
        awayMs: patience.awayMs,
        signal: ended,
      });
      // What happened before is of no interest; the stream says when there will be no more.
      for await (const _ of following({ task, after: seq, signal: ended })) ended.throwIfAborted();
      ended.throwIfAborted();
    },
    async answer(ask, answer) {
      const body = Answer.safeParse(answer);
      if (!body.success)
        return { accepted: false, code: "invalid", message: `${ask}: ${describeIssues(issuesOf(body.error))}` };
      return delivered(() => call("answer", { params: { ask }, body: body.data }));
    },
    settle: (wait, value) => delivered(() => call("settleWait", { params: { wait }, body: { value } })),
    cancel: async (task, reason) => (await call("cancel", { params: { task }, body: { reason } })).canceled,
    async tell(task, text) {
      await call("tell", { params: { task }, body: { text } });
    },
    async pause() {
      await call("pause", {});
    },
    async resume() {
      await call("resume", {});
    },
    route: (body) => call("route", { body }),
    operators: async () => (await call("operators", {})).operators,
    keys: async () => (await call("keys", {})).keys,
    addKey: (body) => call("addKey", { body }),
    async revokeKey(id) {
      await call("revokeKey", { params: { id } });
    },
    async close() {
      closed.abort();
    },
  };
}

async function resultOf(
  { call }: Service,
  task: TaskId,
  { awayMs, signal }: { readonly awayMs: number; readonly signal: AbortSignal },
): Promise<AgentResult> {
  for (;;) {
    signal.throwIfAborted();
    const outcome = await patiently(
      () =>
        call("result", { params: { task }, query: { wait_ms: pollMs } }, { signal, timeoutMs: pollMs + pollSlackMs }),
      { awayMs, signal },
    );
    if (outcome.ended) return outcome.result;
  }
}

/** What in process is an outcome, and a refusal over the wire. */
const outcomes: Readonly<Partial<Record<ErrorCode, "late" | "unknown" | "invalid">>> = {
  conflict: "late",
  expired: "late",
  not_found: "unknown",
  invalid_input: "invalid",
};

async function delivered(deliver: () => Promise<unknown>): Promise<Delivered> {
  try {
    await deliver();
    return { accepted: true };
  } catch (thrown) {
    const code = thrown instanceof TuttiError ? outcomes[thrown.code] : undefined;
    if (!(thrown instanceof TuttiError) || code === undefined) throw thrown;
    return { accepted: false, code, message: thrown.message };
  }
}

function refuseWhatIsNotJson(text: string): void {
  try {
    JSON.parse(text);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new TuttiError("invalid_input", `the invocation cannot be used: is not JSON: ${why}`, { cause: thrown });
  }
}
