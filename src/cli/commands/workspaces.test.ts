// The commands of workspaces as real processes, over a real repository, with and without a daemon.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";

import { type Bench, bench } from "../../../test/support/cli-process.ts";
import { type FakeGh, fakeGh, honestGh } from "../../../test/support/fake-gh.ts";
import { repositoryAt, testRepository, type TestRepository } from "../../../test/support/git-kit.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { openWorkspaces } from "../../workspace/record-store.ts";
import type { Workspace } from "../../workspace/workspace-record.ts";

interface Desk {
  readonly tutti: Bench;
  readonly repository: TestRepository;
  readonly workspace: Workspace;
  readonly inside: TestRepository;
  readonly task: string;
}

/** A finished tree whose only agent worked in a worktree. */
async function desk(t: TestContext, options: { readonly colors?: boolean } = {}): Promise<Desk> {
  const tutti = bench(t, options);
  assert.equal(tutti.run("invoke", "examples/invocations/single.json").status, 0);
  const tasks = JSON.parse(tutti.run("tasks", "--all", "--json").out) as { id: string; parent: string | null }[];
  const task = tasks.find(({ parent }) => parent !== null)?.id ?? "";
  const repository = testRepository(t);
  const made = await createWorkspace(openWorkspaces(tutti.state), {
    task,
    attempt: 1,
    project: repository.folder,
    now: Date.now(),
  });
  assert.equal(made.state, "ready");
  const { workspace } = made as { workspace: Workspace };
  return { tutti, repository, workspace, inside: repositoryAt(workspace.folder), task };
}

