// Writes what agents say and do, indented by their level: as Markdown and wrapped on a terminal, as it is elsewhere.
import type { TaskId } from "../../protocol/ids.ts";
import { type MarkdownStream, markdownLines, markdownStream } from "./markdown.ts";
import type { Screen } from "./screen.ts";
import { bold, dim } from "./style.ts";
import type { CallLines } from "./transcript-lines.ts";
import { wrapped } from "./wrap.ts";

export type TranscriptScreen = Pick<Screen, "write" | "isTerminal" | "columns">;

interface Speaker {
  readonly agent: string;
  /** Levels below the agent that was run; each is indented further. */
  readonly level: number;
}

export interface TranscriptWriter {
  /** The agent that works on the task; again after a handover. */
  setSpeaker(task: TaskId, speaker: Speaker): void;
  levelOf(task: TaskId): number;
  /** Writes the name of the agent, unless the last text was its own. */
  name(task: TaskId, label?: string): void;
  line(level: number, text: string): void;
  message(task: TaskId, text: string): void;
  call(task: TaskId, lines: CallLines): void;
  /** For a message that is being written; what it returns is written with `rows`. */
  begin(task: TaskId): MarkdownStream;
  rows(lines: readonly string[]): void;
}

const step = 2;

export function transcriptWriter(screen: TranscriptScreen): TranscriptWriter {
  const speakers = new Map<TaskId, Speaker>();
  let last: TaskId | undefined;
  const width = (): number => (screen.isTerminal ? screen.columns : Infinity);
  const levelOf = (task: TaskId): number => speakers.get(task)?.level ?? 0;
  const rows = (lines: readonly string[]): void => {
    if (lines.length > 0) screen.write(`${lines.join("\n")}\n`);
  };
  const line = (level: number, text: string, hang = 0): void =>
    rows([wrapped(text, { width: width(), indent: level * step, hang })]);
  return {
    setSpeaker(task, speaker) {
      const before = speakers.get(task);
      speakers.set(task, speaker);
      if (before !== undefined) last = undefined;
    },
    levelOf,
    name(task, label = "") {
      const speaker = speakers.get(task);
      if (last !== task && speaker !== undefined) line(speaker.level, `${bold(speaker.agent)}${label}`);
      last = task;
    },
    line: (level, text) => line(level, text, step),
    message(task, text) {
      const indent = (levelOf(task) + 1) * step;
      if (!screen.isTerminal) return rows([wrapped(text.trimEnd(), { width: Infinity, indent })]);
      rows(markdownLines(text.trimEnd(), { width: width(), indent }));
    },
    call(task, { head, body }) {
      const level = levelOf(task) + 1;
      line(level, dim(head), step);
      const indent = (level + 1) * step;
      rows(body.map((each) => dim(wrapped(each, { width: width(), indent, hang: step }))));
    },
    begin: (task) => markdownStream({ width: width(), indent: (levelOf(task) + 1) * step }),
    rows,
  };
}
