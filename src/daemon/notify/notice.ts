// A notice tells a person that a task asks something, or that a root task has ended. It is made from an event.

import { z } from "zod";

import { escapeControls } from "../../core/escape-controls.ts";
import { idInName, ownSalt } from "../../store/names.ts";
import { AskKind } from "../../protocol/task/ask.ts";
import { InvocationResult } from "../../protocol/invocation/invocation-result.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import { AskId, TaskId, Time } from "../../protocol/ids.ts";
import type { StoreView } from "../../store/view.ts";

export const Notice = z.strictObject({
  /** The same at every try and after a restart, so that a receiver can recognise a notice it has already had. */
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
  /** The command that answers. */
  answer_with: z.string().optional(),
});
export type Notice = z.infer<typeof Notice>;

const maxTextLength = 300;
const maxQuestionLength = 2_000;
const maxChoices = 50;

export interface NoticeContext {
  readonly view: Pick<StoreView, "salt" | "taskRow">;
  readonly on: readonly Notice["kind"][];
  /** Applied before text is shortened, because half a secret would not be recognised. */
  readonly redact: (text: string) => string;
}

/** Returns undefined for an event without a notice. Of tasks that end, only roots have one. */
export async function noticeOf(event: TaskEvent, { view, on, redact }: NoticeContext): Promise<Notice | undefined> {
  const content = contentOf(event, redact);
  if (content === undefined || !on.includes(content.kind)) return undefined;
  const { seq, at, task, root } = event;
  const agent = (await view.taskRow(idInName(view.salt, task) ?? 0))?.agent ?? "";
  const { title, ...rest } = content;
  return {
    id: `ntc_${ownSalt(view.salt)}_${seq.toString(36)}`,
    at,
    task,
    root,
    agent,
    title: title(oneLine(agent, 60)),
    ...rest,
  };
}

type NoticeContent = Pick<Notice, "kind" | "text" | "ask" | "answer_with"> & {
  readonly title: (agent: string) => string;
};

function contentOf(event: TaskEvent, redact: NoticeContext["redact"]): NoticeContent | undefined {
  const isRoot = event.task === event.root;
  switch (event.type) {
    case "ask.raised": {
      const { id, kind, choices, deadline } = event.data.ask;
      const question = redact(event.data.ask.question);
      // An approval is never cut: whoever decides must see all of what will happen.
      const asked = { id, question: kind === "approval" ? question : cut(question, maxQuestionLength), kind, deadline };
      return {
        kind: "ask",
        title: (agent) => (kind === "question" ? `${agent} asks` : `${agent} asks for ${wanted[kind]}`),
        text: oneLine(question, maxTextLength),
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
        text: oneLine(redact(event.data.error.message), maxTextLength),
      };
    default:
      return undefined;
  }
}

const wanted = { approval: "approval", budget: "more budget" } as const;

/** An invocation completes whatever became of its targets, but the notice says so if one of them did not. */
function finished(content: unknown, redact: NoticeContext["redact"]): NoticeContent {
  const { data } = InvocationResult.safeParse(content);
  const results =
    data === undefined || data.kind === "task_ids" ? [] : data.kind === "scalar" ? [data.result] : data.results;
  const failed = results.filter(({ status }) => status !== "completed");
  const [shown] = failed.length > 0 ? failed : results;
  const text = shown === undefined ? textOf(data === undefined ? content : "") : textOf(shown.content);
  const counted = results.length > 1 ? `${results.length - failed.length} of ${results.length} completed: ` : "";
  return {
    kind: failed.length > 0 ? "failed" : "finished",
    title: (agent) => `${agent} has ${failed.length > 0 ? "failed" : "finished"}`,
    text: oneLine(redact(`${counted}${text}`), maxTextLength),
  };
}

function textOf(content: unknown): string {
  if (typeof content === "object" && content !== null && "code" in content && "message" in content) {
    return String(content.message);
  }
  return typeof content === "string" ? content : (JSON.stringify(content) ?? "");
}

/** The text may come from models and tools, so what would steer a terminal or a dialog is escaped. */
function oneLine(text: string, maxLength: number): string {
  // A result may be very long, and only its beginning is shown.
  const beginning = text.slice(0, maxLength * 10).replaceAll(/\s+/g, " ");
  return cut(escapeControls(beginning.trim()), maxLength);
}

function cut(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 1).toWellFormed()}…` : text;
}
