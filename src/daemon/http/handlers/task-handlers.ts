// Starts invocations, and answers about tasks.

import { isAbsolute } from "node:path";

import { idInName } from "../../../store/names.ts";
import type { TaskId } from "../../../protocol/ids.ts";
import type { AgentResult } from "../../../protocol/invocation/invocation-result.ts";
import { readInvocationFile } from "../../../protocol/invocation/invocation-file.ts";
import { isTerminal } from "../../../protocol/task/task-status.ts";
import type { HttpContext } from "../context.ts";
import { exportLines } from "../export-lines.ts";
import type { Handlers } from "../handler.ts";
import { type HttpError, httpError } from "../http-error.ts";
import { sizeLimitedPage } from "../size-limited-page.ts";
import { TimeoutSignal } from "../timeout-signal.ts";

type TaskRoute =
  | "invoke"
  | "listTasks"
  | "task"
  | "tree"
  | "messages"
  | "steps"
  | "result"
  | "exportTask"
  | "cancel"
  | "retry"
  | "tell";

export function taskHandlers(context: HttpContext): Pick<Handlers, TaskRoute> {
  const { state } = context;
  const { client, view } = state;
  const isSettled = async (task: TaskId): Promise<boolean> => {
    const id = idInName(view.salt, task);
    const row = id === undefined ? undefined : await view.taskRow(id);
    if (row === undefined) return true;
    if (row.root === row.id) return (await view.unfinished(row.id)) === 0;
    return (await view.below(row.id)).every(({ status }) => isTerminal(status));
  };
  const ended = async (task: TaskId, result: AgentResult) => ({
    value: { ended: true as const, settled: await isSettled(task), result },
  });
  return {
    async invoke({ query, headers, text, caller }) {
      const error = query.folder === undefined ? relativePathError(text) : undefined;
      if (error !== undefined) return { error };
      const key = headers["idempotency-key"];
      const started = await client.invoke(text, {
        folder: query.folder ?? context.from,
        anew: query.anew === true,
        ...(key === undefined ? {} : { key }),
        ...(caller.kind === "key" ? { caller: state.keys.callerOf(caller.id) } : {}),
      });
      return { value: started, status: started.existed ? 200 : 201 };
    },
    listTasks: async ({ query }) => ({ value: await client.tasks(query) }),
    task: async ({ params }) => ({ value: await client.task(params.task) }),
    tree: async ({ params }) => ({ value: { tasks: await client.tree(params.task) } }),
    async messages({ params, query }) {
      const { items, next } = await sizeLimitedPage(async (request) => {
        const page = await client.messages(params.task, request);
        return { items: page.messages, next: page.next };
      }, query);
      return { value: { messages: items, next } };
    },
    async steps({ params, query }) {
      const { items, next } = await sizeLimitedPage(async (request) => {
        const page = await client.steps(params.task, request);
        return { items: page.steps, next: page.next };
      }, query);
      return { value: { steps: items, next } };
    },
    async result(request) {
      const { task } = request.params;
      const { wait_ms } = request.query;
      const { status } = await client.task(task);
      if (isTerminal(status)) return ended(task, await client.result(task));
      if (wait_ms === 0) return { value: { ended: false, status }, status: 202 };
      const timeout = new TimeoutSignal(request.signal, wait_ms);
      try {
        return await ended(task, await client.result(task, timeout.signal));
      } catch (thrown) {
        if (!timeout.timedOut) throw thrown;
        const now = await client.task(task);
        return { value: { ended: false, status: now.status }, status: 202 };
      } finally {
        timeout.clear();
      }
    },
    async exportTask({ params }) {
      const { task } = params;
      const tree = await client.tree(task);
      return { lines: exportLines(tree, state.feed, { task, until: await view.lastEvent() }) };
    },
    async cancel({ params, body }) {
      return { value: { canceled: [...(await client.cancel(params.task, body.reason))] } };
    },
    async retry({ params, headers, body, caller }) {
      const key = headers["idempotency-key"];
      const options = {
        giveUp: body.give_up,
        ...(key === undefined ? {} : { key }),
        ...(caller.kind === "key" ? { caller: state.keys.callerOf(caller.id) } : {}),
      };
      return { value: await client.retry(params.task, options) };
    },
    async tell({ params, body }) {
      await client.sendMessage(params.task, body.text);
      return { value: { told: true } };
    },
  };
}

/** Without `folder`, relative paths would be resolved in the folder of the service, which is not what the caller meant. */
function relativePathError(text: string): HttpError | undefined {
  const reading = readInvocationFile(text);
  if (!reading.ok) return undefined;
  const { roots, project } = reading.file;
  const relative = [...roots, ...(project === undefined ? [] : [project])].find((folder) => !isAbsolute(folder));
  if (relative === undefined) return undefined;
  return httpError("invalid_input", `${relative} is relative; use absolute paths, or say with \`folder\` to what`);
}
