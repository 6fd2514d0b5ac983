// The operations of a workflow whose engine is in another process: each is asked for by a message, and the bodies of steps run here.

import { z } from "zod";

import type { AnyAgent } from "./code-agent.ts";
import type { WorkflowStep } from "./code-workflow.ts";
import type { WorkflowPort } from "./workflow-port.ts";
import type { Durable } from "../ports.ts";
import { toTuttiError, TuttiError } from "../protocol/error.ts";
import { errorOfFailure, toFailure } from "../protocol/failure.ts";
import { AgentResult } from "../protocol/invocation/invocation-result.ts";
import {
  WorkflowOperation,
  type WorkflowOrder,
  type WorkflowReport,
} from "../protocol/invocation/workflow-messages.ts";
import { Answer, Answerer } from "../protocol/task/ask.ts";
import { describeIssues, issuesOf } from "../protocol/lenient-read.ts";

interface Operation {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly body: ((step: WorkflowStep) => Promise<unknown>) | undefined;
  /** Aborts the body. */
  readonly aborted: AbortController;
}

const Waited = z.union([z.object({ expired: z.literal(true) }), z.object({ value: Answer, by: Answerer })]);

export interface BegunWorkflow {
  readonly task: string;
  readonly attempt: number;
  /** The name of the workflow. */
  readonly agent: string;
  readonly tell: (report: WorkflowReport) => void;
  /** The name of an agent that the workflow runs. Throws for one that Tutti's process does not know. */
  readonly nameOf: (agent: AnyAgent | string) => string;
}

export interface RemoteWorkflow {
  readonly port: WorkflowPort;
  /** Takes what Tutti says about it. */
  readonly hear: (order: WorkflowOrder) => void;
}

export function remoteWorkflow({ task, attempt, agent, tell, nameOf }: BegunWorkflow): RemoteWorkflow {
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
      tell({ kind: "operation", op, operation });
    }).finally(() => operations.delete(op));
  };
  const runBody = async (op: number, key: string): Promise<void> => {
    const { body, aborted } = operations.get(op) ?? {};
    if (body === undefined || aborted === undefined) return;
    const signal = AbortSignal.any([ended.signal, aborted.signal]);
    const progress = (text: string): void => tell({ kind: "progress", op, text });
    try {
      const value = plain(await body({ signal, key, progress, now: () => Date.now() }));
      tell({ kind: "body_done", op, value });
    } catch (thrown) {
      tell({ kind: "body_failed", op, failure: toFailure(toTuttiError(thrown)) });
    }
  };
  const port: WorkflowPort = {
    task,
    attempt,
    agent,
    signal: ended.signal,
    get durable(): Durable {
      const message = "durable.port is not here: the workflow runs in a process without the engine";
      throw new TuttiError(
        "refused",
        `${message}; use the operations of \`durable\`, or open a state folder in your program`,
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
    hear(order) {
      switch (order.kind) {
        case "done":
          return operations.get(order.op)?.resolve(order.value);
        case "refused":
          return operations.get(order.op)?.reject(errorOfFailure(order.failure));
        case "body":
          return void runBody(order.op, order.step);
        case "abort": {
          const reason = new TuttiError("canceled", "the workflow was canceled, or its step took too long");
          return order.op === undefined ? ended.abort(reason) : operations.get(order.op)?.aborted.abort(reason);
        }
      }
    },
  };
}

/** What JSON keeps of a value; only that can be sent. */
export function plain(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text === undefined ? null : JSON.parse(text);
}
