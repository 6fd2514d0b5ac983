// Shows a run as it goes, on standard error: what agents say while they say it, their calls and results, those below them indented.
import type { LiveDelta, TaskEvent } from "../../protocol/task/event.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { CompleteMessage } from "../../protocol/task/message.ts";
import type { Screen } from "./ask-inline.ts";
import { transcriptLines } from "./transcript-lines.ts";
import { printable } from "./printable.ts";
import { bold, dim } from "./output.ts";
import type { Watch } from "./watch-task.ts";

export interface Transcript extends Screen {
  /** Shows what is left. */
  readonly stop: () => void;
}

interface Speaker {
  readonly agent: string;
  /** Levels below the agent that was run. */
  readonly level: number;
}

/** What is being said right now. Once it is on the screen, nobody else is shown until it is said. */
interface Saying {
  readonly task: TaskId;
  readonly key: string;
  text: string;
  /** Set while it is held back. */
  held: NodeJS.Timeout | undefined;
}

/** A reply may begin before what came before it is told; it is held back this long, so that the order is right. */
const holdMs = 40;

const terminal: readonly TaskEvent["type"][] = ["task.completed", "task.failed", "task.canceled"];
const isTerminalEvent = (event: TaskEvent): boolean => terminal.includes(event.type);
/** The name that messages of a rehearsal carry. */
const rehearsal = "rehearsal";

/** The task that is watched is the invocation; the agent that was run is the one below it. */
export function showTranscript(watch: Watch): Transcript {
  const root = watch.task;
  const speakers = new Map<TaskId, Speaker>();
  const waiting: TaskEvent[] = [];
  let saying: Saying | undefined;
  let last: TaskId | undefined;
  let midLine = false;
  let paused = false;

  const endLine = (): void => {
    if (midLine) process.stderr.write("\n");
    midLine = false;
  };
  const line = (level: number, text: string): void => {
    endLine();
    process.stderr.write(`${indented(level, text)}\n`);
  };
  const hush = (): void => {
    clearTimeout(saying?.held);
    saying = undefined;
  };
  const introduce = (task: TaskId, label: string): void => {
    if (last === task) return;
    const speaker = speakers.get(task);
    last = task;
    if (speaker !== undefined) line(speaker.level, `${bold(printable(speaker.agent))}${label}`);
  };

  /** A message that was streamed is on the screen already, as far as it came. */
  const said = (task: TaskId, message: CompleteMessage): void => {
    const level = (speakers.get(task)?.level ?? 0) + 1;
    const { text, calls } = transcriptLines.said(message);
    const label = message.name === rehearsal ? dim(" (rehearsal)") : "";
    const ends = saying?.task === task && message.id.endsWith(`.${saying.key}`);
    const streamed = ends && saying?.held === undefined ? saying?.text : undefined;
    if (ends) hush();
    if (streamed !== undefined && (text.startsWith(streamed) || streamed.startsWith(text))) {
      write(level, `${text.slice(streamed.length)}${label}`);
    } else if (text !== "") {
      introduce(task, label);
      line(level, text);
    }
    endLine();
    if (calls.length > 0) introduce(task, label);
    for (const call of calls) line(level, dim(call));
  };
  const write = (level: number, text: string): void => {
    if (text === "") return;
    process.stderr.write(midLine ? rest(level, text) : indented(level, text));
    midLine = true;
  };

  const show = (event: TaskEvent): void => {
    if (event.type === "task.created") {
      speakers.set(event.task, { agent: event.data.agent, level: event.data.depth - 1 });
    }
    if (event.type === "task.handed_over") {
      const before = speakers.get(event.task);
      speakers.set(event.task, { agent: event.data.to_agent, level: before?.level ?? 0 });
      last = undefined;
    }
    if (event.task === root) {
      if (event.type === "ask.raised" || event.type === "budget.reached") line(0, transcriptLines.event(event));
      return;
    }
    if (event.type === "message.added") return said(event.task, event.data.message);
    const over = isTerminalEvent(event) || event.type === "task.handed_over";
    if (saying?.task === event.task && (over || (event.type === "step.finished" && event.data.key === saying.key))) {
      hush();
    }
    const level = speakers.get(event.task)?.level ?? 0;
    // How the agent itself ended is the result, which is told apart.
    const text = level === 0 && isTerminalEvent(event) ? "" : transcriptLines.event(event);
    if (text === "") return;
    line(event.type === "task.created" ? level : level + 1, text);
  };

  const drain = (): void => {
    while (!paused) {
      // While somebody is talking, only their own events go on.
      const at =
        saying === undefined || saying.held !== undefined ? 0 : waiting.findIndex(({ task }) => task === saying?.task);
      const [event] = at === -1 ? [] : waiting.splice(at, 1);
      if (event === undefined) return;
      show(event);
    }
  };
  const begin = (delta: LiveDelta): Saying => {
    hush();
    const begun: Saying = { task: delta.task, key: delta.key, text: "", held: undefined };
    begun.held = setTimeout(() => {
      if (saying !== begun || paused) return;
      begun.held = undefined;
      introduce(begun.task, "");
      write((speakers.get(begun.task)?.level ?? 0) + 1, begun.text);
    }, holdMs);
    saying = begun;
    return begun;
  };
  const hear = (delta: LiveDelta): void => {
    if (delta.root !== root || delta.channel !== "text" || paused) return;
    if (saying !== undefined && saying.task !== delta.task) return;
    // Another key: the call was made again, and what was heard of it before does not count.
    if (saying !== undefined && saying.key !== delta.key) endLine();
    const now = saying?.key === delta.key ? saying : begin(delta);
    const text = printable(delta.text);
    now.text += text;
    if (now.held === undefined) write((speakers.get(delta.task)?.level ?? 0) + 1, text);
  };

  const off = watch.on((said) => {
    if ("live" in said) return hear(said.live);
    waiting.push(said.event);
    drain();
  });
  return {
    pause() {
      hush();
      drain();
      endLine();
      paused = true;
    },
    resume() {
      paused = false;
      drain();
    },
    stop() {
      off();
      paused = false;
      hush();
      drain();
      endLine();
    },
  };
}

function indented(level: number, text: string): string {
  return `${"  ".repeat(level)}${rest(level, text)}`;
}

/** The rest of a line that has begun, and the lines after it. */
function rest(level: number, text: string): string {
  return text.replaceAll("\n", `\n${"  ".repeat(level)}`);
}
