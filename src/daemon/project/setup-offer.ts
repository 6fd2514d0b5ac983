// Whether a project that nobody has set up is worth setting up before a goal, and that a person declined it.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { isRehearsalName } from "../../core/rehearsal-name.ts";
import type { InitResult, SetupOfferOptions } from "../../host/project.ts";
import { thrownMessage, TuttiError } from "../../protocol/error.ts";
import { keySources } from "../secrets/provider-keys.ts";
import { effectiveConfig } from "./effective-config.ts";
import { initProject, type InitSubject } from "./init-project.ts";
import { modelNames } from "./project-models.ts";
import { findPolicyFile } from "./project-policy.ts";

/** A check, or the only model there is: what a goal cannot use without a config. */
export async function setupOffer(
  subject: InitSubject,
  { checks, signal }: SetupOfferOptions,
): Promise<InitResult | undefined> {
  const { project, state, home } = subject;
  if (project === home || existsSync(declined(subject)) || findPolicyFile(project) !== undefined) return undefined;
  const { file, models, problem } = await effectiveConfig(project, state);
  // A problem without a file is a config that was trusted and is gone: the person is asked about that.
  if (file !== undefined || problem !== undefined) return undefined;
  const hasModel = !isRehearsalName(modelNames(models, keySources(state)).fallback);
  if (hasModel && !checks) return undefined;
  const found = await initProject(subject, { force: false, dryRun: true, signal });
  const hasCheck = checks && found.checks.some(({ doubt }) => doubt === null);
  const addsModel = !hasModel && found.model !== null;
  // Without a model the goal cannot start, whatever else is set up.
  return addsModel || (hasModel && hasCheck) ? found : undefined;
}

/** Kept on this machine only: it allows nothing, and `tutti init` works as before. */
export function declineSetup(subject: Pick<InitSubject, "project" | "state">): void {
  const mark = declined(subject);
  try {
    mkdirSync(join(mark, ".."), { recursive: true, mode: 0o700 });
    writeFileSync(mark, `${subject.project}\n`, { mode: 0o600 });
  } catch (thrown) {
    throw new TuttiError("io", `could not write ${mark}: ${thrownMessage(thrown)}`, { cause: thrown });
  }
}

function declined({ project, state }: Pick<InitSubject, "project" | "state">): string {
  return join(state, "setup-declined", createHash("sha256").update(project).digest("hex"));
}
