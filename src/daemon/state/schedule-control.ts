// Makes, lists and removes schedules, each of which is a task, and starts their work.

import { createHash } from "node:crypto";
import { isAbsolute } from "node:path";

import type { Tutti } from "../../client/client.ts";
import { nextTime, type Offset, parseCron } from "../../core/cron.ts";
import type { Engine } from "../../engine/engine.ts";
import { taskBodyIn } from "../../engine/task-body.ts";
import type { Clock } from "../../ports.ts";
import { NewSchedule, type ScheduleView } from "../../protocol/api/schedule-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { ProgramCaller } from "../../protocol/invocation/by-program.ts";
import { readInvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { describeIssues } from "../../protocol/lenient-read.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import { readScheduleConfig, type ScheduleConfig } from "../../runner/schedule/config.ts";
import { scheduleKind, scheduleTask } from "../../runner/schedule/root-task.ts";
import { keyWasRevoked, type StartScheduled } from "../../runner/schedule/runner.ts";
import { idInName } from "../../store/names.ts";
import type { StoreView } from "../../store/view.ts";
import { owner } from "./api-keys.ts";
import { plainMark } from "./mark-program.ts";

/** The clock of this machine. */
export const machineOffset: Offset = (instant) => -new Date(instant).getTimezoneOffset() * 60_000;

export type Schedules = Pick<Tutti, "schedules" | "addSchedule" | "removeSchedule">;

interface ScheduleDeps {
  readonly view: StoreView;
  readonly engine: Pick<Engine, "start" | "cancel">;
  readonly tasks: Tutti["tasks"];
  readonly clock: Clock;
  /** Takes secrets out of what people are shown. */
  readonly redact: (text: string) => string;
  /** Throws when a goal could not be started with this. Absent where goals cannot be started. */
  readonly checkGoal?: (goal: Readonly<Record<string, unknown>>) => void;
}

export function scheduleControl(deps: ScheduleDeps): Schedules {
  const { view, engine, tasks, clock, redact } = deps;
  /** Throws `not_found` when the task is no schedule. */
  const scheduleOf = async (id: TaskId): Promise<ScheduleView> => {
    const number = idInName(view.salt, id);
    const row = number === undefined ? undefined : await view.taskRow(number);
    if (row === undefined || row.kind !== scheduleKind) throw new TuttiError("not_found", `there is no schedule ${id}`);
    const { cron, about, folder, catch_up } = readScheduleConfig(taskBodyIn(row.body).config);
    const next_at = nextTime(parseCron(cron), clock.now(), machineOffset);
    return { id, cron, about, folder, catch_up, created_at: row.created_at, next_at };
  };
  return {
    async schedules() {
      const found: ScheduleView[] = [];
      for (let cursor: string | undefined; ;) {
        const page = await tasks({ runner: scheduleKind, limit: 200, ...(cursor === undefined ? {} : { cursor }) });
        for (const { id, status } of page.tasks) if (!isTerminal(status)) found.unshift(await scheduleOf(id));
        if (page.next === null) return found;
        cursor = page.next;
      }
    },
    async addSchedule(given, { caller = owner, program } = {}) {
      const { cron, work, folder, catch_up, ...shown } = NewSchedule.parse(given);
      // The work stays as it was given, and loses its secrets when it is started.
      const about = redact(shown.about);
      parseCron(cron);
      if (!isAbsolute(folder))
        throw new TuttiError("invalid_input", `the folder must be an absolute path, not ${folder}`);
      if ("invocation" in work) {
        const reading = readInvocationFile(work.invocation);
        if (!reading.ok) {
          throw new TuttiError("invalid_input", `the invocation cannot be used: ${describeIssues(reading.issues)}`);
        }
      }
      if ("goal" in work) {
        if (deps.checkGoal === undefined) throw new TuttiError("refused", "goals cannot be started here");
        deps.checkGoal({ folder, ...work.goal });
      }
      const of = { ...(caller === owner ? {} : { key: caller }), ...plainMark(program) };
      const config: ScheduleConfig = { cron, work, folder, about, catch_up, ...of };
      const key = `schedule ${createHash("sha256")
        .update(JSON.stringify([cron, work, folder, catch_up, ...Object.values(of)]))
        .digest("hex")}`;
      const started = await engine.start(scheduleTask(config), { key });
      return { ...(await scheduleOf(started.task)), existed: started.existed };
    },
    async removeSchedule(schedule) {
      await scheduleOf(schedule);
      await engine.cancel(schedule, "the schedule was removed");
    },
  };
}

interface EndingDeps {
  readonly view: StoreView;
  readonly engine: Pick<Engine, "cancel">;
  readonly client: Pick<Tutti, "schedules">;
}

/** Ends the schedules that were made with an API key. What they started goes on. */
export async function endSchedulesOfKey({ view, engine, client }: EndingDeps, key: string): Promise<void> {
  for (const { id } of await client.schedules()) {
    const number = idInName(view.salt, id);
    const row = number === undefined ? undefined : await view.taskRow(number);
    if (row !== undefined && readScheduleConfig(taskBodyIn(row.body).config).key === key) {
      await engine.cancel(id, keyWasRevoked);
    }
  }
}

/** Who starts the work of schedules, for the keys that make starting idempotent. */
const caller = "schedule";

/** Starts a goal, or finds the one that was started with the same key. Throws when the goal cannot be used. */
type StartScheduledGoal = (
  goal: Readonly<Record<string, unknown>>,
  options: { readonly key: string; readonly caller: string; readonly program?: ProgramCaller },
) => Promise<{ readonly task: TaskId }>;

interface StarterDeps {
  readonly invoke: Tutti["invoke"];
  /** Absent where goals cannot be started. */
  readonly startGoal?: StartScheduledGoal;
}

export function scheduledStarter({ invoke, startGoal }: StarterDeps): StartScheduled {
  return async ({ schedule, at, work, folder, program }) => {
    const options = { key: `${schedule}:${at}`, caller, ...(program === undefined ? {} : { program }) };
    if ("invocation" in work) return invoke(work.invocation, { folder, ...options });
    if (startGoal === undefined) throw new TuttiError("refused", "goals cannot be started here");
    return startGoal({ folder, ...work.goal }, options);
  };
}
