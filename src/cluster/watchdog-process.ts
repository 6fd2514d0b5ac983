// The process of the watchdog: it ends what the node has started when the lease of the node runs out or the node is gone.

import { endAllProcesses, isAnyLeft, type ProcessNote } from "../runner/shared/process/end-processes.ts";
import { elapsedMs } from "./elapsed-clock.ts";
import { type WatchdogReply, WatchdogRequest } from "./watchdog-messages.ts";

/** How often the time is looked at: a timer of Node does not go on while the machine is suspended. */
const lookEveryMs = 50;
/** How often processes that have ended by themselves are forgotten. */
const forgetEveryMs = 5_000;
/** The longest time between asking processes to end and killing them. */
const longestGraceMs = 2_000;
/** How many looks in a row must find no process any more. */
const looks = 10;

const guarded = new Map<string, ProcessNote>();
let watched: Extract<WatchdogRequest, { kind: "watch" }> | undefined;
/** Until when nobody can take the trees of the node. */
let until = 0;
let ending: Promise<void> | undefined;
/** There is no lease yet, or it ran out, and what was running then was ended. */
let isOver = true;

const keyOf = ({ pid, start, step }: ProcessNote): string => `${pid} ${start} ${step}`;

function say(reply: WatchdogReply): void {
  // A node that is gone hears nothing; the end of the connection is told separately.
  if (process.connected) process.send?.(reply, undefined, undefined, () => undefined);
}

function margin(): number {
  return watched?.marginMs ?? 0;
}

process.on("message", (message) => {
  const request = WatchdogRequest.parse(message);
  switch (request.kind) {
    case "watch":
      watched = request;
      ({ until } = request);
      for (const note of request.guarded) guarded.set(keyOf(note), note);
      isOver = until === 0;
      return say({ kind: "watching" });
    case "renewed":
      until = Math.max(until, request.until);
      if (until - margin() > elapsedMs()) isOver = false;
      return say({ kind: "renewed", id: request.id });
    case "guard": {
      const { id, process: note } = request;
      if (isOver || ending !== undefined || elapsedMs() >= until - margin()) return say({ kind: "refused", id });
      guarded.set(keyOf(note), note);
      return say({ kind: "guarded", id });
    }
  }
});

/** The node is gone, or is done. Its lease may still last, so what runs gets time to end in order. */
process.on("disconnect", () => {
  const leftMs = Math.max(0, until - margin() - elapsedMs());
  void (ending ?? Promise.resolve())
    .then(() => endEverything(Math.min(longestGraceMs, leftMs / 2)))
    .finally(() => process.exit(0));
});

setInterval(() => {
  if (isOver || ending !== undefined || elapsedMs() < until - margin()) return;
  isOver = true;
  ending = endEverything(margin() / 4).finally(() => (ending = undefined));
}, lookEveryMs);

async function endEverything(graceMs: number): Promise<void> {
  const notes = [...guarded.values()];
  const { found, left } = await endAllProcesses(
    { notes, mark: watched?.mark, below: watched?.node },
    { graceMs, looks },
  );
  for (const note of notes) guarded.delete(keyOf(note));
  say({ kind: "ended", processes: notes, found, left: [...left] });
}

setInterval(() => {
  if (ending === undefined) void forgetGone();
}, forgetEveryMs);

async function forgetGone(): Promise<void> {
  const gone: ProcessNote[] = [];
  for (const note of guarded.values()) if (!(await isAnyLeft(note))) gone.push(note);
  if (ending !== undefined || gone.length === 0) return;
  for (const note of gone) guarded.delete(keyOf(note));
  say({ kind: "gone", processes: gone });
}

// Whoever stops the node by a signal to all of its processes must not stop the one that ends them.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);

// Whoever starts it as a program of its own has no node for it.
if (!process.connected) process.exit(2);
