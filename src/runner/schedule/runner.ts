// Runs a schedule: a task that sleeps until the next time of its cron expression, starts the work, and sleeps again.

import { z } from "zod";

import { type Cron, nextTime, type Offset, parseCron, timesBetween } from "../../core/cron.ts";
import type { Clock, Durable, Runner } from "../../ports.ts";
import type { ProgramCaller } from "../../protocol/invocation/by-program.ts";
import type { ScheduledWork } from "../../protocol/api/schedule-shapes.ts";
import { toTuttiError, TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/task/message.ts";
import { readScheduleConfig } from "./config.ts";

interface ScheduledStart {
  readonly schedule: TaskId;
  /** The planned time. Starting is idempotent by the schedule and this time. */
  readonly at: number;
  readonly work: ScheduledWork;
  readonly folder: string;
  /** The program that made the schedule; undefined when a person did. */
  readonly program: ProgramCaller | undefined;
}

/** Starts the work, or finds what was started for the same schedule and time. */
export type StartScheduled = (start: ScheduledStart) => Promise<{ readonly task: TaskId }>;

export interface ScheduleDeps {
  readonly start: StartScheduled;
  /** How far the clock of this machine is ahead of UTC at an instant. */
  readonly offset: Offset;
  readonly clock: Clock;
  /** Whether an API key is revoked: nothing more is started for whoever had it. */
  readonly isRevoked: (key: string) => boolean;
}

/** A time counts as missed when it was so long ago that nobody expects the work to begin any more. */
const graceMs = 2 * 60_000;

export const keyWasRevoked = "the API key that made this schedule was revoked, so it starts nothing more";

const State = z.object({ turn: z.int(), after: z.number() });
const Planned = z.object({ at: z.number() });
const Due = z.object({
  /** The newest time that has come; null when none has, because the clock was set back. */
  last: z.number().nullable(),
  /** The time whose work is to be started now. */
  run: z.number().nullable(),
  missed: z.int(),
  /** The newest that was missed. */
  newest: z.number().nullable(),
});
type Due = z.infer<typeof Due>;
const Started = z.union([z.object({ task: z.string() }), z.object({ problem: z.string() })]);

export function scheduleRunner({ start, offset, clock, isRevoked }: ScheduleDeps): Runner {
  return async (durable, config) => {
    const { cron: text, work, folder, catch_up, key, by_program: program } = readScheduleConfig(config);
    const cron = parseCron(text);
    const restored = await durable.restore(State);
    let state = restored?.state ?? { turn: 0, after: await durable.now("begin") };
    for (;;) {
      const { turn, after } = state;
      // The clock of the machine may be set to another zone at the next start, so what was planned is recorded.
      const { at } = await durable.step(`plan.${turn}`, { repeatable: true, schema: Planned, looks: true }, () => ({
        at: nextTime(cron, after, offset),
      }));
      // When it was begun before, the recorded end of the sleep counts, and not what is computed here.
      await durable.sleep(`sleep.${turn}`, Math.max(0, at - clock.now()));
      if (key !== undefined && isRevoked(key)) throw new TuttiError("refused", keyWasRevoked);
      const due = await durable.step(`due.${turn}`, { repeatable: true, schema: Due, looks: true }, (step) =>
        dueAt(cron, { planned: at, now: step.now(), catchUp: catch_up }, offset),
      );
      if (due.missed > 0) durable.say(`missed.${turn}`, note(missedText(due)));
      const { run } = due;
      if (run !== null)
        await startOnce(durable, turn, () => start({ schedule: durable.task, at: run, work, folder, program }));
      state = { turn: turn + 1, after: due.last ?? after };
      durable.save(`turn.${turn}`, state);
    }
  };
}

/** Work that cannot be started does not end the schedule: the next time it may be possible. */
async function startOnce(
  durable: Durable,
  turn: number,
  start: () => Promise<{ readonly task: TaskId }>,
): Promise<void> {
  const started = await durable.step(`start.${turn}`, { repeatable: true, schema: Started }, async ({ signal }) => {
    try {
      return { task: (await start()).task };
    } catch (thrown) {
      // When Tutti is stopped, the step is cut off and runs again after the restart.
      signal.throwIfAborted();
      return { problem: toTuttiError(thrown).message };
    }
  });
  const text = "task" in started ? `Started ${started.task}.` : `The work could not be started: ${started.problem}`;
  durable.say(`started.${turn}`, note(text));
}

function dueAt(
  cron: Cron,
  { planned, now, catchUp }: { readonly planned: number; readonly now: number; readonly catchUp: boolean },
  offset: Offset,
): Due {
  const { count, newest } = timesBetween(cron, { after: planned - 1, until: now, keep: 2 }, offset);
  const last = newest.at(-1) ?? null;
  if (last === null) return { last, run: null, missed: 0, newest: null };
  if (now - last <= graceMs) return { last, run: last, missed: count - 1, newest: newest.at(-2) ?? null };
  return { last, run: catchUp ? last : null, missed: count, newest: last };
}

function missedText({ missed, newest, run }: Due): string {
  const when = newest === null ? "" : `, ${missed === 1 ? "at" : "the newest at"} ${new Date(newest).toISOString()}`;
  const what = missed === 1 ? "1 time was missed" : `${missed} times were missed`;
  const done = run !== null && run === newest ? "The newest is made up for now." : "Nothing is started for them.";
  return `${what} while Tutti did not run${when}. ${done}`;
}

function note(text: string): Message {
  return { name: null, role: "assistant", parts: [{ part_type: "text", data: text }] };
}
