import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { failsWith } from "../../../test/support/try-tool.ts";
import { systemClock } from "../../engine/clock.ts";
import type { Config } from "./project-config.ts";
import { openProjectRuntimes, type ProjectRuntimes } from "./project-runtimes.ts";

interface Opened {
  readonly runtimes: ProjectRuntimes;
  readonly project: string;
  readonly configs: readonly Config[];
  readonly write: (config: string) => void;
}

function open(t: TestContext): Opened {
  const folder = tempFolder(t);
  const project = join(folder, "project");
  mkdirSync(join(project, "src", "deep"), { recursive: true });
  const configs: Config[] = [];
  const runtimes = openProjectRuntimes({
    state: join(folder, "state"),
    defaultFolder: join(project, "src", "deep"),
    clock: systemClock,
    onConfig: (config) => configs.push(config),
  });
  return { runtimes, project, configs, write: (text) => writeFileSync(join(project, "tutti.config.json"), text) };
}

test("a runtime is loaded once, and again when the config has changed", async (t) => {
  const { runtimes, project, configs, write } = open(t);
  write("{}");
  const first = await runtimes.runtimeOf(project);
  assert.equal(await runtimes.runtimeOf(project), first);
  assert.equal(configs.length, 1);
  write('{"models":{"default":"rehearsal/script"}}');
  const second = await runtimes.runtimeOf(project);
  assert.notEqual(second, first);
  assert.deepEqual(
    configs.map(({ models }) => models.default),
    [undefined, "rehearsal/script"],
  );
});

test("without a project it is the one that contains the default folder", async (t) => {
  const { runtimes, project, write } = open(t);
  write("{}");
  assert.equal(await runtimes.runtimeOf(undefined), await runtimes.runtimeOf(project));
});

test("a recorded project that is gone is not replaced by one further up", async (t) => {
  const { runtimes, project, write } = open(t);
  write("{}");
  const recorded = join(project, "src", "deep");
  await runtimes.runtimeOf(recorded);
  rmSync(recorded, { recursive: true });
  await assert.rejects(runtimes.runtimeOf(recorded), failsWith("not_found"));
});

test("a config that cannot be used is an error that is not remembered", async (t) => {
  const { runtimes, project, write } = open(t);
  write("{ ");
  await assert.rejects(runtimes.runtimeOf(project), failsWith("invalid_input", /tutti\.config\.json cannot be used/));
  write("{}");
  await runtimes.runtimeOf(project);
});
