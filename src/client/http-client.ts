// Tutti over HTTP: the interface of a front, implemented with `fetch` alone, so that it also runs in a browser.

import type { WorkspaceLeftover } from "../protocol/api/workspace-shapes.ts";
import type { EventPage } from "../protocol/api/task-shapes.ts";
import { AnswerOrNone } from "../protocol/task/ask.ts";
import { type ErrorCode, TuttiError } from "../protocol/error.ts";
import type { TaskEvent } from "../protocol/task/event.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import { describeIssues, issuesOf } from "../protocol/lenient-read.ts";
import { type Service, service } from "./call.ts";
import type { AnswerOutcome, Tutti } from "./client.ts";
import { allPages } from "./all-pages.ts";
import { follow } from "./follow-events.ts";
import { type RetryOptions, withRetry } from "./retry.ts";
import { readWrittenJson } from "../protocol/json/written-json.ts";

export interface HttpClientOptions {
  /** The address of the service, such as `http://127.0.0.1:7878`. */
  readonly url: string;
  /** An API key, `tk_…`. */
  readonly key: string;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Ends everything that is under way. */
  readonly signal?: AbortSignal;
  /** How long the service may be away before `follow`, `result` and `settled` fail; a minute when absent. */
  readonly giveUpAfterMs?: number;
  /** How long an event stream may be silent, without even a heartbeat, before it is opened again; 45 s when absent. */
  readonly silenceMs?: number;
}

const defaultGiveUpAfterMs = 60_000;
const defaultSilenceMs = 45_000;
/** The API refuses to send more events at once. */
const largestPage = 1_000;
/** How long one request waits for a result, and how much longer its reply may take. */
const pollMs = 30_000;
const pollSlackMs = 15_000;

