// On a terminal, puts the open questions of a tree to the person, one at a time.
import { createInterface } from "node:readline/promises";

import type { Working } from "../client/client.ts";
import type { TaskId } from "../protocol/ids.ts";
import { answerFrom, askText } from "./answer.ts";
import { printable } from "./printable.ts";

/** Whatever else writes to the terminal, and must be silent while somebody types. */
export interface Screen {
  readonly pause: () => void;
  readonly resume: () => void;
}

/** Where there is no terminal to ask on, it says once per question where it can be answered. */
export function askInline(working: Working, task: TaskId, screen: Screen): { stop: () => void } {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return sayWhoCanAnswer(working, task);
  const stopped = new AbortController();
  const seen = new Set<string>();
  let busy = false;
  const look = async (): Promise<void> => {
    if (busy || stopped.signal.aborted) return;
    const mine = new Set(working.looking.tree(task).map((view) => view.id));
    const open = [...working.looking.asks(), ...working.looking.waits()];
    const next = open.find((each) => mine.has(each.task) && !seen.has(each.id));
    if (next === undefined) return;
    busy = true;
    screen.pause();
    const reader = createInterface({ input: process.stdin, output: process.stderr });
    const closed = new AbortController();
    reader.once("close", () => closed.abort());
    // The terminal is in raw mode while somebody types, so Ctrl-C comes here and not as a signal.
    reader.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
    try {
      const signal = AbortSignal.any([stopped.signal, closed.signal]);
      const said = await reader.question(askText(next), { signal });
      const heard = answerFrom(next, said);
      const delivered = heard.ok
        ? await working.deliver(next.id, heard.value, { kind: "person", name: "terminal" })
        : { accepted: false as const, message: heard.message };
      if (delivered.accepted) seen.add(next.id);
      else console.error(`tutti: ${printable(delivered.message)}`);
    } catch (thrown) {
      if (closed.signal.aborted) {
        // Ctrl-D: the question stays open, and is put again by the next start.
        seen.add(next.id);
        console.error(
          `\ntutti: ${next.id} stays open; to answer it, end this with Ctrl-C and run the same command again on a terminal`,
        );
      } else if (!stopped.signal.aborted) {
        console.error(`tutti: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
      }
    } finally {
      reader.close();
      busy = false;
      screen.resume();
    }
    await look();
  };
  const off = working.onChange(() => void look());
  void look();
  return {
    stop() {
      stopped.abort();
      off();
    },
  };
}

function sayWhoCanAnswer(working: Working, task: TaskId): { stop: () => void } {
  const told = new Set<string>();
  const look = (): void => {
    const open = [...working.looking.asks(), ...working.looking.waits()].filter(({ id }) => !told.has(id));
    if (open.length === 0) return;
    const mine = new Set(working.looking.tree(task).map((view) => view.id));
    for (const { id } of open.filter((each) => mine.has(each.task))) {
      told.add(id);
      console.error(`tutti: waiting for an answer to ${id}; run the same command on a terminal to give it`);
    }
  };
  const off = working.onChange(look);
  look();
  return { stop: off };
}
