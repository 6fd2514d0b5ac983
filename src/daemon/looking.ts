// The looking side of a state folder: rows become the views fronts are given.

import { z } from "zod";

import type { Looking, OpenWait } from "../client/client.ts";
import { askView, eventView } from "../engine/event-view.ts";
import { askName, idInName, taskName } from "../engine/names.ts";
import type { WaitBody } from "../engine/waits.ts";
import { TuttiError } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import { ToolCall } from "../protocol/message.ts";
import type { TaskView } from "../protocol/task-view.ts";
import type { WaitRow } from "../store/store.ts";
import type { StoreView, TaskListing } from "../store/view.ts";

export function lookingOver(view: StoreView): Looking {
  const idOf = (task: TaskId): number => {
    const id = idInName(view.salt, task);
    if (id === undefined || view.task(id) === undefined) throw new TuttiError("not_found", `there is no task ${task}`);
    return id;
  };
  return {
    roots: ({ limit }) =>
      view.roots(limit).map((row) => ({ ...taskView(view.salt, row), open: view.unfinished(row.id) })),
    tree: (task) => view.below(idOf(task)).map((row) => taskView(view.salt, row)),
    events: (task, { after, limit }) => view.events(idOf(task), after, limit).map((event) => eventView(view, event)),
    asks: () => view.openWaits().flatMap((row) => askView(view.salt, row) ?? []),
    waits: () => view.openWaits().flatMap((row) => waitView(view.salt, row)),
    close: () => view.close(),
  };
}

function taskView(salt: string, row: TaskListing): TaskView {
  const outcome: { content?: unknown; error?: { message?: unknown }; reason?: unknown } = JSON.parse(
    row.result ?? "{}",
  );
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
    result: outcome.content ?? outcome.error?.message ?? outcome.reason ?? null,
  };
}

const ClientCall = z.object({ external_tool: ToolCall });

function waitView(salt: string, row: WaitRow): OpenWait[] {
  const { ask, label, details }: WaitBody = JSON.parse(row.body);
  if (ask !== undefined) return [];
  const call = ClientCall.safeParse(details).data?.external_tool;
  return [
    {
      id: askName(salt, row.id),
      task: taskName(salt, row.task),
      label: label ?? "",
      ...(call === undefined ? {} : { call: { tool_name: call.tool_name, input: call.input } }),
      deadline: row.due,
    },
  ];
}
