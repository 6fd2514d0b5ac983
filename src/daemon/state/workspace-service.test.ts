import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";

import { openKit } from "../../../test/support/http-kit.ts";
import { testRepository } from "../../../test/support/git-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { openWorkspaces, readRecords, writeRecord } from "../../workspace/record-store.ts";
import type { WorkspacesConfig } from "../project/workspaces-config.ts";
import { workspaceService } from "./workspace-service.ts";

test("a start brings in order what a crash cut in two, keeps within the limits of the config, and logs both", async (t) => {
  const kit = await openKit();
  t.after(() => kit.close());
  const repository = testRepository(t);
  const store = openWorkspaces(kit.folder);
  for (const attempt of [1, 2]) {
    await createWorkspace(store, { task: "tsk_0_gone", attempt, project: repository.folder, now: Date.now() });
  }
  const [half, whole] = readRecords(store).workspaces;
  assert.ok(half !== undefined && whole !== undefined);
  writeRecord(store, { ...half, state: "creating" });
  const said: string[] = [];
  const tell = (facts: object, message: string): void => void said.push(`${message} ${JSON.stringify(facts)}`);
  let config: WorkspacesConfig = {};
  const root = tempFolder(t, "tutti-root-");
  const service = workspaceService({
    folder: kit.folder,
    view: kit.state.view,
    redact: (text) => text,
    config: async () => config,
    root,
    log: { info: tell, warn: tell },
    now: () => Date.now(),
  });
  await service.recover();
  assert.deepEqual(
    readRecords(store).workspaces.map(({ id }) => id),
    [whole.id],
  );
  assert.ok(!existsSync(half.folder));
  service.keepWithinLimits();
  await service.control.idle();
  assert.ok(existsSync(whole.folder), "there is no limit");
  config = { max_size: 0 };
  service.keepWithinLimits();
  await until(() => said.some((line) => line.includes("was removed")), "the limit is kept");
  await service.close();
  assert.ok(!existsSync(whole.folder));
  assert.match(said[0] ?? "", new RegExp(`brought in order after a crash .*${half.id}.*undone`));
  const made = await createWorkspace(service.store, {
    task: "tsk_0_other",
    attempt: 1,
    project: repository.folder,
    now: Date.now(),
  });
  assert.ok(made.state === "ready" && made.workspace.folder.startsWith(root));
});
