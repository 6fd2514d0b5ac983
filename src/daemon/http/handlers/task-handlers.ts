// Starts invocations, and answers about tasks.

import { isAbsolute } from "node:path";

import { idInName } from "../../../store/names.ts";
import type { TaskPlace } from "../../../store/view.ts";
import { TuttiError } from "../../../protocol/error.ts";
import type { TaskId } from "../../../protocol/ids.ts";
import type { AgentResult } from "../../../protocol/invocation/invocation-result.ts";
import { readInvocationFile } from "../../../protocol/invocation/invocation-file.ts";
import { isTerminal } from "../../../protocol/task/task-status.ts";
import type { HttpContext } from "../context.ts";
import { exportLines } from "../export-lines.ts";
import type { Handlers } from "../handler.ts";
import { type HttpError, httpError } from "../http-error.ts";
import { TimeoutSignal } from "../timeout-signal.ts";
import { startWhereFolderIs, startWhereWorkIs } from "../here-or-elsewhere.ts";
import { predecessorsIn } from "../predecessors.ts";
import { asProgram, keyOf, mustBePerson, ofCaller } from "./of-caller.ts";

type TaskRoute =
  | "invoke"
  | "listTasks"
  | "task"
  | "tree"
  | "messages"
  | "steps"
  | "taskHistory"
  | "taskBudget"
  | "result"
  | "exportTask"
  | "cancel"
  | "retry"
  | "tell";

export function taskHandlers(context: HttpContext): Pick<Handlers, TaskRoute> {
  const { state } = context;
  const { client, view } = state;
  const placeOf = async (task: TaskId): Promise<TaskPlace> => {
    const id = idInName(view.salt, task);
    const place = id === undefined ? undefined : await view.place(id);
    if (place === undefined) throw new TuttiError("not_found", `there is no task ${task}`);
    return place;
  };
  const isSettled = async (task: TaskId): Promise<boolean> => {
    const { id, root } = await placeOf(task);
    if (root === id) return (await view.unfinished(id)) === 0;
    return (await view.below(id)).every(({ status }) => isTerminal(status));
  };
  const ended = async (task: TaskId, result: AgentResult) => ({
    value: { ended: true as const, settled: await isSettled(task), result },
  });
  return {
    async invoke(request) {
      const { query, headers, text, caller } = request;
      const error = query.folder === undefined ? relativePathError(text) : undefined;
      if (error !== undefined) return { error };
      const key = headers["idempotency-key"];
      const folder = query.folder ?? context.from;
      const anew = query.anew === true;
      const started = await startWhereWorkIs(state, request, predecessorsIn(text), (tutti, onceKey) =>
        tutti.invoke(text, {
          folder,
          ownFolder: query.folder === undefined && state.shared !== undefined,
          anew,
          ...keyOf(key, anew ? onceKey : undefined),
          ...ofCaller(state.keys, caller),
        }),
      );
      return { value: started, status: started.existed ? 200 : 201 };
    },
    listTasks: async ({ query }) => ({ value: await client.tasks(query) }),
    task: async ({ params }) => ({ value: await client.task(params.task) }),
    tree: async ({ params, query }) => ({ value: await client.treePage(params.task, query) }),
    messages: async ({ params, query }) => ({ value: await client.messages(params.task, query) }),
    taskHistory: async ({ params, query }) => ({ value: await client.history(params.task, query) }),
    taskBudget: async ({ params }) => ({ value: await client.budget(params.task) }),
    steps: async ({ params, query }) => ({ value: await client.steps(params.task, query) }),
    async result(request) {
      const { task } = request.params;
      const { wait_ms } = request.query;
      const { status } = await placeOf(task);
      if (isTerminal(status)) return ended(task, await client.result(task));
      if (wait_ms === 0) return { value: { ended: false, status }, status: 202 };
      const timeout = new TimeoutSignal(request.signal, wait_ms);
      try {
        return await ended(task, await client.result(task, timeout.signal));
      } catch (thrown) {
        if (!timeout.timedOut) throw thrown;
        const now = await placeOf(task);
        return { value: { ended: false, status: now.status }, status: 202 };
      } finally {
        timeout.clear();
      }
    },
    async exportTask({ params }) {
      const { task } = params;
      await placeOf(task);
      return { lines: exportLines(client, state.feed, { task, until: await view.lastEvent() }) };
    },
    async cancel({ params, body }) {
      return { value: { canceled: [...(await client.cancel(params.task, body.reason))] } };
    },
    async retry(request) {
      const { params, headers, body, caller } = request;
      const options = { giveUp: body.give_up, ...ofCaller(state.keys, caller) };
      const retried = await startWhereFolderIs(state, request, (tutti, onceKey) =>
        tutti.retry(params.task, { ...options, ...keyOf(headers["idempotency-key"], onceKey) }),
      );
      return { value: retried };
    },
    async tell({ params, body, caller }) {
      if ((await client.task(params.task)).runner === "conversation")
        mustBePerson(caller, "take part in a conversation like this");
      const { text, interrupt } = body;
      return {
        value: { told: true, task: await client.sendMessage(params.task, text, { interrupt, ...asProgram(caller) }) },
      };
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
