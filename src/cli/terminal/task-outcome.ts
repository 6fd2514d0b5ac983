// Says in a list how the work of a task stands: how it ended, whom it waits for, or that nobody works on it.
import type { ListedTask } from "../../protocol/api/task-shapes.ts";
import { isTerminal, type TaskStatus } from "../../protocol/task/task-status.ts";
import { markOf } from "./task-tree.ts";
import { counted } from "./units.ts";

/** A question, approval, limit or call of a client's tool that is open in the tree of the task. */
export interface OpenQuestion {
  readonly id: string;
  readonly kind: "question" | "approval" | "budget" | "tool";
  readonly text: string;
}

export interface Circumstances {
  /** What is open in the tree of the task. */
  readonly questions: readonly OpenQuestion[];
  /** A process works on the state folder. */
  readonly attended: boolean;
  /** There is a pause, so nothing new begins. */
  readonly paused: boolean;
}

export interface TaskOutcome {
  readonly mark: string;
  readonly text: string;
}

/** The outcome of what was asked: an invocation whose targets failed is over, but it did not do what it was asked. */
export function outcomeOf(task: ListedTask, circumstances: Circumstances): TaskOutcome {
  const { status, asked, open = 0 } = task;
  const isOver = isTerminal(status) && open === 0;
  const failed = endText(asked.failed, asked.targets, "failed");
  const canceled = endText(asked.canceled, asked.targets, "canceled");
  const ends = [...failed, ...canceled];
  if (isOver) {
    const shown: TaskStatus =
      status !== "completed" ? status : failed.length > 0 ? "failed" : canceled.length > 0 ? "canceled" : status;
    return { mark: markOf(shown), text: ends.join(", ") || status };
  }
  const rest = isTerminal(status) ? [`${counted(open, "task")} still to be done`] : [];
  const now = hindrances(task, circumstances);
  const [question] = circumstances.questions;
  const shown =
    question === undefined
      ? failed.length > 0
        ? "failed"
        : isTerminal(status)
          ? "running"
          : status
      : "input_required";
  return {
    mark: markOf(shown),
    text: [...ends, ...rest, ...(now.length > 0 || rest.length > 0 ? now : [status])].join(", "),
  };
}

function endText(count: number, targets: number, word: string): string[] {
  if (count === 0) return [];
  return [targets === 1 ? word : `${count} of ${targets} ${word}`];
}

/** Why an unfinished task does not go on; empty when nothing keeps it. */
function hindrances(task: ListedTask, { questions, attended, paused }: Circumstances): string[] {
  const [first, ...others] = questions;
  const operator = (task.operator_requests ?? 0) > 0;
  return [
    ...(first === undefined ? [] : [questionText(first, others.length)]),
    ...(operator && first === undefined ? ["waits for an operator"] : []),
    ...(paused ? ["paused"] : []),
    ...(attended ? [] : ["nobody working"]),
  ];
}

const waitsFor: Readonly<Record<OpenQuestion["kind"], string>> = {
  question: "asks you",
  approval: "waits for your approval",
  budget: "waits at a limit",
  tool: "waits for the result of a tool",
};

function questionText({ id, kind, text }: OpenQuestion, others: number): string {
  return `${waitsFor[kind]}: ${text} (${id}${others === 0 ? "" : ` and ${others} more`})`;
}
