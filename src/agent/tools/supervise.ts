// The supervisor tools: how an agent looks at the tasks below its own, waits for them, cancels them and sends them messages.

import { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import type { TaskSnapshot } from "../../protocol/invocation/invocation-result.ts";
import { userMessage } from "../../protocol/task/message.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import { durableTool, type DurableToolContext, type Tool } from "./tool.ts";

const taskId = () => z.string().min(1).describe("The id a background call returned, or list_my_tasks.");
const hour = 60 * 60 * 1000;

const getTask = durableTool({
  name: "get_task",
  description: "Shows one of your tasks as it is now.",
  input: () => z.strictObject({ task_id: taskId() }),
  effects: ["read"],
  waits: false,
  run: (input, context) => snapshotOf(input.task_id, context),
});

const waitTask = durableTool({
  name: "wait_task",
  description:
    "Waits until one of your tasks ends and returns its result. When it takes too long you are told; it goes on.",
  input: () =>
    z.strictObject({
      task_id: taskId(),
      timeout_ms: z.int().positive().max(hour).nullish().describe("A minute when absent."),
    }),
  effects: ["read"],
  waits: true,
  async run({ task_id: id, timeout_ms }, context) {
    const { durable, key } = context;
    const first = await durable.select(`${key}.wait`, [{ child: id }, { after: timeout_ms ?? 60_000 }]);
    const task = await snapshotOf(id, context);
    return first.kind === "child" ? { timed_out: false, task, result: first.value.content } : { timed_out: true, task };
  },
});

const cancelTask = durableTool({
  name: "cancel_task",
  description: "Ends one of your tasks and every task below it. Tasks that have ended already are not affected.",
  input: () => z.strictObject({ task_id: taskId() }),
  effects: ["write"],
  waits: false,
  async run({ task_id: id }, { durable, key }) {
    const canceled = await durable.cancel(`${key}.cancel`, id);
    return { canceled: await durable.snapshot(`${key}.snapshot`, canceled) };
  },
});

const listMyTasks = durableTool({
  name: "list_my_tasks",
  description: "Lists the tasks below your own, of all levels.",
  input: () =>
    z.strictObject({
      scope: z.enum(["all", "open"]).nullish().describe("open leaves out those that have ended."),
    }),
  effects: ["read"],
  waits: false,
  async run({ scope }, { durable, key }) {
    const tasks = await durable.snapshot(`${key}.snapshot`, "descendants");
    return { tasks: scope === "open" ? tasks.filter((task) => !isTerminal(task.status)) : tasks };
  },
});

const getTaskResult = durableTool({
  name: "get_task_result",
  description: "Returns the whole result of one of your tasks that has ended, or tells you that it has not.",
  input: () => z.strictObject({ task_id: taskId() }),
  effects: ["read"],
  waits: false,
  async run({ task_id: id }, context) {
    const task = await snapshotOf(id, context);
    if (!isTerminal(task.status)) return { task, result: null, note: "It has not ended yet; wait_task waits for it." };
    const [result] = await context.durable.join([id]);
    return { task, result: result?.content ?? null };
  },
});

const messageTask = durableTool({
  name: "message_task",
  description: "Sends a message to one of your tasks that has not ended; the task sees it before its next turn.",
  input: () => z.strictObject({ task_id: taskId(), message: z.string().min(1) }),
  effects: ["write"],
  waits: false,
  async run({ task_id: id, message }, context) {
    const { durable, key } = context;
    const task = await snapshotOf(id, context);
    if (isTerminal(task.status)) throw new TuttiError("refused", `the task ${id} has ended and takes no more messages`);
    try {
      await durable.send(`${key}.send`, id, { ...userMessage(message), name: durable.agent });
    } catch (thrown) {
      if (!(thrown instanceof TuttiError && thrown.code === "conflict")) throw thrown;
      throw new TuttiError("refused", thrown.message, { cause: thrown });
    }
    return { sent: true, task };
  },
});

export const supervisorTools: readonly Tool[] = [
  getTask,
  waitTask,
  cancelTask,
  listMyTasks,
  getTaskResult,
  messageTask,
];

/** Fails for a task that is not below the caller's own. */
async function snapshotOf(id: string, { durable, key }: DurableToolContext): Promise<TaskSnapshot> {
  const [snapshot] = await durable.snapshot(`${key}.snapshot`, [id]);
  if (snapshot === undefined) throw new TuttiError("not_found", `there is no task ${id}`);
  return snapshot;
}
