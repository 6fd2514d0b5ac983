// Shows an invocation on standard error: on a terminal a tree that is redrawn in place, elsewhere one line per event.
import type { FoldedTree } from "../../core/fold-tree.ts";
import type { Display } from "./display.ts";
import { eventLine } from "./event-line.ts";
import { cut } from "./fit.ts";
import { note, type Screen, standardError } from "./screen.ts";
import { dim } from "./style.ts";
import { liveTotals } from "./run-cost.ts";
import { drawTree } from "./task-tree.ts";

const redrawMs = 100;

export function showProgress(): Display {
  return standardError.isTerminal ? liveTree(standardError) : eventLines();
}

function eventLines(): Display {
  return {
    update(item) {
      if ("event" in item) note(eventLine(item.event));
    },
    pause: () => undefined,
    resume: () => undefined,
    stop: () => undefined,
  };
}

/** @internal Exported for its tests only. */
export function liveTree(screen: Screen): Display {
  return redrawn(screen, (tree, { now, maxLines }) => [
    ...drawTree([...tree.tasks.values()], { now, maxLines: maxLines - 1, waiting: tree.waiting }),
    dim(liveTotals(tree, now)),
  ]);
}

type Draw = (tree: FoldedTree, options: { readonly now: number; readonly maxLines: number }) => string[];

/** The clock of running tasks goes on without events, so the lines are redrawn at fixed intervals. */
export function redrawn(screen: Screen, drawLines: Draw): Display {
  let drawnLines = 0;
  let paused = false;
  let current: FoldedTree | undefined;
  const clear = (): void => {
    screen.eraseLines(drawnLines);
    drawnLines = 0;
  };
  const draw = (): void => {
    if (paused || current === undefined || current.tasks.size === 0) return;
    const { columns, rows } = screen;
    const lines = drawLines(current, { now: Date.now(), maxLines: Math.max(4, rows - 3) });
    clear();
    screen.write(`${lines.map((line) => cut(line, columns)).join("\n")}\n`);
    drawnLines = lines.length;
  };
  const timer = setInterval(draw, redrawMs);
  return {
    update(_, tree) {
      current = tree;
    },
    pause() {
      clear();
      paused = true;
    },
    resume() {
      paused = false;
    },
    stop() {
      clearInterval(timer);
      paused = false;
      draw();
      drawnLines = 0;
    },
  };
}
