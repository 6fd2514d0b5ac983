// `tutti run`: hands a goal to the manager, follows it, puts its questions to the person, and prints the report.
import type { Tutti } from "../../client/client.ts";
import { refuseUnreadable } from "../../core/persons-checks.ts";
import type { Host } from "../../host/host.ts";
import type { StartedGoal, StartGoal } from "../../protocol/api/goal-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import type { AcceptedCriterion } from "../../protocol/invocation/goal-file.ts";
import { RehearsalScript } from "../../protocol/invocation/rehearsal-script.ts";
import { commandLine, withDaemon } from "../connect.ts";
import { followGoal } from "../follow-goal.ts";
import type { AnsweringOptions } from "../follow-run.ts";
import { givenFolder } from "../given-folder.ts";
import { goalBudget } from "../goal-budget.ts";
import { readText } from "../input.ts";
import { makeSchedule } from "../make-schedule.ts";
import { offerSetup } from "../offer-setup.ts";
import { readIssue } from "../read-issue.ts";
import { checkKeyFor } from "../missing-keys.ts";
import { pauseText } from "../pause-notice.ts";
import { reviveDaemon } from "../revive-daemon.ts";
import { stateFolder } from "../state-folder.ts";
import { warn } from "../terminal/output.ts";
import { note, writeJson, writeUnbroken } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";
import { untilLeft } from "../until-left.ts";

export interface RunGoalOptions extends AnsweringOptions {
  readonly criteria: readonly AcceptedCriterion[];
  readonly check?: readonly string[];
  readonly fromIssue?: string;
  readonly plan?: boolean;
  readonly cwd?: string;
  readonly model?: string;
  readonly runner?: string;
  readonly managerModel?: string;
  readonly policy?: string;
  readonly budget?: readonly string[];
  readonly rounds?: number;
  readonly script?: string;
  readonly label?: readonly string[];
  readonly state?: string;
  readonly new?: boolean;
  readonly detach?: boolean;
  readonly every?: string;
  readonly catchUp?: boolean;
  readonly quiet?: boolean;
  readonly json?: boolean;
  readonly limit: number;
}

/** A daemon does the work, and is started if need be, so that leaving stops nothing. */
export async function runGoalCommand(host: Host, goal: string | undefined, options: RunGoalOptions): Promise<void> {
  const request = await requestOf(host, goal, options);
  if (options.every !== undefined) {
    const { folder, ...scheduled } = request;
    const about = request.text.split("\n", 1)[0]?.slice(0, 200) ?? "";
    const schedule = {
      cron: options.every,
      work: { goal: scheduled },
      folder,
      about,
      catch_up: options.catchUp === true,
    };
    return makeSchedule(host, schedule, options);
  }
  if (options.catchUp === true) throw new TuttiError("usage", "--catch-up is for --every");
  const { state, json } = options;
  await offerSetupFor(host, request, options);
  await checkModel(host, request, state);
  await withDaemon(host, { state, json }, async (tutti) => {
    const model = options.managerModel ?? options.model;
    if (model !== undefined && host.remote === undefined)
      await checkKeyFor(model, tutti, { folder: request.folder, state });
    const started = await tutti.startGoal(request, { anew: options.new === true });
    for (const warning of started.warnings) warn(warning);
    if (options.detach === true) return printDetached(tutti, started, options);
    if (json !== true && started.existed)
      note(dim(`going on with ${started.goal}, which is under way; --new starts another`));
    const { quiet } = options;
    await untilLeft(tutti, { state, id: started.goal }, () =>
      followGoal(tutti, {
        goal: started.goal,
        state,
        json,
        quiet,
        answering: options,
        revive: reviveDaemon(host, options),
      }),
    );
  });
}

/** A script needs nothing of the project, and with --json somebody else reads. */
async function offerSetupFor(host: Host, { folder, script }: StartGoal, options: RunGoalOptions): Promise<void> {
  const { json, quiet, detach, yes, input, state, check = [] } = options;
  if (host.remote !== undefined || script !== undefined || json === true || quiet === true) return;
  const asks = yes !== true && input !== false && detach !== true;
  await offerSetup(host, { folder, state: stateFolder(state), hasCheck: check.length > 0, asks });
}

/** Before a daemon is started, which would stay after it has refused. One that runs already knows its own models. */
async function checkModel(host: Host, request: StartGoal, state: string | undefined): Promise<void> {
  const folder = stateFolder(state);
  if (host.remote !== undefined || request.script !== undefined || request.manager_model !== undefined) return;
  if ((await host.lastDaemon(folder)) === "running") return;
  await (await host.openProject(request.folder, { state: folder })).requireGoalModel();
}

async function printDetached(
  tutti: Tutti,
  { goal, task, existed }: StartedGoal,
  { json, state }: RunGoalOptions,
): Promise<void> {
  if (json === true) return writeJson({ goal, task, existed, url: tutti.url });
  await writeUnbroken(goal);
  const status = existed ? "it is under way already; --new starts another" : "started";
  note(dim(`${status}; follow it with \`${commandLine(state, `attach ${goal}`)}\``));
  if (await tutti.paused()) warn(pauseText(state));
}

async function requestOf(host: Host, goal: string | undefined, options: RunGoalOptions): Promise<StartGoal> {
  const { criteria, check = [], plan = false, budget = [], managerModel, rounds, limit } = options;
  const folder = host.remote === undefined ? givenFolder(options.cwd) : options.cwd;
  if (folder === undefined)
    throw new TuttiError("usage", "say with --cwd in which folder of that machine the goal works");
  const model = modelOf(options);
  const typed = goal === "-" ? await readText("-", limit) : goal;
  const issue =
    options.fromIssue === undefined
      ? undefined
      : await readIssue(options.fromIssue, host.remote === undefined ? folder : process.cwd());
  const text = typed ?? (issue === undefined ? "" : `Resolve the issue ${issue.url}`);
  if (text.trim() === "") throw new TuttiError("usage", "the goal is empty; write what you want");
  refuseUnreadable({ checks: [...check], accept: [...criteria] });
  return {
    text,
    ...(issue === undefined ? {} : { issue }),
    folder,
    accept: [...criteria],
    checks: [...check],
    plan,
    ...(budget.length === 0 ? {} : { budget: goalBudget(budget) }),
    ...(rounds === undefined ? {} : { limits: { rounds } }),
    ...(model === undefined ? {} : { model }),
    ...(managerModel === undefined ? {} : { manager_model: managerModel }),
    ...(options.policy === undefined ? {} : { policy: await readText(options.policy, limit) }),
    ...(options.label === undefined ? {} : { labels: [...options.label] }),
    ...(options.script === undefined ? {} : { script: await scriptIn(options.script, limit) }),
  };
}

/** As a policy names it: `[runner:]model`. */
function modelOf({ runner, model }: RunGoalOptions): string | undefined {
  if (runner === undefined) return model;
  if (model !== undefined) return runner.includes(":") ? `${runner}/${model}` : `${runner}:${model}`;
  if (runner.includes(":")) return runner;
  throw new TuttiError("usage", `--runner ${runner} needs --model, or a coding agent as acp:PROFILE[/MODEL]`);
}

async function scriptIn(file: string, limit: number): Promise<RehearsalScript> {
  const read = RehearsalScript.safeParse(parseJson(await readText(file, limit)));
  if (read.success) return read.data;
  throw new TuttiError("invalid_input", `${file} is no rehearsal script: ${read.error.issues[0]?.message ?? ""}`);
}
