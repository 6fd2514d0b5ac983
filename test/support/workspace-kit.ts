// A repository and a store of workspaces for tests.

import assert from "node:assert/strict";
import { join } from "node:path";

import { createWorkspace, type NewWorkspace } from "../../src/workspace/create-workspace.ts";
import { openWorkspaces, type WorkspaceStore } from "../../src/workspace/record-store.ts";
import type { Workspace } from "../../src/workspace/workspace-record.ts";
import { repositoryAt, testRepository, type TestRepository } from "./git-kit.ts";
import { type Cleanup, tempFolder } from "./temp-folder.ts";

export interface WorkspaceKit {
  readonly repository: TestRepository;
  readonly store: WorkspaceStore;
  readonly make: (more?: Partial<NewWorkspace>) => Promise<{ workspace: Workspace; inside: TestRepository }>;
}

export function workspaceKit(t: Cleanup, files?: Readonly<Record<string, string>>): WorkspaceKit {
  const repository = testRepository(t, files);
  const store = openWorkspaces(join(tempFolder(t), "state"));
  let made = 0;
  return {
    repository,
    store,
    make: async (more = {}) => {
      made += 1;
      const wanted = { task: "tsk_1", attempt: made, project: repository.folder, now: made, ...more };
      const outcome = await createWorkspace(store, wanted);
      assert.equal(outcome.state, "ready");
      const { workspace } = outcome as { workspace: Workspace };
      return { workspace, inside: repositoryAt(workspace.folder) };
    },
  };
}
