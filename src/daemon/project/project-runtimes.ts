// What each project brings to the work: its models, its tools and the runners made of them, loaded once per version of its config.

import { statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";

import type { AgentEnvironment } from "../../agent/agent-environment.ts";
import { models } from "../../model/model-registry.ts";
import { rehearsalModel } from "../../model/rehearsal/rehearsal-model.ts";
import type { Clock, Durable, Runner } from "../../ports.ts";
import { Answer } from "../../protocol/task/ask.ts";
import { toTuttiError, TuttiError } from "../../protocol/error.ts";
import { invocationRunner } from "../../runner/invocation/runner.ts";
import { InvocationConfig } from "../../runner/invocation/root-task.ts";
import { localRunner } from "../../runner/local/runner.ts";
import { type Config, configFile, loadConfig } from "./project-config.ts";
import { buildEnvironment } from "./build-environment.ts";
import { projectFolder } from "./project-folder.ts";

interface ProjectRuntime {
  readonly environment: Partial<AgentEnvironment>;
  readonly local: Runner;
  readonly invocation: Runner;
}

export interface ProjectRuntimes {
  /** Of the project that `folder` is in. Throws `invalid_input` when its config cannot be used, `not_found` without a folder. */
  of(folder: string): Promise<ProjectRuntime>;
  /** Runs a task with what its tree's project brings. */
  runner(kind: "local" | "invocation"): Runner;
}

export interface ProjectRuntimesOptions {
  readonly state: string;
  /** The folder of trees that name no project. */
  readonly home: string;
  readonly clock: Clock;
  /** Told of the config of every project that is worked for, before anything of it runs. */
  readonly onConfig: (config: Config) => void;
}

export function openProjectRuntimes(options: ProjectRuntimesOptions): ProjectRuntimes {
  const known = new Map<string, { readonly version: string; readonly runtime: Promise<ProjectRuntime> }>();
  const at = async (project: string): Promise<ProjectRuntime> => {
    if (statSync(project, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new TuttiError("not_found", `there is no folder ${project}`);
    }
    const version = versionOf(project);
    const found = known.get(project);
    if (found?.version === version) return found.runtime;
    const runtime = openRuntime(project, options);
    known.set(project, { version, runtime });
    // One that cannot be used is looked at again: what is wrong may lie in a file the config imports.
    runtime.catch(() => {
      if (known.get(project)?.runtime === runtime) known.delete(project);
    });
    return runtime;
  };
  const of = (folder: string): Promise<ProjectRuntime> => at(projectFolder(resolve(folder), homedir()));
  return {
    of,
    runner: (kind) => async (durable, config) => {
      const { project } = InvocationConfig.parse(durable.rootConfig);
      // What a tree recorded is the project itself: when it is gone, none that happens to be above it stands in.
      const runtime = await runtimeOf(durable, () => (project === undefined ? of(options.home) : at(project)));
      return runtime[kind](durable, config);
    },
  };
}

/** A config that is broken when its task is to go on is asked about: failing the task would be an end that never changes. */
async function runtimeOf(durable: Durable, open: () => Promise<ProjectRuntime>): Promise<ProjectRuntime> {
  for (let count = 1; ; count += 1) {
    try {
      return await open();
    } catch (thrown) {
      const { message } = toTuttiError(thrown);
      const question = `The config of this task's project cannot be used: ${message}. Mended? Then the task goes on.`;
      const asked = await durable.wait(`config.${count}`, { ask: { kind: "approval", question }, schema: Answer });
      const goOn = "value" in asked && asked.value.kind === "approval" && asked.value.approved;
      if (!goOn) throw new TuttiError("invalid_input", message, { cause: thrown });
    }
  }
}

async function openRuntime(
  project: string,
  { state, clock, onConfig }: ProjectRuntimesOptions,
): Promise<ProjectRuntime> {
  const loaded = await loadConfig(project);
  onConfig(loaded.config);
  const all = models({ config: loaded.config.models, env: process.env, clock });
  const environment = await buildEnvironment(loaded, state);
  return {
    environment,
    invocation: invocationRunner(environment),
    local: localRunner({ model: (file) => all.withRehearsal(rehearsalModel(file.script ?? {})), ...environment }),
  };
}

/** Changes when the config does. */
function versionOf(project: string): string {
  const file = configFile(project);
  if (file === undefined) return "";
  const { mtimeMs, size } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: 0, size: 0 };
  return `${file} ${mtimeMs} ${size}`;
}
