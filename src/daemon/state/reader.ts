// Reads a state folder: rows become the views that fronts are given.

import { z } from "zod";

import type { Reader } from "../../client/client.ts";
import { askView, clientCall, eventView } from "../../engine/event-view.ts";
import { askName, idInName, taskName } from "../../store/names.ts";
import { contentOf, outcomeIn } from "../../engine/outcome.ts";
import { messageIn } from "../../engine/recorded-message.ts";
import { waitBodyIn } from "../../engine/wait-body.ts";
import { type ListedTask, type OpenWait, PageQuery, TaskListQuery } from "../../protocol/api/task-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { isOperatorLabel } from "../../protocol/operator/operator-request.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import type { TaskView } from "../../protocol/task/task-view.ts";
import type { WaitRow } from "../../store/store.ts";
import type { StoreView, TaskListing } from "../../store/view.ts";
import { follow, type FollowSource } from "./follow-feed.ts";

/** How often a state that others work on is looked at for more. */
const pollMs = 200;

/** Reads of one store, in the shapes of the API; the process that runs the tasks and a bystander share them. */
export interface StoreReads extends Omit<Reader, "follow" | "close"> {
  subtree: FollowSource["subtree"];
}

export function readsOf(view: StoreView): StoreReads {
  const { salt } = view;
  const missing = (task: TaskId): TuttiError => new TuttiError("not_found", `there is no task ${task}`);
  const idOf = async (task: TaskId): Promise<number> => {
    const id = idInName(salt, task);
    if (id === undefined || (await view.task(id)) === undefined) throw missing(task);
    return id;
  };
  const openOf = async (task: TaskId | undefined): Promise<WaitRow[]> => {
    const rows = await view.openWaits();
    if (task === undefined) return rows;
    const mine = new Set((await view.below(await idOf(task))).map((row) => row.id));
    return rows.filter((row) => mine.has(row.task));
  };
  return {
    async task(task) {
      const id = idInName(salt, task);
      const row = id === undefined ? undefined : await view.task(id);
      if (row === undefined) throw missing(task);
      return taskView(salt, row);
    },
    tree: async (task) => (await view.below(await idOf(task))).map((row) => taskView(salt, row)),
    async tasks(query = {}) {
      const { limit, cursor, status, agent, runner, parent, roots } = TaskListQuery.parse(query);
      const above = parent === undefined ? undefined : await idOf(parent);
      const rows = await view.tasks({
        limit: limit + 1,
        ...(cursor === undefined ? {} : { after: Number(cursor) }),
        ...(status === undefined ? {} : { status }),
        ...(agent === undefined ? {} : { agent }),
        ...(runner === undefined ? {} : { runner }),
        ...(above === undefined ? { roots: roots !== false } : { parent: above }),
      });
      const tasks = await Promise.all(
        rows.slice(0, limit).map(async (row): Promise<ListedTask> => {
          const open = row.parent === null ? { open: await view.unfinished(row.id) } : {};
          return { ...taskView(salt, row), ...open };
        }),
      );
      return { tasks, next: rows.length > limit ? String(rows[limit - 1]?.id) : null };
    },
    async messages(task, page) {
      const { after, limit } = PageQuery.parse(page);
      const rows = await view.messages(await idOf(task), { after, limit: limit + 1 });
      const messages = rows.slice(0, limit).map(({ seq, attempt, run, body }) => ({
        seq,
        attempt,
        run,
        message: messageIn(body ?? "null"),
      }));
      return { messages, next: rows.length > limit ? (messages.at(-1)?.seq ?? null) : null };
    },
    async steps(task, page) {
      const { after, limit } = PageQuery.parse(page);
      const rows = await view.steps(await idOf(task), { after, limit: limit + 1 });
      const steps = rows.slice(0, limit).map(({ seq, at, attempt, run, key, kind, tokens, money, body }) => ({
        seq,
        at,
        attempt,
        run,
        key,
        outcome: StepOutcome.parse(kind),
        tokens,
        money_micro_usd: money,
        value: JSON.parse(body ?? "null"),
      }));
      return { steps, next: rows.length > limit ? (steps.at(-1)?.seq ?? null) : null };
    },
    async events({ task, after, limit }) {
      const rows = await (task === undefined
        ? view.eventsAfter(after, limit)
        : view.events(await idOf(task), after, limit));
      return rows.map((event) => eventView(salt, event));
    },
    async subtree(task) {
      const rows = await view.below(await idOf(task));
      return { ids: rows.map(({ id }) => taskName(salt, id)), over: rows.every((row) => isTerminal(row.status)) };
    },
    asks: async (task) => (await openOf(task)).flatMap((row) => askView(salt, row) ?? []),
    waits: async (task) => (await openOf(task)).flatMap((row) => waitView(salt, row)),
  };
}

const StepOutcome = z.enum(["ok", "failed", "unknown"]);

/** Reads beside the process that runs the tasks. That process tells nobody, so a follower looks again and again. */
export function openReader(view: StoreView): Reader {
  const { subtree, ...reads } = readsOf(view);
  const source: FollowSource = {
    read: (options) => reads.events(options),
    subtree,
    onMore(listener) {
      const timer = setInterval(listener, pollMs);
      return () => clearInterval(timer);
    },
  };
  return { ...reads, follow: (options) => follow(source, options), close: async () => view.close() };
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

function waitView(salt: string, row: WaitRow): OpenWait[] {
  if (row.ask !== null) return [];
  const body = waitBodyIn(row);
  const { label = "" } = body;
  // Requests to operators are waits too, but only their operator may settle them.
  if (isOperatorLabel(label)) return [];
  const call = clientCall(body);
  return [
    {
      id: askName(salt, row.id),
      task: taskName(salt, row.task),
      root: taskName(salt, row.root),
      label,
      ...(call === undefined ? {} : { call }),
      deadline: row.due,
    },
  ];
}
