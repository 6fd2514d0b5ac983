// Events of a tree for tests: written down in short, numbered in order, and valid.

import { TaskEvent } from "../../src/protocol/task/event.ts";

/** The task at the top, the agent below it, and one below that agent. */
export const [top, agent, helper] = ["tsk_s_1", "tsk_s_2", "tsk_s_3"];

/** An event without its sequence and its time. */
export interface Happening {
  readonly task: string;
  readonly type: TaskEvent["type"];
  readonly data?: object;
  readonly attempt?: number;
  readonly run?: number;
}

/** The first event has sequence 1 and time 100; each one after it is one higher. */
export function eventsOf(happenings: readonly Happening[]): TaskEvent[] {
  return happenings.map((happening, index) =>
    TaskEvent.parse({ seq: index + 1, at: 100 + index, root: top, attempt: 1, run: 1, data: {}, ...happening }),
  );
}

export function created(task: string, parent: string | null = null, more: object = {}): Happening {
  const depth = parent === null ? 0 : Math.max(1, [top, agent, helper].indexOf(task));
  return { task, type: "task.created", data: { agent: "a", runner: "local", parent, depth, detached: false, ...more } };
}

export const started = (task: string): Happening => ({ task, type: "task.started" });

export function completed(task: string, content: unknown = "done"): Happening {
  return { task, type: "task.completed", data: { content } };
}

export interface Said {
  readonly text?: string;
  readonly parts?: readonly object[];
  readonly role?: string;
  readonly name?: string;
  readonly step?: object;
}

export function said(task: string, { text, parts, role = "assistant", name = "model", step }: Said): Happening {
  const content = parts ?? (text === undefined ? [] : [{ part_type: "text", data: text }]);
  return {
    task,
    type: "message.added",
    data: {
      message: { id: "m", name, role, parts: content, created_at: 1 },
      ...(step === undefined ? {} : { step }),
    },
  };
}

export const question = {
  id: "ask_1",
  task: agent,
  root: top,
  kind: "question",
  question: "Which?",
  answer_schema: null,
  raised_at: 1,
  deadline: 2,
  status: "open",
} as const;

export const raised: Happening = { task: agent, type: "ask.raised", data: { ask: question } };

export const answered: Happening = {
  task: agent,
  type: "ask.answered",
  data: { ask: "ask_1", answer: { kind: "question", value: "x" }, by: { kind: "person", name: "ada" } },
};
