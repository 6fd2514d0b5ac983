// Carries out the verbs of conversations through the client of this process, and shows a person beforehand what they would do.

import type { Tutti } from "../../client/client.ts";
import { recallByWords, type Remembered } from "../../core/recall-by-words.ts";
import type { VerbName } from "../../core/verb-catalogue.ts";
import type {
  ConversationDeps,
  GoalControl,
  VerbHandlers,
  VerbPreview,
} from "../../manager/conversation/conversation-deps.ts";
import { isDayQuestion } from "../../core/day-question.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import type { Observation } from "../../protocol/task/observation.ts";
import { messageText } from "../../protocol/task/message.ts";
import type { TaskSummary, TaskView } from "../../protocol/task/task-view.ts";
import { foldConversation } from "../../core/fold-conversation.ts";

/** What a conversation acts through. */
export interface ConversationClient {
  readonly client: Tutti;
  /** Undefined where no manager works on goals. */
  readonly goals?: GoalControl | undefined;
}

type Controls = Pick<ConversationDeps, "verbs" | "preview" | "recallGoals">;

const mostListed = 30;
const latestEvents = 8;
const mostFiles = 20;
const patchBytes = 1_500;
/** How many of the latest conversations and goals are searched. */
const searched = 200;

export function conversationControls(connected: Promise<ConversationClient>): Controls {
  return {
    verbs: async () => handlersOf(await connected),
    preview: async (verb, args) => previewOf(await connected, verb, args),
    async recallGoals(words) {
      const goals = (await (await connected).goals?.list()) ?? [];
      const found = recallByWords(
        words,
        goals.map(({ id, at, text }) => ({ id, at, text })),
      );
      return found.map(({ id, text }) => ({ id, text, status: goals.find((goal) => goal.id === id)?.status ?? "" }));
    },
  };
}

function handlersOf({ client, goals }: ConversationClient): VerbHandlers {
  /** A message to a conversation would count as a person's, and so would words that a session has chosen. */
  const target = async (task: TaskId): Promise<TaskView> => {
    const found = await client.task(task);
    if (found.runner !== "conversation") return found;
    throw new TuttiError("refused", `${task} is a conversation, which only people take part in`);
  };
  return {
    "goals.list": async ({ status }) => {
      const all = await goalsOf(goals).list();
      return all.filter((goal) => status === undefined || goal.status === status).slice(0, mostListed);
    },
    "goals.get": ({ goal }) => goalsOf(goals).get(goal),
    async "goals.start"({ text, accept = [] }, { folder, key, program }) {
      if (folder === undefined) {
        throw new TuttiError("refused", "this conversation has no folder to work in; start one in a project");
      }
      return goalsOf(goals).start({ text, accept, folder, key, ...(program === undefined ? {} : { program }) });
    },
    async "goals.message"({ goal, text }, { program }) {
      await goalsOf(goals).message(goal, text, program);
      return { told: goal };
    },
    async "tasks.list"({ status, below }) {
      const tasks =
        below === undefined
          ? (await client.tasks({ limit: mostListed, ...(status === undefined ? {} : { status }) })).tasks
          : (await client.tree(below)).filter((each) => status === undefined || each.status === status);
      return tasks.filter(isWork).slice(0, mostListed).map(listedTask);
    },
    "tasks.get": async ({ task }) => {
      const found = await client.task(task);
      return { ...listedTask(found), result: found.result };
    },
    "sessions.list": async () => (await client.sessions()).filter(isWork).slice(0, mostListed).map(listedSession),
    "sessions.observe": async ({ task }) => {
      const { recent, ...seen } = await client.observe(task, { recent: latestEvents });
      return { ...seen, recent: recent.map(eventText) };
    },
    async "sessions.send"({ task, text, interrupt = false }, { program }) {
      await target(task);
      return {
        told: await client.sendMessage(task, text, { interrupt, ...(program === undefined ? {} : { program }) }),
      };
    },
    async "sessions.inject"({ task, text, submit = "enter" }, { program }) {
      await target(task);
      const interrupt = submit === "interrupt";
      return {
        told: await client.sendMessage(task, text, { interrupt, ...(program === undefined ? {} : { program }) }),
      };
    },
    async "sessions.health"() {
      const [sessions, asks, { degraded }] = await Promise.all([client.sessions(), client.asks(), client.status()]);
      const status = degraded === null ? "ok" : "degraded";
      return { reachable: true, status, sessions: sessions.filter(isWork).length, waiting_for_a_person: asks.length };
    },
    async "sessions.stop"({ task, reason = "stopped through the manager" }) {
      await target(task);
      return { stopped: await client.stopTask(task, reason) };
    },
    async "sessions.resume"({ task }, { person }) {
      await target(task);
      return { resumed: await client.resumeTask(task, person) };
    },
    async "sessions.kill"({ task, reason = "killed through the manager" }) {
      await target(task);
      return client.killTask(task, reason);
    },
    async "tasks.cancel"({ task, reason = "canceled through the manager" }) {
      await target(task);
      return { canceled: await client.cancel(task, reason) };
    },
    "asks.list": async ({ task }) =>
      (await client.asks(task)).slice(0, mostListed).map(({ id, task: of, kind, question }) => ({
        ask: id,
        task: of,
        kind,
        question: question.slice(0, 300),
      })),
    async "asks.answer"({ ask, words }, { person }) {
      const { kind, task, details } = await client.ask(ask);
      await target(task);
      if (kind !== "question" || isDayQuestion(details))
        throw new TuttiError("refused", `${ask} is for the person to answer: tutti answer ${ask}`);
      const outcome = await client.answer(ask, { kind: "question", value: words }, person);
      if (!outcome.accepted) throw new TuttiError("invalid_input", outcome.message);
      return { answered: ask };
    },
    async "workspaces.diff"({ task }) {
      const { branch, tip, files, added, removed, total, uncommitted, patch } = await client.workspaceDiff(task, {
        patch_bytes: patchBytes,
      });
      const changed = files.slice(0, mostFiles).map(({ path, change }) => `${change} ${path}`);
      return { branch, tip, total, added, removed, changed, uncommitted: uncommitted.length, patch };
    },
    async "workspaces.merge"({ task, into }, { mark }) {
      await target(task);
      const { tip } = await client.workspaceDiff(task, { patch_bytes: 0 });
      if (tip !== mark)
        throw new TuttiError("conflict", `the work has changed since it was shown: it is at ${tip} now`);
      const { commit, how } = await client.mergeTask(task, { into });
      return { merged: task, into, commit, how };
    },
    recall: async ({ words }) =>
      recallByWords(words, [...(await goalTexts(goals)), ...(await conversationTexts(client))]),
  };
}

