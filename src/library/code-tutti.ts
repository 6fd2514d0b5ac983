// The object that a program works with, over whatever its runs are started in.

import { errorOf } from "./run-outcome.ts";
import { answerAsks, openAsks } from "./run-asks.ts";
import type { AgentTool, AnyAgent } from "./code-agent.ts";
import { codeRun, outcomeOf, outputReader } from "./code-run.ts";
import type { CodeWorkflow } from "./code-workflow.ts";
import { codeThread } from "./code-thread.ts";
import type { FanOutRun, LocalTutti, OnAsk, Run, RunPart, StartRunOptions, Thread } from "./opened-tutti.ts";
import type { RunOutcome } from "./run-outcome.ts";
import type { RunSource, StartedRun, StartSettings } from "./run-source.ts";
import type { AnyTarget } from "./run-target.ts";
import { plainParts } from "./code-run.ts";
import { runAsk } from "./run-asks.ts";

/** What a run was started with. */
type Definitions = Parameters<NonNullable<RunSource["attend"]>>[1];

export function codeTutti(source: RunSource, { onAsk }: { readonly onAsk?: OnAsk | undefined }): LocalTutti {
  const closing = new AbortController();
  /** Runs with a function of their own for their questions. */
  const answered = new Set<string>();
  const watching = new Set<Promise<unknown>>();
  /** Nobody awaits the program's own function, so what it throws ends the process with its stack. */
  const onError = (error: unknown): void => {
    setImmediate(() => {
      throw error;
    });
  };
  /** What fails here because the state or the daemon is gone fails for whoever waits for a result, too, and is told there. */
  const watch = (work: Promise<unknown>): void => {
    const watched = work.catch(() => undefined).finally(() => watching.delete(watched));
    watching.add(watched);
  };
  if (onAsk !== undefined && !source.isShared) {
    watch(
      answerAsks(source.client, { onAsk, signal: closing.signal, isOthers: (root) => answered.has(root), onError }),
    );
  }

  /** What a run needs of this process beside the engine, from its start to its end. */
  const attend = (started: StartedRun, of: Definitions, options: StartRunOptions): void => {
    const { task } = started;
    const { signal } = options;
    const until = closing.signal;
    const own = options.onAsk ?? (source.isShared ? onAsk : undefined);
    if (own !== undefined) {
      answered.add(task);
      watch(answerAsks(source.client, { task, onAsk: own, signal: until, onError }));
    }
    if (source.attend !== undefined) watch(source.attend(started, of, until));
    if (signal === undefined) return;
    const cancel = (): void => watch(source.client.cancel(task, reasonOf(signal)));
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true, signal: until });
  };
  const runOf = (agent: AnyAgent, started: StartedRun): Run<unknown, readonly AgentTool[]> =>
    codeRun({
      client: source.client,
      ...started,
      tools: agent.tools,
      result: (signal) => source.agentResult(started.task, signal),
      read: outputReader(agent.output, agent.name),
      send: (text) => source.send(started.task, text),
    });

  const workflowRunOf = (started: StartedRun): Run<unknown, readonly []> =>
    codeRun({
      client: source.client,
      ...started,
      tools: [],
      result: (signal) => source.agentResult(started.task, signal),
      read: async (content) => content,
      send: (text) => source.send(started.task, text),
    });

  const runAgent = async (
    agent: AnyAgent,
    prompt: string,
    options: StartRunOptions & Pick<StartSettings, "thread"> = {},
  ): Promise<Run<unknown, readonly AgentTool[]>> => {
    options.signal?.throwIfAborted();
    const started = await source.startAgent(agent, prompt, options);
    attend(started, { agents: [agent], workflows: [] }, options);
    return runOf(agent, started);
  };
  const say =
    (thread: string): UntypedSay =>
    (agent, prompt, options = {}) =>
      runAgent(agent, prompt, { ...options, thread });

  const tutti: Untyped = {
    run: (agent, prompt, options = {}) => runAgent(agent, prompt, options),
    thread: (name) => codeThread(name, { client: source.client, say: (thread) => typedSay(say(thread)) }),
    threads: (query) => source.client.threads(query),
    async fanOut(targets, options = {}) {
      options.signal?.throwIfAborted();
      const started = await source.startFanOut(targets, options);
      attend(started, { agents: targets.map(({ agent }) => agent), workflows: [] }, options);
      return fanOutRun(source, targets, started);
    },
    async find(found, task) {
      await source.client.task(task);
      const started = { task, existed: true };
      if (found.kind === "workflow") {
        attend(started, { agents: [], workflows: [found] }, {});
        return workflowRunOf(started);
      }
      attend(started, { agents: [found], workflows: [] }, {});
      return runOf(found, started);
    },
    async start(workflow, input, options = {}) {
      options.signal?.throwIfAborted();
      const started = await source.startWorkflow(workflow, input, options);
      attend(started, { agents: [], workflows: [workflow] }, options);
      return workflowRunOf(started);
    },
    asks: () => openAsks(source.client),
    async runs({ limit = 50, open } = {}) {
      const statuses = open === true ? (["pending", "running", "input_required"] as const) : [undefined];
      const pages = await Promise.all(
        statuses.map((status) => source.client.tasks({ limit, ...(status === undefined ? {} : { status }) })),
      );
      return pages
        .flatMap(({ tasks }) => tasks)
        .toSorted((a, b) => b.created_at - a.created_at)
        .slice(0, limit);
    },
    parked: () => source.parked(),
    crashed: source.crashed,
    async close() {
      closing.abort();
      await Promise.all(watching);
      await source.close();
    },
    [Symbol.asyncDispose]: () => tutti.close(),
  };
  return typed(tutti);
}

