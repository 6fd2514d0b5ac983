import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { confine, skipUnconfined } from "../../test/support/confined-session.ts";
import { repositoryAt, testRepository } from "../../test/support/git-kit.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { failsWith } from "../../test/support/try-tool.ts";
import { createWorkspace } from "./create-workspace.ts";
import { gitFailure } from "./git-failure.ts";
import { readSettings } from "./git-settings.ts";
import { listWorkspaces } from "./list-workspaces.ts";
import { integrateWorks } from "./integrate-works.ts";
import { mergeBranch } from "./merge-branch.ts";
import { finishedWork } from "./merge-predecessors.ts";
import { openGit } from "./own-git.ts";
import { openWorkspaces } from "./record-store.ts";
import { removeWorkspace, restoreWorkspace } from "./remove-workspace.ts";
import { saveWorkspace } from "./save-workspace.ts";
import { beginSession } from "./session-git.ts";
import { sessionPatch, sessionResult } from "./session-result.ts";
import type { Workspace } from "./workspace-record.ts";

const hooks = [
  "post-checkout",
  "pre-commit",
  "post-commit",
  "reference-transaction",
  "post-index-change",
  "post-merge",
];

test("whatever a repository names as programs, Tutti's own git starts none of them", async (t) => {
  const repository = testRepository(t, { "a.txt": "a\n", "x.bin": "x\n" });
  const store = openWorkspaces(join(tempFolder(t), "state"));
  const outcome = await createWorkspace(store, { task: "tsk_1", attempt: 1, project: repository.folder, now: 1 });
  const { workspace } = outcome as { workspace: Workspace };
  const ran = join(tempFolder(t), "ran");
  const program = join(tempFolder(t), "evil");
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${ran}\ncat\n`);
  chmodSync(program, 0o755);
  for (const [name, value] of [
    ["core.fsmonitor", program],
    ["diff.external", program],
    ["diff.evil.textconv", program],
    ["diff.evil.command", program],
    ["filter.lfs.clean", program],
    ["filter.lfs.smudge", program],
    ["merge.evil.driver", `${program} %A`],
    ["core.hooksPath", join(repository.folder, ".git", "hooks")],
    ["core.sshCommand", program],
    ["core.pager", program],
    ["gpg.program", program],
    ["commit.gpgSign", "true"],
    ["extensions.worktreeConfig", "true"],
  ] as const) {
    repository.git("config", name, value);
  }
  for (const name of hooks) symlinkSync(program, join(repository.folder, ".git", "hooks", name));
  const inside = repositoryAt(workspace.folder);
  inside.write(".gitattributes", "*.txt diff=evil merge=evil\n*.bin filter=lfs diff=evil\n");
  inside.write("a.txt", "changed\n");
  inside.write("x.bin", "changed\n");
  const own = join(repository.folder, ".git", "worktrees", workspace.id);
  writeFileSync(join(own, "config.worktree"), `[core]\n\tfsmonitor = ${program}\n`);
  const nested = join(workspace.folder, "nested");
  mkdirSync(nested);
  repositoryAt(nested).git("init", "-q");
  repositoryAt(nested).git("config", "core.fsmonitor", program);

  await beginSession(store, workspace);
  await listWorkspaces(store);
  const saved = await saveWorkspace(workspace, { commits: "tutti" });
  assert.deepEqual([saved.nested, saved.warnings.length], [["nested/"], 2]);
  assert.equal((await sessionResult(workspace))?.files.length, 3);
  assert.match((await sessionPatch(workspace)).toString(), /^\+changed$/m);
  const branch = workspace.branch ?? "";
  await integrateWorks(store, {
    repository: repository.folder,
    git_dir: workspace.git_dir ?? "",
    task: "tsk_0",
    works: [await finishedWork(workspace)],
    now: 2,
  });
  await createWorkspace(store, {
    task: "tsk_2",
    attempt: 1,
    project: repository.folder,
    now: 2,
    base: { kind: "branches", branches: [branch, "tutti/tsk_0-integration"] },
  });
  rmSync(nested, { recursive: true });
  inside.write("a.txt", "uncommitted\n");
  await removeWorkspace(store, workspace.id, { uncommitted: "save" });
  await restoreWorkspace(store, workspace.id);
  const merging = mergeBranch({ project: repository.folder, from: branch, into: "main", allowCheckedOut: true });
  await assert.rejects(merging, /filter "lfs"/);
  assert.equal(existsSync(ran), false, "a program was started");

  // The same things done with git itself do start programs, so the test would notice.
  const env = { PATH: process.env["PATH"], HOME: repository.folder };
  execFileSync("git", ["status"], { cwd: workspace.folder, env, stdio: "ignore" });
  assert.equal(existsSync(ran), true);
  for (const args of [["diff"], ["add", "-A"], ["log", "-p", "--ext-diff"], ["branch", "evil"]]) {
    rmSync(ran, { force: true });
    execFileSync("git", ["-c", "core.fsmonitor=false", ...args], { cwd: workspace.folder, env, stdio: "ignore" });
    assert.equal(existsSync(ran), true, args.join(" "));
  }
});

test("a filter runs confined: its work is done, and it can write nowhere else", { skip: skipUnconfined }, async (t) => {
  const repository = testRepository(t, { "a.txt": "a\n", ".gitattributes": "*.txt filter=up\n" });
  const outside = join(tempFolder(t), "ran");
  repository.git("config", "filter.up.smudge", `(touch ${outside}) 2>/dev/null; tr a-z A-Z`);
  repository.git("config", "filter.up.clean", `(touch ${outside}) 2>/dev/null; tr A-Z a-z`);
  const store = openWorkspaces(join(tempFolder(t), "state"));
  const wanted = { task: "tsk_1", attempt: 1, project: repository.folder, now: 1 };
  const { workspace } = (await createWorkspace(store, { ...wanted, confine })) as { workspace: Workspace };
  const inside = repositoryAt(workspace.folder);
  assert.equal(execFileSync("cat", [join(workspace.folder, "a.txt")], { encoding: "utf8" }), "A\n");
  inside.write("a.txt", "NEW\n");
  await assert.rejects(saveWorkspace(workspace, { commits: "tutti" }), /goes through the git filter "up"/);
  const saved = await saveWorkspace(workspace, { commits: "tutti", confine });
  assert.notEqual(saved.commit, null);
  assert.equal(repository.git("show", `${saved.commit}:a.txt`), "new");
  assert.equal(existsSync(outside), false);
});

test("output, time and cancellation end git, and it leaves no lock behind", async (t) => {
  const repository = testRepository(t, { "a.txt": "a".repeat(100_000) });
  const git = await openGit(join(repository.folder, ".git"));
  const show = ["cat-file", "-p", "HEAD:a.txt"];
  await assert.rejects(git.run(show, { maxBytes: 1_000 }), { code: "too_large" });
  const cut = await git.run(show, { maxBytes: 1_000, overflow: "cut" });
  assert.deepEqual([cut.stdout.length, cut.isCut], [1_000, true]);
  const waiting = ["-c", "alias.wait=!sleep 60", "wait"];
  await assert.rejects(git.run(waiting, { timeoutMs: 200 }), { code: "deadline" });
  const signal = AbortSignal.timeout(100);
  await assert.rejects(git.run(waiting, { signal }), { code: "canceled" });
  await assert.rejects(git.run(["status"], { signal }), { code: "canceled" });
});

test("a few objects that stand for billions of files do not use up the memory", async (t) => {
  const repository = testRepository(t);
  const made = (line: (at: number) => string): string =>
    execFileSync("git", ["mktree"], {
      cwd: repository.folder,
      input: Array.from({ length: 10 }, (_, at) => line(at)).join(""),
      encoding: "utf8",
    }).trim();
  const blob = repository.git("rev-parse", "HEAD:a.txt");
  let tree = made((at) => `100644 blob ${blob}\tf${at}\n`);
  for (let depth = 0; depth < 9; depth += 1) {
    const below = tree;
    tree = made((at) => `040000 tree ${below}\td${at}\n`);
  }
  const git = await openGit(join(repository.folder, ".git"));
  const began = Date.now();
  for (const args of [
    ["diff-index", "--cached", "--name-only", tree],
    ["diff-tree", "-r", "HEAD", tree],
  ]) {
    await assert.rejects(git.run(args, { maxMemoryBytes: 64 * 1024 * 1024 }), failsWith("too_large", /memory/));
  }
  assert.ok(Date.now() - began < 60_000);
});

test("failures of git say what is wrong", async (t) => {
  const code = (stderr: string) => gitFailure({ args: ["x"], code: 128, stderr, cwd: "/" }).code;
  assert.equal(code("fatal: write error: No space left on device"), "disk_full");
  assert.equal(code("fatal: Unable to create '/r/.git/index.lock': File exists."), "busy");
  assert.equal(code("fatal: detected dubious ownership in repository at '/r'"), "refused");
  const path = process.env["PATH"];
  const repository = testRepository(t);
  process.env["PATH"] = "/nowhere";
  try {
    await assert.rejects(openGit(join(repository.folder, ".git")), { code: "not_found", message: /install git/ });
  } finally {
    process.env["PATH"] = path;
  }
});

test("the settings of a repository name its filters, its drivers and what is not supported", () => {
  const entries = ["filter.a.b.clean\nx", "merge.d.driver\nx", "merge.conflictstyle\ndiff3", "user.name\nAda"];
  const settings = readSettings(entries.map((entry) => `local\0${entry}\0`).join(""));
  assert.deepEqual([settings.filters, settings.mergeDrivers], [["a.b"], ["d"]]);
  assert.deepEqual(settings.identity, { name: "Ada", email: "tutti@localhost" });
  assert.match(readSettings("local\0extensions.refstorage\nreftable\0").unsupported ?? "", /reftable/);
});
