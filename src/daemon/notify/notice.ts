// What a person is told: that somebody asks, or that what they started is over. Made from the event that says so.

import { z } from "zod";

import { idInName } from "../../store/names.ts";
import { AskKind } from "../../protocol/task/ask.ts";
import { InvocationResult } from "../../protocol/invocation/invocation-result.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import { AskId, TaskId, Time } from "../../protocol/ids.ts";
import type { StoreView } from "../../store/view.ts";

export const Notice = z.strictObject({
  /** The same at every try, and after a restart: whoever gets it twice knows. */
  id: z.string().min(1),
  at: Time,
  kind: z.enum(["ask", "finished", "failed"]),
  task: TaskId,
  root: TaskId,
  agent: z.string(),
  title: z.string(),
  /** One short line. */
  text: z.string(),
  ask: z
    .strictObject({
      id: AskId,
      question: z.string(),
      kind: AskKind,
      choices: z.array(z.string()).optional(),
      deadline: Time,
    })
    .optional(),
  /** What to type to answer. */
  answer_with: z.string().optional(),
});
export type Notice = z.infer<typeof Notice>;

const longestText = 300;
const longestQuestion = 2_000;
const maxChoices = 50;

export interface NoticeContext {
  readonly view: Pick<StoreView, "salt" | "taskRow">;
  readonly on: readonly Notice["kind"][];
  /** Before anything is cut: half a secret would not be known for one. */
  readonly redact: (text: string) => string;
}

/** Undefined for an event nobody is told of: of tasks that end, only a root's is. */
export function noticeOf(event: TaskEvent, { view, on, redact }: NoticeContext): Notice | undefined {
  const told = toldOf(event, redact);
  if (told === undefined || !on.includes(told.kind)) return undefined;
  const { seq, at, task, root } = event;
  const agent = view.taskRow(idInName(view.salt, task) ?? 0)?.agent ?? "";
  const { title, ...rest } = told;
  return {
    id: `ntc_${view.salt}_${seq.toString(36)}`,
    at,
    task,
    root,
    agent,
    title: title(oneLine(agent, 60)),
    ...rest,
  };
}

type Told = Pick<Notice, "kind" | "text" | "ask" | "answer_with"> & { readonly title: (agent: string) => string };

function toldOf(event: TaskEvent, redact: NoticeContext["redact"]): Told | undefined {
  const isRoot = event.task === event.root;
  switch (event.type) {
    case "ask.raised": {
      const { id, kind, choices, deadline } = event.data.ask;
      const question = redact(event.data.ask.question);
      const asked = { id, question: cut(question, longestQuestion), kind, deadline };
      return {
        kind: "ask",
        title: (agent) => (kind === "question" ? `${agent} asks` : `${agent} asks for ${wanted[kind]}`),
        text: oneLine(question, longestText),
        ask: choices === undefined ? asked : { ...asked, choices: choices.slice(0, maxChoices) },
        answer_with: `tutti answer ${id} ${kind === "question" ? '"…"' : "yes"}`,
      };
    }
    case "task.completed":
      return isRoot ? finished(event.data.content, redact) : undefined;
    case "task.failed":
      if (!isRoot) return undefined;
      return {
        kind: "failed",
        title: (agent) => `${agent} has failed`,
        text: oneLine(redact(event.data.error.message), longestText),
      };
    default:
      return undefined;
  }
}

const wanted = { approval: "approval", budget: "more budget" } as const;

/** An invocation ends well whatever became of its targets; who is told wants to know of those. */
function finished(content: unknown, redact: NoticeContext["redact"]): Told {
  const { data } = InvocationResult.safeParse(content);
  const results =
    data === undefined || data.kind === "task_ids" ? [] : data.kind === "scalar" ? [data.result] : data.results;
  const bad = results.filter(({ status }) => status !== "completed");
  const [shown] = bad.length > 0 ? bad : results;
  const said = shown === undefined ? textOf(data === undefined ? content : "") : textOf(shown.content);
  const counted = results.length > 1 ? `${results.length - bad.length} of ${results.length} completed: ` : "";
  return {
    kind: bad.length > 0 ? "failed" : "finished",
    title: (agent) => `${agent} has ${bad.length > 0 ? "failed" : "finished"}`,
    text: oneLine(redact(`${counted}${said}`), longestText),
  };
}

function textOf(content: unknown): string {
  if (typeof content === "object" && content !== null && "code" in content && "message" in content) {
    return String(content.message);
  }
  return typeof content === "string" ? content : (JSON.stringify(content) ?? "");
}

/** What models and tools said: without codes that would change the terminal or the dialog it is shown in. */
function oneLine(text: string, most: number): string {
  // Far more than is shown, far less than a result may have.
  const begun = text.slice(0, most * 10).replaceAll(/[\p{Cc}\s\u202a-\u202e\u2066-\u2069]+/gu, " ");
  return cut(begun.trim(), most);
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text;
}
