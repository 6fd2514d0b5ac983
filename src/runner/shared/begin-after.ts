// Decides which commit a session begins with when its task builds on other tasks; about a conflict a person decides.

import { z } from "zod";

import { inLine } from "../../core/foreign-words.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { Answer } from "../../protocol/task/ask.ts";
import type { Durable } from "../../ports.ts";
import {
  finishedWork,
  type FinishedWork,
  mergePredecessors,
  readRecord,
  readRecords,
  workspaceId,
  workspaceOfTask,
  type WorkspaceStore,
} from "../../workspace/index.ts";
import { findWorkElsewhere, type LookingElsewhere } from "./work-elsewhere.ts";
import { conflictChoices, type WantedWorkspace } from "./wanted-workspace.ts";

export interface Building {
  readonly store: WorkspaceStore;
  /** Whether a task is over; every task is when absent. */
  readonly isOver?: ((task: TaskId) => Promise<boolean>) | undefined;
  /** Where there are other machines: how the work of tasks is found that worked there. */
  readonly elsewhere?: LookingElsewhere | undefined;
  /** Whether merges are signed where the person signs commits; yes when absent. */
  readonly signing?: boolean | undefined;
  /** The person's folder. */
  readonly project: string;
  readonly wanted: WantedWorkspace;
}

export interface Beginning {
  /** Undefined when the session begins as if it built on nothing. */
  readonly commit: string | undefined;
  /** What the session has to merge itself, in this order. */
  readonly left: readonly FinishedWork[];
  /** What a person should know, each a sentence. */
  readonly warnings: readonly string[];
}

const Work = z.object({ task: z.string(), attempt: z.int(), branch: z.string(), commit: z.string() });
const Found = z.object({ works: z.array(Work), notes: z.array(z.string()).default([]) }).nullable();
const Conflict = z.object({
  state: z.literal("conflict"),
  branch: z.string(),
  commit: z.string(),
  files: z.array(z.string()),
  merged: z.object({ commit: z.string(), branches: z.array(z.string()) }),
  rest: z.array(z.object({ name: z.string(), commit: z.string() })),
});
type Conflict = z.infer<typeof Conflict>;
const Merged = z.discriminatedUnion("state", [
  z.object({ state: z.literal("merged"), commit: z.string(), unsigned: z.string().optional() }),
  Conflict,
]);

type Choice = (typeof conflictChoices)[number];

const plain: Beginning = { commit: undefined, left: [], warnings: [] };

/** Each branch that is left out makes the list shorter, so this ends. */
export async function beginAfter(durable: Durable, building: Building): Promise<Beginning> {
  const { wanted, project, signing = true } = building;
  if (wanted.after === undefined) return plain;
  const found = await durable.step("predecessors", { repeatable: true, schema: Found }, ({ signal }) =>
    findWorks(durable, building, signal),
  );
  if (found === null) return plain;
  let { works } = found;
  const warnings: string[] = [...found.notes];
  for (let round = 1; ; round += 1) {
    const tried = works;
    const outcome = await durable.step(`base${round}`, { repeatable: true, schema: Merged }, async ({ signal }) => {
      let unsigned: string | undefined;
      const onUnsigned = (problem: string): void => void (unsigned ??= problem);
      const sign = signing ? { signing: { onUnsigned } } : {};
      const merged = await mergePredecessors({ project, works: tried, ...sign, signal });
      return Merged.parse({ ...merged, ...(unsigned === undefined ? {} : { unsigned }) });
    });
    if (outcome.state === "merged") {
      return {
        commit: outcome.commit,
        left: [],
        warnings: [...warnings, ...(outcome.unsigned === undefined ? [] : [outcome.unsigned])],
      };
    }
    const choice = await chooseAbout(durable, `base${round}.conflict`, { conflict: outcome, wanted });
    const at = works.findIndex(({ branch }) => branch === outcome.branch);
    if (choice === "stop") throw conflictError(outcome, works);
    if (choice === "resolve") {
      const left = works.slice(at);
      warnings.push(`The session was told to merge ${left.map(({ branch }) => branch).join(", ")} itself.`);
      return { commit: outcome.merged.commit, left, warnings };
    }
    warnings.push(`The work begins without ${outcome.branch}, which conflicts in ${shownFiles(outcome.files)}.`);
    works = works.filter((_, index) => index !== at);
  }
}

