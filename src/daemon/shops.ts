// What each project brings to the work: its models, its tools and the runners made of them, loaded once per version of its config.

import { statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";

import type { House } from "../agent/house.ts";
import { models } from "../model/models.ts";
import { rehearsalModel } from "../model/rehearsal/rehearsal-model.ts";
import type { Clock, Durable, Runner } from "../ports.ts";
import { Answer } from "../protocol/ask.ts";
import { toTuttiError, TuttiError } from "../protocol/error.ts";
import { invocationRunner } from "../runner/invocation/invocation-runner.ts";
import { InvocationConfig } from "../runner/invocation/invocation-task.ts";
import { localRunner } from "../runner/local/local-runner.ts";
import { type Config, configFile, loadConfig } from "./config.ts";
import { furnish } from "./furnish.ts";
import { projectFolder } from "./project-folder.ts";

interface Shop {
  readonly house: Partial<House>;
  readonly local: Runner;
  readonly invocation: Runner;
}

export interface Shops {
  /** Of the project that `folder` is in. Throws `invalid_input` when its config cannot be used, `not_found` without a folder. */
  of(folder: string): Promise<Shop>;
  /** Runs a task with what its tree's project brings. */
  runner(kind: "local" | "invocation"): Runner;
}

export interface ShopsOptions {
  readonly state: string;
  /** The folder of trees that name no project. */
  readonly home: string;
  readonly clock: Clock;
  /** Told of the config of every project that is worked for, before anything of it runs. */
  readonly onConfig: (config: Config) => void;
}

export function openShops(options: ShopsOptions): Shops {
  const known = new Map<string, { readonly version: string; readonly shop: Promise<Shop> }>();
  const at = async (project: string): Promise<Shop> => {
    if (statSync(project, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new TuttiError("not_found", `there is no folder ${project}`);
    }
    const version = versionOf(project);
    const found = known.get(project);
    if (found?.version === version) return found.shop;
    const shop = openShop(project, options);
    known.set(project, { version, shop });
    // One that cannot be used is looked at again: what is wrong may lie in a file the config imports.
    shop.catch(() => {
      if (known.get(project)?.shop === shop) known.delete(project);
    });
    return shop;
  };
  const of = (folder: string): Promise<Shop> => at(projectFolder(resolve(folder), homedir()));
  return {
    of,
    runner: (kind) => async (durable, config) => {
      const { project } = InvocationConfig.parse(durable.rootConfig);
      // What a tree recorded is the project itself: when it is gone, none that happens to be above it stands in.
      const shop = await shopOf(durable, () => (project === undefined ? of(options.home) : at(project)));
      return shop[kind](durable, config);
    },
  };
}

/** A config that is broken when its task is to go on is asked about: failing the task would be an end that never changes. */
async function shopOf(durable: Durable, open: () => Promise<Shop>): Promise<Shop> {
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

async function openShop(project: string, { state, clock, onConfig }: ShopsOptions): Promise<Shop> {
  const loaded = await loadConfig(project);
  onConfig(loaded.config);
  const all = models({ config: loaded.config.models, env: process.env, clock });
  const house = await furnish(loaded, state);
  return {
    house,
    invocation: invocationRunner(house),
    local: localRunner({ model: (file) => all.withRehearsal(rehearsalModel(file.script ?? {})), ...house }),
  };
}

/** Changes when the config does. */
function versionOf(project: string): string {
  const file = configFile(project);
  if (file === undefined) return "";
  const { mtimeMs, size } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: 0, size: 0 };
  return `${file} ${mtimeMs} ${size}`;
}
