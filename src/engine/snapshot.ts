// What supervision sees of a task: its state now, and the last thing it said or its result.

import { z } from "zod";

import { hideConfigSecrets } from "../core/hide-config-secrets.ts";
import { TuttiError } from "../protocol/error.ts";
import type { Executor } from "../protocol/invocation/executor.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { TaskSnapshot } from "../protocol/invocation/invocation-result.ts";
import type { ResultRow, TaskRow } from "../store/store.ts";
import { messageText } from "../protocol/task/message.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { LiveTask } from "./live-task.ts";
import { idInName, taskName } from "../store/names.ts";
import { outcomeIn } from "./outcome.ts";
import { taskBodyIn } from "./task-body.ts";
import { messageIn } from "./recorded-message.ts";

/** Of the named descendants, or of all of them; `refused` for a task of somebody else. */
export function snapshotsOf(
  parts: EngineParts,
  owner: LiveTask,
  ids: readonly TaskId[] | "descendants",
): TaskSnapshot[] {
  const { store } = parts;
  const rows = store.tree(owner.tree.root);
  const below = new Set<number>([owner.id]);
  const own = rows.filter((row) => {
    const inside = row.parent !== null && below.has(row.parent);
    if (inside) below.add(row.id);
    return inside;
  });
  if (ids === "descendants") return own.map((row) => snapshotOf(parts, row));
  return ids.map((name) => {
    const id = idInName(store.salt, name);
    const row = own.find((candidate) => candidate.id === id);
    if (row === undefined) throw new TuttiError("refused", `${name} is not a task of ${owner.name}`);
    return snapshotOf(parts, row);
  });
}

function snapshotOf(parts: EngineParts, row: TaskRow): TaskSnapshot {
  const { store, tasks, recorder } = parts;
  const name = taskName(store.salt, row.id);
  const live = tasks.find(name);
  const result = store.result(row.id);
  const preview = result === undefined ? lastText(store, row.id) : previewOf(result);
  return {
    task_id: name,
    agent_id: live?.agent ?? row.agent,
    status: result?.status ?? live?.status ?? "pending",
    executor: executorOf(row, recorder),
    started_at: store.startedAt(row.id) ?? row.created_at,
    last_event_at: store.lastEventAt(row.id) ?? row.created_at,
    ended_at: result?.at ?? null,
    ...(preview === undefined ? {} : { preview }),
  };
}

/** The config is stored as it was given, since its runner needs it whole; a model sees it without secrets. */
function executorOf({ kind, body }: TaskRow, recorder: EngineParts["recorder"]): Executor {
  if (kind === "local") return { type: "local" };
  const config = recorder.cleanValue(hideConfigSecrets(taskBodyIn(body).config));
  return { type: "remote", runner: { kind, config } };
}

const previewLength = 500;

function lastText(store: EngineParts["store"], task: number): string | undefined {
  const line = store.lastMessage(task);
  if (line === undefined) return undefined;
  const message = messageIn(line.body, { ...line, task: taskName(store.salt, task) });
  return messageText(message).slice(0, previewLength);
}

const Told = z.object({ message: z.unknown() });

function previewOf(row: ResultRow): string {
  const { content, error, reason } = outcomeIn(row);
  const shown = content ?? Told.safeParse(error).data?.message ?? reason ?? "";
  return (typeof shown === "string" ? shown : (JSON.stringify(shown) ?? "")).slice(0, previewLength);
}
