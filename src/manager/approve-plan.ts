// Shows the tasks of a round, who would do them and what they may cost, and waits for the person's yes.

import { inLine, quoted, saidBy } from "../core/foreign-words.ts";
import type { PlannedRound } from "../core/plan-graph.ts";
import { namedCommand } from "../core/criterion-check.ts";
import { argvOfCheck } from "../core/read-check.ts";
import { argvLine, argvNotes } from "../protocol/argv-line.ts";
import type { Check } from "../protocol/decision/decision.ts";
import type { Criterion, PlannedTask } from "../protocol/task/goal.ts";
import { approveOnGoal, type GoalRun, goalNow, takeMessage, tell } from "./goal-run.ts";
import type { ShownRoute } from "./manager-deps.ts";
import { routeName } from "../core/route-name.ts";

/** `change`: the person said what should be different. */
export type PlanVerdict = { readonly kind: "go" | "change" } | { readonly kind: "stop"; readonly reason: string };

export async function approvePlan(run: GoalRun, { tasks, dropped }: PlannedRound): Promise<PlanVerdict> {
  const goal = goalNow(run);
  const shown = tasks.map((planned) => ({
    planned,
    route: run.deps.route({ goal, planned, predecessors: [], file: run.file, isLast: false }),
  }));
  const own = goal.acceptance.filter(({ from }) => from === "person");
  const open = goal.acceptance.filter(({ confirmed }) => !confirmed);
  const { money_micro_usd, tokens } = goal.budget;
  const estimate = `${tasks.length === 1 ? "1 task, which" : `${tasks.length} tasks, which together`} may use at most ${tokens} tokens and $${(money_micro_usd / 1e6).toFixed(2)}`;
  const question = [
    saidBy("Plan for", goal.text),
    ...shown.flatMap(({ planned, route }) => taskLines(planned, route)),
    ...dropped.map(({ what, reason }) => `not carried out: ${inLine(what)}: ${inLine(reason)}`),
    ...(own.length === 0 ? [] : ["your criteria:", ...own.map(criterionLine)]),
    ...(open.length === 0 ? [] : ["criteria that the model proposes:", ...open.map(criterionLine)]),
    `estimate: ${estimate}`,
    "Should it be carried out?",
  ].join("\n");
  const limits = { tokens, money_micro_usd };
  const details = {
    tasks: shown.map(({ planned, route }) => ({ planned: asRun(planned), route })),
    criteria: goal.acceptance,
    dropped,
    limits,
    estimate,
  };
  const { approved, reason, by } = await approveOnGoal(run, { question, details }, "the plan waits for a yes");
  if (approved && by !== undefined) {
    const ids = open.map(({ id }) => id);
    if (ids.length > 0 && by.kind === "person") tell(run, { type: "goal.criteria_confirmed", data: { ids, by } });
    return { kind: "go" };
  }
  if (by === undefined || reason.trim() === "") {
    return {
      kind: "stop",
      reason: by === undefined ? "nobody agreed to the plan in time" : "the person said no to the plan",
    };
  }
  takeMessage(run, reason);
  return { kind: "change" };
}

/** How much of a prompt is shown. What is left out is counted. */
const longestPrompt = 1_500;

/** A yes is for all of it, so a prompt is shown beyond its first line, and so is what would be run to check the work. */
function taskLines(
  { id, prompt, after, workdir, checks }: PlannedTask,
  { runner, model, reason }: ShownRoute,
): string[] {
  const waits = after.length === 0 ? "" : `, after ${after.join(", ")}`;
  const [first = "", ...rest] = prompt.slice(0, longestPrompt).split("\n");
  const hidden = prompt.length - longestPrompt;
  return [
    inLine(`${id}${waits}: ${first} (${routeName({ runner, model })} in ${workdir}: ${reason})`),
    ...rest.filter((line) => line.trim() !== "").map(quoted),
    ...(hidden > 0 ? [`  [… ${hidden} more characters are hidden here; the details have all of them …]`] : []),
    ...checks.flatMap(checkLines),
  ];
}

/** Each in a line of its own: between two commands, any sign could be one of the commands. */
function checkLines(check: Check): string[] {
  const argv = argvOfCheck(check);
  if (argv === undefined) return [`  check: ${inLine(JSON.stringify(check))}`];
  return [`  check: ${argvLine(argv)}`, ...argvNotes(argv).map((note) => `  ${note}`)];
}

/** With its checks as they are run, so that every front shows the same. */
function asRun(planned: PlannedTask): PlannedTask {
  const checks = planned.checks.map((check) => {
    const [program, ...args] = argvOfCheck(check) ?? [];
    return program === undefined ? check : { run: [program, ...args] };
  });
  return { ...planned, checks };
}

function criterionLine(criterion: Criterion): string {
  const argv = namedCommand(criterion);
  const by = argv === undefined || criterion.by === undefined ? "" : `\n  proven by: ${argvLine(argv)}`;
  return saidBy(inLine(criterion.id), criterion.text) + by;
}
