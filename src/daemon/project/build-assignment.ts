// Builds the runner of delegated tasks for a project: its policy, its models, its verification and the runners that do the work.

import { execFile } from "node:child_process";
import { join } from "node:path";

import { z } from "zod";

import { treeFile } from "../../agent/delegation/task-input.ts";
import { ownPath } from "../../files/own-environment.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { KeptPolicy } from "../../protocol/routing/kept-policy.ts";
import { initialPolicy } from "../../protocol/routing/default-policy.ts";
import { readPolicy } from "../../protocol/routing/read-policy.ts";
import type { Model } from "../../model-port.ts";
import type { Runner, RunnerRegistry } from "../../ports.ts";
import type { AllowedChecks } from "../../runner/assignment/ask-about-work.ts";
import { attemptVerifier } from "../../runner/assignment/attempt-verifier.ts";
import type { GoalPolicy } from "../../runner/assignment/assignment-options.ts";
import { assignmentRunner } from "../../runner/assignment/runner.ts";
import type { Verify } from "../../runner/assignment/verifier.ts";
import type { SandboxStatus } from "../../runner/shared/sandbox/sandbox-status.ts";
import type { SessionWorkspaces } from "../../runner/shared/session-folder.ts";
import { openBaseCache, type RunGh } from "../../verification/index.ts";
import type { ProjectCheck } from "./checks-config.ts";
import { checksFolder } from "./checks-folder.ts";
import type { ModelNames } from "./project-models.ts";

export interface AssignmentParts {
  readonly state: string;
  readonly sandbox: SandboxStatus;
  readonly toolchains: readonly string[];
  readonly workspaces: SessionWorkspaces;
  readonly names: ModelNames;
  readonly model: (file: InvocationFile) => Model;
  /** Kinds of runners that the config registers. */
  readonly registered: readonly string[];
  readonly allowed: AllowedChecks;
  /** The folder of the project, if there is one. */
  readonly project: string | undefined;
  /** The checks of its config. */
  readonly checks: readonly ProjectCheck[];
}

/** The runners that do the work are known when a tree runs. */
export function buildAssignment(parts: AssignmentParts): (inner: RunnerRegistry) => Runner {
  const { state, sandbox, toolchains, workspaces, names, model, registered, allowed } = parts;
  const hidden = [state];
  const folder = checksFolder(state);
  // Made with the first check: a project is loaded also by commands that must not touch the state folder.
  let made: Verify | undefined;
  const verify: Verify = (request, step) => {
    made ??= attemptVerifier({
      runGh,
      workspaces,
      sandbox,
      hidden,
      toolchains,
      folder,
      cache: openBaseCache(join(state, "checks")),
    });
    return made(request, step);
  };
  const resolveModel = (name: string): string => (name === "rehearsal" ? names.rehearsal : names.resolve(name));
  return (inner) =>
    assignmentRunner({
      inner,
      registered,
      policyOf: ({ rootInput }, { policy }) => goalPolicy(policy ?? policyIn(rootInput), names.fallback),
      modelOf: ({ rootInput }) => model(treeFile(rootInput)),
      resolveModel,
      verify,
      allowed,
      confined: sandbox.confined,
      workspaces,
    });
}

const ghMs = 20_000;

/** The person's own `gh`, with the person's login. */
export const runGh: RunGh = (args, signal) =>
  new Promise((resolve) => {
    const options = {
      encoding: "utf8",
      timeout: ghMs,
      maxBuffer: 1_000_000,
      signal,
      env: { ...process.env, PATH: ownPath() },
    } as const;
    execFile("gh", [...args], options, (failure, stdout, stderr) => {
      if (failure === null) resolve({ code: 0, stdout, stderr });
      else resolve(typeof failure.code === "number" ? { code: failure.code, stdout, stderr } : null);
    });
  });

const WithPolicy = z.object({ goal: z.object({ policy: KeptPolicy.optional() }) });

/** The policy that the goal was started with. */
function policyIn(rootInput: unknown): KeptPolicy | undefined {
  return WithPolicy.safeParse(rootInput).data?.goal.policy;
}

/** The policy of a goal; without one, a default from the models that are configured. */
export function goalPolicy(kept: KeptPolicy | undefined, fallback: string): GoalPolicy {
  if (kept === undefined) return { policy: initialPolicy(fallback), isDefault: true };
  const read = readPolicy(kept.text);
  if (read.ok) return { policy: read.value, isDefault: kept.is_default };
  throw new TuttiError("invalid_input", `the policy of the goal cannot be used: ${read.error.message}`);
}
