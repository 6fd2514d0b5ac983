// The MCP tools with which a language model is a worker: it fetches its task, tells how it goes, asks, and submits the result.

import { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import { type WorkerEvent, WorkerAsk, WorkerUsage, workerRefusals } from "../../protocol/operator/worker.ts";
import type { WorkerReply } from "../operators/worker-reply.ts";
import type { WorkerService } from "../operators/worker-service.ts";
import { type McpCall, type McpTool, mcpTool } from "./mcp-tool.ts";

const handle = z
  .string()
  .min(1)
  .max(4096)
  .optional()
  .describe("The worker_handle of the task. Leave it out when you connected with it.");
const task_id = z.string().min(1).max(200);

export function workerTools(workers: WorkerService): McpTool[] {
  return [
    mcpTool({
      name: "worker_fetch",
      description:
        "Fetches the task of a worker: the prompt, the system prompt, the folder to work in and the limits. From then on " +
        "nobody else is offered the task. Call worker_progress at least every minute or so, and worker_submit at the end.",
      access: "worker",
      readOnly: false,
      input: z.strictObject({ handle, task_id }),
      run: async (input, call) => said(call, await workers.prompt(bearerOf(input, call), { task_id: input.task_id })),
    }),
    mcpTool({
      name: "worker_progress",
      description:
        "Says how the work goes, and that you are still there. Without it, the task counts as lost after a while.",
      access: "worker",
      readOnly: false,
      input: z.strictObject({
        handle,
        text: z.string().min(1).max(8192),
        fraction: z.number().min(0).max(1).optional(),
        usage: WorkerUsage.optional().describe("What was used since the last report."),
      }),
      async run({ text, fraction, usage, ...rest }, call) {
        const progress: WorkerEvent = { type: "progress", text, ...(fraction === undefined ? {} : { fraction }) };
        const events: WorkerEvent[] = usage === undefined ? [progress] : [progress, { type: "usage", ...usage }];
        const { expires_at } = await said(call, await workers.events(bearerOf(rest, call), { events }));
        return { accepted: true, expires_at };
      },
    }),
    mcpTool({
      name: "worker_ask",
      description:
        "Asks a person about the task. The same key again is the same question: call it again while it waits.",
      access: "worker",
      readOnly: false,
      input: WorkerAsk.extend({ handle }),
      async run({ handle: own, ...ask }, call) {
        const { capability_token: _, ...answer } = await said(
          call,
          await workers.ask(bearerOf({ handle: own }, call), ask, call.signal),
        );
        return answer;
      },
    }),
    mcpTool({
      name: "worker_submit",
      description: "Submits the result of the task, once. `ok: false` says that the work failed, and `value` says why.",
      access: "worker",
      readOnly: false,
      input: z.strictObject({
        handle,
        task_id,
        value: z.unknown().describe("Text or JSON."),
        ok: z.boolean().default(true),
        usage: WorkerUsage.optional().describe("What was used since the last report."),
      }),
      async run({ handle: own, task_id: id, value, ok, usage }, call) {
        const body = { task_id: id, value: value ?? null, ok, ...(usage === undefined ? {} : { usage }) };
        return said(call, await workers.result(bearerOf({ handle: own }, call), body));
      },
    }),
  ];
}

function bearerOf({ handle: given }: { readonly handle?: string | undefined }, { caller }: McpCall): string {
  if (caller.kind === "worker") {
    if (given === undefined || given === caller.bearer) return caller.bearer;
    throw new TuttiError("refused", "you are the worker of another task; leave `handle` out");
  }
  if (given !== undefined) return given;
  throw new TuttiError("invalid_input", "`handle` is missing: give the worker_handle of the task");
}

/** Whoever sends secrets that nobody has may be guessing, so the answer takes longer each time. */
async function said<T>(call: McpCall, reply: WorkerReply<T>): Promise<T> {
  if (reply.ok) return reply.value;
  const { status, message } = workerRefusals[reply.reason];
  const code = status === 401 ? "unauthorized" : status === 403 ? "refused" : status === 413 ? "too_large" : "conflict";
  const error = new TuttiError(code, message, { details: { reason: reply.reason } });
  if (status !== 401) throw error;
  throw await call.slowDown(error);
}
