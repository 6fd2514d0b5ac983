// Shows an invocation on standard error: on a terminal a tree that is redrawn in place, elsewhere one line per event.
import type { FoldedTree } from "../../core/fold-tree.ts";
import type { Display } from "./display.ts";
import { eventLine } from "./event-line.ts";
import { cut, sizeOf } from "./fit.ts";
import { dim } from "./output.ts";
import { liveTotals } from "./run-cost.ts";
import { drawTree } from "./task-tree.ts";

const redrawMs = 100;

export function showProgress(): Display {
  return process.stderr.isTTY === true ? liveTree(process.stderr) : eventLines();
}

function eventLines(): Display {
  return {
    update(item) {
      if ("event" in item) console.error(eventLine(item.event));
    },
    pause: () => undefined,
    resume: () => undefined,
    stop: () => undefined,
  };
}

/**
 * The clock of running tasks goes on without events, so the tree is redrawn at fixed intervals.
 * @internal Exported for its tests only.
 */
export function liveTree(screen: NodeJS.WriteStream): Display {
  let drawnLines = 0;
  let paused = false;
  let current: FoldedTree | undefined;
  const clear = (): void => {
    if (drawnLines > 0) screen.write(`\r\u001b[${drawnLines}A\u001b[0J`);
    drawnLines = 0;
  };
  const draw = (): void => {
    if (paused || current === undefined || current.tasks.size === 0) return;
    const { columns, rows } = sizeOf(screen);
    const now = Date.now();
    const tree = drawTree([...current.tasks.values()], { now, maxLines: Math.max(3, rows - 4) });
    const lines = [...tree, dim(liveTotals(current, now))];
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
