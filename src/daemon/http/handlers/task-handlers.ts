// Starts invocations, and answers about tasks.

import { resolve } from "node:path";

import { idInName } from "../../../store/names.ts";
import type { TaskId } from "../../../protocol/ids.ts";
import type { AgentResult } from "../../../protocol/invocation/invocation-result.ts";
import { readInvocationFile } from "../../../protocol/invocation/invocation-file.ts";
import { isTerminal } from "../../../protocol/task/task-status.ts";
import { boundedPage } from "../bounded-page.ts";
import type { HttpContext } from "../context.ts";
import { exportLines } from "../export-lines.ts";
import type { Handlers } from "../handler.ts";
import { type Refused, refuse } from "../refused.ts";
import { Patience } from "../patience.ts";

type Tasks =
  | "invoke"
  | "listTasks"
  | "task"
  | "tree"
  | "messages"
  | "steps"
  | "result"
  | "exportTask"
  | "cancel"
  | "tell";

export function taskHandlers(context: HttpContext): Pick<Handlers, Tasks> {
  const { state } = context;
  const { client, view } = state;
  const settled = (task: TaskId): boolean => {
    const id = idInName(view.salt, task);
    const row = id === undefined ? undefined : view.taskRow(id);
    if (row === undefined) return true;
    return row.root === row.id
      ? view.unfinished(row.id) === 0
      : view.below(row.id).every(({ status }) => isTerminal(status));
  };
  const ended = (task: TaskId, result: AgentResult) => ({
    value: { ended: true as const, settled: settled(task), result },
  });
  return {
    async invoke({ query, headers, text }) {
      const refused = query.folder === undefined ? relativeRoots(text) : undefined;
      if (refused !== undefined) return { refused };
      const key = headers["idempotency-key"];
      const started = await client.invoke(text, {
        folder: query.folder ?? context.from,
        anew: query.anew === true,
        ...(key === undefined ? {} : { key }),
      });
      return { value: started, status: started.existed ? 200 : 201 };
    },
    listTasks: async ({ query }) => ({ value: await client.tasks(query) }),
    task: async ({ params }) => ({ value: await client.task(params.task) }),
    tree: async ({ params }) => ({ value: { tasks: await client.tree(params.task) } }),
    async messages({ params, query }) {
      const { items, next } = await boundedPage(async (asked) => {
        const page = await client.messages(params.task, asked);
        return { items: page.messages, next: page.next };
      }, query);
      return { value: { messages: items, next } };
    },
    async steps({ params, query }) {
      const { items, next } = await boundedPage(async (asked) => {
        const page = await client.steps(params.task, asked);
        return { items: page.steps, next: page.next };
      }, query);
      return { value: { steps: items, next } };
    },
    async result(call) {
      const { task } = call.params;
      const { status } = await client.task(task);
      if (isTerminal(status)) return ended(task, await client.result(task));
      if (call.query.wait_ms === 0) return { value: { ended: false, status }, status: 202 };
      const patience = new Patience(call.signal, call.query.wait_ms);
      try {
        return ended(task, await client.result(task, patience.signal));
      } catch (thrown) {
        if (!patience.over) throw thrown;
        const now = await client.task(task);
        return { value: { ended: false, status: now.status }, status: 202 };
      } finally {
        patience.end();
      }
    },
    async exportTask({ params }) {
      return { lines: exportLines(await client.tree(params.task), state.feed, params.task) };
    },
    async cancel({ params, body }) {
      return { value: { canceled: [...(await client.cancel(params.task, body.reason))] } };
    },
    async tell({ params, body }) {
      await client.tell(params.task, body.text);
      return { value: { told: true } };
    },
  };
}

/** Where the service was started is nothing the caller meant. */
function relativeRoots(text: string): Refused | undefined {
  const reading = readInvocationFile(text);
  if (!reading.ok) return undefined;
  const { roots, project } = reading.file;
  const relative = [...roots, ...(project === undefined ? [] : [project])].find((folder) => resolve(folder) !== folder);
  if (relative === undefined) return undefined;
  return refuse(
    "invalid_input",
    `${relative} is relative, and to what is not said; give absolute paths, or \`folder\``,
  );
}
