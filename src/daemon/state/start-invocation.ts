// Starts an invocation: reads it, checks that its targets could be made, and finds the one that is there already.

import { createHash } from "node:crypto";
import { isAbsolute, resolve } from "node:path";
import { homedir } from "node:os";

import type { Tutti } from "../../client/client.ts";
import type { Engine } from "../../engine/engine.ts";
import { taskName } from "../../engine/names.ts";
import type { NewTask } from "../../ports.ts";
import type { Started } from "../../protocol/api/task-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { type InvocationFile, readInvocationFile } from "../../protocol/invocation/invocation-file.ts";
import type { ReadIssue } from "../../protocol/lenient-read.ts";
import { readCommandConfig } from "../../runner/command/config.ts";
import { checkInvocation } from "../../runner/invocation/runner.ts";
import { invocationTask } from "../../runner/invocation/root-task.ts";
import { readOperatorConfig } from "../../runner/operator/config.ts";
import type { Store } from "../../store/store.ts";
import { projectFolder } from "../project/project-folder.ts";
import type { ProjectRuntimes } from "../project/project-runtimes.ts";

interface StarterDeps {
  readonly store: Store;
  readonly engine: Engine;
  readonly runtimes: ProjectRuntimes;
}

/** Starts under way, by idempotency key: the store cannot tell of them yet. */
type Starting = Map<string, { readonly content: string; readonly started: Promise<{ task: TaskId }> }>;

export function invocationStarter(deps: StarterDeps): Tutti["invoke"] {
  const starting: Starting = new Map();
  return (text, options) => start({ ...deps, starting }, text, options);
}

async function start(
  deps: StarterDeps & { readonly starting: Starting },
  text: string,
  options: Parameters<Tutti["invoke"]>[1],
): Promise<Started> {
  const { engine, runtimes } = deps;
  const { folder, anew } = options;
  if (!isAbsolute(folder)) throw new TuttiError("invalid_input", `the folder must be an absolute path, not ${folder}`);
  const reading = readInvocationFile(text);
  if (!reading.ok) {
    const said = reading.issues.map(worded).join("; ");
    throw new TuttiError("invalid_input", `the invocation cannot be used: ${said}`, {
      details: { issues: reading.issues },
    });
  }
  const project = projectFolder(resolve(folder, reading.file.project ?? "."), homedir());
  const { file } = reading;
  const task = invocationTask(file, { folder, project });
  const { environment } = await runtimes.of(project);
  for (const child of checkInvocation(file, task, environment)) {
    if (child.runner.kind === "command") readCommandConfig(child.runner.config);
    if (child.runner.kind === "operator") readOperatorConfig(child.runner.config);
    if (child.runner.kind === "local") needsScript(file, child.agent);
  }
  const warnings = reading.warnings.map(worded);
  // The same file elsewhere is other work: another project's, or on folders relative to where it is run. How it is set out does not count.
  const plain = JSON.stringify(JSON.parse(text));
  const content = createHash("sha256")
    .update([plain, project, ...task.rights.roots].join("\0"))
    .digest("hex");
  if (options.key === undefined) {
    const started = await engine.start(task, { key: content, anew: anew === true });
    return { ...started, warnings };
  }
  return { ...(await startOnce(deps, task, { key: options.key, content })), warnings };
}

/** What a key was first used for is bound under a second key, so that another body with it is told apart. */
async function startOnce(
  deps: Pick<StarterDeps, "store" | "engine"> & { readonly starting: Starting },
  task: NewTask,
  { key, content }: { readonly key: string; readonly content: string },
): Promise<Omit<Started, "warnings">> {
  const { store, engine, starting } = deps;
  const [bound, exact] = [`once ${key}`, `once ${key} ${content}`];
  const known = store.taskOfKey(bound);
  if (known !== undefined) {
    if (store.taskOfKey(exact) !== known) throw usedForOther();
    return { task: taskName(store.salt, known), existed: true };
  }
  const under = starting.get(key);
  if (under !== undefined) {
    if (under.content !== content) throw usedForOther();
    return { task: (await under.started).task, existed: true };
  }
  const started = engine.start(task, { key: bound, also: [exact] });
  starting.set(key, { content, started });
  try {
    return await started;
  } finally {
    starting.delete(key);
  }
}

function usedForOther(): TuttiError {
  return new TuttiError("conflict", "this idempotency key was used for another invocation; use a new key for new work");
}

/** A rehearsal without a script would end well and have done nothing. */
function needsScript({ agents, model, script }: InvocationFile, agent: string): void {
  const name = agents[agent]?.model ?? model;
  if (script !== undefined || (name !== undefined && !name.startsWith("rehearsal"))) return;
  const message = `${agent} has no model and there is no script to rehearse; set a model up (\`tutti doctor\`), or give a script`;
  throw new TuttiError("invalid_input", message);
}

function worded({ path, message }: ReadIssue): string {
  return path === "" ? message : `${path}: ${message}`;
}