describe("tutti workspaces, diff, open and merge", () => {
  test("do their work without a daemon, by the task of the invocation", async (t) => {
    const { tutti, repository, workspace, inside } = await desk(t);
    inside.commit({ "b.txt": "b\n", "\u001b[31mred\n.txt": "evil \u001b]0;x\u0007\n" }, "add \u001b[2J b");
    const listed = tutti.run("workspaces");
    assert.match(
      listed.out,
      new RegExp(`^${workspace.id} +unmerged +[\\d.]+ KiB +${workspace.branch} +completed`, "m"),
    );
    assert.equal(JSON.parse(tutti.run("workspaces", "--json").out).workspaces[0].folder, workspace.folder);

    const stat = tutti.run("diff", "last", "--stat");
    assert.match(stat.out, /1 commit, 2 files, \+2 -0\n {2}not verified: .*\n {2}[0-9a-f]{8} add \\u001b\[2J b Ada/);
    assert.ok(!stat.out.includes("\u001b"));
    const patch = tutti.run("diff", "last");
    writeFileSync(join(tutti.folder, "work.patch"), patch.out);
    repository.git("apply", "--check", join(tutti.folder, "work.patch"));
    assert.equal(tutti.run("open", "last").out, `${workspace.folder}\n`);
    assert.equal(tutti.run("open", "last", "--editor", "test -d").status, 0);

    repository.git("branch", "next");
    const careful = tutti.run("merge", "last", "next");
    assert.equal(careful.status, 5);
    assert.match(careful.err, /has not verified this work: nothing has verified the work of .* --unverified/);
    assert.match(tutti.run("merge", "last", "next", "--unverified").out, /is merged: next was moved forward/);
    assert.equal(repository.git("rev-parse", "next"), repository.git("rev-parse", workspace.branch ?? ""));
    assert.equal(tutti.run("merge", "last", "main", "--unverified").status, 5, "main is checked out");
    assert.equal(tutti.run("merge", "last", "main", "--unverified", "--checked-out").status, 0);
    assert.ok(existsSync(join(repository.folder, "b.txt")));

    inside.write("c.txt", "c\n");
    assert.equal(tutti.run("workspaces", "remove", workspace.id).status, 5);
    assert.match(tutti.run("workspaces", "prune", "--max-size", "0").err, /in use or have uncommitted work/);
    const removed = tutti.run("workspaces", "remove", workspace.id, "--save");
    assert.match(
      removed.out,
      /is removed; its branch tutti\/\S+ stays; uncommitted work is kept in refs\/tutti\/saved\//,
    );
    const again = tutti.run("open", "last");
    assert.equal(again.out, `${workspace.folder}\n`);
    assert.match(again.err, /was removed and is made again/);
    assert.equal(readFileSync(join(workspace.folder, "c.txt"), "utf8"), "c\n");
  });

  test("the work of a tree is integrated into one branch, which diff shows instead of the attempts", async (t) => {
    const { tutti, inside, task } = await desk(t);
    inside.commit({ "b.txt": "b\n" });
    const made = tutti.run("integrate", "last");
    assert.equal(made.status, 0, made.err);
    assert.match(made.out, new RegExp(`^tutti/tsk_\\S+-integration has the work of .*\n {2}${task} attempt 1`));
    assert.match(tutti.run("diff", "last", "--stat").out, /-integration integration, 1 commit, 1 file/);
    assert.match(tutti.run("diff", task, "--stat", "--attempt", "1").out, /attempt 1, 1 commit/);
    assert.equal(tutti.run("diff", task, "--attempt", "2").status, 4);
  });

  test("a workspace whose task was pruned is still listed, looked at and merged, also through the daemon", async (t) => {
    const { tutti, repository, workspace, inside, task } = await desk(t);
    inside.commit({ "b.txt": "b\n" });
    repository.git("branch", "next");
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.match(tutti.run("prune", "--older", "0s").out, /removed 1 finished tree/);
    assert.equal(tutti.run("up", "--detach").status, 0);
    assert.match(tutti.run("workspaces").out, new RegExp(`^${workspace.id} .*task is gone`, "m"));
    assert.match(tutti.run("diff", task, "--stat").out, /b\.txt/);
    assert.equal(tutti.run("merge", task, "next", "--unverified").status, 0);
    assert.match(tutti.run("workspaces", "prune", "--older-than", "0s").out, /^1 workspace removed/m);
    assert.ok(!existsSync(workspace.folder));
  });

  test("on a terminal a patch has the colours of a diff, and nothing in it steers the terminal", async (t) => {
    const { tutti, inside } = await desk(t, { colors: true });
    inside.commit({ "a.txt": "hello \u001b]0;owned\u0007\n" });
    const shown = tutti.onTerminal("diff", "last");
    const { out } = await shown.ended;
    assert.ok(out.includes("\u001b[31m-a\u001b[0m"), out);
    assert.ok(out.includes("\u001b[32m+hello \\u001b]0;owned\\u0007"), out);
    assert.ok(!out.includes("\u001b]0;"));
  });
});

describe("tutti pr", () => {
  test("without gh, and without a person at a terminal, nothing is pushed", async (t) => {
    const { tutti, repository, inside, gh } = await withGh(t, "exit 1");
    inside.commit({ "b.txt": "b\n" });
    const none = tutti.run("pr", "last");
    assert.equal(none.status, 4);
    assert.match(none.err, /the GitHub CLI \(gh\) is not installed; .*`git -C .* push origin tutti\//);
    gh.write("exit 0");
    const silent = tutti.run("pr", "last");
    assert.equal(silent.status, 9);
    assert.match(silent.err, /a person has to agree/);
    assert.equal(repository.git("ls-remote", "origin"), "");
  });

  test("pushes what the person agreed to, and looks the pull request up", async (t) => {
    const { tutti, repository, inside, workspace, gh } = await withGh(t, honestGh);
    const tip = inside.commit({ "b.txt": "b\n" }, "--title for @everybody `x`");
    const no = tutti.onTerminal("pr", "last", "--base", "main");
    await no.said(/push {2}tutti\/\S+ \(1 commit, up to [0-9a-f]{8}\) to\s[^]*has not\s+verified[^]*Agree\?/);
    no.child.stdin?.write("n\n");
    assert.equal((await no.ended).status, 8);
    assert.equal(repository.git("ls-remote", "origin"), "");

    const yes = tutti.onTerminal("pr", "last", "--base", "main");
    await yes.said(/Agree\?/);
    yes.child.stdin?.write("y\n");
    const { out, status } = await yes.ended;
    assert.equal(status, 0, out);
    assert.match(out, /https:\/\/github\.example\/pull\/7/);
    assert.ok(!out.includes("example.invalid"), "what creating it printed is not believed");
    assert.equal(repository.git("ls-remote", "origin", workspace.branch ?? "").split("\t")[0], tip);
    const said = readFileSync(gh.said, "utf8");
    assert.match(said, /^--title=--title for @everybody `x`$/m);
    assert.match(said, /^- `--title for @everybody 'x'`$/m);
  });
});

/** A `gh` that does what the script says, before any other on PATH, and a bare repository as `origin`. */
async function withGh(t: TestContext, script: string): Promise<Desk & { readonly gh: FakeGh }> {
  const { PATH } = process.env;
  const gh = fakeGh(t, script);
  // The commands of the bench get the environment that it is made with.
  process.env["PATH"] = gh.path;
  const made = await desk(t).finally(() => (process.env["PATH"] = PATH));
  made.repository.git("remote", "add", "origin", gh.origin);
  return { ...made, gh };
}
