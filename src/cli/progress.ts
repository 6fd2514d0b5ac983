// Shows how an invocation goes, on standard error: a tree that redraws itself on a terminal, a line per event elsewhere.
import type { Working } from "../client/client.ts";
import type { TaskEvent } from "../protocol/event.ts";
import type { TaskId } from "../protocol/ids.ts";
import { eventLine } from "./event-line.ts";
import { dim } from "./output.ts";
import { drawTree } from "./task-tree.ts";

export interface Progress {
  /** Leaves the screen to somebody else for a while. */
  pause(): void;
  resume(): void;
  stop(): void;
}

const redrawMs = 100;
const batch = 200;

export function showProgress(working: Working, task: TaskId): Progress {
  return process.stderr.isTTY === true ? liveTree(working, task) : eventLines(working, task);
}

function eventLines(working: Working, task: TaskId): Progress {
  const next = newEvents(working, task);
  const flush = (): void => {
    for (const event of next()) console.error(eventLine(event));
  };
  const timer = setInterval(flush, redrawMs);
  return { pause: () => undefined, resume: () => undefined, stop: stopOnce(timer, flush) };
}

/** Gives the events that came since it was last called. */
function newEvents({ looking }: Working, task: TaskId): () => Generator<TaskEvent> {
  let after = 0;
  return function* () {
    for (;;) {
      const events = looking.events(task, { after, limit: batch });
      yield* events;
      after = events.at(-1)?.seq ?? after;
      if (events.length < batch) return;
    }
  };
}

function liveTree(working: Working, task: TaskId): Progress {
  let drawn = 0;
  let paused = false;
  let rehearsal = false;
  const next = newEvents(working, task);
  const clear = (): void => {
    if (drawn > 0) process.stderr.write(`\u001b[${drawn}A\u001b[0J`);
    drawn = 0;
  };
  const draw = (): void => {
    if (paused) return;
    for (const event of next()) {
      if (event.type === "message.added" && event.data.message.name === "rehearsal") rehearsal = true;
    }
    const { columns, rows } = screenSize();
    const lines = drawTree(working.looking.tree(task), { now: Date.now(), most: Math.max(3, rows - 3) });
    if (rehearsal) lines.push(dim("rehearsal"));
    clear();
    process.stderr.write(`${lines.map((line) => cut(line, columns)).join("\n")}\n`);
    drawn = lines.length;
  };
  const timer = setInterval(draw, redrawMs);
  return {
    pause() {
      clear();
      paused = true;
    },
    resume() {
      paused = false;
    },
    stop: stopOnce(timer, () => {
      paused = false;
      draw();
    }),
  };
}

/** A terminal may not know its size, and then says 0. */
function screenSize(): { readonly columns: number; readonly rows: number } {
  const { columns, rows } = process.stderr;
  return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 };
}

function stopOnce(timer: NodeJS.Timeout, last: () => void): () => void {
  let stopped = false;
  return () => {
    if (stopped) return;
    stopped = true;
    clearInterval(timer);
    last();
  };
}

const colorCode = new RegExp(`(${String.fromCharCode(27)}\\[\\d+m)`);
const segmenter = new Intl.Segmenter();

/** A line longer than the terminal would wrap and spoil the redraw; colour codes take no room. */
function cut(line: string, width: number): string {
  let room = width - 1;
  return line
    .split(colorCode)
    .map((piece) => {
      if (colorCode.test(piece)) return piece;
      const shown = Array.from(segmenter.segment(piece), ({ segment }) => segment).slice(0, room);
      room -= shown.length;
      return shown.join("");
    })
    .join("");
}
