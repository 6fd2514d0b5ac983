// Takes what programs print while they run and gives it back in whole lines, of each step by itself.
import type { TaskId } from "../../protocol/ids.ts";
import type { LiveDelta, TaskEvent } from "../../protocol/task/event.ts";

export interface OutputLine {
  readonly task: TaskId;
  readonly text: string;
}

/** A program that prints no line end is not kept for ever. */
const longestLine = 10_000;

export interface OutputLines {
  take(delta: LiveDelta): OutputLine[];
  /** What is left of a step that has ended, or of all steps of a task. */
  end(event: TaskEvent): OutputLine[];
}

export function outputLines(): OutputLines {
  /** What was printed after the last line end; undefined for a line whose beginning was missed. */
  const open = new Map<string, { readonly task: TaskId; text: string | undefined; next: number }>();
  const placeOf = (task: TaskId, key: string): string => `${task} ${key}`;
  return {
    take({ task, key, channel, offset, text }) {
      if (channel !== "output") return [];
      const place = placeOf(task, key);
      const known = open.get(place) ?? { task, text: "", next: 0 };
      if (offset !== known.next) known.text = undefined;
      known.next = offset + text.length;
      const lines = text.split("\n");
      const rest = lines.pop() ?? "";
      const whole = lines.flatMap((line) => {
        const before = known.text;
        known.text = "";
        return before === undefined ? [] : [{ task, text: `${before}${line}` }];
      });
      if (known.text !== undefined) known.text += rest;
      if ((known.text?.length ?? 0) > longestLine) {
        whole.push({ task, text: known.text ?? "" });
        known.text = "";
      }
      open.set(place, known);
      return whole;
    },
    end(event) {
      const isOver = /^task\.(completed|failed|canceled)$/.test(event.type);
      const key = stepOf(event);
      return [...open].flatMap(([place, { task, text }]) => {
        const ends = key !== undefined && place === placeOf(event.task, key);
        if (!ends && !(isOver && task === event.task)) return [];
        open.delete(place);
        return text === undefined || text === "" ? [] : [{ task, text }];
      });
    },
  };
}

function stepOf(event: TaskEvent): string | undefined {
  if (event.type === "step.finished") return event.data.key;
  return event.type === "message.added" ? event.data.step?.key : undefined;
}
