import assert from "node:assert/strict";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { checkKit, skipUnconfined as skip } from "../../test/support/check-kit.ts";
import { testRepository } from "../../test/support/git-kit.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { isOfRemote, readPrUrl } from "../core/pr-reference.ts";
import { lookUpClaims } from "./look-up-claims.ts";
import { fileFact, gitFact, hasCommit, prFact, type RunGh } from "./observe-facts.ts";
import { snapshotFolder } from "./snapshot-folder.ts";

test("git tells what changed, and files are looked up in the commit, not in the folder", async (t) => {
  const repository = testRepository(t, { "a.txt": "a\n" });
  const gitDir = join(repository.folder, ".git");
  const base = repository.git("rev-parse", "HEAD");
  symlinkSync("/etc/hostname", join(repository.folder, "link"));
  const commit = repository.commit({ "a.txt": "A\n", "sub/ä b.txt": "x" });
  rmSync(join(repository.folder, "a.txt"));
  assert.deepEqual(await gitFact({ gitDir, base, commit, clean: true }), {
    kind: "git",
    base,
    head: commit,
    clean: true,
    changed: ["a.txt", "link", "sub/ä b.txt"],
    changed_count: 3,
    commits: 1,
  });
  const size = async (path: string) => (await fileFact({ gitDir, commit, path }))?.size;
  assert.equal(await size("a.txt"), 2);
  assert.equal(await size("./sub/ä b.txt"), 1);
  for (const path of ["b.txt", "link", "sub", "../a.txt", "*"]) assert.equal(await size(path), undefined, path);
  assert.equal(await hasCommit({ gitDir, commit }, base.slice(0, 8)), true);
  assert.equal(await hasCommit({ gitDir, commit }, "deadbeef"), false);
  assert.equal(await hasCommit({ gitDir, commit: base }, commit), false, "not part of this work");
});

test("a pull request counts only if it is of a remote of the repository and the forge knows it", async (t) => {
  const repository = testRepository(t);
  const gitDir = join(repository.folder, ".git");
  repository.git("remote", "add", "origin", "git@github.com:Ada/engine.git");
  const url = "https://github.com/ada/engine/pull/7";
  const view = JSON.stringify({ url, state: "OPEN", headRefOid: "c1" });
  const asked: (readonly string[])[] = [];
  const look = (of: string, answer: Awaited<ReturnType<RunGh>>) => {
    const runGh: RunGh = async (args) => {
      asked.push(args);
      return answer;
    };
    return prFact({ url: of, gitDir, runGh, signal: AbortSignal.timeout(240_000) });
  };
  const found = { code: 0, stdout: view, stderr: "" };
  assert.deepEqual(await look(url, found), { kind: "pr", url, exists: true, state: "OPEN", head: "c1" });
  assert.equal((await look("https://github.com/eve/engine/pull/7", found))?.exists, false);
  assert.equal((await look("https://github.com/ada/engine/pull/7/../../x", found))?.exists, false);
  assert.equal((await look("--web", found))?.exists, false);
  assert.equal(asked.length, 1, "the forge is asked only about this repository");
  assert.equal((await look(url, { code: 1, stdout: "", stderr: "Could not resolve to a PullRequest" }))?.exists, false);
  assert.equal(await look(url, { code: 4, stdout: "", stderr: "not logged in" }), undefined);
  assert.equal(await look(url, { code: 0, stdout: view.replace("/7", "/8"), stderr: "" }), undefined);
  assert.equal(await look(url, null), undefined);
});

test("what a session claims is looked up in git and on the forge", async (t) => {
  const repository = testRepository(t, { "a.txt": "a\n", "b.txt": "b\n" });
  repository.git("remote", "add", "origin", "https://github.com/ada/engine");
  const base = repository.git("rev-parse", "HEAD");
  const commit = repository.commit({ "a.txt": "A\n" });
  const words = [
    "I updated `a.txt` and `b.txt`.",
    "I created `c.txt`.",
    `I committed it as commit ${commit.slice(0, 10)}.`,
    "PR opened: https://github.com/ada/engine/pull/7",
    "See https://github.com/ada/engine/issues/3#issuecomment-55 and https://github.com/ada/engine/pull/7#discussion_r56",
  ].join("\n");
  const asked: string[] = [];
  const runGh: RunGh = async (args) => {
    asked.push(args.join(" "));
    const isThere = args.join(" ").includes("issues/comments/55");
    return isThere ? { code: 0, stdout: "55\n", stderr: "" } : { code: 1, stdout: "", stderr: "HTTP 404: Not Found" };
  };
  const log = { calls: 2, commands: ["git commit"], tests: [] };
  const gitDir = join(repository.folder, ".git");
  const findings = await lookUpClaims({
    words,
    gitDir,
    commit,
    base,
    ...log,
    runGh,
    signal: AbortSignal.timeout(240_000),
  });
  assert.deepEqual(
    findings.map(({ sentence }) => sentence),
    [
      "It says that it changed b.txt, and the file is as it was.",
      "It says that it made c.txt, and there is no such file.",
      "It names the pull request https://github.com/ada/engine/pull/7, which does not exist in this repository.",
      "It names the comment https://github.com/ada/engine/pull/7#discussion_r56, which does not exist.",
    ],
  );
  assert.equal(asked.length, 3);
});

test("remotes are recognised however git writes them", () => {
  const pr = readPrUrl("https://github.com/ada/engine/pull/7");
  assert.ok(pr !== undefined);
  for (const remote of [
    "https://github.com/Ada/engine.git",
    "ssh://git@github.com:22/ada/engine",
    "github.com:ada/engine",
  ]) {
    assert.equal(isOfRemote(pr, remote), true, remote);
  }
  for (const remote of [
    "https://github.com.evil.example/ada/engine",
    "https://evil/github.com/ada/engine",
    "../engine",
    "",
  ]) {
    assert.equal(isOfRemote(pr, remote), false, remote);
  }
});

test("without git, a snapshot named by its content stands for the commit", { skip }, async (t) => {
  const folder = tempFolder(t);
  const gitDir = join(tempFolder(t), "snapshots.git");
  writeFileSync(join(folder, "a.txt"), "a\n");
  const before = await snapshotFolder({ folder, gitDir });
  assert.deepEqual(await snapshotFolder({ folder, gitDir }), before);
  writeFileSync(join(folder, "a.txt"), "A\n");
  const after = await snapshotFolder({ folder, gitDir });
  assert.notEqual(after.tree, before.tree);
  const { check } = checkKit(t, testRepository(t));
  const request = { gitDir, commit: after.commit, base: before.commit, showGit: false };
  const [fact, none] = await check(["grep -q A a.txt", "test -e .git"], request);
  assert.deepEqual([fact?.outcome, fact?.on_base, none?.outcome], ["passed", "failed", "failed"]);
});
