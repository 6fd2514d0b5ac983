// What Tutti observes of an attempt after its session ended: checks, the change itself, and the end of a review's workspace.

import { z } from "zod";

import { askedItems } from "../../core/asked-items.ts";
import { beginningOfPatch, readRecord, removeWorkspace, workspaceId } from "../../workspace/index.ts";
import { allowedChecks } from "./ask-about-work.ts";
import { type Attempt, claimText } from "./attempt.ts";
import { Observed } from "./attempt-records.ts";

/** A check that is the task's own criterion counts against it also when it failed before. */
const ownCriterion = "task";

export async function verifyAttempt(attempt: Attempt): Promise<Observed> {
  const { durable, options, config, worked, base } = attempt;
  const saved = worked?.saved ?? null;
  const goal = config.goal ?? durable.task;
  const { allowed, confined } = options;
  const named = config.checks.map((check) => (check.named_by === "model" ? { ...check, network: false } : check));
  const checks = await allowedChecks(durable, { goal, checks: named, allowed, confined });
  const claim = worked === undefined ? "" : claimText(worked);
  const effort = worked?.effort ?? null;
  return durable.step(attempt.key("verify"), { repeatable: true, schema: Observed }, async (step) => {
    const { task } = durable;
    const left = {
      workspace: saved?.workspace ?? null,
      commit: saved?.tip ?? null,
      uncommitted: saved?.uncommitted ?? 0,
    };
    const items = askedItems(attempt.handoff.objective ?? "") ?? null;
    const request = { task, attempt: durable.attempt, items, ...left };
    const { commit, tree, facts, findings } = await options.verify({ ...request, base, checks, claim, effort }, step);
    return {
      commit,
      tree,
      facts: facts.map((fact, index) => ({
        fact,
        criteria: checks[index]?.is_criterion === true ? [ownCriterion] : [],
      })),
      findings: [...findings],
      at: step.now(),
    };
  });
}

const longestDiff = 60_000;

/** Of all attempts together, as far as a reviewer can read it. */
export async function attemptDiff({ durable, options, worked, base }: Attempt, key: string): Promise<string> {
  const { workspaces } = options;
  const saved = worked?.saved ?? null;
  if (workspaces === undefined || saved === null) return "";
  return durable.step(key, { repeatable: true, schema: z.string() }, async ({ signal }) => {
    const workspace = readRecord(workspaces.store, saved.workspace);
    if (workspace === undefined) return "";
    const from = { ...workspace, base: base ?? workspace.base };
    const found = await beginningOfPatch(from, { maxBytes: longestDiff, signal });
    if (found === undefined) return "";
    return `${found.patch.toString("utf8")}${found.isCut ? "\n[cut]" : ""}`;
  });
}

/** A reviewer changes nothing, so nothing is lost with its checkout. */
export async function forgetReview({ durable, options }: Attempt, key: string, reviewer: string): Promise<void> {
  const { workspaces } = options;
  if (workspaces === undefined) return;
  await durable.step(key, { repeatable: true, schema: z.boolean() }, async ({ signal }) => {
    const id = workspaceId(reviewer, 1);
    if (readRecord(workspaces.store, id)?.state !== "ready") return false;
    const { confine } = workspaces;
    return removeWorkspace(workspaces.store, id, { confine, signal }).then(
      () => true,
      // What cannot be removed now is listed, and is removed with other old workspaces.
      () => false,
    );
  });
}
