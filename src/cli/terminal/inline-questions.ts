// Puts the open questions of a run to the person at the terminal, one at a time; without a terminal, says how to answer them.
import type { AnswerOutcome, Tutti } from "../../client/client.ts";
import type { FoldedTree } from "../../core/fold-tree.ts";
import type { OpenAsk, OpenWait } from "../../protocol/api/task-shapes.ts";
import { toTuttiError } from "../../protocol/error.ts";
import type { AskId } from "../../protocol/ids.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import { commandLine } from "../connect.ts";
import { allowAlways, readAlways } from "../give-answer.ts";
import { grantedByYes } from "../unattended-questions.ts";
import { whoAsks } from "../who-asks.ts";
import { submitAnswer } from "../submit-answer.ts";
import type { Display } from "./display.ts";
import { prompt } from "./terminal-prompt.ts";
import { againText, askedText, confirmText, isYes, parseAnswer, questionText } from "./question-text.ts";
import type { TaskListener } from "./watch-task.ts";
import { note, standardError, widthOfScreen } from "./screen.ts";

export interface AskOptions {
  /** Is paused while a question is on the screen. */
  readonly display?: Display | undefined;
  /** The `--state` of this command, which a command that answers from elsewhere needs, too. */
  readonly state?: string | undefined;
  /** Approvals are granted that may be granted without looking. */
  readonly yes?: boolean | undefined;
}

export interface Questions {
  readonly update: TaskListener;
  /** Rejects when the command is to end because an answer is needed that it cannot get; never when absent. */
  readonly left?: Promise<never>;
  /** Takes back the question that is on the screen. */
  stop(): Promise<void>;
}

/**
 * A task that goes on after an interruption first tells what happened before. A question from that time is closed again
 * by an event that follows at once, so a question is put only when it is still open after this time.
 */
const settleMs = 50;

export function inlineQuestions(tutti: Tutti, { display, state, yes }: AskOptions): Questions {
  const stopped = new AbortController();
  /** Questions that are not put again: answered here, left open by the person, or refused for good. */
  const done = new Set<AskId>();
  let tree: FoldedTree | undefined;
  let onScreen: { readonly id: AskId; readonly closed: AbortController } | undefined;
  let asking: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const onInterrupt = (): void => void process.kill(process.pid, "SIGINT");
  const next = (): OpenAsk | OpenWait | undefined =>
    stopped.signal.aborted ? undefined : tree?.open.values().find(({ id }) => !done.has(id));

  /** False when what was typed is no answer, and nothing was done. */
  const submit = async (open: OpenAsk | OpenWait, text: string, signal: AbortSignal): Promise<boolean> => {
    const always = readAlways(open, text);
    if (always !== undefined) {
      const sure = await prompt(confirmText(always), { signal, onInterrupt });
      // Anything but a yes leads back to the question.
      return isYes(sure) && settled(open, await allowAlways(tutti, open, always));
    }
    const parsed = parseAnswer(open, text);
    if (parsed.ok) return settled(open, await submitAnswer(tutti, open, parsed.value));
    note(`tutti: ${parsed.message}`);
    return false;
  };
  const submitted = async (open: OpenAsk | OpenWait, text: string, signal: AbortSignal): Promise<boolean> => {
    try {
      return await submit(open, text, signal);
    } catch (thrown) {
      signal.throwIfAborted();
      if (toTuttiError(thrown).code !== "invalid_input") throw thrown;
      note(`tutti: ${toTuttiError(thrown).message}`);
      return false;
    }
  };
  const settled = (open: OpenAsk | OpenWait, outcome: AnswerOutcome): boolean => {
    const isOver = outcome.accepted || outcome.code !== "invalid";
    if (isOver) done.add(open.id);
    if (!outcome.accepted) note(`tutti: ${outcome.message}`);
    return isOver;
  };
  const ask = async (open: OpenAsk | OpenWait): Promise<void> => {
    const closed = new AbortController();
    onScreen = { id: open.id, closed };
    display?.pause();
    const signal = AbortSignal.any([stopped.signal, closed.signal]);
    try {
      if (yes === true && (await grantedByYes(tutti, open))) {
        done.add(open.id);
        return;
      }
      let asked = questionText(open, { width: widthOfScreen(standardError), state, who: await whoAsks(tutti, open) });
      for (;;) {
        const text = await prompt(asked, { signal, onInterrupt });
        if (text === undefined) break;
        if (await submitted(open, text, signal)) return;
        asked = againText(open);
      }
      done.add(open.id);
      note(`\ntutti: ${open.id} stays open; answer it with \`${answerCommand(open.id, state)}\``);
    } catch (thrown) {
      if (stopped.signal.aborted) return;
      if (closed.signal.aborted) note(`\ntutti: ${open.id} ${String(closed.signal.reason)}`);
      else note(`tutti: ${toTuttiError(thrown).message}`);
    } finally {
      onScreen = undefined;
      display?.resume();
    }
  };
  const askAll = async (): Promise<void> => {
    for (let open = next(); open !== undefined; open = next()) await ask(open);
  };
  const schedule = (): void => {
    if (timer !== undefined || asking !== undefined || next() === undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      asking = askAll().finally(() => {
        asking = undefined;
        schedule();
      });
    }, settleMs);
  };
  return {
    update(item, latest) {
      tree = latest;
      if (!("event" in item)) return;
      const { type, data } = item.event;
      // The answer that was given turned out not to fit.
      if (type === "ask.reopened") done.delete(data.ask);
      if (type === "wait.reopened") done.delete(data.wait);
      if (onScreen !== undefined && !latest.open.has(onScreen.id)) onScreen.closed.abort(howItClosed(item.event));
      schedule();
    },
    async stop() {
      stopped.abort();
      clearTimeout(timer);
      await asking;
    },
  };
}

/** Says once per question that it waits for an answer, and where it can be given. */
export function announcedQuestions(tutti: Tutti, { state, yes }: AskOptions): Questions {
  const announced = new Set<AskId>();
  let tree: FoldedTree | undefined;
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    timer = undefined;
    for (const open of tree?.open.values() ?? []) {
      const { id } = open;
      if (announced.has(id)) continue;
      announced.add(id);
      if (yes === true && (await grantedByYes(tutti, open))) continue;
      note(
        `${askedText(open, { width: widthOfScreen(standardError), state, who: await whoAsks(tutti, open) })}\ntutti: waiting for an answer to ${id}; answer it with \`${answerCommand(id, state)}\``,
      );
    }
  };
  return {
    update(_, latest) {
      tree = latest;
      if (latest.open.keys().some((id) => !announced.has(id))) {
        timer ??= setTimeout(
          () => void look().catch((thrown) => note(`tutti: ${toTuttiError(thrown).message}`)),
          settleMs,
        );
      }
    },
    async stop() {
      clearTimeout(timer);
    },
  };
}

function howItClosed(event: TaskEvent): string {
  switch (event.type) {
    case "ask.answered":
      return `was answered by ${event.data.by.name}`;
    case "ask.expired":
      return "has expired";
    case "ask.withdrawn":
      return "is no longer needed";
    default:
      return "is settled";
  }
}

function answerCommand(id: AskId, state: string | undefined): string {
  return commandLine(state, `answer ${id} …`);
}
