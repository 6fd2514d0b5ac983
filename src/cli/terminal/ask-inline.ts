// On a terminal, puts the open questions of a tree to the person, one at a time.
import { createInterface } from "node:readline/promises";

import type { Tutti } from "../../client/client.ts";
import type { OpenAsk, OpenWait } from "../../protocol/api/task-shapes.ts";
import { toTuttiError } from "../../protocol/error.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import { answerFrom, askText } from "./question.ts";
import { deliver } from "../deliver-answer.ts";
import { printable } from "./printable.ts";
import { commandLine } from "../connect.ts";
import type { Watch } from "./watch-task.ts";

/** Whatever else writes to the terminal, and must be silent while somebody types. */
export interface Screen {
  readonly pause: () => void;
  readonly resume: () => void;
}

export interface Asking {
  readonly screen: Screen;
  /** The folder the command was given, which whoever answers elsewhere has to name too. */
  readonly state?: string | undefined;
}

/** Where there is no terminal to ask on, it says once per question where it can be answered. */
export function askInline(tutti: Tutti, watch: Watch, { screen, state }: Asking): { stop: () => void } {
  const answering = (id: string): string => `\`${commandLine(state, `answer ${id} …`)}\``;
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return sayWhoCanAnswer(tutti, watch, answering);
  const stopped = new AbortController();
  const seen = new Set<string>();
  let asking: { readonly id: string; readonly elsewhere: AbortController } | undefined;

  const put = async (open: OpenAsk | OpenWait): Promise<void> => {
    const elsewhere = new AbortController();
    asking = { id: open.id, elsewhere };
    screen.pause();
    const reader = createInterface({ input: process.stdin, output: process.stderr });
    const closed = new AbortController();
    reader.once("close", () => closed.abort());
    // The terminal is in raw mode while somebody types, so Ctrl-C comes here and not as a signal.
    reader.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
    try {
      const signal = AbortSignal.any([stopped.signal, closed.signal, elsewhere.signal]);
      const said = await reader.question(askText(open), { signal });
      const heard = answerFrom(open, said);
      const delivered = heard.ok ? await deliver(tutti, open, heard.value) : { ...heard, accepted: false as const };
      // What came too late will not fit the next time either.
      if (delivered.accepted || ("code" in delivered && delivered.code !== "invalid")) seen.add(open.id);
      if (!delivered.accepted) console.error(`tutti: ${printable(delivered.message)}`);
    } catch (thrown) {
      if (elsewhere.signal.aborted) {
        seen.add(open.id);
        console.error(`\ntutti: ${open.id} ${String(elsewhere.signal.reason)}`);
      } else if (closed.signal.aborted) {
        // Ctrl-D: the question stays open, and is put again by the next start.
        seen.add(open.id);
        console.error(`\ntutti: ${open.id} stays open; to answer it, ${howToAnswer(tutti, answering(open.id))}`);
      } else if (!stopped.signal.aborted) console.error(`tutti: ${toTuttiError(thrown).message}`);
    } finally {
      reader.close();
      asking = undefined;
      screen.resume();
    }
  };

  const looker = lookAgain(tutti, watch, async (open) => {
    const next = open.find(({ id }) => !seen.has(id));
    if (next === undefined || stopped.signal.aborted) return false;
    await put(next);
    return true;
  });
  const off = watch.on((said) => {
    const over = "event" in said ? settledIn(said.event) : undefined;
    if (over !== undefined && over.id === asking?.id) asking.elsewhere.abort(over.said);
  });
  return {
    stop() {
      stopped.abort();
      off();
      looker.stop();
    },
  };
}

function sayWhoCanAnswer(tutti: Tutti, watch: Watch, answering: (id: string) => string): { stop: () => void } {
  const told = new Set<string>();
  return lookAgain(tutti, watch, async (open) => {
    for (const { id } of open) {
      if (!told.has(id)) console.error(`tutti: waiting for an answer to ${id}; ${whereToAnswer(tutti, answering(id))}`);
      told.add(id);
    }
    return false;
  });
}

const raising: ReadonlySet<TaskEvent["type"]> = new Set(["ask.raised", "ask.reopened", "wait.opened", "wait.reopened"]);

const retryMs = 1_000;

/** Gives what is open to `take`, now and whenever something is asked; again at once when `take` says so. */
function lookAgain(
  tutti: Tutti,
  { task, on }: Watch,
  take: (open: readonly (OpenAsk | OpenWait)[]) => Promise<boolean>,
): { stop: () => void } {
  let busy = false;
  let again = true;
  let stopped = false;
  let retry: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    if (busy || stopped) return;
    busy = true;
    clearTimeout(retry);
    try {
      while (again && !stopped) {
        again = false;
        const [asks, waits] = await Promise.all([tutti.asks(task), tutti.waits(task)]);
        if (await take([...asks, ...waits])) again = true;
      }
    } catch {
      // The service may be starting again, and what it asks is not told a second time.
      again = true;
      retry = setTimeout(() => void look(), retryMs);
    } finally {
      busy = false;
    }
  };
  const off = on((said) => {
    if (!("event" in said) || !raising.has(said.event.type)) return;
    again = true;
    void look();
  });
  void look();
  return {
    stop() {
      stopped = true;
      clearTimeout(retry);
      off();
    },
  };
}

function settledIn(event: TaskEvent): { readonly id: string; readonly said: string } | undefined {
  switch (event.type) {
    case "ask.answered":
      return { id: event.data.ask, said: `was answered by ${printable(event.data.by.name)}` };
    case "ask.expired":
      return { id: event.data.ask, said: "has expired" };
    case "ask.withdrawn":
      return { id: event.data.ask, said: "is not asked any more" };
    case "wait.settled":
      return { id: event.data.wait, said: "is settled" };
    default:
      return undefined;
  }
}

function howToAnswer({ url }: Tutti, command: string): string {
  return url === undefined ? "end this with Ctrl-C and run the same command again on a terminal" : `run ${command}`;
}

function whereToAnswer({ url }: Tutti, command: string): string {
  return url === undefined ? "run the same command on a terminal to give it" : `${command} gives it`;
}
