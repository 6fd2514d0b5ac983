// A repository has branches whose names are commands for a shell, and Tutti names a command that a person copies.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { planPullRequest, type PullRequestWork } from "../../src/core/pull-request.ts";
import { TuttiError } from "../../src/protocol/error.ts";
import { testRepository } from "../support/git-kit.ts";

test("the command that a person may copy where gh is missing pushes a branch, whatever its name is", (t) => {
  const { folder, git } = testRepository(t);
  const names = [
    "x;touch${IFS}ran",
    "$(touch${IFS}ran)",
    "`touch${IFS}ran`",
    "a'b;touch${IFS}ran;'",
    'a"$(touch${IFS}ran)',
  ];
  const noGh = { code: null, out: "", err: "" };
  for (const branch of names) {
    git("branch", branch);
    const workspace = { task: "tsk_1", task_status: null, attempt: 1, mode: "worktree", repository: folder, branch };
    const work = { workspace, diff: { total: { commits: 1, files: 1 } } } as unknown as PullRequestWork;
    const steps = planPullRequest(work, { remote: "origin" });
    steps.next();
    let said = "";
    try {
      steps.next(noGh);
    } catch (thrown) {
      said = thrown instanceof TuttiError ? thrown.message : "";
    }
    const command = /with `([^]*)`$/.exec(said)?.[1];
    assert.ok(command !== undefined, said);
    // A program that tells its arguments stands for git.
    const told = execFileSync("/bin/sh", ["-c", `git() { printf '%s\\n' "$@"; }; ${command}`], {
      cwd: folder,
      encoding: "utf8",
    });
    assert.deepEqual(told.split("\n"), ["-C", folder, "push", "origin", branch, ""]);
    assert.equal(existsSync(join(folder, "ran")), false, branch);
  }
});
