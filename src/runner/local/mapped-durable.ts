// The port of a task whose agent works in a workspace: the folders that the agent may touch are those of the workspace.

import { isAbsolute, join, relative } from "node:path";

import { TaskInput } from "../../agent/delegation/task-input.ts";
import type { Rights } from "../../core/rights.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { Durable, Handover, NewTask } from "../../ports.ts";
import { withParts } from "../shared/with-parts.ts";
import { startFolder, type Workspace } from "../../workspace/index.ts";

/** The same place in the workspace for each folder. A folder outside of the workspace's project has none, and is left out. */
function mappedRoots(roots: readonly string[], workspace: Workspace): string[] {
  if (workspace.mode === "shared") return [...roots];
  const top = workspace.mode === "worktree" ? (workspace.repository ?? workspace.project) : workspace.project;
  const inside = roots.flatMap((root) => {
    const path = relative(top, root);
    return path === ".." || path.startsWith("../") || isAbsolute(path) ? [] : [join(workspace.folder, path)];
  });
  // The first root is the project, perhaps by a path with links in it.
  return [...new Set([startFolder(workspace), ...inside])];
}

/** What the engine records keeps the task's own folders, so rights still only narrow (invariant 6). */
export function inWorkspace(durable: Durable, workspace: Workspace, instructions = ""): Durable {
  const own = durable.rights;
  const rights: Rights = { ...own, roots: mappedRoots(own.roots, workspace) };
  const unmapped = (wanted: Rights): Rights => ({ ...wanted, roots: own.roots });
  const replaced = {
    rights,
    input: withInstructions(durable.input, instructions),
    spawn: (key: string, children: readonly NewTask[], shared?: unknown) =>
      durable.spawn(
        key,
        children.map((child) => ({ ...placed(child, workspace), rights: unmapped(child.rights) })),
        shared,
      ),
    handover: (key: string, to: Handover) =>
      durable.handover(key, { ...to, ...(to.rights === undefined ? {} : { rights: unmapped(to.rights) }) }),
  };
  return withParts(durable, replaced);
}

/** They come before the prompt. */
function withInstructions(input: unknown, instructions: string): unknown {
  if (instructions === "") return input;
  const read = TaskInput.parse(input);
  const { message } = read;
  return { ...read, message: { ...message, parts: [{ part_type: "text", data: instructions }, ...message.parts] } };
}

/**
 * An agent of this process works in the workspace of its caller. A coding agent gets a workspace of its own, whatever its
 * definition says. Nobody else can be kept out of the person's own folder, so nobody else is called from a workspace.
 */
function placed(child: NewTask, { id }: Workspace): NewTask {
  const { kind, config } = child.runner;
  if (kind === "local" && child.detached !== true) return { ...child, runner: { kind, config: { within: id } } };
  if (kind === "acp") return { ...child, runner: { kind, config: { ...Object(config), workspace: {} } } };
  const why = kind === "local" ? "would work on after the workspace was saved" : "would work in your own folder";
  throw new TuttiError("refused", `${child.agent} cannot be called from a workspace, because it ${why}`);
}
