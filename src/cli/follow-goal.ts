// Follows a goal to its end for a command: the live tree, the questions of its sessions, the report, and the exit status.
import type { Reader, Tutti } from "../client/client.ts";
import { taskOfGoal } from "../core/goal-id.ts";
import { reportLines } from "../core/render-report.ts";
import { errorTable } from "../protocol/error.ts";
import type { GoalId } from "../protocol/ids.ts";
import type { GoalReport } from "../protocol/task/goal-report.ts";
import { commandLine } from "./connect.ts";
import { type AnsweringOptions, followRun } from "./follow-run.ts";
import { warnOfMissingKey } from "./missing-keys.ts";
import { printEvents, showGoal } from "./terminal/goal-progress.ts";
import type { Revive } from "./revive-daemon.ts";
import { note, writeJson, writeLine } from "./terminal/screen.ts";
import { dim } from "./terminal/style.ts";

export interface FollowGoalOptions {
  readonly goal: GoalId;
  /** `--state` as it was given. */
  readonly state: string | undefined;
  /** Prints every event as a line of JSON, and at the end the report. */
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  readonly answering?: AnsweringOptions | undefined;
  readonly revive?: Revive | undefined;
}

export async function followGoal(tutti: Tutti, options: FollowGoalOptions): Promise<void> {
  const { goal, state, answering, json, quiet, revive } = options;
  const task = taskOfGoal(goal);
  const display = json === true ? printEvents() : quiet === true ? undefined : showGoal(task);
  const { result } = await followRun(tutti, { task, display, live: false, state, answering, revive });
  await printGoal(tutti, options);
  if (result.status === "failed") await warnOfMissingKey(tutti, JSON.stringify(result), state);
}

/** Of a goal that is over. The exit status says whether it is done. */
export async function printGoal(reader: Reader, { goal, json, state }: FollowGoalOptions): Promise<void> {
  const report = await reader.goalReport(goal);
  if (report.status !== "done") process.exitCode = errorTable.task_failed.exit;
  if (json === true) return writeJson({ report });
  for (const line of reportLines(report)) await writeLine(line);
  note(dim(nextSteps(report, state)));
}

function nextSteps({ goal, status, integration }: GoalReport, state: string | undefined): string {
  const whole = `the whole report: \`${commandLine(state, `report ${goal}`)}\``;
  const branch = integration?.branch;
  if (status !== "done" || typeof branch !== "string") return whole;
  const merge = commandLine(state, `merge ${goal} BRANCH`);
  return `${whole}; take the work into a branch of yours: \`${merge}\`, with --checked-out if it is checked out`;
}
