// What supervision sees of a task: its state now, and the last thing it said or its result.

import { TuttiError } from "../protocol/error.ts";
import type { Executor } from "../protocol/invocation/executor.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { TaskSnapshot } from "../protocol/invocation/invocation-result.ts";
import type { TaskRow } from "../store/store.ts";
import type { Kernel } from "./kernel.ts";
import type { LiveTask } from "./live.ts";
import { idInName, taskName } from "./names.ts";

/** Of the named descendants, or of all of them; `refused` for a task of somebody else. */
export function snapshotsOf(kernel: Kernel, owner: LiveTask, ids: readonly TaskId[] | "descendants"): TaskSnapshot[] {
  const { store } = kernel;
  const rows = store.tree(owner.tree.root);
  const below = new Set<number>([owner.id]);
  const own = rows.filter((row) => {
    const inside = row.parent !== null && below.has(row.parent);
    if (inside) below.add(row.id);
    return inside;
  });
  if (ids === "descendants") return own.map((row) => snapshotOf(kernel, row));
  return ids.map((name) => {
    const id = idInName(store.salt, name);
    const row = own.find((candidate) => candidate.id === id);
    if (row === undefined) throw new TuttiError("refused", `${name} is not a task of ${owner.name}`);
    return snapshotOf(kernel, row);
  });
}

function snapshotOf(kernel: Kernel, row: TaskRow): TaskSnapshot {
  const { store } = kernel;
  const name = taskName(store.salt, row.id);
  const live = kernel.find(name);
  const result = store.result(row.id);
  const preview = result === undefined ? store.lastText(row.id) : previewOf(result.body);
  return {
    task_id: name,
    agent_id: live?.agent ?? row.agent,
    status: result?.status ?? live?.status ?? "pending",
    executor: executorOf(row.kind),
    started_at: row.created_at,
    last_event_at: store.lastEventAt(row.id) ?? row.created_at,
    ended_at: result?.at ?? null,
    ...(preview === undefined ? {} : { preview }),
  };
}

function executorOf(kind: string): Executor {
  return kind === "local" ? { type: "local" } : { type: "remote", runner: { kind, config: {} } };
}

const previewLength = 500;

function previewOf(body: string): string {
  const { content, error, reason }: { content?: unknown; error?: { message?: unknown }; reason?: unknown } =
    JSON.parse(body);
  const shown = content ?? error?.message ?? reason ?? "";
  return (typeof shown === "string" ? shown : JSON.stringify(shown)).slice(0, previewLength);
}
