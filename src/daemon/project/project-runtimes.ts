// Loads what a project brings to its tasks, its models, its tools and the runners built from them, once per version of its config.

import { statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";

import type { AgentEnvironment } from "../../agent/agent-environment.ts";
import { models } from "../../model/model-registry.ts";
import { rehearsalModel } from "../../model/rehearsal/rehearsal-model.ts";
import type { Clock, Runner, TreeRunners } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import { invocationRunner } from "../../runner/invocation/runner.ts";
import { readInvocationConfig } from "../../runner/invocation/config.ts";
import { localRunner } from "../../runner/local/runner.ts";
import { gated } from "../../runner/operator/gate.ts";
import { askForConfig } from "./ask-for-config.ts";
import { type Config, configFile, loadConfig } from "./project-config.ts";
import { buildEnvironment } from "./build-environment.ts";
import { projectFolder } from "./project-folder.ts";

interface ProjectRuntime {
  readonly environment: Partial<AgentEnvironment>;
  readonly local: Runner;
  readonly invocation: Runner;
}

export interface ProjectRuntimes {
  /**
   * `project` is the folder of a project, as it is recorded in a tree; undefined stands for the default project. The folder
   * must exist (`not_found`): when it is gone, a project further up must not take its place. Throws `invalid_input` when
   * the config cannot be used.
   */
  runtimeOf(project: string | undefined): Promise<ProjectRuntime>;
  /** The runners of a tree: those of its project, as its config is when the tree's first task runs here. */
  readonly treeRunners: TreeRunners;
}

export interface ProjectRuntimesOptions {
  /** The state folder. */
  readonly state: string;
  /** A folder in the default project, which is used for trees that name none. */
  readonly defaultFolder: string;
  readonly clock: Clock;
  /** Called with every config that is loaded, before anything of it is used. */
  readonly onConfig: (config: Config) => void;
}

export function openProjectRuntimes(options: ProjectRuntimesOptions): ProjectRuntimes {
  const cache = new Map<string, { readonly version: string; readonly runtime: Promise<ProjectRuntime> }>();
  const runtimeOf = async (recorded: string | undefined): Promise<ProjectRuntime> => {
    const project = recorded ?? projectFolder(resolve(options.defaultFolder), homedir());
    if (statSync(project, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new TuttiError("not_found", `there is no folder ${project}`);
    }
    const version = configVersion(project);
    const cached = cache.get(project);
    if (cached?.version === version) return cached.runtime;
    const runtime = loadRuntime(project, options);
    cache.set(project, { version, runtime });
    // A failure is not cached: its cause may be in a file that the config imports, which the version does not cover.
    runtime.catch(() => {
      if (cache.get(project)?.runtime === runtime) cache.delete(project);
    });
    return runtime;
  };
  return {
    runtimeOf,
    treeRunners: {
      kinds: ["invocation", "local"],
      async resolve(durable) {
        const { project } = readInvocationConfig(durable.rootConfig);
        const { invocation, local } = await askForConfig(durable, () => runtimeOf(project));
        return { invocation, local: gated(local) };
      },
    },
  };
}

async function loadRuntime(
  project: string,
  { state, clock, onConfig }: ProjectRuntimesOptions,
): Promise<ProjectRuntime> {
  const loaded = await loadConfig(project);
  onConfig(loaded.config);
  const registry = models({ config: loaded.config.models, env: process.env, clock });
  const environment = await buildEnvironment(loaded, state);
  return {
    environment,
    invocation: invocationRunner(environment),
    local: localRunner({ model: (file) => registry.withRehearsal(rehearsalModel(file.script ?? {})), ...environment }),
  };
}

/** Changes whenever the config file is edited. */
function configVersion(project: string): string {
  const file = configFile(project);
  if (file === undefined) return "";
  const { mtimeMs, size } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: 0, size: 0 };
  return `${file} ${mtimeMs} ${size}`;
}
