// The MCP tools for tasks: start agents, wait for results, look at tasks and steer them.

import { z } from "zod";

import { CancelTask, PageQuery, TaskListQuery, TellTask } from "../../protocol/api/task-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import { TaskId } from "../../protocol/ids.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import type { LocalTutti } from "../state/local-client.ts";
import { predecessorsIn } from "../http/predecessors.ts";
import { boundedWait, longestWaitMs } from "./bounded-wait.ts";
import { folderOf, startOptions } from "./goal-tools.ts";
import { type McpCall, type McpTool, mcpTool, programIn } from "./mcp-tool.ts";

const AboutTask = z.strictObject({ task: TaskId });
const key = z.string().min(1).max(255).optional();
const folder = z.string().min(1).max(4096).optional().describe("The absolute path of the folder to work in.");

const RunAgent = z.strictObject({
  agent: z.string().min(1).max(64).describe("The name of an agent of the project in `folder`."),
  prompt: z.string().min(1).max(1_000_000),
  folder,
  model: z.string().min(1).max(256).optional(),
  key: key.describe("An idempotency key: the same key always gives the same task."),
});

const Invoke = z.strictObject({
  invocation: z
    .union([z.string(), z.record(z.string(), z.unknown())])
    .describe("An invocation file, as an object or as its text: {invocation: {targets, context, join, …}, agents, …}."),
  folder,
  key,
});

const WaitForTask = AboutTask.extend({
  wait_ms: z.int().min(0).max(longestWaitMs).default(30_000).describe("How long this call may wait for the end."),
});

export function taskTools(client: LocalTutti): McpTool[] {
  return [
    mcpTool({
      name: "agent_run",
      description:
        "Starts one agent of a project with a prompt. Returns the id of the task at once; wait for it with task_wait.",
      access: "operator",
      readOnly: false,
      input: RunAgent,
      run: ({ agent, prompt, model, ...rest }, call) => {
        const file = { invocation: single(named(agent, prompt)), ...(model === undefined ? {} : { model }) };
        return start({ ...rest, text: JSON.stringify(file) }, call);
      },
    }),
    mcpTool({
      name: "invoke",
      description: "Starts an invocation, which may have several agents. Returns the id of its root task at once.",
      access: "operator",
      readOnly: false,
      input: Invoke,
      run: ({ invocation, ...rest }, call) => {
        const text = typeof invocation === "string" ? invocation : JSON.stringify(invocation);
        return start({ ...rest, text }, call);
      },
    }),
    mcpTool({
      name: "task_wait",
      description:
        "Waits until a task has ended and returns its result. If the time is up first, it returns the status and the " +
        "questions that are open in the task; call it again to go on waiting.",
      access: "viewer",
      readOnly: true,
      input: WaitForTask,
      run: ({ task, wait_ms }, call) => waitForTask(client, { task, ms: wait_ms }, call),
    }),
    mcpTool({
      name: "task_list",
      description: "Lists root tasks, newest first; with `roots: false` all tasks.",
      access: "viewer",
      readOnly: true,
      input: TaskListQuery.extend({ roots: z.boolean().optional() }),
      run: (query) => client.tasks(query),
    }),
    mcpTool({
      name: "task_show",
      description: "Shows a task, with all tasks below it.",
      access: "viewer",
      readOnly: true,
      input: AboutTask,
      run: async ({ task }) => ({ task: await client.task(task), ...(await client.treePage(task, { limit: 100 })) }),
    }),
    mcpTool({
      name: "task_messages",
      description: "The conversation of a task, in order; `next` is the `after` of the following page.",
      access: "viewer",
      readOnly: true,
      input: AboutTask.extend(PageQuery.shape),
      run: ({ task, ...page }) => client.messages(task, page),
    }),
    mcpTool({
      name: "task_tell",
      description: "Sends a message to a running task, which reads it at its next turn.",
      access: "operator",
      readOnly: false,
      input: AboutTask.extend(TellTask.shape),
      async run({ task, text, interrupt }, { caller }) {
        if ((await client.task(task)).runner === "conversation") {
          throw new TuttiError("refused", `${task} is a conversation, which only people take part in`);
        }
        return { told: true, task: await client.sendMessage(task, text, { interrupt, ...programIn(caller) }) };
      },
    }),
    mcpTool({
      name: "task_cancel",
      description: "Cancels a task and everything below it.",
      access: "operator",
      readOnly: false,
      input: AboutTask.extend(CancelTask.shape),
      run: async ({ task, reason }) => ({ canceled: await client.cancel(task, reason) }),
    }),
  ];
}

async function start(
  given: { readonly text: string; readonly folder?: string | undefined; readonly key?: string | undefined },
  call: McpCall,
): Promise<unknown> {
  const options = { folder: folderOf(given.folder, call), ...startOptions(given.key, call) };
  return call.startAnywhere((tutti) => tutti.invoke(given.text, options), predecessorsIn(given.text));
}

async function waitForTask(
  client: LocalTutti,
  { task, ms }: { readonly task: TaskId; readonly ms: number },
  call: McpCall,
): Promise<unknown> {
  const { status: before } = await client.task(task);
  const waited = await boundedWait(call, { ms, waitingFor: `${task}, which is ${before}` }, (signal) =>
    client.result(task, signal),
  );
  if ("value" in waited) return { ended: true, result: waited.value };
  const { status } = await client.task(task);
  return { ended: false, status, asks: (await client.asks(task)).slice(0, 20) };
}