function fanOutRun(
  source: RunSource,
  targets: readonly AnyTarget[],
  started: StartedRun,
): FanOutRun<readonly AnyTarget[]> {
  const { client } = source;
  const { task } = started;
  const outcomes = async (signal?: AbortSignal): Promise<RunOutcome<unknown>[]> => {
    const results = await source.targetResults(task, signal);
    if (results.length !== targets.length)
      throw errorOf(results[0] ?? { status: "failed", content: null, task_id: task });
    return Promise.all(
      results.map((result, index) => {
        const agent = targets[index]?.agent;
        return outcomeOf({ result: async () => result, read: outputReader(agent?.output, agent?.name ?? "") });
      }),
    );
  };
  const results = async (signal?: AbortSignal): Promise<unknown[]> => {
    const all = await outcomes(signal);
    return all.map((each) => {
      if (each.status !== "completed") throw each.error;
      return each.output;
    });
  };
  return {
    ...started,
    outcomes: () => outcomes(),
    results: () => results(),
    asks: () => openAsks(client, task),
    async cancel(reason = "the program canceled it") {
      await client.cancel(task, reason);
    },
    async *stream(options = {}) {
      for await (const part of plainParts({ client, task }, options)) {
        if (part.type === "ask") yield { type: "ask", ask: runAsk(client, part.ask) };
        else if (part.type !== "tool-call" && part.type !== "tool-result") yield part;
      }
      if (options.signal?.aborted === true) return;
      yield await results(options.signal).then(
        (output): RunPart<unknown[], readonly []> => ({ type: "end", outcome: { status: "completed", output, task } }),
        (error): RunPart<unknown[], readonly []> => ({ type: "end", outcome: { status: "failed", error, task } }),
      );
    },
  };
}

function reasonOf({ reason }: AbortSignal): string {
  return reason instanceof Error && reason.message !== "" ? reason.message : "the program canceled it";
}

/** The operations whose types depend on the program: their results were read by its own schemas. */
type UntypedSay = (agent: AnyAgent, prompt: string, options?: StartRunOptions) => Promise<unknown>;

function typedSay(say: UntypedSay): Thread["say"];
function typedSay(say: unknown): unknown {
  return say;
}

type Untyped = Pick<
  LocalTutti,
  "thread" | "threads" | "asks" | "runs" | "parked" | "crashed" | "close" | typeof Symbol.asyncDispose
> & {
  run(agent: AnyAgent, prompt: string, options?: StartRunOptions): Promise<unknown>;
  find(found: AnyAgent | CodeWorkflow, task: string): Promise<unknown>;
  fanOut(targets: readonly AnyTarget[], options?: StartRunOptions): Promise<unknown>;
  start(
    workflow: Parameters<RunSource["startWorkflow"]>[0],
    input: unknown,
    options?: StartRunOptions,
  ): Promise<unknown>;
};

function typed(tutti: Untyped): LocalTutti;
function typed(tutti: unknown): unknown {
  return tutti;
}
