import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { personsThings, testRepository, type TestRepository } from "../../test/support/git-kit.ts";
import { workspaceKit } from "../../test/support/workspace-kit.ts";
import { mergeBranch } from "./merge-branch.ts";

/** Beside main: `work` and `clash` change a.txt each in its own way, `side` adds a file. */
function branches(t: TestContext): TestRepository {
  const repository = testRepository(t, { "a.txt": "a\n", "b.txt": "b\n" });
  for (const [name, files] of [
    ["work", { "a.txt": "work\n" }],
    ["clash", { "a.txt": "clash\n" }],
    ["side", { "side.txt": "side\n" }],
    ["target", {}],
  ] as const) {
    repository.git("checkout", "-q", "-b", name, "main");
    if (Object.keys(files).length > 0) repository.commit(files, name);
  }
  repository.git("checkout", "-q", "main");
  return repository;
}

test("a branch that is not checked out is merged without touching the checkout", async (t) => {
  const repository = branches(t);
  const before = personsThings(repository, /refs\/heads\/target/);
  const merge = (from: string) => mergeBranch({ project: repository.folder, from, into: "target" });
  assert.partialDeepStrictEqual(await merge("work"), { state: "merged", how: "fast_forward" });
  assert.partialDeepStrictEqual(await merge("side"), { state: "merged", how: "merge" });
  assert.partialDeepStrictEqual(await merge("side"), { state: "merged", how: "up_to_date" });
  assert.equal(repository.git("show", "target:a.txt"), "work");
  assert.equal(repository.git("show", "target:side.txt"), "side");
  const tip = repository.git("rev-parse", "target");
  assert.partialDeepStrictEqual(await merge("clash"), { state: "conflict", branch: "clash", files: ["a.txt"] });
  assert.equal(repository.git("rev-parse", "target"), tip);
  assert.deepEqual(personsThings(repository, /refs\/heads\/target/), before);
});

test("a checkout is merged into only with agreement and only when it is clean", async (t) => {
  const repository = branches(t);
  const merge = (from: string, allowCheckedOut = true) =>
    mergeBranch({ project: repository.folder, from, into: "main", allowCheckedOut });
  const before = personsThings(repository);
  await assert.rejects(merge("work", false), { code: "refused", message: /agree with --checked-out/ });
  repository.write("b.txt", "mine\n");
  await assert.rejects(merge("work"), { code: "refused", message: /uncommitted changes \(b\.txt\)/ });
  repository.git("checkout", "-q", "b.txt");
  repository.write("side.txt", "untracked and mine\n");
  await assert.rejects(merge("side"), { code: "refused", message: /side\.txt' would be overwritten/ });
  assert.equal(readFileSync(join(repository.folder, "side.txt"), "utf8"), "untracked and mine\n");
  assert.equal(repository.git("status", "--porcelain"), "?? side.txt");
  repository.git("clean", "-qf");
  assert.partialDeepStrictEqual(await merge("work"), { state: "merged", how: "fast_forward" });
  assert.notDeepEqual(personsThings(repository), before);
  assert.equal(readFileSync(join(repository.folder, "a.txt"), "utf8"), "work\n");
  assert.partialDeepStrictEqual(await merge("side"), { state: "merged", how: "merge" });
  assert.equal(repository.git("status", "--porcelain"), "");
  assert.equal(repository.git("log", "-1", "--format=%s"), "Merge side into main");
  const merged = personsThings(repository);
  assert.partialDeepStrictEqual(await merge("clash"), { state: "conflict", branch: "clash", files: ["a.txt"] });
  assert.deepEqual(personsThings(repository), merged);
  writeFileSync(join(repository.folder, ".git", "MERGE_HEAD"), `${repository.git("rev-parse", "clash")}\n`);
  await assert.rejects(merge("target"), /in the middle of something \(MERGE_HEAD\)/);
});

test("a branch that a workspace has checked out is not moved under it", async (t) => {
  const { repository, make } = workspaceKit(t);
  const { workspace } = await make();
  const merge = mergeBranch({ project: repository.folder, from: "main", into: workspace.branch ?? "" });
  await assert.rejects(merge, /agree with --checked-out/);
});
