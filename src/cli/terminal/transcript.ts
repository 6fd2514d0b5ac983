// Shows the run of an agent: what agents write while they write it, their tool calls, and their results.
import type { LiveDelta, TaskEvent } from "../../protocol/task/event.ts";
import { messageText } from "../../protocol/task/message.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Display } from "./display.ts";
import type { MarkdownStream } from "./markdown.ts";
import { bold, dim } from "./style.ts";
import { standardError } from "./screen.ts";
import { markOf } from "./task-tree.ts";
import { eventText, messageLines, questionsIn } from "./transcript-lines.ts";
import { type TranscriptScreen, transcriptWriter } from "./transcript-writer.ts";
import { resultText } from "./value-text.ts";

/** The reply that is being written right now. While it is on the screen, everybody else waits. */
interface LiveReply {
  readonly task: TaskId;
  /** The step that writes it. */
  readonly key: string;
  readonly stream: MarkdownStream;
  /** Everything that came of it, from its beginning on. */
  text: string;
  /** Set while the reply is held back and not yet on the screen. */
  holdTimer: NodeJS.Timeout | undefined;
}

export interface Transcript extends Display {
  /** True when this text was the last thing that the agent at the top wrote, so that it need not be printed again. */
  endsWith(text: string): boolean;
}

/** A reply may begin before the events that precede it have arrived. It is held back this long, so that the order is right. */
const holdMs = 40;
/** Of longer arguments and results that are shown live; `tutti show` has more of them. */
const fewLines = 8;

const endings: ReadonlySet<TaskEvent["type"]> = new Set(["task.completed", "task.failed", "task.canceled"]);

export interface TranscriptOptions {
  readonly screen?: TranscriptScreen;
  /** How many lines of an argument or a result are shown. */
  readonly maxLines?: number;
  /**
   * For reading afterwards: whole prompts, of all tasks or of those below the agents at the top, and whole results.
   * Otherwise the command prints the result of the agent at the top.
   */
  readonly whole?: "all" | "below";
  /** Only what happened from this event on is shown. */
  readonly from?: number;
  /** The depth of the agent at the top. */
  readonly depth?: number;
  /** False where somebody else puts the questions. */
  readonly showsAsks?: boolean;
}

