// Decides what of a program's work needs a person's yes: what a person decides for their own work by writing it down.

import type { ProgramCaller, ProgramWish } from "../protocol/invocation/by-program.ts";
import type { ExecutorHint } from "../protocol/invocation/executor.ts";
import type { GoalRequest } from "../protocol/invocation/goal-file.ts";
import type { AgentDefinition, InvocationFile } from "../protocol/invocation/invocation-file.ts";
import { attendedKind } from "../protocol/invocation/runner-kinds.ts";
import { folderInside } from "./folder-inside.ts";

/** Where the work is to happen. All paths are real ones. */
export interface WorkPlace {
  readonly project: string;
  readonly roots: readonly string[];
  /** A person agreed to the config that the project has now. */
  readonly isTrusted: boolean;
}

type Rights = Pick<ProgramCaller, "may" | "folders">;

/** `file` is what the program gave, without what Tutti adds from files of the user and of the project. */
export function wishesOfInvocation(
  { invocation, agents }: Pick<InvocationFile, "invocation" | "agents">,
  { may }: Rights,
): ProgramWish[] {
  if (may.includes("force-runners")) return [];
  const runners = [
    ...executorWish("executor", invocation.executor),
    ...invocation.targets.flatMap(({ executor }, at) => executorWish(`executor of target ${at + 1}`, executor)),
    ...Object.entries(agents).flatMap(([name, definition]) => agentWish(name, definition)),
  ];
  // What a runner is told is what it does: a shell takes it for commands.
  const told = invocation.targets.map(({ message: { parts } }, at) => ({
    wish: `what target ${at + 1} is told`,
    value: parts.length === 1 && parts[0]?.part_type === "text" ? parts[0].data : parts,
  }));
  return runners.length === 0 ? [] : [...runners, ...told];
}

/** A workspace is made by Tutti and confined, so wanting one is nothing more than working in the folders. */
function executorWish(wish: string, hint: ExecutorHint | undefined): ProgramWish[] {
  return hint?.kind === "force" && hint.type === "remote" ? [{ wish, value: hint.runner }] : [];
}

/**
 * A runner that an agent brings, or the runtimes that choose one for it. A person is asked about a runner of the project in any
 * case, and the code of an attended one runs in the program itself.
 */
function agentWish(name: string, { runner, runtimes, from_project }: AgentDefinition): ProgramWish[] {
  if (from_project === true) return [];
  if (runner !== undefined) {
    return runner.kind === "local" || runner.kind === attendedKind
      ? []
      : [{ wish: `runner of the agent ${name}`, value: runner }];
  }
  if (runtimes === undefined || runtimes.length === 0 || runtimes.includes("local")) return [];
  return [{ wish: `runtimes of the agent ${name}`, value: runtimes }];
}

/** The roots that no person opened to the program, and a project whose rules would hold elsewhere. */
export function wishesOfPlace({ project, roots, isTrusted }: WorkPlace, { may, folders }: Rights): ProgramWish[] {
  if (may.includes("any-folder")) return [];
  const isOpen = (folder: string, open: readonly string[]): boolean => folderInside(folder, open) !== undefined;
  const open = isTrusted ? [...folders, project] : folders;
  const outside = roots.filter((root) => !isOpen(root, open)).map((value) => ({ wish: "folder", value }));
  const rulesElsewhere = isTrusted && !isOpen(project, folders) && roots.some((root) => !isOpen(root, [project]));
  return rulesElsewhere ? [...outside, { wish: "rules of the project", value: project }] : outside;
}

/** What would go before the routing policy of the user and the project, or run without a question. */
export function wishesOfGoal(
  { policy, checks, model }: { readonly policy?: string | undefined } & Pick<GoalRequest, "checks" | "model">,
  { may }: Rights,
): ProgramWish[] {
  const rules = may.includes("own-rules")
    ? []
    : [
        ...(policy === undefined ? [] : [{ wish: "routing policy", value: policy }]),
        ...checks.map((value) => ({ wish: "check that runs without a question", value })),
      ];
  const namesRunner = model !== undefined && !may.includes("force-runners") && mayNameRunner(model);
  return namesRunner ? [...rules, { wish: "runner and model of all tasks", value: model }] : rules;
}

/** A project can add kinds of runners, so every name before a colon counts as one; `provider/model:tag` has none. */
function mayNameRunner(model: string): boolean {
  return /^[^/:]*:/.test(model);
}
