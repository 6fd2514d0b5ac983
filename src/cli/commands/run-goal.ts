// `tutti run`: hands a goal to the manager, follows it, puts its questions to the person, and prints the report.
import type { Host } from "../../host/host.ts";
import { reportLines } from "../../core/render-report.ts";
import type { StartGoal } from "../../protocol/api/goal-shapes.ts";
import { errorTable, TuttiError } from "../../protocol/error.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import { RehearsalScript } from "../../protocol/invocation/rehearsal-script.ts";
import { withDaemon, withTutti } from "../connect.ts";
import { type AnsweringOptions, followRun } from "../follow-run.ts";
import { givenFolder } from "../given-folder.ts";
import { readText } from "../input.ts";
import { makeSchedule } from "../make-schedule.ts";
import { printStarted } from "../print-started.ts";
import { warn } from "../terminal/output.ts";
import { showProgress } from "../terminal/progress.ts";
import { note, writeJson, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";

export interface RunGoalOptions extends AnsweringOptions {
  readonly accept?: readonly string[];
  readonly check?: readonly string[];
  readonly plan?: boolean;
  readonly cwd?: string;
  readonly model?: string;
  readonly managerModel?: string;
  readonly policy?: string;
  readonly script?: string;
  readonly state?: string;
  readonly new?: boolean;
  readonly detach?: boolean;
  readonly every?: string;
  readonly catchUp?: boolean;
  readonly quiet?: boolean;
  readonly json?: boolean;
  readonly limit: number;
}

export async function runGoalCommand(host: Host, goal: string, options: RunGoalOptions): Promise<void> {
  const request = await requestOf(host, goal, options);
  if (options.every !== undefined) {
    const { folder, ...goal } = request;
    const about = request.text.split("\n", 1)[0]?.slice(0, 200) ?? "";
    const schedule = { cron: options.every, work: { goal }, folder, about, catch_up: options.catchUp === true };
    return makeSchedule(host, schedule, options);
  }
  if (options.catchUp === true) throw new TuttiError("usage", "--catch-up is for --every");
  const start = { anew: options.new === true };
  if (options.detach === true) {
    return withDaemon(host, { state: options.state }, async (tutti) => {
      const { task, existed, warnings } = await tutti.startGoal(request, start);
      for (const warning of warnings) warn(warning);
      await printStarted({ task, existed, url: tutti.url }, options);
    });
  }
  await withTutti(host, { state: options.state, new: options.new }, async ({ tutti, setTask }) => {
    const started = await tutti.startGoal(request, start);
    const { task, existed } = started;
    setTask(task);
    for (const warning of started.warnings) warn(warning);
    if (existed) note(dim(`going on with ${task}, which was not finished; --new starts another`));
    const display = options.quiet === true || options.json === true ? undefined : showProgress();
    const { result } = await followRun(tutti, { task, display, live: false, state: options.state, answering: options });
    const report = await tutti.goalReport(started.goal);
    if (options.json === true) await writeJson(report);
    else for (const line of reportLines(report)) await writeLine(line);
    if (result.status !== "completed") process.exitCode = errorTable.task_failed.exit;
  });
}

async function requestOf(host: Host, goal: string, options: RunGoalOptions): Promise<StartGoal> {
  const { accept = [], check = [], plan = false, model, managerModel, limit } = options;
  const folder = host.remote === undefined ? givenFolder(options.cwd) : options.cwd;
  if (folder === undefined)
    throw new TuttiError("usage", "say with --cwd in which folder of that machine the goal works");
  const policy = options.policy === undefined ? undefined : await readText(options.policy, limit);
  return {
    text: goal === "-" ? await readText("-", limit) : goal,
    folder,
    accept: [...accept],
    checks: [...check],
    plan,
    ...(model === undefined ? {} : { model }),
    ...(managerModel === undefined ? {} : { manager_model: managerModel }),
    ...(policy === undefined ? {} : { policy }),
    ...(options.script === undefined ? {} : { script: await scriptIn(options.script, limit) }),
  };
}

async function scriptIn(file: string, limit: number): Promise<RehearsalScript> {
  const read = RehearsalScript.safeParse(parseJson(await readText(file, limit)));
  if (read.success) return read.data;
  throw new TuttiError("invalid_input", `${file} is no rehearsal script: ${read.error.issues[0]?.message ?? ""}`);
}
