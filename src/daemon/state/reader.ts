// Reads a state folder: rows become the views that fronts are given.

import { z } from "zod";

import type { Reader } from "../../client/client.ts";
import { allPages } from "../../client/all-pages.ts";
import { askView, eventView } from "../../engine/event-view.ts";
import { idInName, type Salt, taskName } from "../../store/names.ts";
import { messageIn, wholeMessage } from "../../engine/recorded-message.ts";
import {
  type AskList,
  HistoryQuery,
  type ListedTask,
  OpenQuery,
  PageQuery,
  TaskListQuery,
  type TaskTree,
  TreeQuery,
  type WaitList,
} from "../../protocol/api/task-shapes.ts";
import type { SessionPage, SessionQuery } from "../../protocol/api/session-shapes.ts";
import { pauseSetting, pausesIn } from "../../engine/pause-switch.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { AskId, TaskId } from "../../protocol/ids.ts";
import { eventTypes } from "../../protocol/task/event-types.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import type { EventType, StoredEvent, WaitRow } from "../../store/store.ts";
import type { Rows, StoreView, TaskListing, WaitListing } from "../../store/view.ts";
import { readConversation } from "./conversation-control.ts";
import { follow, type FollowSource } from "./follow-feed.ts";
import { goalReads } from "./goal-reads.ts";
import { budgetReader, type LiveBudgets } from "./read-budget.ts";
import { heldAgents } from "../project/agent-failures.ts";
import { observerOf } from "./observe-tasks.ts";
import { threadReads } from "./read-threads.ts";
import { listedAsk, listedWait, taskSummary, taskView, waitView } from "./row-views.ts";

/** How often a state that others work on is looked at for more. */
const pollMs = 200;

/** In characters. The item that reaches it is the last of its page. */
const pageLength = 1024 * 1024;

/** Lists in pages, as the API gives them. */
export interface PageReads {
  sessionPage(query?: SessionQuery): Promise<SessionPage>;
  treePage(task: TaskId, query?: TreeQuery): Promise<TaskTree>;
  askPage(query?: OpenQuery): Promise<AskList>;
  waitPage(query?: OpenQuery): Promise<WaitList>;
}

/** Reads of one store, in the shapes of the API; the process that runs the tasks and a bystander share them. */
export interface StoreReads extends Omit<Reader, "follow" | "close">, PageReads {
  subtree: FollowSource["subtree"];
  eventPage: FollowSource["read"];
}

