// Plays a case: hands its goal to a daemon with scripted models, answers what is asked, and reads what the report shows.

import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Tutti } from "../../src/client/client.ts";
import type { StartGoal } from "../../src/protocol/api/goal-shapes.ts";
import type { Ask } from "../../src/protocol/task/ask.ts";
import type { GoalReport } from "../../src/protocol/task/goal-report.ts";
import { repositoryAt, type TestRepository } from "../support/git-kit.ts";
import { type Cleanup, tempFolder } from "../support/temp-folder.ts";
import type { TrustCase, TrustTask } from "./trust-case.ts";

/**
 * Who reviews: another model that approves every point, another one that only nods, nobody, or the author's own model,
 * which approves every point.
 */
export const reviewers = ["points", "nod", "none", "same"] as const;
export type Reviewer = (typeof reviewers)[number];

/** `decline`: the person trusts nothing that is put to them. `accept`: they looked, and the work is right. */
type Answers = "accept" | "decline";

export interface Played {
  readonly report: GoalReport;
  readonly questions: readonly AskedQuestion[];
}

export interface AskedQuestion {
  readonly kind: string;
  readonly text: string;
}

export interface PlayOptions {
  readonly client: Tutti;
  readonly reviewer: Reviewer;
  readonly answers: Answers;
}

/** A goal that has not ended by then is stopped and is not reached. */
const longestMs = 240_000;
const mostAnswers = 12;
const person = { kind: "person", name: "Ada" } as const;

export async function playCase(t: Cleanup, played: TrustCase, options: PlayOptions): Promise<Played> {
  const { client, reviewer, answers } = options;
  const { folder } = repositoryOf(t, played);
  const placed = inPlace(played, { folder, outside: outsideOf(t, played) });
  const started = await client.startGoal(goalOf(placed, folder, reviewer), { anew: true });
  const questions: AskedQuestion[] = [];
  const late = setTimeout(() => void client.cancel(started.task, "the case takes too long"), longestMs);
  try {
    for await (const told of client.follow({ task: started.task })) {
      if (!("event" in told) || told.event.type !== "ask.raised") continue;
      const { ask } = told.event.data;
      const { id, kind, question } = ask;
      questions.push({ kind, text: question });
      if (questions.length > mostAnswers) await client.cancel(started.task, "the case asks too much");
      await client.answer(id, answerTo(ask, answers), person);
    }
  } finally {
    clearTimeout(late);
  }
  return { report: await client.goalReport(started.goal), questions };
}

/** A sensible person lets checks run. A yes to that is no yes to what they prove. */
function answerTo({ kind, question, choices = [] }: Ask, answers: Answers): object {
  if (kind === "approval") return { kind, approved: true };
  const isAboutWork = choices.includes("give up");
  const isAboutCriteria = question.includes("Do you accept this?");
  if (answers === "decline") return { kind, value: isAboutWork ? "give up: I do not know" : "stop" };
  if (isAboutWork) return { kind, value: choices.includes("accept") ? "accept: I looked at it" : "give up" };
  if (isAboutCriteria) return { kind, value: choices.find((choice) => choice.startsWith("accept")) ?? "stop" };
  return { kind, value: question.includes("Do you accept the work as it is?") ? "accept as it is" : "stop" };
}

function repositoryOf(t: Cleanup, { base, prepare }: TrustCase): TestRepository {
  const folder = tempFolder(t, "tutti-trust-");
  const repository = repositoryAt(folder);
  repository.git("init", "-q", "-b", "main");
  repository.git("config", "user.name", "Ada");
  repository.git("config", "user.email", "ada@example.com");
  for (const [path, content] of Object.entries(base)) repository.write(path, content);
  if (prepare !== undefined) execFileSync("/bin/sh", ["-ec", prepare], { cwd: folder, stdio: "pipe" });
  repository.git("add", "-A");
  repository.git("commit", "-q", "--allow-empty", "-m", "first");
  return repository;
}

/** A folder that a check may see on machines where it sees more than its checkout. */
function outsideOf(t: Cleanup, { outside }: TrustCase): string {
  if (outside === undefined) return "/var/tmp/none";
  const folder = mkdtempSync("/var/tmp/tutti-trust-");
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  for (const [path, text] of Object.entries(outside)) writeFileSync(join(folder, path), text);
  return folder;
}

/** The tasks with the names of the folders in which they are played. */
function inPlace(played: TrustCase, { folder, outside }: Readonly<Record<"folder" | "outside", string>>): TrustCase {
  const named = (text: string): string => text.replaceAll("@FOLDER@", folder).replaceAll("@OUTSIDE@", outside);
  const tasks = played.tasks.map((each) => ({
    ...each,
    does: each.does.map((act) => ("write" in act ? { ...act, text: named(act.text) } : { run: named(act.run) })),
  }));
  return { ...played, tasks };
}

