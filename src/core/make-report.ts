// Makes the report of a goal from the events of its tree.

import { argvLine } from "../protocol/argv-line.ts";
import type { EvidenceId, TaskId } from "../protocol/ids.ts";
import type { TaskEvent } from "../protocol/task/event.ts";
import type { Evidence, EvidenceFact } from "../protocol/task/evidence.ts";
import type { Goal, GoalLink, PlannedTask } from "../protocol/task/goal.ts";
import type { GoalReport, Proof, ReportedTask } from "../protocol/task/goal-report.ts";
import { emptyGoal, type FoldedGoal, foldGoal, goalIn } from "./fold-goal.ts";
import { emptyTree, type FoldedTree, foldTree } from "./fold-tree.ts";
import { goalGate, goalProgress } from "./goal-gate.ts";

type Saved = Extract<TaskEvent, { type: "session.saved" }>["data"];

/** Everything that a report needs of the events, kept up to date one event at a time. */
export interface GoalRecord {
  readonly goal: FoldedGoal;
  readonly tree: FoldedTree;
  /** What the newest session of each task left in its workspace. */
  readonly saved: Map<TaskId, Saved>;
}

export function emptyRecord(task: TaskId): GoalRecord {
  return { goal: emptyGoal(task), tree: emptyTree(task), saved: new Map() };
}

export function foldRecord(record: GoalRecord, event: TaskEvent): GoalRecord {
  foldGoal(record.goal, event);
  foldTree(record.tree, event);
  if (event.type === "session.saved") record.saved.set(event.task, event.data);
  return record;
}

/** Undefined when the events tell of no goal. */
export function goalReport(record: GoalRecord): GoalReport | undefined {
  const { goal: folded, tree } = record;
  const goal = goalIn(folded);
  if (goal === undefined) return undefined;
  return {
    goal: goal.id,
    task: goal.task,
    text: goal.text,
    status: goal.status,
    reason: goal.reason,
    progress: goalProgress(goal),
    rehearsal: tree.rehearsal,
    called: tree.called,
    criteria: goal.acceptance.map(({ evidence, ...criterion }) => ({
      ...criterion,
      reason: folded.judgements.get(criterion.id) ?? "nobody has judged it yet",
      proof: proofOf(folded, evidence),
    })),
    tasks: reportedTasks(goal, record),
    not_proven: goal.status === "done" ? [] : [...goalGate(goal).missing],
    dropped: [...folded.dropped],
    notes: goal.notes.map(({ text }) => text),
    integration: folded.integration ?? null,
    rounds: goal.rounds,
    tokens: tree.tokens,
    money_micro_usd: tree.money_micro_usd,
    unpriced: tree.unpriced,
    created_at: goal.created_at,
    updated_at: goal.updated_at,
  };
}

function reportedTasks(goal: Goal, record: GoalRecord): ReportedTask[] {
  const links = new Map(goal.links.map((link) => [link.planned, link]));
  const planned = new Map(goal.links.map(({ task, planned: id }) => [task, id]));
  const replacements = new Map(
    goal.plan.flatMap(({ id, supersedes }) => (supersedes === null ? [] : [[supersedes, id]])),
  );
  const used = usedBelow(record.tree, new Set(planned.keys()));
  return goal.plan.map((task) => {
    const link = links.get(task.id);
    const by = link?.superseded_by ?? null;
    const replaced_by = (by === null ? undefined : planned.get(by)) ?? replacements.get(task.id) ?? null;
    return { ...reportedTask(task, link, record), ...(used.get(link?.task ?? "") ?? nothingUsed), replaced_by };
  });
}

const nothingUsed = { tokens: 0, money_micro_usd: 0 };

function reportedTask(
  { id, round, prompt }: PlannedTask,
  link: GoalLink | undefined,
  { goal, tree, saved }: GoalRecord,
): Omit<ReportedTask, "tokens" | "money_micro_usd" | "replaced_by"> {
  if (link === undefined) {
    const state = "planned" as const;
    const none = { route: null, attempts: 0, branch: null, commit: null, commits: 0, proof: [] };
    return { id, round, prompt, task: null, state, reason: "it was never launched", ...none };
  }
  const route = goal.routes.get(link.task);
  const work = saved.get(link.task);
  return {
    id,
    round,
    prompt,
    task: link.task,
    state: link.state,
    reason: goal.reasons.get(link.task) ?? "",
    route:
      route === undefined
        ? null
        : { runner: route.runner, model: route.model, chosen_by: route.chosen_by, reason: route.reason },
    attempts: tree.tasks.get(link.task)?.attempt ?? 0,
    branch: work?.branch ?? null,
    commit: work?.tip ?? null,
    commits: work?.commits ?? 0,
    proof: proofOf(goal, link.evidence),
  };
}

/** What each of the given tasks used with all tasks below it. Parents stand before their children. */
function usedBelow({ tasks }: FoldedTree, tops: ReadonlySet<TaskId>): Map<TaskId, typeof nothingUsed> {
  const topOf = new Map<TaskId, TaskId>();
  const used = new Map<TaskId, typeof nothingUsed>();
  for (const { id, parent, tokens, money_micro_usd } of tasks.values()) {
    const top = tops.has(id) ? id : parent === null ? undefined : topOf.get(parent);
    if (top === undefined) continue;
    topOf.set(id, top);
    const before = used.get(top) ?? nothingUsed;
    used.set(top, {
      tokens: before.tokens + tokens,
      money_micro_usd: before.money_micro_usd + money_micro_usd,
    });
  }
  return used;
}

function proofOf({ evidence }: FoldedGoal, ids: readonly EvidenceId[]): Proof[] {
  return ids.flatMap((id) => {
    const found = evidence.get(id);
    if (found === undefined) return [];
    const { fact, verdict, excerpt } = found;
    return [{ id, kind: fact.kind, verdict, text: factText(fact) + placeText(found), excerpt }];
  });
}

function placeText({ commit, tree }: Evidence): string {
  if (commit !== null) return ` (commit ${commit.slice(0, 12)})`;
  return tree === null ? "" : ` (snapshot ${tree.slice(0, 12)})`;
}

/** One fact in a sentence. */
export function factText(fact: EvidenceFact): string {
  switch (fact.kind) {
    case "check": {
      const { argv, outcome, tests, reason } = fact;
      // The reason has the counts, too.
      const counts = tests === null ? "" : ` (${tests.passed} passed, ${tests.failed} failed)`;
      const who = { config: "of the project", person: "of the person", model: "named by a model" }[fact.named_by];
      return `check \`${argvLine(argv)}\`, ${who}: ${outcome.replace("_", " ")}${reason === "" ? counts : `. ${reason}`}`;
    }
    case "git":
      return `git: ${fact.changed.length} file${fact.changed.length === 1 ? "" : "s"} changed since ${fact.base.slice(0, 12)}`;
    case "file":
      return `file ${fact.path}, ${fact.size} bytes`;
    case "review": {
      const same = fact.same_model ? ", the author's own model, which is no proof" : "";
      return `review by ${fact.model}${same}: ${fact.gate}, confidence ${fact.conf}`;
    }
    case "pr":
      return fact.exists
        ? `pull request ${fact.url}, ${fact.state ?? "state unknown"}`
        : `there is no pull request ${fact.url}`;
    case "person":
      return `${fact.by} said: ${fact.text}`;
  }
}