/** `folder`: the state folder. `live`: the accounts of tasks that this process works on. */
export function readsOf(view: StoreView, folder: string, live: LiveBudgets = () => undefined): StoreReads {
  const { salt } = view;
  const idOf = async (task: TaskId): Promise<number> => {
    const id = idInName(salt, task);
    if (id === undefined || (await view.place(id)) === undefined) throw missing("task", task);
    return id;
  };
  const openPage = async (query: OpenQuery, asks: boolean): Promise<Rows<WaitListing>> => {
    const { task, limit, cursor } = OpenQuery.parse(query);
    const below = task === undefined ? undefined : await idOf(task);
    return view.openWaits({ asks, below, after: Number(cursor ?? 0), limit, maxLength: pageLength });
  };
  const openRow = async (wait: AskId): Promise<WaitRow | undefined> => {
    const id = idInName(salt, wait);
    return id === undefined ? undefined : view.openWait(id);
  };
  const eventPage: FollowSource["read"] = async ({ task, ...page }) => {
    const limits = { ...page, maxLength: pageLength };
    const { rows, more } = await (task === undefined
      ? view.eventsAfter(limits)
      : view.events(await idOf(task), limits));
    return { events: rows.map((event) => eventView(salt, event)), more };
  };
  const observer = observerOf(view, () => Date.now());
  const reads: PageReads = {
    sessionPage: async (query) => ({ ...(await observer.sessionPage(query)), held: heldAgents(folder) }),
    async treePage(task, query = {}) {
      const { limit, cursor } = TreeQuery.parse(query);
      const page = { after: Number(cursor ?? 0), limit, maxLength: pageLength };
      const found = await view.tree(await idOf(task), page);
      return { tasks: found.rows.map((row) => taskSummary(salt, row)), next: nextOf(found) };
    },
    async askPage(query = {}) {
      const found = await openPage(query, true);
      return { asks: found.rows.flatMap((row) => listedAsk(salt, row)), next: nextOf(found) };
    },
    async waitPage(query = {}) {
      const found = await openPage(query, false);
      return { waits: found.rows.flatMap((row) => listedWait(salt, row)), next: nextOf(found) };
    },
  };
  const all: StoreReads = {
    ...reads,
    ...goalReads(view, () => Date.now()),
    ...threadReads(view),
    eventPage,
    async task(task) {
      const id = idInName(salt, task);
      const row = id === undefined ? undefined : await view.task(id);
      if (row === undefined) throw missing("task", task);
      const isLong = row.result === null && row.result_bytes !== null;
      const body = isLong ? await view.result(row.id) : row.result;
      return taskView(salt, row, body ?? null);
    },
    tree: (task) =>
      allPages(async (at) => {
        const { tasks, next } = await reads.treePage(task, at);
        return { items: tasks, next };
      }),
    async tasks(query = {}) {
      const { limit, cursor, status, agent, runner, parent, roots } = TaskListQuery.parse(query);
      const above = parent === undefined ? undefined : await idOf(parent);
      const found = await view.tasks({
        limit,
        maxLength: pageLength,
        ...(cursor === undefined ? {} : { after: Number(cursor) }),
        ...(status === undefined ? {} : { status }),
        ...(agent === undefined ? {} : { agent }),
        ...(runner === undefined ? {} : { runner }),
        ...(above === undefined ? { roots: roots !== false } : { parent: above }),
      });
      const tasks = await Promise.all(
        found.rows.map(async (row): Promise<ListedTask> => {
          return { ...taskSummary(salt, row), asked: await askedOf(view, row), ...(await treeOf(view, row)) };
        }),
      );
      return { tasks, next: nextOf(found) };
    },
    budget: budgetReader(view, live),
    async history(task, query = {}) {
      const { before, limit, types } = HistoryQuery.parse(query);
      const wanted = types?.split(",").map((type) => eventTypeOf(type));
      const page = { before, limit, types: wanted, maxLength: pageLength };
      const { rows, more } = await view.recentEvents(await idOf(task), page);
      const events = rows.map((event) => eventView(salt, event));
      return { events, next: more ? (events[0]?.seq ?? null) : null };
    },
    async messages(task, page) {
      const limits = { ...PageQuery.parse(page), maxLength: pageLength };
      const { rows, more } = await view.messages(await idOf(task), limits);
      const messages = rows.map((line) => ({
        seq: line.seq,
        attempt: line.attempt,
        run: line.run,
        message: messageIn(line.body, { ...line, task: taskName(salt, line.task) }),
      }));
      return { messages, next: more ? (messages.at(-1)?.seq ?? null) : null };
    },
    async steps(task, page) {
      const limits = { ...PageQuery.parse(page), maxLength: pageLength };
      const { rows, more } = await view.steps(await idOf(task), limits);
      const steps = rows.map((line) => ({
        seq: line.seq,
        at: line.at,
        attempt: line.attempt,
        run: line.run,
        key: line.key,
        outcome: StepOutcome.parse(line.kind),
        tokens: line.tokens,
        money_micro_usd: line.money,
        value: outcomeIn(salt, line),
      }));
      return { steps, next: more ? (steps.at(-1)?.seq ?? null) : null };
    },
    async events({ task, after, limit }) {
      const events: TaskEvent[] = [];
      const of = task === undefined ? {} : { task };
      for (let more = true; more && events.length < limit;) {
        const at = events.at(-1)?.seq ?? after;
        const page = await eventPage({ ...of, after: at, limit: limit - events.length });
        events.push(...page.events);
        more = page.more;
      }
      return events;
    },
    async subtree(task) {
      const rows = await view.below(await idOf(task));
      return { ids: rows.map(({ id }) => taskName(salt, id)), over: rows.every((row) => isTerminal(row.status)) };
    },
    asks: (task) =>
      allPages(async (at) => {
        const { asks, next } = await reads.askPage({ task, ...at });
        return { items: asks, next };
      }),
    waits: (task) =>
      allPages(async (at) => {
        const { waits, next } = await reads.waitPage({ task, ...at });
        return { items: waits, next };
      }),
    async ask(ask) {
      const row = await openRow(ask);
      const found = row === undefined ? undefined : askView(salt, row);
      if (found === undefined) throw missing("open ask", ask);
      return found;
    },
    async wait(wait) {
      const row = await openRow(wait);
      const found = row === undefined ? undefined : waitView(salt, row);
      if (found === undefined) throw missing("open wait", wait);
      return found;
    },
    observe: (task, query) => observer.observe(task, query),
    heldAgents: async () => heldAgents(folder),
    conversation: (conversation) => readConversation(all, conversation),
    sessions: () =>
      allPages(async (at) => {
        const { sessions, next } = await observer.sessionPage(at);
        return { items: sessions, next };
      }),
    async paused() {
      const kept = await view.setting(pauseSetting);
      return pausesIn({ setting: () => kept }).since !== null;
    },
  };
  return all;
}

async function askedOf(view: StoreView, row: TaskListing): Promise<ListedTask["asked"]> {
  const { agents, targets, ...asked } = await view.request(row.id);
  // Only an invocation has targets; any other task does the work itself.
  if (targets > 0) return { agents, targets, ...asked };
  const ends = { failed: Number(row.status === "failed"), canceled: Number(row.status === "canceled") };
  return { ...asked, agents: [row.agent.slice(0, 64)], targets: 1, ...ends };
}

async function treeOf(view: StoreView, row: TaskListing): Promise<Partial<ListedTask>> {
  if (row.parent !== null) return {};
  const [open, { tokens, money, operator_requests }] = await Promise.all([
    view.unfinished(row.id),
    view.treeOf(row.id),
  ]);
  return { open, tree_tokens: tokens, tree_money_micro_usd: money, operator_requests };
}

function eventTypeOf(name: string): EventType {
  const type = eventTypes.find((each) => each === name);
  if (type === undefined) throw new TuttiError("invalid_input", `there is no event type ${name}`);
  return type;
}

const StepOutcome = z.enum(["ok", "failed", "unknown"]);

function missing(what: string, name: string): TuttiError {
  return new TuttiError("not_found", `there is no ${what} ${name}`);
}

function nextOf({ rows, more }: Rows<{ readonly id: number }>): string | null {
  return more ? String(rows.at(-1)?.id) : null;
}

/** Reads beside the process that runs the tasks. That process tells nobody, so a follower looks again and again. */
export function openReader(view: StoreView, folder: string): Reader {
  const { subtree, eventPage, ...reads } = readsOf(view, folder);
  const source: FollowSource = {
    read: eventPage,
    subtree,
    onMore(listener) {
      const timer = setInterval(listener, pollMs);
      return () => clearInterval(timer);
    },
  };
  return { ...reads, follow: (options) => follow(source, options), close: async () => view.close() };
}

function outcomeIn(salt: Salt, line: StoredEvent): unknown {
  const value: unknown = JSON.parse(line.body ?? "null");
  return line.type === "message.added" ? wholeMessage(value, { ...line, task: taskName(salt, line.task) }) : value;
}
