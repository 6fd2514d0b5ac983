// Tells the events of the tour's goal as they happen, one line each, in the words of somebody who sees Tutti for the first time.
import { argvLine } from "../../protocol/argv-line.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Answer } from "../../protocol/task/ask.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import type { Evidence } from "../../protocol/task/evidence.ts";
import type { PlannedTask } from "../../protocol/task/goal.ts";
import { startedCheckText } from "../../protocol/task/started-check.ts";
import { handoffText } from "../terminal/goal-status.ts";
import { dim, paint } from "../terminal/style.ts";
import { counted } from "../terminal/units.ts";

interface StoryLine {
  /** Who it is about: a task by its name in the plan, or the goal. */
  readonly who: string;
  readonly text: string;
}

/** What somebody is at from this event on, without a line of its own; `text` is undefined when that is over. */
interface AtIt {
  readonly who: string;
  readonly text: string | undefined;
}

export interface Told {
  /** For most events there are none. */
  readonly lines: readonly StoryLine[];
  readonly atIt?: AtIt | undefined;
}

/** Returns what to tell of each event. */
export function tourStory(): (event: TaskEvent) => Told {
  const names = new Map<TaskId, string>();
  const plan = new Map<string, PlannedTask>();
  const asked = new Set<string>();
  return (event) => {
    // A task is known by its prompt before the manager has told which planned task it carries out.
    if (event.type === "task.created") {
      const planned = [...plan.values()].findLast(({ prompt }) => prompt === event.data.prompt);
      if (planned === undefined) return { lines: [] };
      names.set(event.task, planned.id);
      const lines = [{ who: planned.id, text: startText(planned) }];
      return { lines, atIt: { who: planned.id, text: "works" } };
    }
    if (event.type === "goal.planned") {
      for (const task of event.data.tasks) plan.set(task.id, task);
      return { lines: planLines(event.data.tasks) };
    }
    const who = names.get(event.task) ?? (event.task === event.root ? "goal" : undefined);
    // Tasks below a planned one, such as a review, are in the report.
    if (who === undefined) return { lines: [] };
    const texts = event.type === "ask.raised" ? [questionText(event.data.ask.question, asked)] : linesOf(event, names);
    return { lines: texts.map((text) => ({ who, text })), atIt: atItOf(event, who, names) };
  };
}

function atItOf(event: TaskEvent, who: string, names: ReadonlyMap<TaskId, string>): AtIt | undefined {
  switch (event.type) {
    case "check.started":
      return { who, text: startedCheckText(event.data) };
    case "handoff.moved":
      return { who, text: handoffText(event.data.to) };
    case "evidence.added":
    case "task.completed":
      return { who, text: undefined };
    case "goal.link_changed":
      return { who: names.get(event.data.task) ?? event.data.task, text: undefined };
    default:
      return undefined;
  }
}

function planLines(tasks: readonly PlannedTask[]): StoryLine[] {
  const names = tasks.map(({ id, after }) => (after.length === 0 ? id : `${id} (after ${after.join(", ")})`));
  return [{ who: "goal", text: `the manager splits it into ${counted(tasks.length, "task")}: ${names.join(", ")}` }];
}

function startText({ prompt, after }: PlannedTask): string {
  const where = after.length === 0 ? "a worktree of its own" : `a worktree that has the work of ${after.join(", ")}`;
  return `begins in ${where}: ${prompt}`;
}

/** The same question about something else is not told at length again. */
function questionText(question: string, asked: Set<string>): string {
  const [first = "", ...rest] = question.split("\n");
  const text = asked.has(first) && rest.length > 0 ? "The same question about" : first;
  asked.add(first);
  return [`${paint("yellow", "?")} ${text}`, ...rest].join("\n");
}

function linesOf(event: TaskEvent, names: ReadonlyMap<TaskId, string>): string[] {
  switch (event.type) {
    case "message.added":
      return event.data.message.parts.flatMap((part) =>
        part.part_type === "tool_call" ? toolText(part.data.tool_name, part.data.input) : [],
      );
    case "session.saved":
      return [`says that it is done. That is only a claim, so Tutti checks the commit (${changed(event.data)})`];
    case "ask.answered":
      return [`${paint("yellow", "→")} ${event.data.by.name} answers: ${answerText(event.data.answer)}`];
    case "evidence.added":
      return factLines(event.data.evidence).map((line) =>
        event.task === event.root ? `${line}, on the work of all tasks together` : line,
      );
    case "attempt.ended":
      return ["tries again; its prompt now has the output of the check that failed"];
    case "goal.link_changed": {
      const name = names.get(event.data.task) ?? event.data.task;
      const isVerified = event.data.state === "verified";
      return [isVerified ? `${name} is verified` : `${name} is ${event.data.state}: ${event.data.reason}`];
    }
    case "goal.integrated":
      return [`that work is on the branch ${event.data.branch ?? event.data.commit}`];
    case "goal.noted":
      return [event.data.text];
    default:
      return [];
  }
}

function toolText(tool: string, input: unknown): string[] {
  const { path }: { readonly path?: unknown } = Object(input);
  if (typeof path !== "string") return [];
  return tool === "write" || tool === "edit" ? [`${tool === "write" ? "writes" : "changes"} ${path}`] : [];
}

function changed({ files, added, removed }: Extract<TaskEvent, { type: "session.saved" }>["data"]): string {
  return `${counted(files, "file")}, +${added} −${removed}`;
}

function answerText(answer: Answer): string {
  if (answer.kind === "question") return String(answer.value);
  return (answer.kind === "approval" ? answer.approved : answer.go_on) ? "yes" : "no";
}

function factLines({ fact, verdict }: Evidence): string[] {
  if (fact.kind !== "check") return [];
  const counts = fact.tests === null ? "" : `: ${fact.tests.passed} passed, ${fact.tests.failed} failed`;
  const line = `\`${argvLine(fact.argv)}\`${counts}`;
  if (fact.outcome === "passed") return [`${paint("green", "✓")} ${line}`];
  if (fact.outcome === "not_run") return [`${paint("red", "✗")} ${line} was not run: ${fact.reason}`];
  if (verdict === "nothing") return [`${dim("○")} ${line}; it failed before this task, too`];
  return [`${paint("red", "✗")} ${line}`];
}
