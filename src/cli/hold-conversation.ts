// Holds a conversation with the manager for a command: sends what the person says, shows what happens, and waits for the answer.
import type { EventOrDelta, Tutti } from "../client/client.ts";
import { emptyTree, foldTree } from "../core/fold-tree.ts";
import { turnOutcome } from "../core/fold-conversation.ts";
import type { TurnOutcome } from "../protocol/conversation/conversation-view.ts";
import { TuttiError } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { TaskEvent } from "../protocol/task/event.ts";
import { messageText } from "../protocol/task/message.ts";
import type { AnsweringOptions } from "./follow-run.ts";
import { person } from "./submit-answer.ts";
import { announcedQuestions, inlineQuestions, type Questions } from "./terminal/inline-questions.ts";
import { note, standardOutput } from "./terminal/screen.ts";
import { dim } from "./terminal/style.ts";
import { canAsk } from "./terminal/terminal-prompt.ts";
import { unattendedQuestions } from "./unattended-questions.ts";

export interface HoldOptions {
  readonly conversation: TaskId;
  readonly json: boolean;
  /** `--state` as it was given. */
  readonly state: string | undefined;
  readonly answering: AnsweringOptions;
}

export interface AnsweredTurn {
  readonly message: string;
  readonly reply: string;
  readonly outcome: TurnOutcome;
  /** How much of the reply is on the screen already. */
  readonly shown: number;
}

export interface HeldConversation {
  turn(text: string): Promise<AnsweredTurn>;
  stop(): Promise<void>;
}

export async function holdConversation(tutti: Tutti, options: HoldOptions): Promise<HeldConversation> {
  const { conversation, json } = options;
  const stopped = new AbortController();
  const since = (await tutti.status()).seq;
  const questions = questionsFor(tutti, options);
  const answered = new Map<string, AnsweredTurn>();
  let heard = Promise.withResolvers<void>();
  let written = "";
  const isLive = !json && standardOutput.isTerminal;

  const take = (item: EventOrDelta): void => {
    if ("live" in item) {
      if (!isLive || item.live.channel !== "text") return;
      standardOutput.write(item.live.text);
      written += item.live.text;
      return;
    }
    const { event } = item;
    if (event.seq <= since || event.type !== "message.added") return;
    const { message } = event.data;
    const outcome = turnOutcome(message);
    if (outcome === undefined) {
      if (!json) showVerbs(event, written !== "");
      written = "";
      return;
    }
    const reply = messageText(message);
    const shown = reply.startsWith(written) ? written.length : 0;
    if (shown === 0 && written !== "") standardOutput.write("\n");
    written = "";
    answered.set(outcome.answers, { message: outcome.answers, reply, outcome, shown });
    heard.resolve();
    heard = Promise.withResolvers();
  };
  const follow = async (): Promise<never> => {
    const tree = emptyTree(conversation);
    for await (const item of tutti.follow({ task: conversation, live: isLive, signal: stopped.signal })) {
      if ("event" in item) foldTree(tree, item.event);
      questions.update(item, tree);
      take(item);
    }
    throw new TuttiError("conflict", `${conversation} has ended; start a new conversation`);
  };
  const following = follow();
  following.catch(() => undefined);

  return {
    async turn(text) {
      const message = await tutti.converse(conversation, text, person());
      for (;;) {
        const found = answered.get(message);
        if (found !== undefined) return found;
        const ends = questions.left === undefined ? [] : [questions.left];
        await Promise.race([heard.promise, following, ...ends]);
      }
    },
    async stop() {
      stopped.abort();
      await questions.stop();
    },
  };
}

function questionsFor(tutti: Tutti, { state, answering }: HoldOptions): Questions {
  if (answering.input !== false && canAsk()) return inlineQuestions(tutti, { state });
  return answering.wait === true
    ? announcedQuestions(tutti, { state })
    : unattendedQuestions(tutti, { state, yes: false });
}

/** One line for each verb that the manager uses. */
function showVerbs(event: Extract<TaskEvent, { type: "message.added" }>, afterText: boolean): void {
  for (const part of event.data.message.parts) {
    if (part.part_type !== "tool_call") continue;
    if (afterText) standardOutput.write("\n");
    note(dim(`  ${part.data.tool_name} ${JSON.stringify(part.data.input) ?? ""}`.slice(0, 200)));
  }
}
