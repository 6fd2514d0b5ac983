// DECOMPOSE: asks the manager's model for a decision until there are tasks to launch, or a person ends it.

import { inLine, saidBy } from "../core/foreign-words.ts";
import { refuseDirectWork } from "../core/launch.ts";
import { planRound, type PlannedRound } from "../core/plan-graph.ts";
import { TuttiError } from "../protocol/error.ts";
import { type Decision, type Dropped, isLaunchable } from "../protocol/decision/decision.ts";
import { type ParsedDecision, parseDecision } from "../protocol/decision/parse-decision.ts";
import { renderReprompt } from "../protocol/decision/render-reprompt.ts";
import type { Criterion } from "../protocol/task/goal.ts";
import { callManagerModel } from "./call-manager-model.ts";
import { askAboutGoal, type GoalRun, goalNow, isStop, noteOnGoal, stopGoal, takeMessage, tell } from "./goal-run.ts";
import { type RoundOccasion, roundPrompt } from "./round-prompt.ts";

/** `stop`: the goal ends for this reason. `nothing`: no tasks were added, and other work goes on. */
export type Decided =
  | { readonly kind: "planned"; readonly round: PlannedRound }
  | { readonly kind: "nothing" }
  | { readonly kind: "stop"; readonly reason: string };

/** How often the model is called for one decision, whatever people answer in between. */
const mostCalls = 8;

const tryAgain = "try again";
const tryOrStop = { choices: [tryAgain, stopGoal], choices_with_words: [tryAgain] };

export async function decideRound(run: GoalRun, occasion: RoundOccasion): Promise<Decided> {
  let text = roundPrompt(run, occasion);
  let isReprompted = false;
  for (let calls = 0; calls < mostCalls; calls += 1) {
    const reply = await replyTo(run, text);
    if (reply === undefined) return { kind: "stop", reason: "the model that decides could not be reached" };
    const reading = readReply(run, reply);
    if (reading.reprompt !== null && !isReprompted) {
      isReprompted = true;
      text = renderReprompt(reading.reprompt, reading.dropped);
      continue;
    }
    if (reading.kind === "planned") {
      addCriteria(run, reading.decision);
      return { kind: "planned", round: reading.round };
    }
    noteOnGoal(run, reading.said);
    if (occasion.midway === true) return { kind: "nothing" };
    const next = await askWhatNow(run, reading);
    if (next === undefined) return { kind: "stop", reason: `nobody answered: ${reading.reason}` };
    if (next === stopGoal) return { kind: "stop", reason: `a person ended the goal: ${reading.reason}` };
    text = next;
    isReprompted = false;
  }
  return { kind: "stop", reason: `there was no decision after ${mostCalls} calls of the model` };
}

/** Undefined when the model cannot be reached and nobody wants to try again. */
async function replyTo(run: GoalRun, text: string): Promise<string | undefined> {
  for (;;) {
    try {
      return await callManagerModel(run, text);
    } catch (thrown) {
      if (!(thrown instanceof TuttiError) || thrown.code !== "step_failed") throw thrown;
      const question = `The model ${run.modelName}, which decides for this goal, gave no reply: ${inLine(thrown.message)}. Try again?`;
      const answer = await askAboutGoal(run, { question, choices: [tryAgain, stopGoal] }, thrown.message);
      if (answer?.text !== tryAgain) return undefined;
    }
  }
}

type Reading = {
  readonly reprompt: Parameters<typeof renderReprompt>[0] | null;
  readonly dropped: readonly Dropped[];
} & (
  | { readonly kind: "planned"; readonly round: PlannedRound; readonly decision: Delegate }
  | { readonly kind: "asks" | "refused" | "unusable"; readonly said: string; readonly reason: string }
);

type Delegate = Extract<Decision, { action: "delegate" }>;

