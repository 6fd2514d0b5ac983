// Turns rows of tasks and waits into what readers are given: whole, or as an entry of a list.

import { z } from "zod";

import { clientCall } from "../../engine/event-view.ts";
import { contentOf, outcomeIn } from "../../engine/outcome.ts";
import { waitBodyIn } from "../../engine/wait-body.ts";
import type { ListedAsk, ListedWait, OpenWait } from "../../protocol/api/task-shapes.ts";
import { isOperatorLabel } from "../../protocol/operator/operator-waits.ts";
import type { TaskSummary, TaskView } from "../../protocol/task/task-view.ts";
import { askName, type Salt, taskName } from "../../store/names.ts";
import { resultBeginning } from "../../store/result-beginning.ts";
import type { WaitRow } from "../../store/store.ts";
import type { TaskListing, WaitListing } from "../../store/view.ts";

/** `body` is that of its result. */
export function taskView(salt: Salt, row: TaskListing, body: string | null): TaskView {
  return { ...shownTask(salt, row), result: body === null ? null : shownResult(body) };
}

export function taskSummary(salt: Salt, row: TaskListing): TaskSummary {
  const { result, preview, result_bytes: bytes } = row;
  const text = result === null ? (preview ?? "") : resultBeginning(result);
  return { ...shownTask(salt, row), result_preview: bytes === null ? null : { text, bytes } };
}

function shownTask(salt: Salt, row: TaskListing): Omit<TaskSummary, "result_preview"> {
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
  };
}

const Told = z.object({ message: z.unknown() });

/** What the task ended with: its content, or in words why it has none. */
function shownResult(body: string): unknown {
  const outcome = outcomeIn({ body });
  // Most results have no error, and a failed parse costs more than all the rest.
  const told = outcome.error === undefined ? undefined : Told.safeParse(outcome.error).data;
  return told === undefined ? contentOf(outcome) : (told.message ?? null);
}

/** Undefined for an ask, and for a request to an operator: that is a wait too, but only its operator may settle it. */
export function waitView(salt: Salt, row: WaitRow): OpenWait | undefined {
  if (row.ask !== null) return undefined;
  const body = waitBodyIn(row);
  const { label = "" } = body;
  if (isOperatorLabel(label)) return undefined;
  const call = clientCall(body);
  return {
    id: askName(salt, row.id),
    task: taskName(salt, row.task),
    root: taskName(salt, row.root),
    label,
    ...(call === undefined ? {} : { call }),
    deadline: row.due,
  };
}

export function listedAsk(salt: Salt, row: WaitListing): ListedAsk[] {
  if (row.ask === null) return [];
  return [
    {
      id: askName(salt, row.id),
      task: taskName(salt, row.task),
      root: taskName(salt, row.root),
      kind: row.ask,
      question: row.question ?? "",
      bytes: row.bytes,
      raised_at: row.raised_at,
      deadline: row.due,
    },
  ];
}

/** None for a request to an operator. */
export function listedWait(salt: Salt, row: WaitListing): ListedWait[] {
  const { label, tool_name, input } = row;
  if (isOperatorLabel(label ?? "")) return [];
  return [
    {
      id: askName(salt, row.id),
      task: taskName(salt, row.task),
      root: taskName(salt, row.root),
      label: label ?? "",
      ...(tool_name === null ? {} : { call: { tool_name, input_preview: input ?? "" } }),
      bytes: row.bytes,
      deadline: row.due,
    },
  ];
}