export function httpClient(options: HttpClientOptions): Tutti & { readonly url: string } {
  const closed = new AbortController();
  const signal = options.signal === undefined ? closed.signal : AbortSignal.any([options.signal, closed.signal]);
  const limits = {
    giveUpAfterMs: options.giveUpAfterMs ?? defaultGiveUpAfterMs,
    silenceMs: options.silenceMs ?? defaultSilenceMs,
  };
  const remote = service({
    url: options.url,
    bearer: () => options.key,
    signal,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  });
  const { call } = remote;
  const either = (own: AbortSignal | undefined): AbortSignal =>
    own === undefined ? signal : AbortSignal.any([signal, own]);
  const retrying = (own: AbortSignal | undefined): RetryOptions & { readonly signal: AbortSignal } => ({
    giveUpAfterMs: limits.giveUpAfterMs,
    signal: either(own),
  });
  const followTask: Tutti["follow"] = (given) => follow(remote, { ...given, signal: either(given.signal) }, limits);

  return {
    url: remote.url,
    status: () => call("status", {}),
    nodes: () => call("nodes", {}),
    setup: (query = {}) => call("setup", { query }),
    tasks: (query = {}) => call("listTasks", { query }),
    task: (task) => call("task", { params: { task } }),
    tree: (task) =>
      allPages(async (cursor) => {
        const { tasks, next } = await call("tree", { params: { task }, query: cursor });
        return { items: tasks, next };
      }),
    budget: (task) => call("taskBudget", { params: { task } }),
    history: (task, query = {}) => call("taskHistory", { params: { task }, query }),
    messages: (task, query) => call("messages", { params: { task }, query }),
    steps: (task, query) => call("steps", { params: { task }, query }),
    async events({ task, after, limit }) {
      const events: TaskEvent[] = [];
      // A page of long events has fewer than its limit, and says where the next page begins.
      for (let next: number | null = after; next !== null && events.length < limit;) {
        const query = { after: next, limit: Math.min(largestPage, limit - events.length) };
        const page: EventPage =
          task === undefined
            ? await call("events", { query, headers: {} })
            : await call("taskEvents", { params: { task }, query, headers: {} });
        events.push(...page.events);
        next = page.next;
      }
      return events;
    },
    follow: followTask,
    asks: (task) =>
      allPages(async (cursor) => {
        const { asks, next } = await call("asks", { query: { task, ...cursor } });
        return { items: asks, next };
      }),
    waits: (task) =>
      allPages(async (cursor) => {
        const { waits, next } = await call("waits", { query: { task, ...cursor } });
        return { items: waits, next };
      }),
    ask: (ask) => call("ask", { params: { ask } }),
    wait: (wait) => call("wait", { params: { wait } }),
    paused: async () => (await call("status", {})).paused,
    async invoke(text, { folder, anew, key }) {
      mustBeJson(text);
      // Byte for byte, since the same text again must find the same invocation.
      return call(
        "invoke",
        {
          query: { ...(folder === undefined ? {} : { folder }), ...(anew === true ? { anew } : {}) },
          headers: key === undefined ? {} : { "idempotency-key": key },
          body: undefined,
        },
        { rawBody: text },
      );
    },
    startGoal: (goal, { anew, key } = {}) =>
      call("startGoal", {
        query: anew === true ? { anew } : {},
        headers: key === undefined ? {} : { "idempotency-key": key },
        body: goal,
      }),
    goals: (query = {}) => call("listGoals", { query }),
    goal: (goal) => call("goal", { params: { goal } }),
    goalReport: (goal) => call("goalReport", { params: { goal } }),
    tellGoal: async (goal, text) => (await call("tellGoal", { params: { goal }, body: { text } })).task,
    result: (task, own) => resultOf(remote, task, retrying(own)),
    async settled(task, own) {
      const retry = retrying(own);
      // Earlier events do not matter, so following begins after the newest one; it ends when there are no more.
      const { seq } = await withRetry(() => call("status", {}, { signal: retry.signal }), retry);
      for await (const _ of followTask({ task, after: seq, signal: retry.signal })) retry.signal.throwIfAborted();
      retry.signal.throwIfAborted();
    },
    async answer(ask, answer) {
      const body = AnswerOrNone.safeParse(answer);
      if (!body.success) {
        return { accepted: false, code: "invalid", message: `${ask}: ${describeIssues(issuesOf(body.error))}` };
      }
      return outcomeOf(() => call("answer", { params: { ask }, body: body.data }));
    },
    settle: (wait, value) => outcomeOf(() => call("settleWait", { params: { wait }, body: { value } })),
    attend: (task, body, { signal: own } = {}) =>
      call("attend", { params: { task }, body }, { signal: own, timeoutMs: (body.wait_ms ?? 0) + pollSlackMs }),
    reportAttended: (task, body) => call("reportAttended", { params: { task }, body }),
    approvals: async () => (await call("approvals", {})).approvals,
    addApproval: (body) => call("addApproval", { body }),
    async revokeApproval(id) {
      await call("revokeApproval", { params: { id } });
    },
    cancel: async (task, reason) => (await call("cancel", { params: { task }, body: { reason } })).canceled,
    retry: (task, { giveUp = false, key } = {}) =>
      call("retry", {
        params: { task },
        headers: key === undefined ? {} : { "idempotency-key": key },
        body: { give_up: giveUp },
      }),
    sendMessage: async (task, text, { interrupt = false } = {}) =>
      (await call("tell", { params: { task }, body: { text, ...(interrupt ? { interrupt } : {}) } })).task,
    stopTask: async (task, reason) => (await call("stopTask", { params: { task }, body: { reason } })).task,
    killTask: (task, reason) => call("killTask", { params: { task }, body: { reason } }, gitTimeout),
    resumeTask: async (task) => (await call("resumeTask", { params: { task } })).task,
    observe: (task, query = {}) => call("observe", { params: { task }, query }),
    heldAgents: async () => (await call("sessions", { query: { limit: 1 } })).held,
    sessions: () =>
      allPages(async (cursor) => {
        const { sessions, next } = await call("sessions", { query: cursor });
        return { items: sessions, next };
      }),
    conversation: (conversation) => call("conversation", { params: { conversation } }),
    startConversation: async (body = {}) => (await call("startConversation", { body })).conversation,
    converse: async (conversation, text) =>
      (await call("converse", { params: { conversation }, body: { text } })).message,
    threads: (query = {}) => call("threads", { query }),
    thread: (thread) => call("thread", { params: { thread } }),
    threadMessages: (thread, query = {}) => call("threadMessages", { params: { thread }, query }),
    beginThread: (task, options = {}) => call("beginThread", { body: { task, ...options } }),
    latestThread: (body) => call("latestThread", { body }),
    forkThread: (thread, body = {}) => call("forkThread", { params: { thread }, body }),
    ...workspaceCalls(call),
    schedules: () =>
      allPages(async (cursor) => {
        const { schedules, next } = await call("schedules", { query: cursor });
        return { items: schedules, next };
      }),
    addSchedule: (body) => call("addSchedule", { body }),
    async removeSchedule(schedule) {
      await call("removeSchedule", { params: { schedule } });
    },
    async pause() {
      await call("pause", {});
    },
    async resume() {
      await call("resume", {});
    },
    route: (body) => call("route", { body }),
    review: (body) => call("review", { body }),
    operators: () =>
      allPages(async (cursor) => {
        const { operators, next } = await call("operators", { query: cursor });
        return { items: operators, next };
      }),
    keys: () =>
      allPages(async (cursor) => {
        const { keys, next } = await call("keys", { query: cursor });
        return { items: keys, next };
      }),
    addKey: (body) => call("addKey", { body }),
    async revokeKey(id) {
      await call("revokeKey", { params: { id } });
    },
    makeSignInCode: () => call("makeSignInCode", {}),
    async close() {
      closed.abort();
    },
  };
}

