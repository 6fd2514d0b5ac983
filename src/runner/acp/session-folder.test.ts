import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { ledgerIn } from "../../../test/support/acp-kit.ts";
import { personsThings } from "../../../test/support/git-kit.ts";
import { answerNext, savedIn, sessionPlace as place, skip } from "../../../test/support/session-place.ts";
import { until } from "../../../test/support/wait-until.ts";
import { listWorkspaces, readRecords } from "../../workspace/index.ts";

const gitCommit = "git add -A && git -c user.name=S -c user.email=s@example.com commit -qm 'of the session'";

test(
  "a session works in a worktree of its own: its work is a branch, and the checkout is untouched",
  { skip },
  async (t) => {
    const { world, repository, store, task } = await place(t);
    const before = personsThings(repository);
    const result = await world.run(
      [
        { shell: `echo one > one.txt && ${gitCommit}` },
        { shell: "echo two > two.txt" },
        { shell: `git -C ${repository.folder} commit --allow-empty -m planted` },
        { shell: "git config --global core.pager x; git config core.fsmonitor /bin/true" },
        { say: "done" },
      ],
      task,
    );
    assert.deepEqual([result.status, result.content], ["completed", "done"]);
    const [saved] = await savedIn(world);
    assert.ok(saved !== undefined);
    assert.deepEqual([saved.commits, saved.uncommitted, saved.mode], [2, 0, "worktree"]);
    const branch = saved.branch ?? "";
    assert.equal(repository.git("rev-parse", branch), saved.tip);
    assert.equal(repository.git("show", `${branch}:one.txt`), "one");
    assert.equal(repository.git("show", `${branch}:two.txt`), "two");
    const subjects = repository.git("log", "--format=%s", `main..${branch}`).split("\n");
    assert.match(subjects[0] ?? "", /^coder: /);
    assert.equal(subjects[1], "of the session");
    assert.deepEqual(personsThings(repository), before, "only the new branch is new");
    assert.equal((await listWorkspaces(store)).workspaces.length, 1);
  },
);

test(
  "a person is asked about protected files that a session changed, sees them, and a yes holds for exactly these",
  { skip },
  async (t) => {
    const { world, repository, store, task } = await place(t);
    for (const approved of [true, false]) {
      const id = await world.start([{ shell: `echo ${approved} > .envrc` }, { say: "done" }], task);
      const question = await answerNext(world, { kind: "approval", approved });
      assert.match(question, /changed protected files on the branch tutti\/\S+\. May these changes be merged\?/);
      assert.match(question, new RegExp(`^ {2}\\.envrc \\(.*\\)$[^]*^\\+${approved}$`, "m"));
      assert.equal((await world.engine.result(id)).status, "completed");
      const record = readRecords(store).workspaces.find((each) => each.task === id);
      const blob = repository.git("rev-parse", `${record?.branch ?? ""}:.envrc`);
      assert.deepEqual(record?.approved, approved ? [{ path: ".envrc", content: `100644 ${blob}` }] : []);
      const saved = (await savedIn(world)).at(-1);
      assert.match(saved?.warnings.join(" ") ?? "", /merged only when a person has approved them: \.envrc\./);
    }
  },
);

test(
  "a session that is stopped and resumed goes on in its own workspace, with its own conversation",
  { skip },
  async (t) => {
    const { world, repository, store, task } = await place(t, { behaviour: { load: true } });
    const early = `echo early > early.txt && ${gitCommit}`;
    const name = await world.start([{ shell: early }, { shell: "echo kept > kept.txt" }, { hang: true }], task);
    const workspace = await until(() => {
      const [made] = readRecords(store).workspaces;
      return made !== undefined && ledgerIn(made.folder, "ran").length > 1 ? made : undefined;
    });
    await world.engine.stopTask(name, "lunch");
    const branch = workspace.branch ?? "";
    await until(() => repository.git("log", "--format=%s", `main..${branch}`) === "of the session");
    await world.engine.resumeTask(name, { kind: "person", name: "Ada" });
    const result = await world.engine.result(name, AbortSignal.timeout(240_000));
    assert.deepEqual([result.status, result.content], ["completed", "went on"]);
    assert.deepEqual(readRecords(store).workspaces, [workspace]);
    assert.equal(readFileSync(join(workspace.folder, "kept.txt"), "utf8"), "kept\n");
    const started = (await world.events()).flatMap((event) => (event.type === "session.started" ? [event.data] : []));
    assert.deepEqual(
      started.map(({ resumed }) => resumed),
      [false, true],
    );
    const [saved] = await savedIn(world);
    assert.equal(repository.git("show", `${saved?.branch ?? ""}:kept.txt`), "kept");
  },
);

test("what a session that dies has committed is in the repository, and what it left is listed", { skip }, async (t) => {
  const { world, repository, store, task } = await place(t);
  const result = await world.run(
    [{ shell: `echo one > one.txt && ${gitCommit}` }, { shell: "echo two > two.txt" }, { die: true }],
    task,
  );
  assert.equal(result.status, "failed");
  const [left] = (await listWorkspaces(store)).workspaces;
  assert.equal(left?.state, "uncommitted");
  assert.equal(repository.git("show", `${left?.workspace.branch ?? ""}:one.txt`), "one");
  assert.equal(readFileSync(join(left?.workspace.folder ?? "", "two.txt"), "utf8"), "two\n");
});

test("outside of git a session works in a copy, and its work is a patch", { skip }, async (t) => {
  const { world, store } = await place(t);
  const result = await world.run([{ shell: "echo new > new.txt" }, { say: "done" }]);
  assert.equal(result.status, "completed");
  const [saved] = await savedIn(world);
  assert.deepEqual([saved?.mode, saved?.branch], ["copy", null]);
  assert.ok((saved?.files ?? 0) > 0);
  const [copy] = readRecords(store).workspaces;
  assert.equal(readFileSync(join(copy?.folder ?? "", "new.txt"), "utf8"), "new\n");
});

test(
  "a workspace is set up before the prompt, confined and without the login; what fails ends the task",
  { skip },
  async (t) => {
    const setup = [
      {
        command: [
          "/bin/sh",
          "-c",
          "echo ready > ready.txt; cat $HOME/login.json $HOME/../login.json > login.txt; true",
        ],
        network: false,
      },
    ] as const;
    const good = await place(t, { workspaces: { setup } });
    const result = await good.world.run([{ shell: "cat ready.txt > seen.txt" }, { say: "done" }], good.task);
    assert.equal(result.status, "completed");
    const [saved] = await savedIn(good.world);
    assert.equal(good.repository.git("show", `${saved?.branch ?? ""}:seen.txt`), "ready");
    assert.equal(good.repository.git("show", `${saved?.branch ?? ""}:login.txt`), "", "the login is not there");
    const bad = await place(t, {
      workspaces: {
        setup: [{ command: ["/bin/sh", "-c", "echo no room >&2; touch /etc/tutti-test; exit 3"], network: false }],
      },
    });
    const failed = await bad.world.run([{ say: "done" }], bad.task);
    assert.equal(failed.status, "failed");
    assert.match(JSON.stringify(failed.content), /exited with 3|status 3|code 3/);
    assert.equal(existsSync("/etc/tutti-test"), false);
  },
);
