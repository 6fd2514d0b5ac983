// What the tour says before and after the goal: what is real and what is played, and what the person can type next.
import { join } from "node:path";

import type { GoalReport } from "../../protocol/task/goal-report.ts";
import { commandLine } from "../connect.ts";
import { bold, dim } from "../terminal/style.ts";
import { ownCommand } from "../terminal/typed-command.ts";
import { tourCriterion, tourGoal } from "./tour-script.ts";

export interface TourOptions {
  /** `--state` as it was given. */
  readonly state?: string | undefined;
  readonly json?: boolean | undefined;
  /** The daemon ends after the tour. */
  readonly tourOnly?: boolean | undefined;
}

export function introduction(folder: string): string[] {
  return [
    "",
    bold("The tour: one goal, from your words to a report with evidence."),
    "This is a rehearsal: a script plays the models, so neither a key nor the network is needed.",
    "The rest is real: the repository, the branches, the checks and the approvals.",
    "",
    `  repository  ${folder}`,
    `  goal        ${tourGoal}`,
    `  reached     when ${tourCriterion} and every task is verified`,
    "",
  ];
}

/** The commands work as they are printed, also in a clone where no command `tutti` is installed, and those of one's own goal in any folder. */
export function nextSteps(report: GoalReport, folder: string, options: TourOptions): string[] {
  const { state, tourOnly = false } = options;
  const command = (words: string): string => commandLine(state, words);
  const here = ownCommand();
  const anywhere = here.startsWith("bin/") ? join(process.cwd(), here) : here;
  const elsewhere = (words: string): string => commandLine(state, words).replace(/^tutti /, () => `${anywhere} `);
  const [first] = report.tasks;
  const looks: (readonly [string, string])[] = [
    [command(`report ${report.goal}`), "the whole report, as Markdown"],
    [command(`diff ${first?.task ?? report.task}`), `what the task ${first?.id ?? ""} changed`],
    [command(`logs ${report.task}`), "every event of the goal"],
    [command(`merge ${report.goal} main --checked-out`), "takes the verified work into the branch main"],
    [`git -C ${folder} log --graph --oneline --all`, "the branches that the tasks left"],
  ];
  const own: (readonly [string, string])[] = [
    [elsewhere("init"), "finds your models, coding agents and checks, and writes a config"],
    [elsewhere('run "what you want"'), "splits it into tasks, has them done and verified, and reports"],
  ];
  return [
    "",
    bold(`Look at what happened${tourOnly ? "" : ", in another terminal"}`),
    ...looks.flatMap(described),
    "",
    bold("Your own goal, in a git repository of yours"),
    ...own.flatMap(described),
    "",
    `The tour's repository stays until the next tour.${tourOnly ? "" : " The daemon goes on; Ctrl-C stops it."}`,
  ];
}

function described([command, why]: readonly [string, string]): string[] {
  return [`  ${command}`, `      ${dim(why)}`];
}