function readReply(run: GoalRun, reply: string): Reading {
  const parsed = parseDecision(reply);
  const { decision, dropped } = parsed;
  switch (decision.action) {
    case "delegate":
      return readDelegate(run, decision, parsed);
    case "respond": {
      if (parsed.reprompt !== null) return unusable(parsed, reply);
      const reason = "the manager asks the person";
      return { kind: "asks", said: decision.message, reason, dropped, reprompt: null };
    }
    case "do_work": {
      const said = refuseDirectWork(decision.summary);
      return { kind: "refused", said, reason: "the manager tried to do the work itself", dropped, reprompt: null };
    }
  }
}

function readDelegate(run: GoalRun, decision: Delegate, parsed: ParsedDecision): Reading {
  const round = planRound(run.graph, decision.tasks, {
    round: goalNow(run).rounds + 1,
    roots: run.durable.rights.roots,
    most: run.file.goal.limits.tasks,
    agents: Object.keys(run.file.agents),
  });
  const dropped = [...parsed.dropped, ...round.dropped];
  if (round.tasks.length === 0) {
    const reason = "the manager delegated nothing that can be launched";
    const why = inLine(dropped.map((each) => `${each.what}: ${each.reason}`).join("; "));
    const said = `Nothing that the manager delegated can be launched${why === "" ? "" : `: ${why}`}.`;
    return { kind: "refused", said, reason, dropped, reprompt: "nothing_delegated" };
  }
  const unsure = decision.tasks.flatMap((task, at) =>
    isLaunchable(task) && task.conf === undefined ? [{ what: `tasks[${at}]`, reason: "has no `conf`" }] : [],
  );
  const planned = { kind: "planned", round: { tasks: round.tasks, dropped }, decision } as const;
  if (unsure.length > 0) return { ...planned, reprompt: "no_confidence", dropped: [...dropped, ...unsure] };
  return { ...planned, reprompt: null, dropped };
}

/** What the model wrote is shown to the person as it is. */
function unusable({ reprompt, dropped }: ParsedDecision, reply: string): Reading {
  return { kind: "unusable", said: reply, reason: "the manager's reply is no decision", dropped, reprompt };
}

/** The person's words for the model, `stop`, or undefined when nobody answered. */
async function askWhatNow(
  run: GoalRun,
  {
    kind,
    said,
    reason,
  }: { readonly kind: "asks" | "refused" | "unusable"; readonly said: string; readonly reason: string },
): Promise<string | undefined> {
  if (kind === "asks") {
    // Whatever a person writes is an answer to the manager's own question.
    const answer = await askAboutGoal(run, { question: said }, reason);
    if (answer === undefined) return undefined;
    if (isStop(answer.text)) return stopGoal;
    takeMessage(run, answer.text);
    return withFollowUps(run, "");
  }
  const question =
    kind === "refused"
      ? `${said} Should it decide again?`
      : `${inLine(reason)}, so nothing was launched. Should it decide again?\n${saidBy("It wrote", said.slice(0, 2_000))}`;
  const answer = await askAboutGoal(run, { question, ...tryOrStop }, reason);
  if (answer === undefined || answer.text === stopGoal) return answer?.text;
  if (answer.words !== "") takeMessage(run, answer.words);
  return withFollowUps(run, kind === "refused" ? said : reason);
}

function withFollowUps(run: GoalRun, text: string): string {
  const said = run.followUps.splice(0).map((one) => `- ${one}`);
  return [...(text === "" ? [] : [text]), ...(said.length === 0 ? [] : ["The person says:", ...said])].join("\n");
}

/** Criteria of the model stand beside the person's; a text that is there already is not added again. */
function addCriteria(run: GoalRun, { acceptance = [] }: Delegate): void {
  const known = goalNow(run).acceptance;
  const texts = new Set(known.map(({ text }) => plainText(text)));
  const criteria: Criterion[] = [];
  for (const given of acceptance) {
    const text = given.trim();
    if (text === "" || texts.has(plainText(text))) continue;
    texts.add(plainText(text));
    const id = `c${known.length + criteria.length + 1}`;
    criteria.push({ id, text, from: "model", confirmed: false, state: "open", evidence: [] });
  }
  if (criteria.length > 0) tell(run, { type: "goal.criteria_added", data: { criteria } });
}

function plainText(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, " ").trim();
}
