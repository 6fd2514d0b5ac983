// What an assignment asks people: whether a check that a model named may run, and what becomes of work that nothing settles.

import { z } from "zod";

import { approvalOutcome } from "../../core/approval.ts";
import { argvOfCheck } from "../../core/read-check.ts";
import { inLine, quoted, quotedCommand } from "../../core/foreign-words.ts";
import type { NamedCheck } from "../../protocol/task/named-check.ts";
import { Answer, type Answerer } from "../../protocol/task/ask.ts";
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
  readonly answer: "accept" | "retry" | "give_up";
  readonly note: string;
  readonly by: Answerer;
}

interface Unsettled {
  readonly key: string;
  /** Its name in the plan. */
  readonly task: string;
  readonly reason: string;
  readonly evidence: readonly string[];
  /** What the session says; null when nothing was done that could be accepted. */
  readonly claim: string | null;
  /** What the session really did, as a sentence; null when the log does not tell. */
  readonly effort: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

const longestShown = 4_000;

/** Undefined when nobody answered. */
export async function askAboutWork(durable: Durable, unsettled: Unsettled): Promise<Verdict | undefined> {
  const { key, task, reason, evidence, claim, effort, details } = unsettled;
  const choices = claim === null ? ["try again", "give up"] : ["accept", "try again", "give up"];
  const question = [
    `What becomes of the work of ${inLine(durable.agent)} on ${inLine(task)}? ${inLine(reason)}`,
    ...(evidence.length === 0 ? [] : ["What was observed:", quoted(evidence.join("\n").slice(0, longestShown))]),
    ...(claim === null ? [] : ["What the session says:", quoted(claim.slice(0, longestShown))]),
    ...(effort === null ? [] : [`What it did: ${inLine(effort)}`]),
    `Answer: ${choices.join(", ")}. What you write after \`try again\` is told to the next attempt.`,
  ].join("\n");
  const waited = await durable.wait(key, { ask: { kind: "question", question, details }, schema: Answer });
  if ("expired" in waited || waited.value.kind !== "question") return undefined;
  const said = typeof waited.value.value === "string" ? waited.value.value : JSON.stringify(waited.value.value);
  return { ...readVerdict(said ?? "", claim !== null), by: waited.by };
}

function readVerdict(text: string, mayAccept: boolean): Omit<Verdict, "by"> {
  const [, word = "", rest = ""] = /^\s*(accept|try again|give up)\b[\s:,.-]*(.*)$/is.exec(text) ?? [];
  switch (word.toLowerCase()) {
    case "accept":
      if (mayAccept) return { answer: "accept", note: rest.trim() };
      break;
    case "give up":
      return { answer: "give_up", note: rest.trim() };
    case "try again":
      return { answer: "retry", note: rest.trim() };
  }
  // Whoever writes something else wants something else done.
  return { answer: "retry", note: text.trim() };
}
