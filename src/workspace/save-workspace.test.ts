import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { personsThings, repositoryAt } from "../../test/support/git-kit.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { workspaceKit } from "../../test/support/workspace-kit.ts";
import { saveWorkspace } from "./save-workspace.ts";
import { sessionPatch, sessionResult } from "./session-result.ts";

test("Tutti commits what a session left, whatever its index says, and the result is what git knows", async (t) => {
  const { repository, make } = workspaceKit(t, {
    "a.txt": "1\n2\n3\n",
    "old.txt": `${"line\n".repeat(20)}`,
    "gone.txt": "gone\n",
    "hidden.txt": "h\n",
    dir: "a file\n",
    ".gitignore": "ignored\n",
  });
  const before = personsThings(repository);
  const { workspace, inside } = await make({ copy: [".env"] });
  inside.git("update-index", "--assume-unchanged", "hidden.txt");
  inside.git("update-index", "--skip-worktree", "gone.txt");
  inside.write("a.txt", "1\n2\nthree\n");
  inside.git("mv", "old.txt", "new.txt");
  inside.write("hidden.txt", "changed\n");
  rmSync(join(inside.folder, "gone.txt"));
  rmSync(join(inside.folder, "dir"));
  inside.write("dir/file", "in a folder\n");
  writeFileSync(join(inside.folder, "binary"), Buffer.from([0, 1, 2, 255]));
  inside.write("ignored", "not work\n");
  symlinkSync("/etc/passwd", join(inside.folder, "link"));
  inside.write("run.sh", "#!/bin/sh\n");
  chmodSync(join(inside.folder, "run.sh"), 0o755);

  const left = await saveWorkspace(workspace, { commits: "nobody" });
  assert.deepEqual([left.commit, left.uncommitted.length > 0], [null, true]);
  const saved = await saveWorkspace(workspace, { commits: "tutti", message: "Done" });
  assert.deepEqual([saved.uncommitted, saved.warnings], [[], []]);
  assert.equal(repository.git("log", "-1", "--format=%an %s", "tutti/tsk_1-1"), "Ada Done");
  assert.equal(inside.git("status", "--porcelain"), "");
  const result = await sessionResult(workspace);
  const files = Object.fromEntries((result?.files ?? []).map((file) => [file.path, file]));
  assert.deepEqual(Object.keys(files).toSorted(), [
    "a.txt",
    "binary",
    "dir",
    "dir/file",
    "gone.txt",
    "hidden.txt",
    "link",
    "new.txt",
    "run.sh",
  ]);
  assert.deepEqual(files["new.txt"], { path: "new.txt", from: "old.txt", change: "renamed", added: 0, removed: 0 });
  assert.deepEqual(files["binary"], { path: "binary", from: null, change: "added", added: null, removed: null });
  assert.deepEqual([files["a.txt"]?.added, files["a.txt"]?.removed], [1, 1]);
  assert.deepEqual(
    result?.commits.map(({ subject }) => subject),
    ["Done"],
  );
  const bounded = await sessionResult(workspace, { maxFiles: 2 });
  assert.deepEqual([bounded?.files.length, bounded?.total.files], [2, 9]);
  assert.deepEqual(personsThings(repository), before);
  const again = await saveWorkspace(workspace, { commits: "tutti" });
  assert.equal(again.commit, null, "there is nothing left to commit");
});

test("a copied file such as .env is never committed, even when git does not ignore it", async (t) => {
  const { repository, make } = workspaceKit(t);
  repository.write(".env", "KEY=1\n");
  const { workspace, inside } = await make({ copy: [".env"] });
  inside.write("work.txt", "x\n");
  const saved = await saveWorkspace(workspace, { commits: "tutti" });
  assert.equal(repository.git("show", "--name-only", "--format=", String(saved.commit)), "work.txt");
});

test("a copy ends in a patch that applies, also for binary files", async (t) => {
  const project = tempFolder(t);
  const { make } = workspaceKit(t);
  const plain = repositoryAt(project);
  plain.write("a.txt", "a\n");
  const { workspace, inside } = await make({ project });
  assert.equal(workspace.mode, "copy");
  inside.write("a.txt", "changed\n");
  mkdirSync(join(inside.folder, "sub"));
  writeFileSync(join(inside.folder, "sub", "binary"), Buffer.from([0, 1, 2, 255]));
  await saveWorkspace(workspace, { commits: "tutti" });
  const patch = join(tempFolder(t), "patch");
  writeFileSync(patch, await sessionPatch(workspace));
  assert.match(readFileSync(patch, "utf8"), /\n-a\n\+changed\n[^]*GIT binary patch/, "text as text");
  assert.deepEqual((await sessionResult(workspace))?.files.length, 2);
  plain.git("apply", patch);
  assert.equal(plain.git("hash-object", "a.txt", "sub/binary"), inside.git("hash-object", "a.txt", "sub/binary"));
  await assert.rejects(sessionPatch(workspace, { maxBytes: 10 }), { code: "too_large" });
});
