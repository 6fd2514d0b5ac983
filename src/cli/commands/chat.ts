// `tutti chat`: talks with the manager about goals and sessions, line by line on a terminal or one message at a time.
import type { Tutti } from "../../client/client.ts";
import type { Host } from "../../host/host.ts";
import type { NewConversation } from "../../protocol/api/conversation-shapes.ts";
import { errorTable, TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { RehearsalScript } from "../../protocol/invocation/rehearsal-script.ts";
import { readWrittenJson } from "../../protocol/json/written-json.ts";
import { describeIssues, issuesOf } from "../../protocol/lenient-read.ts";
import { commandLine, withDaemon } from "../connect.ts";
import { findTask } from "../find-id.ts";
import type { AnsweringOptions } from "../follow-run.ts";
import { givenFolder } from "../given-folder.ts";
import { type AnsweredTurn, type HeldConversation, holdConversation } from "../hold-conversation.ts";
import { readText } from "../input.ts";
import { note, standardOutput, writeJson, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";
import { canPrompt, prompt } from "../terminal/terminal-prompt.ts";

export interface ChatOptions extends AnsweringOptions {
  readonly cwd?: string;
  readonly model?: string;
  readonly script?: string;
  /** Go on with the newest conversation. */
  readonly continue?: boolean;
  readonly conversation?: string;
  readonly state?: string;
  readonly json?: boolean;
  readonly limit: number;
}

export async function chatCommand(host: Host, words: readonly string[], options: ChatOptions): Promise<void> {
  const { state, json = false, limit } = options;
  const typed = words.join(" ");
  const text = typed === "-" ? await readText("-", limit) : typed;
  const isInteractive = text.trim() === "" && !json && canPrompt();
  if (text.trim() === "" && !isInteractive) {
    throw new TuttiError(
      "usage",
      'say something: tutti chat "how are my tasks?"; on a terminal the message may be left out',
    );
  }
  const script = options.script === undefined ? undefined : readScript(await readText(options.script, limit));
  await withDaemon(host, { state, json }, async (tutti) => {
    const conversation = await openConversation(tutti, host, { ...options, rehearsal: script });
    const held = await holdConversation(tutti, { conversation, json, state, answering: options });
    try {
      if (isInteractive) await talk(held, conversation, state);
      else await answerOnce(await held.turn(text), conversation, { json, state });
    } finally {
      await held.stop();
    }
  });
}

function readScript(text: string): RehearsalScript {
  const read = readWrittenJson(text);
  if (!read.ok) throw new TuttiError("invalid_input", `the script cannot be used: ${read.problem}`);
  const script = RehearsalScript.safeParse(read.value);
  if (script.success) return script.data;
  throw new TuttiError("invalid_input", `the script cannot be used: ${describeIssues(issuesOf(script.error))}`);
}

async function openConversation(
  tutti: Tutti,
  host: Host,
  {
    cwd,
    model,
    rehearsal,
    conversation,
    ...options
  }: ChatOptions & { readonly rehearsal: RehearsalScript | undefined },
): Promise<TaskId> {
  if (conversation !== undefined) return findTask(tutti, conversation);
  if (options.continue === true) return newestConversation(tutti);
  // A daemon elsewhere has folders of its own.
  const folder = host.remote === undefined ? givenFolder(cwd) : cwd;
  const wanted: NewConversation = {
    ...(folder === undefined ? {} : { folder }),
    ...(model === undefined ? {} : { model }),
    ...(rehearsal === undefined ? {} : { script: rehearsal }),
  };
  return tutti.startConversation(wanted);
}

async function newestConversation(tutti: Tutti): Promise<TaskId> {
  const { tasks } = await tutti.tasks({ runner: "conversation", limit: 50 });
  const newest = tasks.find(({ ended_at }) => ended_at === null);
  if (newest === undefined) throw new TuttiError("not_found", "there is no conversation to go on with");
  return newest.id;
}

async function talk(held: HeldConversation, conversation: TaskId, state: string | undefined): Promise<void> {
  note(dim(`${conversation}: talk with the manager; Ctrl-D leaves`));
  for (;;) {
    const text = await prompt("> ");
    if (text === undefined) break;
    if (text.trim() !== "") await writeAnswer(await held.turn(text));
  }
  note(dim(`\ngo on with \`${commandLine(state, `chat --conversation ${conversation}`)}\``));
}

async function answerOnce(
  turn: AnsweredTurn,
  conversation: TaskId,
  { json, state }: { readonly json: boolean; readonly state: string | undefined },
): Promise<void> {
  const { message, reply, outcome } = turn;
  if (outcome.failed) process.exitCode = errorTable.task_failed.exit;
  if (json) return writeJson({ conversation, message, reply, ...outcome });
  await writeAnswer(turn);
  note(dim(`go on with \`${commandLine(state, `chat --conversation ${conversation} …`)}\``));
}

/** The part of the answer that was not shown while it was written. */
async function writeAnswer({ reply, shown, outcome }: AnsweredTurn): Promise<void> {
  if (shown === 0) await writeLine(reply);
  else standardOutput.write(`${reply.slice(shown)}\n`);
  for (const what of outcome.dropped) note(dim(`not carried out: ${what}`));
}
