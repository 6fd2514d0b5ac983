// What a session is doing, as one line of text.
import type { Activity, Observation } from "../../protocol/task/observation.ts";
import { oneLine } from "./printable.ts";
import { bold, dim, paint } from "./style.ts";
import { duration } from "./units.ts";

const colours: Readonly<Record<Activity, Parameters<typeof paint>[0]>> = {
  queued: "dim",
  working: "green",
  waiting: "yellow",
  stopped: "yellow",
  stalled: "red",
  delegating: "dim",
  looping: "red",
  idle: "dim",
  ended: "dim",
};

export function activityMark(activity: Activity): string {
  return paint(colours[activity], "●");
}

export function observedLine(seen: Observation, now: number): string {
  const heard = dim(`heard of ${duration(now - seen.last_event_at)} ago`);
  return `${activityMark(seen.activity)} ${bold(seen.activity)} ${seen.task} ${seen.agent} (${seen.runner}) ${heard}\n  ${oneLine(seen.summary, 200)}`;
}
