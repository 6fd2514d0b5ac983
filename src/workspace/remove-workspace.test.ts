import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { personsThings, repositoryAt } from "../../test/support/git-kit.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { workspaceKit } from "../../test/support/workspace-kit.ts";
import { listWorkspaces } from "./list-workspaces.ts";
import { mergeBranch } from "./merge-branch.ts";
import { readRecord } from "./record-store.ts";
import { recoverWorkspaces } from "./recover-workspaces.ts";
import { removeWorkspace, restoreWorkspace } from "./remove-workspace.ts";

test("uncommitted work is refused by name, or saved and brought back", async (t) => {
  const { repository, store, make } = workspaceKit(t, { "a.txt": "a\n", "b.txt": "b\n" });
  const before = personsThings(repository);
  const { workspace, inside } = await make();
  inside.commit({ "c.txt": "c\n" });
  inside.write("a.txt", "changed\n");
  inside.write("new.txt", "new\n");
  rmSync(join(inside.folder, "b.txt"));
  await assert.rejects(removeWorkspace(store, workspace.id), {
    code: "refused",
    message: /It has 3 uncommitted files\./,
  });
  assert.ok(existsSync(workspace.folder));
  const { saved } = await removeWorkspace(store, workspace.id, { uncommitted: "save" });
  assert.equal(saved, `refs/tutti/saved/${workspace.id}`);
  assert.deepEqual([readdirSync(store.records), readdirSync(store.root)], [[`${workspace.id}.json`], []]);
  assert.equal(repository.git("worktree", "list").split("\n").length, 1);
  assert.equal((await listWorkspaces(store)).workspaces[0]?.state, "removed");
  assert.deepEqual(personsThings(repository), before);

  await restoreWorkspace(store, workspace.id);
  assert.equal(inside.git("status", "--porcelain").split("\n").length, 3);
  assert.equal(readFileSync(join(inside.folder, "a.txt"), "utf8"), "changed\n");
  assert.equal(existsSync(join(inside.folder, "b.txt")), false);
  assert.equal(inside.git("symbolic-ref", "HEAD"), `refs/heads/${workspace.branch}`);
  assert.equal(repository.git("for-each-ref", "refs/tutti"), "");
  assert.deepEqual(personsThings(repository), before);
});

test("a branch stays as long as only it has the commits; one without commits goes with its workspace", async (t) => {
  const { repository, store, make } = workspaceKit(t);
  const [empty, worked] = [await make(), await make()];
  worked.inside.commit({ "x.txt": "x\n" });
  assert.deepEqual(
    (await listWorkspaces(store)).workspaces.map(({ state }) => state),
    ["clean", "unmerged"],
  );
  assert.equal((await removeWorkspace(store, empty.workspace.id)).branchDeleted, true);
  const removed = await removeWorkspace(store, worked.workspace.id, { deleteMergedBranch: true });
  assert.equal(removed.branchDeleted, false);
  await restoreWorkspace(store, worked.workspace.id);
  await mergeBranch({
    project: repository.folder,
    from: worked.workspace.branch ?? "",
    into: "main",
    allowCheckedOut: true,
  });
  const [, listed] = (await listWorkspaces(store)).workspaces;
  assert.deepEqual([listed?.state, listed?.merged_into], ["merged", ["main"]]);
  assert.ok((listed?.bytes ?? 0) > 0);
  assert.equal((await removeWorkspace(store, worked.workspace.id, { deleteMergedBranch: true })).branchDeleted, true);
  await restoreWorkspace(store, worked.workspace.id);
  assert.equal(repository.git("rev-parse", worked.workspace.branch ?? ""), repository.git("rev-parse", "main"));
});

test("a folder that vanished is listed as missing and made again from its branch", async (t) => {
  const { store, make } = workspaceKit(t);
  const { workspace, inside } = await make();
  inside.commit({ "x.txt": "x\n" });
  rmSync(workspace.folder, { recursive: true });
  assert.equal((await listWorkspaces(store)).workspaces[0]?.state, "missing");
  await restoreWorkspace(store, workspace.id);
  assert.equal(readFileSync(join(workspace.folder, "x.txt"), "utf8"), "x\n");
});

test("a repository inside the workspace, and a repository that is gone, keep the workspace from being removed", async (t) => {
  const { repository, store, make } = workspaceKit(t);
  const { workspace, inside } = await make();
  inside.write("clone/x.txt", "x\n");
  repositoryAt(join(inside.folder, "clone")).git("init", "-q");
  const nested = removeWorkspace(store, workspace.id, { uncommitted: "save" });
  await assert.rejects(nested, /clone\/ is a git repository of its own/);
  rmSync(join(repository.folder, ".git"), { recursive: true });
  await assert.rejects(removeWorkspace(store, workspace.id, { uncommitted: "save" }), /repository .* is gone/);
  assert.ok(existsSync(join(inside.folder, "clone", "x.txt")));
  await removeWorkspace(store, workspace.id, { uncommitted: "discard" });
  assert.deepEqual(readdirSync(store.root), []);
});

test("the work in a copy outlasts the removal of its files", async (t) => {
  const { store, make } = workspaceKit(t);
  const project = tempFolder(t);
  writeFileSync(join(project, "a.txt"), "a\n");
  const { workspace, inside } = await make({ project });
  inside.write("a.txt", "work\n");
  await assert.rejects(removeWorkspace(store, workspace.id), { code: "refused" });
  await removeWorkspace(store, workspace.id, { uncommitted: "save" });
  assert.equal(existsSync(workspace.folder), false);
  await restoreWorkspace(store, workspace.id);
  assert.equal(readFileSync(join(workspace.folder, "a.txt"), "utf8"), "work\n");
  assert.equal(readFileSync(join(project, "a.txt"), "utf8"), "a\n");
});

test("removing a shared workspace touches nothing of the person's", async (t) => {
  const { repository, store, make } = workspaceKit(t);
  const { workspace } = await make({ mode: "shared" });
  repository.write("a.txt", "mine\n");
  const before = personsThings(repository);
  await removeWorkspace(store, workspace.id);
  assert.deepEqual(personsThings(repository), before);
  assert.equal(readRecord(store, workspace.id), undefined);
});

test("a record that cannot be read is told, and its folder left alone; so is a folder without a record", async (t) => {
  const { store, make } = workspaceKit(t);
  const { workspace } = await make();
  const file = join(store.records, `${workspace.id}.json`);
  writeFileSync(file, "{", { mode: 0o600 });
  await recoverWorkspaces(store);
  const list = await listWorkspaces(store);
  assert.deepEqual([list.workspaces, list.unreadable.map((each) => each.file), list.unknown], [[], [file], []]);
  assert.ok(existsSync(workspace.folder));
  rmSync(file);
  assert.deepEqual((await listWorkspaces(store)).unknown, [workspace.folder]);
});
