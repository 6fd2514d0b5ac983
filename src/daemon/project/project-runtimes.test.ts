import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { trustProject } from "../../../test/support/trusted-project.ts";
import { failsWith } from "../../../test/support/try-tool.ts";
import { systemClock } from "../../engine/clock.ts";
import type { Durable } from "../../ports.ts";
import type { ModelsConfig } from "../../model/models-config.ts";
import { openProviderKeys } from "../secrets/provider-keys.ts";
import { openProjectRuntimes, type ProjectRuntimes } from "./project-runtimes.ts";
import { Attendance } from "../attendance/attendance.ts";

interface Opened {
  readonly runtimes: ProjectRuntimes;
  readonly project: string;
  readonly home: string;
  readonly configs: readonly ModelsConfig[];
  readonly warnings: readonly string[];
  /** Writes the config without trusting it. */
  readonly write: (config: string) => void;
  readonly trust: () => void;
}

function open(t: TestContext): Opened {
  const folder = tempFolder(t);
  const [project, home, state] = [join(folder, "project"), join(folder, "home"), join(folder, "state")];
  mkdirSync(join(project, "src", "deep"), { recursive: true });
  mkdirSync(join(home, ".tutti"), { recursive: true });
  const configs: ModelsConfig[] = [];
  const warnings: string[] = [];
  const runtimes = openProjectRuntimes({
    attendance: new Attendance({ clock: systemClock, settle: async () => undefined }),
    state,
    home,
    clock: systemClock,
    providerKeys: openProviderKeys(state),
    onModels: (models) => configs.push(models),
    onWarning: (message) => warnings.push(message),
  });
  t.after(() => runtimes.close());
  const write = (text: string): void => writeFileSync(join(project, "tutti.config.json"), text);
  return { runtimes, project, home, configs, warnings, write, trust: () => trustProject(state, project) };
}

test("a config that is not trusted is not loaded, and neither is a changed one", async (t) => {
  const { runtimes, project, configs, write, trust } = open(t);
  write('{"models":{"default":"a/b"}}');
  assert.equal(await runtimes.runtimeOf(project), undefined);
  trust();
  assert.ok((await runtimes.runtimeOf(project)) !== undefined);
  write('{"approvals":{"execute":"free"}}');
  assert.equal(await runtimes.runtimeOf(project), undefined);
  assert.equal(configs.length, 1);
});

test("a config that was trusted and is gone is not the same as none: a task asks before it runs without its rules", async (t) => {
  const { runtimes, project, write, trust } = open(t);
  assert.ok((await runtimes.runtimeOf(project)) !== undefined, "a project that never had one needs no agreement");
  write('{"approvals":{"execute":"refuse"}}');
  trust();
  rmSync(join(project, "tutti.config.json"));
  assert.equal(await runtimes.runtimeOf(project), undefined);
  const asked: string[] = [];
  const resolve = async (approved: boolean): Promise<unknown> => {
    const wait = async (_key: string, { ask }: { ask: { question: string } }) => {
      asked.push(ask.question);
      return { value: { kind: "approval", approved }, by: { kind: "person", name: "Ada" } };
    };
    const durable = { wait, rootConfig: { project, text: "{}" } } as unknown as Durable;
    return runtimes.treeRunners.resolve(durable);
  };
  await assert.rejects(resolve(false), failsWith("refused", /has no config any more, although you trusted one/));
  await resolve(true);
  await resolve(true);
  assert.equal(asked.length, 2, "once, when the answer is yes");
  assert.match(asked[0] ?? "", /Its approval rules, tools and models would not count/);
  write('{"approvals":{"execute":"refuse"}}');
  assert.ok((await runtimes.runtimeOf(project)) !== undefined, "the config is still trusted when it comes back");
});

test("a runtime is loaded once, and again when the config has changed and is trusted", async (t) => {
  const { runtimes, project, configs, write, trust } = open(t);
  write("{}");
  trust();
  const first = await runtimes.runtimeOf(project);
  assert.equal(await runtimes.runtimeOf(project), first);
  assert.equal(configs.length, 1);
  write('{"models":{"default":"rehearsal/script"}}');
  trust();
  const second = await runtimes.runtimeOf(project);
  assert.notEqual(second, first);
  assert.deepEqual(
    configs.map((models) => models.default),
    [undefined, "rehearsal/script"],
  );
});

test("without a project the user's config counts alone; it needs no trust, and the project's rules add to it", async (t) => {
  const { runtimes, project, home, write, trust } = open(t);
  const own = { models: { default: "a/b" }, approvals: { execute: "ask" } };
  writeFileSync(join(home, ".tutti", "tutti.config.mjs"), `export default ${JSON.stringify(own)}`);
  const user = { from: "user", rules: { execute: "ask" } };
  assert.deepEqual((await runtimes.runtimeOf(undefined))?.environment.approvals, [user]);
  write('{"approvals":{"execute":"free"}}');
  trust();
  const both = await runtimes.runtimeOf(project);
  assert.deepEqual(both?.environment.approvals, [user, { from: "project", rules: { execute: "free" } }]);
});

test("the notifications of a project are ignored, and a warning says so", async (t) => {
  const { runtimes, project, warnings, write, trust } = open(t);
  write('{"notifications":{"command":["/bin/true"]}}');
  trust();
  await runtimes.runtimeOf(project);
  assert.match(warnings[0] ?? "", /notifications is ignored/);
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
  const { runtimes, project, write, trust } = open(t);
  write("{ ");
  trust();
  await assert.rejects(runtimes.runtimeOf(project), failsWith("invalid_input", /tutti\.config\.json cannot be used/));
  write("{}");
  trust();
  await runtimes.runtimeOf(project);
});
