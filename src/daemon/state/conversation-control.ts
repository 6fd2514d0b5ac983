// Starts conversations with the manager and gives them messages.

import { randomUUID } from "node:crypto";
import { homedir } from "node:os";
import { isAbsolute } from "node:path";

import type { z } from "zod";

import type { Tutti } from "../../client/client.ts";
import { LatestTurns } from "../../core/fold-conversation.ts";
import { isRehearsalName } from "../../core/rehearsal-name.ts";
import type { NewTask, Tasks } from "../../ports.ts";
import { NewConversation, SayToManager } from "../../protocol/api/conversation-shapes.ts";
import type { ConversationView } from "../../protocol/conversation/conversation-view.ts";
import { isByProgram } from "../../protocol/invocation/by-program.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { describeIssues, issuesOf } from "../../protocol/lenient-read.ts";
import type { Budget } from "../../protocol/task/budget.ts";
import { userMessage } from "../../protocol/task/message.ts";
import type { TaskView } from "../../protocol/task/task-view.ts";
import { plainMark } from "./mark-program.ts";
import { projectFolder } from "../project/project-folder.ts";
import type { ProjectRuntimes } from "../project/project-runtimes.ts";

/** The time between two messages counts as working time. A conversation that nobody goes on with ends by itself. */
const longestLife = 10 * 365 * 24 * 60 * 60 * 1000;

interface ControlDeps {
  readonly engine: Pick<Tasks, "start" | "message">;
  readonly runtimes: ProjectRuntimes;
  readonly task: Tutti["task"];
  /** The config of a root task. */
  readonly configOf: (task: TaskId) => Promise<unknown>;
  /** Notes that something is being said in the conversation. */
  readonly said: (conversation: TaskId) => void;
}

export function conversationControl({
  engine,
  runtimes,
  task: view,
  said: noteSaid,
  configOf,
}: ControlDeps): Pick<Tutti, "startConversation" | "converse"> {
  return {
    async startConversation(given = {}, { program } = {}) {
      const { folder, budget, ...file } = readRequest(NewConversation, given);
      if (folder !== undefined && !isAbsolute(folder)) {
        throw new TuttiError("invalid_input", `the folder must be an absolute path, not ${folder}`);
      }
      const project = folder === undefined ? undefined : projectFolder(folder, homedir());
      const runtime = await runtimes.runtimeOf(project);
      const model = file.model ?? runtime?.environment.defaultModel;
      // A rehearsal without a script would only say that it is none.
      if (file.script === undefined && model !== undefined && isRehearsalName(model)) {
        throw new TuttiError(
          "invalid_input",
          "no model is set up that could answer; `tutti doctor` says how to set one up",
        );
      }
      const conversation: NewTask = {
        runner: {
          kind: "conversation",
          config: { ...(project === undefined ? {} : { project, folder }), ...plainMark(program) },
        },
        agent: "manager",
        input: { ...file, ...(model === undefined || file.script !== undefined ? {} : { model }) },
        rights: { tools: [], roots: [] },
        budget: { time_ms: longestLife, ...definedOf(budget) },
      };
      const place = { project: project ?? "", thread: null, kind: "manager" } as const;
      const { task } = await engine.start(conversation, { thread: place });
      return task;
    },
    async converse(conversation, text, by) {
      const said = readRequest(SayToManager, { text });
      await mustBeConversation(view, conversation);
      // What is said there counts as a person's words, and the manager acts on them with a person's rights.
      if (by.kind !== "person" && !isByProgram(await configOf(conversation))) {
        throw new TuttiError("refused", `${conversation} is a person's conversation; a program starts one of its own`);
      }
      const id = `${conversation}.mail.${randomUUID()}`;
      noteSaid(conversation);
      await engine.message(conversation, { ...userMessage(said.text), id, name: by.name });
      return id;
    },
  };
}

function definedOf(budget: z.output<typeof NewConversation>["budget"] = {}): Partial<Budget> {
  return Object.fromEntries(Object.entries(budget).filter(([, limit]) => limit !== undefined));
}

function readRequest<S extends z.ZodType>(schema: S, given: unknown): z.output<S> {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  throw new TuttiError("invalid_input", describeIssues(issuesOf(read.error, given)));
}

async function mustBeConversation(view: Tutti["task"], conversation: TaskId): Promise<TaskView> {
  const found = await view(conversation);
  if (found.runner === "conversation") return found;
  throw new TuttiError("not_found", `there is no conversation ${conversation}; it is a task of another kind`);
}

/** What one answer may hold; the messages of the task have the rest, page by page. */
const mostShown = { turns: 50, characters: 1024 * 1024, text: 32_000 };

/** A conversation with its latest turns. */
export async function readConversation(
  reads: Pick<Tutti, "task" | "messages" | "asks">,
  conversation: TaskId,
): Promise<ConversationView> {
  const { status, created_at, tokens, money_micro_usd } = await mustBeConversation(reads.task, conversation);
  const latest = new LatestTurns(mostShown);
  for (let after: number | null = 0; after !== null;) {
    const page: Awaited<ReturnType<Tutti["messages"]>> = await reads.messages(conversation, { after, limit: 1000 });
    for (const { message } of page.messages) latest.add(message);
    after = page.next;
  }
  const asks = (await reads.asks(conversation)).map(({ id }) => id);
  return { conversation, status, created_at, tokens, money_micro_usd, turns: latest.list(), asks };
}
