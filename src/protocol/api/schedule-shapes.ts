// The bodies of the routes of schedules: work that is started again and again, at the times of a cron expression.

import { z } from "zod";

import { TaskId, Time } from "../ids.ts";
import { NonBlank } from "../non-blank.ts";
import { listQuery, nextItem } from "./list-query.ts";

/** What is started at each time. */
export const ScheduledWork = z.union([
  /** The text of an invocation. */
  z.strictObject({ invocation: NonBlank }),
  /** What a goal is started with. */
  z.strictObject({ goal: z.record(z.string(), z.unknown()) }),
]);
export type ScheduledWork = z.infer<typeof ScheduledWork>;

export const NewSchedule = z.strictObject({
  /** Minute, hour, day of the month, month, day of the week, on the clock of the machine that runs Tutti. */
  cron: NonBlank.max(500),
  work: ScheduledWork,
  /** An absolute path: where the work is done. */
  folder: NonBlank.max(4_096),
  /** What people are shown. */
  about: z.string().max(200),
  /** Starts the newest of the times that were missed while Tutti did not run. The others are only told. */
  catch_up: z.boolean().default(false),
});
export type NewSchedule = z.input<typeof NewSchedule>;

export const ScheduleView = z.strictObject({
  /** The id of its task. */
  id: TaskId,
  cron: z.string(),
  about: z.string(),
  folder: z.string(),
  catch_up: z.boolean(),
  created_at: Time,
  /** The next time, as the clock of the machine is set now. */
  next_at: Time,
});
export type ScheduleView = z.infer<typeof ScheduleView>;

/** `existed`: there was the same schedule already. */
export const MadeSchedule = ScheduleView.extend({ existed: z.boolean() });
export type MadeSchedule = z.infer<typeof MadeSchedule>;

export const ScheduleQuery = z.strictObject(listQuery);
export const SchedulePage = z.strictObject({ schedules: z.array(ScheduleView), next: nextItem });
export const ScheduleParams = z.strictObject({ schedule: TaskId });
export const RemovedSchedule = z.strictObject({ removed: z.literal(true), schedule: TaskId });
