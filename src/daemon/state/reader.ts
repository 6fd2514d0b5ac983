// Reads a state folder: rows become the views that fronts are given.

import { z } from "zod";

import type { Reader } from "../../client/client.ts";
import { askView, eventView } from "../../engine/event-view.ts";
import { askName, idInName, taskName } from "../../store/names.ts";
import { contentOf, outcomeIn } from "../../engine/outcome.ts";
import { messageIn } from "../../engine/recorded-message.ts";
import { waitBodyIn } from "../../engine/wait-body.ts";
import {
  type ListedTask,
  type MessagePage,
  type OpenAsk,
  type OpenWait,
  PageQuery,
  type StepPage,
  TaskListQuery,
} from "../../protocol/api/task-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { ToolCall } from "../../protocol/task/message.ts";
import { isOperatorLabel } from "../../protocol/operator/operator-request.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import type { TaskView } from "../../protocol/task/task-view.ts";
import type { WaitRow } from "../../store/store.ts";
import type { StoreView, TaskListing } from "../../store/view.ts";
import { follow, type FollowSource } from "./follow-feed.ts";

/** How often a state that others work on is looked at for more. */
const pollMs = 200;

/** Reads of one store, in the shapes of the API; the engine's process and a bystander share them. */
export interface Views {
  task(task: TaskId): TaskView;
  tree(task: TaskId): TaskView[];
  tasks(query?: TaskListQuery): { tasks: ListedTask[]; next: string | null };
  messages(task: TaskId, page: PageQuery): MessagePage;
  steps(task: TaskId, page: PageQuery): StepPage;
  events(options: { readonly task?: TaskId; readonly after: number; readonly limit: number }): TaskEvent[];
  subtree: FollowSource["subtree"];
  asks(task?: TaskId): OpenAsk[];
  waits(task?: TaskId): OpenWait[];
}

export function viewsOver(view: StoreView): Views {
  const { salt } = view;
  const idOf = (task: TaskId): number => {
    const id = idInName(salt, task);
    if (id === undefined || view.task(id) === undefined) throw new TuttiError("not_found", `there is no task ${task}`);
    return id;
  };
  const openOf = (task: TaskId | undefined): WaitRow[] => {
    const rows = view.openWaits();
    if (task === undefined) return rows;
    const mine = new Set(view.below(idOf(task)).map((row) => row.id));
    return rows.filter((row) => mine.has(row.task));
  };
  return {
    task(task) {
      const id = idInName(salt, task);
      const row = id === undefined ? undefined : view.task(id);
      if (row === undefined) throw new TuttiError("not_found", `there is no task ${task}`);
      return taskView(salt, row);
    },
    tree: (task) => view.below(idOf(task)).map((row) => taskView(salt, row)),
    tasks(query = {}) {
      const { limit, cursor, status, agent, runner, parent, roots } = TaskListQuery.parse(query);
      const above = parent === undefined ? undefined : idOf(parent);
      const rows = view.tasks({
        limit: limit + 1,
        ...(cursor === undefined ? {} : { after: Number(cursor) }),
        ...(status === undefined ? {} : { status }),
        ...(agent === undefined ? {} : { agent }),
        ...(runner === undefined ? {} : { runner }),
        ...(above === undefined ? { roots: roots !== false } : { parent: above }),
      });
      const tasks = rows.slice(0, limit).map((row): ListedTask => {
        const open = row.parent === null ? { open: view.unfinished(row.id) } : {};
        return { ...taskView(salt, row), ...open };
      });
      return { tasks, next: rows.length > limit ? String(rows[limit - 1]?.id) : null };
    },
    messages(task, page) {
      const { after, limit } = PageQuery.parse(page);
      const rows = view.messages(idOf(task), { after, limit: limit + 1 });
      const messages = rows.slice(0, limit).map(({ seq, attempt, run, body }) => ({
        seq,
        attempt,
        run,
        message: messageIn(body ?? "null"),
      }));
      return { messages, next: rows.length > limit ? (messages.at(-1)?.seq ?? null) : null };
    },
    steps(task, page) {
      const { after, limit } = PageQuery.parse(page);
      const rows = view.steps(idOf(task), { after, limit: limit + 1 });
      const steps = rows.slice(0, limit).map(({ seq, at, attempt, run, key, kind, tokens, money, body }) => ({
        seq,
        at,
        attempt,
        run,
        key,
        outcome: z.enum(["ok", "failed", "unknown"]).parse(kind),
        tokens,
        money_micro_usd: money,
        value: JSON.parse(body ?? "null"),
      }));
      return { steps, next: rows.length > limit ? (steps.at(-1)?.seq ?? null) : null };
    },
    events({ task, after, limit }) {
      const rows = task === undefined ? view.eventsAfter(after, limit) : view.events(idOf(task), after, limit);
      return rows.map((event) => eventView(salt, event));
    },
    subtree(task) {
      const rows = view.below(idOf(task));
      return { ids: rows.map(({ id }) => taskName(salt, id)), over: rows.every((row) => isTerminal(row.status)) };
    },
    asks: (task) => openOf(task).flatMap((row) => askView(salt, row) ?? []),
    waits: (task) => openOf(task).flatMap((row) => waitView(salt, row)),
  };
}