function goalsOf(goals: GoalControl | undefined): GoalControl {
  if (goals !== undefined) return goals;
  throw new TuttiError("refused", "this process does not work on goals");
}

function isWork({ runner }: { readonly runner: string }): boolean {
  return runner !== "conversation";
}

/** Only what Tutti itself records. What a task was told and what it said is not in it. */
function listedTask(task: TaskSummary | TaskView) {
  const { id, status, agent, runner, attempt, created_at, ended_at, tokens, money_micro_usd } = task;
  return { task: id, status, agent: plainName(agent), runner, attempt, created_at, ended_at, tokens, money_micro_usd };
}

/** Without the summary, which quotes the session. */
function listedSession({ task, agent, runner, status, attempt, activity, last_event_at, ask }: Observation) {
  return { task, agent: plainName(agent), runner, status, attempt, activity, last_event_at, ask };
}

/** A name that can hold no sentence. Agents of a project have the names that its files give them. */
function plainName(name: string): string {
  return /^[\w.-]{1,64}$/.test(name) ? name : "(a name with unusual characters)";
}

const longestText = 200;

function eventText(event: TaskEvent): string {
  const text = event.type === "message.added" ? messageText(event.data.message) : JSON.stringify(event.data);
  return `${event.type}: ${text.slice(0, longestText)}`;
}

async function goalTexts(goals: GoalControl | undefined): Promise<Remembered[]> {
  const listed = ((await goals?.list()) ?? []).slice(0, searched);
  return Promise.all(
    listed.map(async ({ id, at, text, status }) => {
      const report = (await goals?.report(id)) ?? "";
      return { id, at, text: [`${text} (${status})`, report].join("\n").trim() };
    }),
  );
}

async function conversationTexts(client: Tutti): Promise<Remembered[]> {
  const { tasks } = await client.tasks({ runner: "conversation", limit: searched });
  return Promise.all(
    tasks.map(async ({ id, created_at }) => {
      const { messages } = await client.messages(id, { limit: 200 });
      const turns = foldConversation(messages.map(({ message }) => message));
      return { id, at: created_at, text: turns.map(({ user, reply }) => `${user}\n${reply ?? ""}`).join("\n") };
    }),
  );
}

async function previewOf(
  { client, goals }: ConversationClient,
  verb: VerbName,
  args: Readonly<Record<string, unknown>>,
): Promise<VerbPreview> {
  const { task, ask, goal, into } = args;
  if (verb === "workspaces.merge" && typeof task === "string") return mergePreview(client, task, String(into));
  if (typeof task === "string") return { lines: await taskLines(client, task) };
  if (typeof ask === "string") {
    const { kind, question, task: of } = await client.ask(ask);
    return { lines: [`It answers the ${kind} of ${of}: ${question}`] };
  }
  if (typeof goal === "string") {
    const found = (await goals?.list())?.find(({ id }) => id === goal);
    return { lines: found === undefined ? [] : [`The goal is ${found.status}: ${found.text}`] };
  }
  return { lines: [] };
}

async function taskLines(client: Tutti, task: TaskId): Promise<string[]> {
  const { status, runner, agent } = await client.task(task);
  const below = (await client.tree(task)).filter(({ id, ended_at }) => id !== task && ended_at === null).length;
  return [`${task} is ${status}: agent ${agent}, runner ${runner}, ${below} unfinished tasks below it`];
}

async function mergePreview(client: Tutti, task: TaskId, into: string): Promise<VerbPreview> {
  const diff = await client.workspaceDiff(task, { patch_bytes: 0 });
  const { branch, tip, total, added, removed, files, commits, verification } = diff;
  return {
    mark: tip,
    lines: [
      `Verification: ${verification.state}: ${verification.reason}`,
      `It merges ${branch ?? "the work"} at ${tip} into ${into}: ${total.commits} commits, ${total.files} files, +${added} -${removed}`,
      ...commits.slice(0, mostFiles).map(({ id, subject }) => `commit ${id.slice(0, 12)} ${subject}`),
      ...files.slice(0, mostFiles).map(({ path, change }) => `${change} ${path}`),
    ],
  };
}