/** `root` is the task of the invocation, of which nothing is shown; the agent that was run is the task below it. */
export function showTranscript(
  root: TaskId,
  { screen = standardError, maxLines = fewLines, whole, from = 0, depth = 1, showsAsks = true }: TranscriptOptions = {},
): Transcript {
  const writer = transcriptWriter(screen);
  const waiting: TaskEvent[] = [];
  let reply: LiveReply | undefined;
  let lastText = "";
  /** What each task said last, and that it said something: only then a message to it is not its prompt. */
  const lastTexts = new Map<TaskId, string>();
  /** Questions that are on the screen as the argument of a call. */
  const askedByCall = new Set<string>();
  const startedAt = Date.now();
  let paused = false;

  /** Shows what is left of a reply that will not go on. */
  const endReply = (): void => {
    clearTimeout(reply?.holdTimer);
    if (reply?.holdTimer === undefined) writer.rows(reply?.stream.end() ?? []);
    reply = undefined;
  };

  /** Of a message that was shown while it was written, only the rest is missing on the screen. */
  const showMessage = ({ task, at, data }: Extract<TaskEvent, { type: "message.added" }>): void => {
    const { message, step } = data;
    // A question of an earlier time may have been answered, and is then put to nobody.
    const namesAsks = !showsAsks && at >= startedAt;
    const { text, calls } = messageLines(message, { maxLines, namesAsks });
    const label = message.name === "rehearsal" ? dim(" (rehearsal)") : "";
    const live = reply?.task === task && reply.key === step?.key ? reply : undefined;
    if (live !== undefined) {
      clearTimeout(live.holdTimer);
      reply = undefined;
    }
    const rest = live === undefined || live.holdTimer !== undefined ? undefined : restAfter(text, live.text);
    if (live !== undefined && live.holdTimer === undefined) {
      writer.rows([...live.stream.push(rest ?? ""), ...live.stream.end()]);
    }
    if (rest === undefined && text.trim() !== "") {
      writer.name(task, label);
      writer.message(task, text);
    }
    if (message.role === "assistant") {
      lastTexts.set(task, text);
      if (writer.levelOf(task) === 0) lastText = text;
    } else if (message.role === "user" && lastTexts.has(task)) {
      writer.line(writer.levelOf(task) + 1, `✉ ${messageText(message)}`);
    }
    for (const question of questionsIn(message)) askedByCall.add(question);
    if (calls.length > 0) writer.name(task, label);
    for (const call of calls) writer.call(task, call);
  };

  const showPrompt = ({ task, data }: Extract<TaskEvent, { type: "task.created" }>): void => {
    const { agent, detached, prompt = "" } = data;
    if (whole === "below" && writer.levelOf(task) === 0) return;
    writer.line(writer.levelOf(task), `▸ ${bold(agent)}${detached ? " (in the background)" : ""} is asked`);
    if (prompt !== "") writer.message(task, prompt);
  };
  /** Goals and their tasks: a report has all of their results. */
  const ofGoals = new Set<TaskId>();
  /** A result that the agent wrote as its last message is on the screen already. */
  const showEnd = ({ task, data }: Extract<TaskEvent, { type: "task.completed" }>): void => {
    const text = ofGoals.has(task) ? judgedText(data.content) : resultText(data.content, { indent: 2 });
    writer.name(task);
    const isShown = text.trim() === lastTexts.get(task)?.trim();
    writer.line(writer.levelOf(task) + 1, `${markOf("completed")} completed${isShown ? "" : ":"}`);
    if (!isShown) writer.message(task, text);
    if (writer.levelOf(task) === 0) lastText = text;
  };

  const show = (event: TaskEvent): void => {
    const { task } = event;
    if (event.type === "task.created") {
      if (["manager", "assignment"].includes(event.data.runner)) ofGoals.add(task);
      writer.setSpeaker(task, { agent: event.data.agent, level: Math.max(0, event.data.depth - depth) });
    }
    if (event.type === "task.handed_over") {
      writer.setSpeaker(task, { agent: event.data.to_agent, level: writer.levelOf(task) });
    }
    if (event.seq < from) return;
    // The command that puts questions shows them by itself, and nobody should read one twice.
    if (event.type === "ask.raised" && (!showsAsks || askedByCall.has(event.data.ask.question))) return;
    if (task === root) {
      if (event.type === "ask.raised" || event.type === "budget.reached") writer.line(0, eventText(event));
      return;
    }
    if (event.type === "message.added") return showMessage(event);
    const endsRun = endings.has(event.type) || event.type === "task.handed_over";
    const endsStep = event.type === "step.finished" && event.data.key === reply?.key;
    if (reply?.task === task && (endsRun || endsStep)) endReply();
    const level = writer.levelOf(task);
    if (whole !== undefined && event.type === "task.created") return showPrompt(event);
    if (whole !== undefined && event.type === "task.completed") return showEnd(event);
    // The end of the agent itself is the result, which the command prints.
    const text = level === 0 && whole === undefined && endings.has(event.type) ? "" : eventText(event);
    if (text === "") return;
    if (event.type === "task.created") return writer.line(level, text);
    writer.name(task);
    writer.line(level + 1, text);
  };

  const showWaiting = (): void => {
    while (!paused) {
      const live = reply !== undefined && reply.holdTimer === undefined ? reply.task : undefined;
      const index = live === undefined ? 0 : waiting.findIndex(({ task }) => task === live);
      const [event] = index === -1 ? [] : waiting.splice(index, 1);
      if (event === undefined) return;
      show(event);
    }
  };
  const beginReply = ({ task, key }: LiveDelta): LiveReply => {
    endReply();
    const begun: LiveReply = { task, key, stream: writer.begin(task), text: "", holdTimer: undefined };
    begun.holdTimer = setTimeout(() => {
      if (reply !== begun || paused) return;
      begun.holdTimer = undefined;
      writer.name(task);
      writer.rows(begun.stream.push(begun.text));
    }, holdMs);
    reply = begun;
    return begun;
  };
  const showNotice = ({ task, key, text }: LiveDelta): void => {
    if (reply !== undefined && (reply.task !== task || reply.key !== key)) return;
    endReply();
    writer.name(task);
    writer.line(writer.levelOf(task) + 1, dim(`↻ ${text}`));
  };
  /** A piece whose beginning is not on the screen is not shown: the message that follows has all of it. */
  const showDelta = (delta: LiveDelta): void => {
    if (delta.root !== root || paused || !screen.isTerminal) return;
    if (delta.channel === "notice") return showNotice(delta);
    if (delta.channel !== "text" || (reply !== undefined && reply.task !== delta.task)) return;
    const known = reply?.key === delta.key ? reply : undefined;
    if (delta.offset !== (known?.text.length ?? 0)) return;
    const current = known ?? beginReply(delta);
    current.text += delta.text;
    if (current.holdTimer === undefined) writer.rows(current.stream.push(delta.text));
  };

  return {
    update(item) {
      if ("live" in item) return showDelta(item.live);
      waiting.push(item.event);
      showWaiting();
    },
    pause() {
      showWaiting();
      paused = true;
    },
    resume() {
      paused = false;
      showWaiting();
    },
    stop() {
      paused = false;
      endReply();
      showWaiting();
    },
    endsWith: (text) => text.trim() !== "" && lastText.trim() === text.trim(),
  };
}

/**
 * What of the text comes after the part that was shown; undefined when another text was shown. Spaces do not count, since
 * the message may have others than the pieces in which it came.
 */
function restAfter(text: string, shown: string): string | undefined {
  let at = 0;
  for (const each of shown) {
    if (/\s/.test(each)) continue;
    while (at < text.length && /\s/.test(text.charAt(at))) at += 1;
    // Text that was shown and is no part of the message, such as that of a call, stays on the screen.
    if (at >= text.length) return "";
    if (!text.startsWith(each, at)) return undefined;
    at += each.length;
  }
  // Spaces right after the shown part were shown with it.
  const spaces = /\s*$/.exec(shown)?.[0].length ?? 0;
  return text.slice(at).replace(new RegExp(`^\\s{0,${spaces}}`), "");
}

/** How a goal, or a task of one, was judged. */
function judgedText(content: unknown): string {
  const { state, status, reason }: Readonly<Record<string, unknown>> = Object(content);
  return `${String(state ?? status)}: ${String(reason)}`;
}
