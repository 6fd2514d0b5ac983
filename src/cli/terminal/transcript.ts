// Shows the run of an agent on standard error: what agents write while they write it, their tool calls, and their results.
import type { LiveDelta, TaskEvent } from "../../protocol/task/event.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Display } from "./display.ts";
import { bold, dim } from "./style.ts";
import { type Screen, standardError } from "./screen.ts";
import { eventText, messageLines } from "./transcript-lines.ts";

interface Speaker {
  readonly agent: string;
  /** Levels below the agent that was run; each is indented further. */
  readonly level: number;
}

/** The reply that is being written right now. While it is on the screen, everybody else waits. */
interface LiveReply {
  readonly task: TaskId;
  /** The step that writes it. */
  readonly key: string;
  text: string;
  /** Set while the reply is held back and not yet on the screen. */
  holdTimer: NodeJS.Timeout | undefined;
}

/** A reply may begin before the events that precede it have arrived. It is held back this long, so that the order is right. */
const holdMs = 40;

const endings: ReadonlySet<TaskEvent["type"]> = new Set(["task.completed", "task.failed", "task.canceled"]);

/** `root` is the task of the invocation; the agent that was run is the task below it. */
export function showTranscript(root: TaskId, screen: Pick<Screen, "write"> = standardError): Display {
  const speakers = new Map<TaskId, Speaker>();
  const waiting: TaskEvent[] = [];
  let reply: LiveReply | undefined;
  let lastSpeaker: TaskId | undefined;
  let midLine = false;
  let paused = false;

  const levelOf = (task: TaskId): number => speakers.get(task)?.level ?? 0;
  const endLine = (): void => {
    if (midLine) screen.write("\n");
    midLine = false;
  };
  const writeLine = (level: number, text: string): void => {
    endLine();
    screen.write(`${indented(level, text)}\n`);
  };
  /** Continues the line that was begun. */
  const writeOn = (level: number, text: string): void => {
    if (text === "") return;
    screen.write(midLine ? continued(level, text) : indented(level, text));
    midLine = true;
  };
  const writeSpeaker = (task: TaskId, label: string): void => {
    if (lastSpeaker === task) return;
    const speaker = speakers.get(task);
    lastSpeaker = task;
    if (speaker !== undefined) writeLine(speaker.level, `${bold(speaker.agent)}${label}`);
  };
  const dropReply = (): void => {
    clearTimeout(reply?.holdTimer);
    reply = undefined;
  };

  /** Of a message that was shown while it was written, only the rest is missing on the screen. */
  const showMessage = ({ task, data }: Extract<TaskEvent, { type: "message.added" }>): void => {
    const { message, step } = data;
    const level = levelOf(task) + 1;
    const { text, calls } = messageLines(message);
    const label = message.name === "rehearsal" ? dim(" (rehearsal)") : "";
    const wasLive = reply?.task === task && reply.key === step?.key;
    const shown = wasLive && reply?.holdTimer === undefined ? reply?.text : undefined;
    if (wasLive) dropReply();
    if (shown !== undefined && (text.startsWith(shown) || shown.startsWith(text))) {
      writeOn(level, `${text.slice(shown.length)}${label}`);
    } else if (text !== "") {
      writeSpeaker(task, label);
      writeLine(level, text);
    }
    endLine();
    if (calls.length > 0) writeSpeaker(task, label);
    for (const call of calls) writeLine(level, dim(call));
  };

  const show = (event: TaskEvent): void => {
    const { task } = event;
    if (event.type === "task.created") {
      speakers.set(task, { agent: event.data.agent, level: event.data.depth - 1 });
    }
    if (event.type === "task.handed_over") {
      speakers.set(task, { agent: event.data.to_agent, level: levelOf(task) });
      lastSpeaker = undefined;
    }
    if (task === root) {
      if (event.type === "ask.raised" || event.type === "budget.reached") writeLine(0, eventText(event));
      return;
    }
    if (event.type === "message.added") return showMessage(event);
    const endsRun = endings.has(event.type) || event.type === "task.handed_over";
    const endsStep = event.type === "step.finished" && event.data.key === reply?.key;
    if (reply?.task === task && (endsRun || endsStep)) dropReply();
    const level = levelOf(task);
    // The end of the agent itself is the result, which the command prints.
    const text = level === 0 && endings.has(event.type) ? "" : eventText(event);
    if (text !== "") writeLine(event.type === "task.created" ? level : level + 1, text);
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
    dropReply();
    const begun: LiveReply = { task, key, text: "", holdTimer: undefined };
    begun.holdTimer = setTimeout(() => {
      if (reply !== begun || paused) return;
      begun.holdTimer = undefined;
      writeSpeaker(task, "");
      writeOn(levelOf(task) + 1, begun.text);
    }, holdMs);
    reply = begun;
    return begun;
  };
  const showDelta = (delta: LiveDelta): void => {
    if (delta.root !== root || delta.channel !== "text" || paused) return;
    if (reply !== undefined && reply.task !== delta.task) return;
    // With another key the call is made again, and the text of the first try does not count.
    if (reply !== undefined && reply.key !== delta.key) endLine();
    const current = reply?.key === delta.key ? reply : beginReply(delta);
    current.text += delta.text;
    if (current.holdTimer === undefined) writeOn(levelOf(delta.task) + 1, delta.text);
  };

  return {
    update(item) {
      if ("live" in item) return showDelta(item.live);
      waiting.push(item.event);
      showWaiting();
    },
    pause() {
      dropReply();
      showWaiting();
      endLine();
      paused = true;
    },
    resume() {
      paused = false;
      showWaiting();
    },
    stop() {
      paused = false;
      dropReply();
      showWaiting();
      endLine();
    },
  };
}

function indented(level: number, text: string): string {
  return `${"  ".repeat(level)}${continued(level, text)}`;
}

/** Only the lines after the first are indented. */
function continued(level: number, text: string): string {
  return text.replaceAll("\n", `\n${"  ".repeat(level)}`);
}