/** Null when the workspace exists: the attempt goes on there. */
async function findWorks(
  { task, since }: Durable,
  { store, isOver, elsewhere, wanted: { after = [] } }: Building,
  signal: AbortSignal,
): Promise<z.infer<typeof Found>> {
  if (readRecord(store, workspaceId(task, since)) !== undefined) return null;
  const { workspaces } = readRecords(store);
  const works: FinishedWork[] = [];
  const notes: string[] = [];
  for (const before of new Set(after)) {
    if ((await isOver?.(before)) === false) {
      throw new TuttiError("conflict", `this task builds on ${before}, which is not over; start it again after that`);
    }
    const newest = workspaceOfTask(workspaces, before);
    if (newest !== undefined) works.push(await finishedWork(newest, signal));
    else if (elsewhere === undefined) {
      throw new TuttiError("not_found", `this task builds on ${before}, which has no workspace`);
    } else {
      const found = await findWorkElsewhere(before, elsewhere, signal);
      works.push(found.work);
      notes.push(found.note);
    }
  }
  return { works, notes };
}

const choiceTexts: Readonly<Record<Choice, string>> = {
  resolve: "begin with the branches before it, and let the session merge the rest",
  leave_out: "leave this branch out",
  stop: "stop",
};

/** No answer in time means to stop. */
async function chooseAbout(
  durable: Durable,
  key: string,
  { conflict, wanted }: { readonly conflict: Conflict; readonly wanted: WantedWorkspace },
): Promise<Choice> {
  const { on_conflict = "ask" } = wanted;
  if (on_conflict !== "ask") return on_conflict;
  const before = conflict.merged.branches.map(inLine).join(", ") || "your checkout's commit";
  const waited = await durable.wait(key, {
    ask: {
      kind: "question",
      question: `The task builds on ${inLine(conflict.branch)}, which conflicts with ${before} in ${shownFiles(conflict.files)}. How shall it begin?`,
      choices: conflictChoices.map((choice) => choiceTexts[choice]),
      details: {
        branch: conflict.branch,
        commit: conflict.commit,
        files: conflict.files.slice(0, mostListed),
        merged: conflict.merged,
      },
    },
    schema: Answer,
  });
  if (!("value" in waited) || waited.value.kind !== "question") return "stop";
  const { value } = waited.value;
  return conflictChoices.find((choice) => choiceTexts[choice] === value) ?? "stop";
}

/** So many files are named in a sentence, and in the details. */
const [mostNamed, mostListed] = [8, 1_000];

function shownFiles(files: readonly string[]): string {
  const named = files.slice(0, mostNamed).map(inLine).join(", ");
  return files.length > mostNamed ? `${named} and ${files.length - mostNamed} more` : named;
}

/** The details are all that is needed to make a task of it that merges the rest. */
function conflictError(conflict: Conflict, works: readonly FinishedWork[]): TuttiError {
  const at = works.findIndex(({ branch }) => branch === conflict.branch);
  return new TuttiError(
    "conflict",
    `the task was not begun: ${conflict.branch} conflicts in ${shownFiles(conflict.files)} with what was merged before it`,
    {
      details: {
        conflict: works[at],
        files: conflict.files.slice(0, mostListed),
        merged: { commit: conflict.merged.commit, works: works.slice(0, at) },
        rest: works.slice(at + 1),
      },
    },
  );
}

/** Told to the session before the prompt. */
export function mergeInstructions(left: readonly FinishedWork[]): string {
  if (left.length === 0) return "";
  const lines = left.map(({ branch, commit }) => `git merge ${commit}   # ${branch}`);
  return [
    "Before you begin, merge the work that this task builds on into your branch, in this order, and resolve the conflicts so that the intent of both sides is kept:",
    ...lines,
  ].join("\n");
}
