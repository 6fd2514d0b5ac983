// What a goal takes from its project: the texts of its manager, the checks of the config, and the policy that it keeps to its end.

import { homedir } from "node:os";

import type { GoalFile, ProjectSettings } from "../../protocol/invocation/goal-file.ts";
import type { KeptPolicy } from "../../protocol/routing/kept-policy.ts";
import { encodePolicy } from "../../protocol/routing/encode-policy.ts";
import { initialPolicy } from "../../protocol/routing/default-policy.ts";
import type { NamedCheck } from "../../protocol/task/named-check.ts";
import type { ProjectCheck } from "./checks-config.ts";
import { readConfigFiles } from "./config-files.ts";
import { managerTexts } from "./manager-texts.ts";
import { requireGoalModel } from "./require-goal-model.ts";
import { hashOfPolicy, type ProjectPolicy } from "./project-policy.ts";

export interface GoalSettingsSource {
  readonly project: string;
  /** The checks of the config that a person agreed to. */
  readonly checks: readonly ProjectCheck[];
  /** The model of trees that name none. */
  readonly defaultModel: string;
  /** The policy of the project; `decider` does the work where no other model is set up. */
  readonly policyOf: (decider: string | undefined) => Promise<ProjectPolicy>;
}

interface GoalWishes {
  readonly goal: { readonly manager_model?: string | undefined; readonly policy?: KeptPolicy | undefined };
  readonly script?: GoalFile["script"] | undefined;
}

/**
 * Called once a person has agreed to the project's config, or when there is none to agree to. Throws `invalid_input` when no
 * model could split the goal: the rehearsal without a script could only say that it has nothing to say.
 */
export async function goalSettings(source: GoalSettingsSource, { goal, script }: GoalWishes): Promise<ProjectSettings> {
  const { project, checks, defaultModel, policyOf } = source;
  const decider = goal.manager_model ?? defaultModel;
  if (script === undefined) requireGoalModel(decider);
  const isTrusted = readConfigFiles(project) !== undefined;
  return {
    texts: await managerTexts({ project, home: homedir(), isTrusted }),
    project_checks: checks.map(projectCheck),
    policy: goal.policy ?? (script === undefined ? ofProject(await policyOf(decider)) : playedPolicy()),
  };
}

function ofProject({ text, hash, source }: ProjectPolicy): KeptPolicy {
  return { text, hash, is_default: source === "default" };
}

/** Whoever gives a script wants all of it played, whatever models the project has. */
function playedPolicy(): KeptPolicy {
  const text = encodePolicy(initialPolicy());
  return { text, hash: hashOfPolicy(text), is_default: true };
}

function projectCheck({ run, cwd, network, timeout_ms }: ProjectCheck): NamedCheck {
  return {
    check: typeof run === "string" ? run : { run },
    named_by: "config",
    network,
    is_criterion: false,
    ...(cwd === undefined ? {} : { cwd }),
    ...(timeout_ms === undefined ? {} : { timeout_ms }),
  };
}