/** Beside whoever works, who tells nobody: it looks again and again. */
export function openReader(view: StoreView): Reader {
  const views = viewsOver(view);
  const source: FollowSource = {
    read: (options) => views.events(options),
    subtree: (task) => views.subtree(task),
    onMore(listener) {
      const timer = setInterval(listener, pollMs);
      return () => clearInterval(timer);
    },
  };
  return { ...asyncReads(views), follow: (options) => follow(source, options), close: async () => view.close() };
}

/** The same reads, as the promises a front is given: what is thrown is a rejection. */
export function asyncReads(views: Views): Omit<Reader, "follow" | "close"> {
  return {
    tasks: async (query) => views.tasks(query),
    task: async (task) => views.task(task),
    tree: async (task) => views.tree(task),
    messages: async (task, page) => views.messages(task, page),
    steps: async (task, page) => views.steps(task, page),
    events: async (options) => views.events(options),
    asks: async (task) => views.asks(task),
    waits: async (task) => views.waits(task),
  };
}

function taskView(salt: string, row: TaskListing): TaskView {
  return {
    id: taskName(salt, row.id),
    parent: row.parent === null ? null : taskName(salt, row.parent),
    root: taskName(salt, row.root),
    depth: row.depth,
    agent: row.agent,
    runner: row.kind,
    detached: row.detached,
    status: row.status,
    attempt: row.attempt,
    run: row.run,
    created_at: row.created_at,
    ended_at: row.ended_at,
    steps: row.steps,
    tokens: row.tokens,
    money_micro_usd: row.money,
    result: row.result === null ? null : shownResult(row.result),
  };
}

const Told = z.object({ message: z.unknown() });

/** What the task ended with: its content, or in words why it has none. */
function shownResult(body: string): unknown {
  const outcome = outcomeIn({ body });
  const told = Told.safeParse(outcome.error).data;
  return told === undefined ? contentOf(outcome) : (told.message ?? null);
}

const ClientCall = z.object({ external_tool: ToolCall });

function waitView(salt: string, row: WaitRow): OpenWait[] {
  if (row.ask !== null) return [];
  const { label = "", details } = waitBodyIn(row);
  // Requests to operators are waits too, but only their operator may settle them.
  if (isOperatorLabel(label)) return [];
  const call = ClientCall.safeParse(details).data?.external_tool;
  return [
    {
      id: askName(salt, row.id),
      task: taskName(salt, row.task),
      root: taskName(salt, row.root),
      label,
      ...(call === undefined ? {} : { call: { tool_name: call.tool_name, input: call.input } }),
      deadline: row.due,
    },
  ];
}
