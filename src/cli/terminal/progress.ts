// Shows how an invocation goes, on standard error: a tree that redraws itself on a terminal, a line per event elsewhere.
import type { Reader } from "../../client/client.ts";
import type { TaskView } from "../../protocol/task/task-view.ts";
import type { Screen } from "./ask-inline.ts";
import { eventLine } from "./event-line.ts";
import { cut, sizeOf } from "./fit.ts";
import { dim } from "./output.ts";
import { drawTree, liveTotals } from "./task-tree.ts";
import type { Watch } from "./watch-task.ts";

export interface Progress extends Screen {
  /** Shows how it stands in the end. */
  readonly stop: () => Promise<void>;
}

const redrawMs = 100;
/** Reading a large tree takes a while; it is done for a tenth of the time at most. */
const lookShare = 10;

export function showProgress(tutti: Reader, watch: Watch): Progress {
  return process.stderr.isTTY === true ? liveTree(tutti, watch) : eventLines(watch);
}

function eventLines(watch: Watch): Progress {
  const off = watch.on((said) => {
    if ("event" in said) console.error(eventLine(said.event));
  });
  return { pause: () => undefined, resume: () => undefined, stop: async () => off() };
}

function liveTree(tutti: Reader, watch: Watch): Progress {
  let drawn = 0;
  let paused = false;
  let changed = true;
  let notBefore = 0;
  let tree: readonly TaskView[] = [];
  let reader: Promise<void> | undefined;
  const off = watch.on((said) => {
    if ("event" in said) changed = true;
  });
  const clear = (): void => {
    if (drawn > 0) process.stderr.write(`\r\u001b[${drawn}A\u001b[0J`);
    drawn = 0;
  };
  const draw = (): void => {
    if (paused || tree.length === 0) return;
    const { columns, rows } = sizeOf(process.stderr);
    const now = Date.now();
    const lines = [...drawTree(tree, { now, most: Math.max(3, rows - 4) }), dim(liveTotals(tree, watch.notes, now))];
    clear();
    process.stderr.write(`${lines.map((line) => cut(line, columns)).join("\n")}\n`);
    drawn = lines.length;
  };
  const look = async (): Promise<void> => {
    changed = false;
    const began = Date.now();
    try {
      tree = await tutti.tree(watch.task);
    } catch {
      // The service may be starting again; how it stood is shown meanwhile.
      changed = true;
    }
    notBefore = Date.now() + (Date.now() - began) * lookShare;
  };
  const tick = (): void => {
    if (reader === undefined && changed && Date.now() >= notBefore) {
      reader = look().finally(() => (reader = undefined));
    }
    draw();
  };
  const timer = setInterval(tick, redrawMs);
  return {
    pause() {
      clear();
      paused = true;
    },
    resume() {
      paused = false;
    },
    async stop() {
      off();
      clearInterval(timer);
      await reader;
      await look();
      paused = false;
      draw();
      drawn = 0;
    },
  };
}
