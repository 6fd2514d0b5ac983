// What an assignment asks people: whether a check that a model named may run, and what becomes of work that nothing settles.

import { z } from "zod";

import { approvalOutcome } from "../../core/approval.ts";
import { argvOfCheck } from "../../core/read-check.ts";
import { inLine, quoted, quotedCommand } from "../../core/foreign-words.ts";
import type { NamedCheck } from "../../protocol/task/named-check.ts";
import { Answer, type Answerer, choiceIn } from "../../protocol/task/ask.ts";
import type { AskedWork } from "../../protocol/task/assignment.ts";
import type { Durable } from "../../ports.ts";

/** Which checks people have allowed, by goal and exact arguments; also after a restart, and on another node. */
export interface AllowedChecks {
  has(goal: string, argv: readonly string[]): boolean;
  /** `by` is who allowed it. */
  add(goal: string, argv: readonly string[], by: string): Promise<void>;
}

interface AskedChecks {
  readonly goal: string;
  readonly checks: readonly NamedCheck[];
  readonly allowed: AllowedChecks;
  /** Whether programs are confined on this machine. */
  readonly confined: boolean;
}

/** Those that may run: what the config or a person named and runs confined, and of the rest what a person allows. */
export async function allowedChecks(durable: Durable, asked: AskedChecks): Promise<NamedCheck[]> {
  const may: NamedCheck[] = [];
  for (const [index, named] of asked.checks.entries()) {
    const runsUnasked = named.named_by !== "model" && asked.confined;
    if (runsUnasked || (await isAllowed(durable, asked, { named, key: `assigned.check${index}` }))) may.push(named);
  }
  return may;
}

async function isAllowed(
  durable: Durable,
  { goal, allowed, confined }: AskedChecks,
  { named, key }: { readonly named: NamedCheck; readonly key: string },
): Promise<boolean> {
  const argv = argvOfCheck(named.check);
  // A command that cannot be read is not run anyway, and its evidence says why.
  if (argv === undefined) return true;
  const options = { repeatable: true, schema: z.boolean(), looks: true } as const;
  if (await durable.step(`${key}.known`, options, () => allowed.has(goal, argv))) return true;
  const who = named.named_by === "model" ? " A model proposed it." : "";
  const how = confined
    ? "It runs confined, without keys and without the network, in a fresh checkout."
    : "Nothing confines programs on this machine: it runs what the session wrote, and can do whatever you can. So does the setup of workspaces, which runs before it.";
  const question = [
    `Should this check run on the work of ${inLine(durable.agent)}?${who} ${how} A yes holds for the whole goal.`,
    quotedCommand(argv),
  ].join("\n");
  const waited = await durable.wait(`${key}.approval`, {
    ask: { kind: "approval", question, details: { argv, confined } },
    schema: Answer,
  });
  const { approved } = approvalOutcome(waited);
  if (!approved || !("value" in waited)) return approved;
  const by = waited.by.name;
  await durable.step(`${key}.kept`, { repeatable: true, schema: z.boolean() }, () =>
    allowed.add(goal, argv, by).then(
      () => true,
      // The answer counts here in any case. What could not be kept is asked about again.
      () => false,
    ),
  );
  return true;
}

export interface Verdict {
  readonly answer: "accept" | "retry" | "give_up" | "stop";
  readonly note: string;
  readonly by: Answerer;
}

interface Unsettled {
  readonly key: string;
  /** Its name in the plan. */
  readonly task: string;
  readonly reason: string;
  readonly evidence: readonly string[];
  /** Criteria of the goal in words that nothing proves yet. A yes to the work is a yes to them where it is the whole. */
  readonly open: readonly string[];
  /** What the session says; null when nothing was done that could be accepted. */
  readonly claim: string | null;
  /** What the session really did, as a sentence; null when the log does not tell. */
  readonly effort: string | null;
  readonly details: AskedWork;
}

const [tryAgain, accept, giveUp, stop] = ["try again", "accept", "give up", "stop"] as const;
const answers = { [accept]: "accept", [tryAgain]: "retry", [giveUp]: "give_up", [stop]: "stop" } as const;

/** So that a screen of 24 lines holds what was observed, the question and the answers there are. */
const [mostOutput, mostClaimed, mostFacts] = [10, 3, 20];
const longestLine = 300;

const OfGoal = z.looseObject({ goal: z.looseObject({ text: z.string() }) });

/** Undefined when nobody answered. */
export async function askAboutWork(durable: Durable, unsettled: Unsettled): Promise<Verdict | undefined> {
  const { key, task, reason, evidence, open, claim, effort, details } = unsettled;
  const goal = OfGoal.safeParse(durable.rootInput).data?.goal.text;
  const closed = {
    choices: [...(claim === null ? [] : [accept]), tryAgain, giveUp, ...(goal === undefined ? [] : [stop])],
    choices_with_words: [tryAgain, ...(claim === null ? [] : [accept]), giveUp],
  };
  const of = goal === undefined ? "" : `, of "${inLine(goal)}"`;
  const question = [
    `${inLine(task)}${of}: ${inLine(reason)}`,
    ...(evidence.length === 0 ? [] : ["What was observed:", quoted(shownEvidence(evidence))]),
    ...(claim === null || open.length === 0
      ? []
      : ["What the goal asks for and nothing proves:", quoted(open.map(cutLine).join("\n"))]),
    ...(claim === null ? [] : ["What the session says:", quoted(lastLines(claim, mostClaimed))]),
    ...(effort === null ? [] : [`What it did: ${inLine(effort)}`]),
    claim === null ? "Try again, or give it up?" : "Accept the work, try again, or give it up?",
  ].join("\n");
  const waited = await durable.wait(key, { ask: { kind: "question", question, details, ...closed }, schema: Answer });
  if ("expired" in waited || waited.value.kind !== "question") return undefined;
  const chosen = choiceIn(closed, waited.value.value);
  const answer = Object.entries(answers).find(([choice]) => choice === chosen?.choice)?.[1];
  return answer === undefined ? undefined : { answer, note: chosen?.words ?? "", by: waited.by };
}

/** Facts are lines of their own. Of what programs printed, only the end is shown: all of it stands in the evidence. */
function shownEvidence(evidence: readonly string[]): string {
  const split = evidence.map((one) => one.trim().split("\n"));
  const facts = split.filter(({ length }) => length === 1).map((lines) => lines.join(""));
  const outputs = split.filter(({ length }) => length > 1);
  const most = Math.max(1, Math.floor(mostOutput / Math.max(1, outputs.length)));
  const left = facts.length - mostFacts;
  return [
    ...facts.slice(0, mostFacts).map(cutLine),
    ...(left > 0 ? [`and ${left} more`] : []),
    ...outputs.flatMap(([head = "", ...rest]) => [cutLine(head), lastLines(rest.join("\n"), most)]),
  ].join("\n");
}

function lastLines(text: string, most: number): string {
  const lines = text.trim().split("\n");
  return [...(lines.length > most ? ["…"] : []), ...lines.slice(-most).map(cutLine)].join("\n");
}

function cutLine(line: string): string {
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
}
