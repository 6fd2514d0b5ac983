// What a gate is told when a task it let start has ended: once, over a connection that is there, and never again.

import { idInName } from "../../store/names.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import type { HookAfterFrame } from "../../protocol/operator/frames.ts";
import { HookVerdict, operatorKeys } from "../../protocol/operator/operator-request.ts";
import type { StoreView } from "../../store/view.ts";
import { requestDetails } from "./open-requests.ts";

/** A socket is for control: what is longer is fetched over HTTP. */
const maxResult = 64 * 1024;

export interface Gated {
  /** The wait in which it was let start. */
  readonly wait: number;
  /** The operator it was asked of. */
  readonly operator: string;
  readonly frame: Omit<HookAfterFrame, "req_id">;
}

/** Undefined for an event that ends no task, and for a task that no gate let start. */
export function hookAfter(view: StoreView, event: TaskEvent): Gated | undefined {
  const ended = endIn(event);
  const id = ended === undefined ? undefined : idInName(view.salt, event.task);
  if (ended === undefined || id === undefined) return undefined;
  const attempt = event.attempt ?? view.task(id)?.attempt ?? 1;
  const row = view.waitAt(id, attempt, operatorKeys.hook_before);
  const details = row === undefined ? undefined : requestDetails(row);
  if (row === undefined || details === undefined || details.kind !== "hook_before" || !wasLet(view, row.id))
    return undefined;
  const { operator, agent } = details;
  const frame = { type: "hook_after", task_id: event.task, agent, attempt, ...ended } as const;
  return { wait: row.id, operator, frame };
}

function endIn(event: TaskEvent): Pick<HookAfterFrame, "status" | "result"> | undefined {
  switch (event.type) {
    case "task.completed":
      return { status: "completed", result: short(event.data.content) };
    case "task.failed":
      return { status: "failed", result: { error: event.data.error.message, code: event.data.error.code } };
    case "task.canceled":
      return { status: "canceled", result: { canceled: event.data.reason } };
    default:
      return undefined;
  }
}

function wasLet(view: StoreView, wait: number): boolean {
  const answer = view.answer(wait);
  const body: { value?: unknown } = answer?.kind === "answered" ? JSON.parse(answer.body ?? "{}") : {};
  return HookVerdict.safeParse(body.value).data?.ok === true;
}

function short(content: unknown): unknown {
  const length = JSON.stringify(content ?? null).length;
  return length <= maxResult ? (content ?? null) : { omitted: "too long for a frame", length };
}
