// The operations of a workflow in the process of a config: each is asked for by a message, and the bodies of steps run here.

import { z } from "zod";

import type { AnyAgent } from "../../library/code-agent.ts";
import type { WorkflowStep } from "../../library/code-workflow.ts";
import type { WorkflowPort } from "../../library/workflow-port.ts";
import type { Durable } from "../../ports.ts";
import { toTuttiError, TuttiError } from "../../protocol/error.ts";
import { toFailure } from "../../protocol/failure.ts";
import { AgentResult } from "../../protocol/invocation/invocation-result.ts";
import { Answer, Answerer } from "../../protocol/task/ask.ts";
import { describeIssues, issuesOf } from "../../protocol/lenient-read.ts";
import { type ConfigReply, type ConfigRequest, errorOf, WorkflowOperation } from "./config-messages.ts";

/** A message about one workflow that runs. */
type WorkflowRequest = Extract<ConfigRequest, { readonly kind: "done" | "refused" | "body" | "abort" }>;

interface Operation {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly body: ((step: WorkflowStep) => Promise<unknown>) | undefined;
  /** Aborts the body. */
  readonly aborted: AbortController;
}

const Waited = z.union([z.object({ expired: z.literal(true) }), z.object({ value: Answer, by: Answerer })]);

type Begun = Extract<ConfigRequest, { readonly kind: "run" }>;

export interface RemoteWorkflow {
  readonly port: WorkflowPort;
  /** Takes what Tutti says about it. */
  readonly hear: (request: WorkflowRequest) => void;
}

export function remoteWorkflow(
  { id, task, attempt, agent }: Begun,
  reply: (message: ConfigReply) => void,
): RemoteWorkflow {
  const operations = new Map<number, Operation>();
  const ended = new AbortController();
  let last = 0;
  const ask = async (given: WorkflowOperation, body?: Operation["body"]): Promise<unknown> => {
    const read = WorkflowOperation.safeParse(given);
    if (!read.success) {
      throw new TuttiError(
        "invalid_input",
        `durable.${given.do} cannot be done: ${describeIssues(issuesOf(read.error))}`,
      );
    }
    const operation = read.data;
    const op = ++last;
    return new Promise<unknown>((resolve, reject) => {
      operations.set(op, { resolve, reject, body, aborted: new AbortController() });
      reply({ kind: "operation", id, op, operation });
    }).finally(() => operations.delete(op));
  };
  const runBody = async (op: number, key: string): Promise<void> => {
    const { body, aborted } = operations.get(op) ?? {};
    if (body === undefined || aborted === undefined) return;
    const signal = AbortSignal.any([ended.signal, aborted.signal]);
    const progress = (text: string): void => reply({ kind: "progress", id, op, text });
    try {
      const value = plain(await body({ signal, key, progress, now: () => Date.now() }));
      reply({ kind: "body_done", id, op, value });
    } catch (thrown) {
      reply({ kind: "body_failed", id, op, failure: toFailure(toTuttiError(thrown)) });
    }
  };
  const port: WorkflowPort = {
    task,
    attempt,
    agent,
    signal: ended.signal,
    get durable(): Durable {
      const message = "durable.port is not here: a workflow of a config runs in a process without the engine";
      throw new TuttiError(
        "refused",
        `${message}; use the operations of \`durable\`, or run the workflow in a program`,
      );
    },
    step: (key, body, { repeatable = false, timeoutMs, input }) =>
      ask(
        {
          do: "step",
          key,
          repeatable,
          ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
          ...(input === undefined ? {} : { input: plain(input) }),
        },
        body,
      ),
    sleep: async (key, ms) => void (await ask({ do: "sleep", key, ms: Math.max(0, ms) })),
    now: async (key) => Number(await ask({ do: "now", key })),
    id: async (key) => String(await ask({ do: "id", key })),
    async runAgents(key, targets) {
      const wanted = targets.map(({ agent: named, prompt }) => ({ agent: nameOf(named), prompt }));
      return AgentResult.array().parse(await ask({ do: "agents", key, targets: wanted }));
    },
    async startWorkflow(key, name, input) {
      return AgentResult.parse(await ask({ do: "workflow", key, name, input: plain(input) }));
    },
    async wait(key, { ask: { kind, question, details, choices }, within }) {
      const spec = {
        kind: kind === "approval" ? ("approval" as const) : ("question" as const),
        question,
        ...(details === undefined ? {} : { details: plain(details) }),
        ...(choices === undefined ? {} : { choices: [...choices] }),
      };
      return Waited.parse(await ask({ do: "wait", key, ask: spec, ...(within === undefined ? {} : { within }) }));
    },
    receive: async (key) => String(await ask({ do: "receive", key })),
  };
  return {
    port,
    hear(request) {
      switch (request.kind) {
        case "done":
          return operations.get(request.op)?.resolve(request.value);
        case "refused":
          return operations.get(request.op)?.reject(errorOf(request.failure));
        case "body":
          return void runBody(request.op, request.step);
        case "abort": {
          const reason = new TuttiError("canceled", "the workflow was canceled, or its step took too long");
          return request.op === undefined ? ended.abort(reason) : operations.get(request.op)?.aborted.abort(reason);
        }
      }
    },
  };
}

/** Agents of a project are its files and fixed when a tree starts, so one that is written in the config is not among them. */
function nameOf(agent: AnyAgent | string): string {
  if (typeof agent === "string") return agent;
  const message = `a workflow of a config runs the agents of its project by their names, as in \`durable.run(key, "${agent.name}", …)\``;
  throw new TuttiError("invalid_input", `${message}; agents in code belong to a program that uses openTutti`);
}

/** What JSON keeps of a value; only that can be sent. */
export function plain(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text === undefined ? null : JSON.parse(text);
}
