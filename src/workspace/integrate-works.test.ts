import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { personsThings, repositoryAt } from "../../test/support/git-kit.ts";
import { workspaceKit, type WorkspaceKit } from "../../test/support/workspace-kit.ts";
import { integrateWorks, type WorkIntegration } from "./integrate-works.ts";
import { finishedWork, type FinishedWork } from "./merge-predecessors.ts";
import { sessionResult } from "./session-result.ts";

interface Tree extends WorkspaceKit {
  readonly work: (files: Readonly<Record<string, string>>) => Promise<FinishedWork>;
  readonly integrate: (
    works: readonly FinishedWork[],
    more?: Partial<WorkIntegration>,
  ) => ReturnType<typeof integrateWorks>;
}

function tree(t: TestContext): Tree {
  const kit = workspaceKit(t);
  const { repository, store, make } = kit;
  return {
    ...kit,
    async work(files) {
      const { workspace, inside } = await make();
      inside.commit(files);
      return finishedWork(workspace);
    },
    integrate: (works, more = {}) =>
      integrateWorks(store, {
        repository: repository.folder,
        git_dir: join(repository.folder, ".git"),
        task: "tsk_0",
        works,
        now: 1,
        ...more,
      }),
  };
}

test("the work of a tree becomes one branch in a worktree of its own, and later work is added to it", async (t) => {
  const { repository, work, integrate } = tree(t);
  const [one, two] = [await work({ "one.txt": "one\n" }), await work({ "two.txt": "two\n" })];
  const before = personsThings(repository);
  const made = await integrate([one, two]);
  assert.ok(made.state === "integrated");
  assert.equal(made.branch, "tutti/tsk_0-integration");
  assert.equal(repository.git("rev-parse", made.branch), made.commit);
  assert.equal(repository.git("rev-parse", `${made.commit}^{tree}`), made.tree);
  const inside = repositoryAt(made.workspace.folder);
  assert.equal(readFileSync(join(inside.folder, "two.txt"), "utf8"), "two\n");
  assert.equal((await sessionResult(made.workspace))?.total.files, 2);

  const fixed = inside.commit({ "fix.txt": "by hand\n" });
  const three = await work({ "three.txt": "three\n" });
  inside.write("open.txt", "uncommitted\n");
  await assert.rejects(integrate([one, two, three]), /1 uncommitted files/);
  inside.git("clean", "-qf");
  const again = await integrate([one, two, three]);
  assert.ok(again.state === "integrated");
  assert.equal(repository.git("merge-base", "--is-ancestor", fixed, again.commit), "");
  assert.ok(existsSync(join(again.workspace.folder, "three.txt")));
  assert.deepEqual(again.workspace, { ...made.workspace, created_at: 1 });
  assert.deepEqual(personsThings(repository), before);
});

test("a conflict makes nothing, and tells what fits together and what is left", async (t) => {
  const { repository, store, work, integrate } = tree(t);
  const [one, clash, two] = [
    await work({ "a.txt": "one\n" }),
    await work({ "a.txt": "clash\n" }),
    await work({ "two.txt": "two\n" }),
  ];
  assert.deepEqual(await integrate([one, clash, two], { branchPattern: "work/{task}/{attempt}" }), {
    state: "conflict",
    branch: clash.branch,
    commit: clash.commit,
    files: ["a.txt"],
    merged: { commit: one.commit, branches: [one.branch] },
    rest: [{ name: two.branch, commit: two.commit }],
  });
  assert.equal(repository.git("branch", "--list", "work/*"), "");
  assert.equal(existsSync(join(store.root, "wsp_0-integration")), false);
  const made = await integrate([one, two], { branchPattern: "work/{task}/{attempt}" });
  assert.ok(made.state === "integrated");
  assert.equal(made.branch, "work/tsk_0/integration");
});