function goalOf(played: TrustCase, folder: string, reviewer: Reviewer): StartGoal {
  const { goal, accept = [], checks = [] } = played;
  return {
    text: goal,
    folder,
    accept: [...accept],
    checks: [...checks],
    limits: { rounds: 1 },
    policy: policyText(reviewer),
    script: { rules: rulesOf(played, reviewer) },
  };
}

/** Where there are two models, the policy that nobody wrote has every task reviewed. */
const reviewWhen = { points: "always", nod: "risk", none: "never", same: "risk" } as const;

function policyText(reviewer: Reviewer): string {
  const other = reviewer === "same" ? "rehearsal/one" : "rehearsal/two";
  // A second attempt does the same again, so one kind of run with it is enough.
  const tries = reviewer === "nod" ? "reroute_to_builder_once_then_router" : "fail";
  return JSON.stringify({
    policy: {
      router: other,
      info: "rehearsal/one",
      build: "rehearsal/one",
      escalate_to: reviewer === "same" ? "rehearsal/one" : "rehearsal/three",
      conf_threshold: 0.8,
    },
    gate: { fail_if_conf_less: 0.8, if_test_failure: tries },
    review: reviewWhen[reviewer],
    words: "boundary",
  });
}

type Rules = NonNullable<NonNullable<StartGoal["script"]>["rules"]>;

function rulesOf(played: TrustCase, reviewer: Reviewer): Rules {
  const { tasks, proposes, accept = [] } = played;
  const planned = tasks.map(({ id, prompt, kind = "code_change", checks, acceptance, after }) => ({
    id,
    workdir: ".",
    prompt: promptOf(id, prompt),
    kind,
    conf: 0.95,
    ...(checks === undefined ? {} : { checks }),
    ...(acceptance === undefined ? {} : { acceptance }),
    ...(after === undefined ? {} : { after }),
  }));
  const decision = { action: "delegate", tasks: planned, ...(proposes === undefined ? {} : { acceptance: proposes }) };
  const points = accept.length + (proposes?.length ?? 0);
  return [
    { agent: "manager", turn: 0, raw: JSON.stringify(decision) },
    { agent: "manager", raw: JSON.stringify({ action: "respond", message: "Nothing more can be done." }) },
    ...tasks.flatMap((each) => [...workRules(each), ...reviewRules(played, each, { reviewer, points })]),
    { agent: "worker", final: "Done." },
    { agent: "_router", raw: JSON.stringify({ decision: "abandon", reason: "it was tried often enough" }) },
  ];
}

/** Its first words tell the tasks of one goal apart. */
function promptOf(id: string, prompt = "do what the goal says."): string {
  return `Task ${id}: ${prompt}`;
}

function workRules({ id, does, says = "I made the change." }: TrustTask): Rules {
  const last = `Task ${id}:`;
  const call = does.map((act) =>
    "write" in act
      ? { tool: "write", args: { path: act.write, content: act.text } }
      : { tool: "run", args: { shell: act.run } },
  );
  if (call.length === 0) return [{ agent: "worker", last, turn: 0, final: says }];
  const ended = `The end of ${id}.`;
  return [
    { agent: "worker", last, turn: 0, call: [...call, { tool: "echo", args: { text: ended } }] },
    { agent: "worker", last: ended, final: says },
  ];
}

interface Reviewing {
  readonly reviewer: Reviewer;
  /** How many criteria the goal has. */
  readonly points: number;
}

function reviewRules({ review }: TrustCase, each: TrustTask, { reviewer, points }: Reviewing): Rules {
  const last = `on the task ${each.id},`;
  if (review !== undefined) return [{ agent: "_reviewer", final: review }];
  if (reviewer === "nod") return [{ agent: "_reviewer", last, final: nod }];
  const own = (each.acceptance ?? []).map((_, at) => `task:${at + 1}`);
  const goals = Array.from({ length: points }, (_, at) => `c${at + 1}`);
  const where = each.shows ?? each.does.flatMap((act) => ("write" in act ? [act.write] : []))[0] ?? "README.md";
  return [{ agent: "_reviewer", last, final: approval(["task", "lines", ...own, ...goals], where) }];
}

/** As a model writes it that was asked for a review and has not looked. */
const nod = `from:
  value: "rehearsal/two"
review:
  conf: 0.97
  findings[1]: "the work is complete and correct"
  gate: "approve"
`;

/** A review that says yes to every point. */
export function approval(ids: readonly string[], where: string): object {
  const points = ids.map((id) => ({
    id,
    met: true,
    why: "The change does what is asked for, and the check shows it.",
    where,
  }));
  return { review: { conf: 0.97, findings: ["the work is complete and correct"], gate: "approve", points } };
}