/** Git may have much to do. */
const gitTimeout = { timeoutMs: 10 * 60_000 };

function workspaceCalls(
  call: Service["call"],
): Pick<
  Tutti,
  | "workspaces"
  | "taskWorkspace"
  | "workspaceDiff"
  | "mergeTask"
  | "pullRequestPlan"
  | "openPullRequest"
  | "integrateTasks"
  | "removeWorkspace"
  | "restoreWorkspace"
  | "pruneWorkspaces"
> {
  return {
    async workspaces() {
      const leftovers: WorkspaceLeftover[] = [];
      const workspaces = await allPages(async (cursor) => {
        const page = await call("workspaces", { query: cursor }, gitTimeout);
        leftovers.push(...page.leftovers);
        return { items: page.workspaces, next: page.next };
      });
      return { workspaces, leftovers };
    },
    taskWorkspace: (task, query = {}, looking = {}) =>
      call("taskWorkspace", { params: { task }, query }, { ...gitTimeout, ...looking }),
    workspaceDiff: (task, query = {}, looking = {}) =>
      call("taskDiff", { params: { task }, query }, { ...gitTimeout, ...looking }),
    integrateTasks: (body) => call("integrateTasks", { body }, gitTimeout),
    mergeTask: (task, body) => call("mergeTask", { params: { task }, body }, gitTimeout),
    pullRequestPlan: (task, query = {}, looking = {}) =>
      call("pullRequestPlan", { params: { task }, query }, { ...gitTimeout, ...looking }),
    openPullRequest: (task, body) => call("openPullRequest", { params: { task }, body }, gitTimeout),
    removeWorkspace: (workspace, query = {}) => call("removeWorkspace", { params: { workspace }, query }, gitTimeout),
    restoreWorkspace: (workspace) => call("restoreWorkspace", { params: { workspace } }, gitTimeout),
    pruneWorkspaces: (body = {}) => call("pruneWorkspaces", { body }, gitTimeout),
  };
}

async function resultOf(
  { call }: Service,
  task: TaskId,
  retry: RetryOptions & { readonly signal: AbortSignal },
): Promise<AgentResult> {
  const { signal } = retry;
  for (;;) {
    signal.throwIfAborted();
    const outcome = await withRetry(
      () =>
        call("result", { params: { task }, query: { wait_ms: pollMs } }, { signal, timeoutMs: pollMs + pollSlackMs }),
      retry,
    );
    if (outcome.ended) return outcome.result;
  }
}

/** An answer that is not accepted is an error of the API, and a value of this interface. */
const outcomes: Readonly<Partial<Record<ErrorCode, "late" | "unknown" | "invalid">>> = {
  conflict: "late",
  expired: "late",
  not_found: "unknown",
  invalid_input: "invalid",
};

async function outcomeOf(send: () => Promise<unknown>): Promise<AnswerOutcome> {
  try {
    await send();
    return { accepted: true };
  } catch (thrown) {
    const code = thrown instanceof TuttiError ? outcomes[thrown.code] : undefined;
    if (!(thrown instanceof TuttiError) || code === undefined) throw thrown;
    return { accepted: false, code, message: thrown.message };
  }
}

function mustBeJson(text: string): void {
  const read = readWrittenJson(text);
  if (!read.ok) throw new TuttiError("invalid_input", `the invocation cannot be used: ${read.problem}`);
}
