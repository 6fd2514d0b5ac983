// Workspaces through the interface of a front, in process and over HTTP, over real git repositories.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";

import { personsThings, repositoryAt, testRepository, type TestRepository } from "../../test/support/git-kit.ts";
import { type Kit, type KitOptions, openKit } from "../../test/support/http-kit.ts";
import { until } from "../../test/support/wait-until.ts";
import { TuttiError } from "../protocol/error.ts";
import { createWorkspace, type NewWorkspace } from "../workspace/create-workspace.ts";
import { openWorkspaces } from "../workspace/record-store.ts";
import { type Workspace } from "../workspace/workspace-record.ts";
import type { Tutti } from "./client.ts";
import { httpClient } from "./http-client.ts";

interface Bench {
  readonly kit: Kit;
  readonly repository: TestRepository;
  readonly here: Tutti;
  readonly there: Tutti;
  readonly start: (kind: string) => Promise<string>;
  /** What tasks end with. */
  readonly says: { result: Promise<unknown> };
  readonly finished: () => Promise<string>;
  readonly unfinished: () => Promise<string>;
  readonly make: (
    task: string,
    more?: Partial<NewWorkspace>,
  ) => Promise<{ workspace: Workspace; inside: TestRepository }>;
}

async function bench(t: TestContext, options: KitOptions = {}): Promise<Bench> {
  const says = { result: Promise.resolve<unknown>("done") };
  const answer = (): Promise<unknown> => says.result;
  const runners = {
    quick: answer,
    // It stands for the runner that verifies.
    assignment: answer,
    slow: async (durable: { readonly signal: AbortSignal }) => {
      await new Promise((resolve) => durable.signal.addEventListener("abort", resolve));
      durable.signal.throwIfAborted();
      return { outcome: "completed", result: "done" } as const;
    },
  };
  const kit = await openKit({ ...options, runners });
  t.after(() => kit.close());
  const there = httpClient({ url: kit.http.url, key: kit.key });
  t.after(() => there.close());
  const repository = testRepository(t);
  const store = openWorkspaces(kit.folder);
  const start = (kind: string): Promise<string> => kit.start({ agent: "a", runner: { kind, config: {} } });
  return {
    kit,
    repository,
    here: kit.state.client,
    there,
    start,
    says,
    async finished() {
      const task = await start("quick");
      await kit.state.client.result(task);
      return task;
    },
    unfinished: () => start("slow"),
    async make(task, more = {}) {
      const wanted = { task, attempt: 1, project: repository.folder, now: Date.now(), ...more };
      const made = await createWorkspace(store, wanted);
      assert.equal(made.state, "ready");
      const { workspace } = made as { workspace: Workspace };
      return { workspace, inside: repositoryAt(workspace.folder) };
    },
  };
}

async function outcome(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return { given: await call() };
  } catch (thrown) {
    if (!(thrown instanceof TuttiError)) throw thrown;
    return { code: thrown.code, message: thrown.message, details: thrown.details };
  }
}

const codeOf = async (call: () => Promise<unknown>): Promise<unknown> =>
  ((await outcome(call)) as { readonly code?: string }).code;

describe("workspaces, in process and over HTTP", () => {
  test("reads are the same, also of hostile names, of tasks that are gone and of what belongs to nobody", async (t) => {
    const { kit, here, there, finished, make, repository } = await bench(t);
    const [task, other] = [await finished(), await finished()];
    const { inside } = await make(task);
    const path = "a\u001b[31m\n\u202Efile.txt";
    inside.commit({ [path]: "red\u001b[31m hunter2\n" }, "a \u001b]0;title\u0007 subject");
    inside.write("left.txt", "uncommitted\n");
    await make("tsk_0_gone", { attempt: 2 });
    mkdirSync(`${kit.folder}-workspaces/wsp_nobody`);
    writeFileSync(join(kit.folder, "workspaces", "wsp_bad.json"), "{");
    const looks: Record<string, (tutti: Tutti) => Promise<unknown>> = {
      list: (tutti) => tutti.workspaces(),
      "the one of a task": (tutti) => tutti.taskWorkspace(task),
      diff: (tutti) => tutti.workspaceDiff(task),
      "no patch": (tutti) => tutti.workspaceDiff(task, { patch_bytes: 0 }),
      "a cut patch": (tutti) => tutti.workspaceDiff(task, { patch_bytes: 40 }),
      "of a task that is gone": (tutti) => tutti.workspaceDiff("tsk_0_gone"),
      "of none": (tutti) => tutti.workspaceDiff("tsk_0_1"),
      "of a task without one": (tutti) => tutti.workspaceDiff(other),
      "a merge that is not agreed to": (tutti) => tutti.mergeTask(task, { into: "next" }),
      "a merge into no branch": (tutti) => tutti.mergeTask(task, { into: "no such", unverified: true }),
      "removal of none": (tutti) => tutti.removeWorkspace("wsp_none"),
      "removal with work": (tutti) => tutti.removeWorkspace(`wsp_${task.slice(4)}-1`),
      "nothing to prune": (tutti) => tutti.pruneWorkspaces(),
      "what would go": (tutti) => tutti.pruneWorkspaces({ max_bytes: 0, dry_run: true }),
    };
    // Looking at a workspace for the first time makes the folder that git needs for it, which counts as its size.
    await here.workspaces();
    for (const [name, look] of Object.entries(looks)) {
      const [far, near] = [await outcome(() => look(there)), await outcome(() => look(here))];
      assert.deepEqual(withoutDetails(far), withoutDetails(near), name);
    }
    const { workspaces, leftovers } = await there.workspaces();
    assert.deepEqual(
      workspaces.map((each) => [each.task, each.task_status, each.state, each.uncommitted]),
      [
        [task, "completed", "uncommitted", ["left.txt"]],
        ["tsk_0_gone", null, "clean", []],
      ],
    );
    assert.ok(workspaces.every(({ bytes }) => bytes > 0));
    assert.deepEqual(
      leftovers.map((each) => each.path.slice(kit.folder.length)),
      ["/workspaces/wsp_bad.json", "-workspaces/wsp_nobody"],
    );
    const diff = await there.workspaceDiff(task);
    assert.deepEqual(
      [diff.files[0]?.path, diff.total, diff.uncommitted],
      [path, { commits: 1, files: 1 }, ["left.txt"]],
    );
    assert.ok(diff.patch.includes("\n+red\u001b[31m [secret]\n"));
    assert.ok(diff.patch_changed && !diff.patch_cut, "a secret is taken out, and this is said");
    const cut = await there.workspaceDiff(task, { patch_bytes: 40 });
    assert.ok(cut.patch_cut && cut.patch.length <= 40);
    assert.equal(repository.git("status", "--porcelain"), "");
  });

  test("a kill cancels the task, saves its work on its branch and removes its workspace; what cannot be saved stays", async (t) => {
    const { there, unfinished, make, repository } = await bench(t);
    const before = personsThings(repository);
    const [task, nested, own] = [await unfinished(), await unfinished(), await unfinished()];
    const { workspace, inside } = await make(task);
    inside.commit({ "done.txt": "done\n" }, "done");
    inside.write("half.txt", "half\n");
    const branch = workspace.branch ?? "";
    const killed = await there.killTask(task, "enough");
    assert.deepEqual(killed, {
      task,
      canceled: [task],
      workspaces: [{ id: workspace.id, removed: true, branch, saved: branch, kept_reason: null }],
    });
    assert.equal((await there.task(task))?.status, "canceled");
    assert.ok(!existsSync(workspace.folder));
    assert.deepEqual(
      ["done.txt", "half.txt"].map((file) => repository.git("show", `${branch}:${file}`)),
      ["done", "half"],
    );
    assert.deepEqual(await there.killTask(task, "again"), { task, canceled: [], workspaces: [] });

    const { workspace: kept, inside: outer } = await make(nested);
    mkdirSync(join(kept.folder, "inner"));
    outer.git("init", "-q", "inner");
    outer.git(
      "-C",
      "inner",
      "-c",
      "user.name=A",
      "-c",
      "user.email=a@example.com",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "x",
    );
    const [stays] = (await there.killTask(nested, "enough")).workspaces;
    assert.match(stays?.kept_reason ?? "", /inner\/? is a git repository of its own/);
    assert.ok(stays?.removed === false && existsSync(kept.folder));

    repository.git("branch", "mine");
    const { inside: onMine } = await make(own, { existingBranch: "mine" });
    onMine.write("half.txt", "half\n");
    const [ofOwn] = (await there.killTask(own, "enough")).workspaces;
    assert.match(ofOwn?.saved ?? "", /^refs\/tutti\//);
    assert.equal(repository.git("rev-parse", "mine"), repository.git("rev-parse", "main"));
    assert.equal(repository.git("show", `${ofOwn?.saved ?? ""}:half.txt`), "half");
    repository.git("branch", "-D", "mine");
    assert.deepEqual(personsThings(repository), before);
  });

  test("a viewer looks and changes nothing", async (t) => {
    const { kit, finished, make } = await bench(t);
    const task = await finished();
    const { workspace } = await make(task);
    const { key } = await kit.keys.add({ name: "v", role: "viewer" });
    const viewer = httpClient({ url: kit.http.url, key });
    t.after(() => viewer.close());
    assert.equal((await viewer.workspaces()).workspaces.length, 1);
    assert.equal((await viewer.workspaceDiff(task)).total.commits, 0);
    for (const call of [
      () => viewer.mergeTask(task, { into: "main", unverified: true }),
      () => viewer.integrateTasks({ tasks: [task] }),
      () => viewer.removeWorkspace(workspace.id),
      () => viewer.pruneWorkspaces({ max_bytes: 0 }),
    ]) {
      assert.equal(await codeOf(call), "refused");
    }
  });
});

describe("merging over HTTP", () => {
  test("merges into a branch without a checkout, and into a clean checkout only when the caller agreed", async (t) => {
    const { there, finished, make, repository } = await bench(t);
    const task = await finished();
    const { workspace, inside } = await make(task);
    const tip = inside.commit({ "b.txt": "b\n" }, "add b");
    repository.git("branch", "next");
    const before = personsThings(repository, /refs\/heads\/(?:tutti\/|next)/);
    const merged = await there.mergeTask(task, { into: "next", unverified: true });
    assert.deepEqual([merged.commit, merged.how, merged.branch], [tip, "fast_forward", workspace.branch]);
    assert.equal(repository.git("rev-parse", "next"), tip);
    assert.deepEqual(personsThings(repository, /refs\/heads\/(?:tutti\/|next)/), before);

    const intoMain = { into: "main", unverified: true };
    assert.equal(await codeOf(() => there.mergeTask(task, intoMain)), "refused");
    repository.write("a.txt", "mine\n");
    assert.equal(await codeOf(() => there.mergeTask(task, { ...intoMain, allow_checked_out: true })), "refused");
    assert.ok(!existsSync(join(repository.folder, "b.txt")));
    repository.git("checkout", "-q", "a.txt");
    await there.mergeTask(task, { ...intoMain, allow_checked_out: true });
    assert.ok(existsSync(join(repository.folder, "b.txt")));
    assert.equal(repository.git("status", "--porcelain"), "");
  });

  test("only a task that verifies can call its commit verified, whatever another one writes into its result", async (t) => {
    const { there, start, says, make, repository } = await bench(t);
    repository.git("branch", "next");
    for (const kind of ["quick", "assignment"]) {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      says.result = promise;
      const task = await start(kind);
      const { workspace, inside } = await make(task);
      const commit = inside.commit({ [`${kind}.txt`]: "b\n" }, `work of ${kind}`);
      const handoff = { worker: null, attempts: 1, hops: 0, retries: 0, revisions: 0 };
      const said = {
        kind: "assignment",
        claim: null,
        state: "verified",
        reason: "all checks pass",
        evidence: ["evd_1"],
      };
      const work = { commit, tree: null, base: null, branch: workspace.branch, workspace: workspace.id };
      resolve({ ...said, ...work, criteria: [], handoff });
      await there.result(task);
      const isVerifying = kind === "assignment";
      const { verification } = await there.workspaceDiff(task, { patch_bytes: 0 });
      assert.equal(verification.state, isVerifying ? "verified" : "unverified");
      const merged = await codeOf(() => there.mergeTask(task, { into: "next" }));
      assert.equal(merged, isVerifying ? undefined : "refused");
    }
  });

  test("a conflict is 409, lists the files and changes nothing", async (t) => {
    const { kit, finished, make, repository } = await bench(t);
    const task = await finished();
    const { inside } = await make(task);
    inside.commit({ "a.txt": "theirs\n" });
    repository.git("branch", "next");
    repository.git("checkout", "-q", "next");
    const ours = repository.commit({ "a.txt": "ours\n" });
    repository.git("checkout", "-q", "main");
    const reply = await kit.call(`/v1/tasks/${task}/merge`, {
      method: "POST",
      json: { into: "next", unverified: true },
    });
    assert.equal(reply.status, 409);
    assert.deepEqual(reply.body?.["details"], { task, files: ["a.txt"] });
    assert.equal(repository.git("rev-parse", "next"), ours);
  });

  test("names that are no branch, the branch of a session, and unfinished work are refused", async (t) => {
    const { there, finished, unfinished, make, repository } = await bench(t);
    const [task, other, running] = [await finished(), await finished(), await unfinished()];
    const { inside } = await make(task);
    inside.commit({ "b.txt": "b\n" });
    const { workspace } = await make(other);
    const late = await make(running);
    for (const into of ["main~1", "--force", "a..b", "main^{commit}", "@{-1}", "x\n", "refs/../x", ""]) {
      assert.equal(await codeOf(() => there.mergeTask(task, { into, unverified: true })), "invalid_input", into);
    }
    const refused = await outcome(() =>
      there.mergeTask(task, { into: workspace.branch ?? "", unverified: true, allow_checked_out: true }),
    );
    assert.match(JSON.stringify(refused), /is the branch of the workspace/);
    assert.equal(await codeOf(() => there.mergeTask(running, { into: "main", unverified: true })), "conflict");
    assert.equal(await codeOf(() => there.removeWorkspace(late.workspace.id)), "conflict");
    assert.ok(existsSync(late.workspace.folder));
    assert.equal(repository.git("status", "--porcelain"), "");
  });

  test("protected files are merged only when they were approved by name, also as a part of work that builds on them", async (t) => {
    const { there, finished, make, repository } = await bench(t);
    const [first, second] = [await finished(), await finished()];
    const commit = (await make(first)).inside.commit({
      ".envrc": "curl evil\n",
      ".vscode/tasks.json": "{}\n",
      "b.txt": "b\n",
    });
    (await make(second, { base: { kind: "commit", commit } })).inside.commit({ "c.txt": "c\n" });
    repository.git("branch", "next");
    const diff = await there.workspaceDiff(first);
    assert.deepEqual(diff.protected, [".envrc", ".vscode/tasks.json"]);
    const merge = (task: string, approved: string[] = []): Promise<unknown> =>
      outcome(() => there.mergeTask(task, { into: "next", unverified: true, protected: approved }));
    const refused = { code: "refused", details: { task: second, protected: diff.protected } };
    assert.partialDeepStrictEqual(await merge(second), refused);
    assert.partialDeepStrictEqual(await merge(first, [".envrc"]), {
      code: "refused",
      details: { task: first, protected: [".vscode/tasks.json"] },
    });
    assert.equal(repository.git("rev-parse", "next"), repository.git("rev-parse", "main"));
    assert.partialDeepStrictEqual(await merge(first, diff.protected), { given: { commit } });
    assert.partialDeepStrictEqual(await merge(second), { given: { how: "fast_forward" } });
    assert.deepEqual((await there.workspaceDiff(first)).protected, []);
  });
});

describe("merging protected files over HTTP", () => {
  test("a folder shaped like a repository, and a link in place of an editor's folder, are protected", async (t) => {
    const { there, finished, make, repository } = await bench(t);
    const task = await finished();
    const { workspace, inside } = await make(task);
    symlinkSync("conf", join(workspace.folder, ".vscode"));
    inside.commit({
      "conf/tasks.json": "{}\n",
      "data/HEAD": "ref: refs/heads/main\n",
      "data/config": "[core]\n\tfsmonitor = evil\n",
      "data/Objects/x": "",
      "data/refs/x": "",
      "other/HEAD": "not a repository\n",
    });
    const { protected: found } = await there.workspaceDiff(task);
    assert.deepEqual(found, [".vscode", "data/HEAD", "data/Objects/x", "data/config", "data/refs/x"]);
    const refused = await outcome(() =>
      there.mergeTask(task, { into: "main", unverified: true, allow_checked_out: true }),
    );
    assert.partialDeepStrictEqual(refused, { code: "refused", details: { protected: found } });
    assert.equal(repository.git("status", "--porcelain"), "");
  });
});

describe("integrating over HTTP", () => {
  test("one branch gets the work of several tasks; diff and merge then take it, or an attempt that is named", async (t) => {
    const { there, finished, unfinished, make, repository } = await bench(t);
    const [one, two, idle, running] = [await finished(), await finished(), await finished(), await unfinished()];
    (await make(one)).inside.commit({ "one.txt": "one\n" });
    (await make(two)).inside.commit({ "old.txt": "old\n" });
    (await make(two, { attempt: 2 })).inside.commit({ "two.txt": "two\n" });
    await make(idle);
    await make(running);
    repository.git("branch", "next");
    const made = await there.integrateTasks({ tasks: [one, two, idle, running] });
    assert.deepEqual([made.task, made.branch], [one, `tutti/${one}-integration`]);
    assert.deepEqual(
      made.merged.map(({ task, attempt }) => [task, attempt]),
      [
        [one, 1],
        [two, 2],
      ],
    );
    assert.deepEqual(made.skipped, [
      { task: idle, why: "has no commit of its own" },
      { task: running, why: "is not over: it is running" },
    ]);
    const diff = await there.workspaceDiff(one);
    assert.deepEqual([diff.kind, diff.tip, diff.total.files], ["integration", made.commit, 2]);
    const own = await there.workspaceDiff(one, { attempt: 1 });
    assert.deepEqual([own.kind, own.total.files], ["attempt", 1]);
    assert.equal((await there.workspaceDiff(two, { attempt: 1 })).files[0]?.path, "old.txt");
    assert.match(
      JSON.stringify(await outcome(() => there.taskWorkspace(two, { attempt: 3 }))),
      /no workspace of attempt 3; there are those of attempt 1, 2/,
    );
    await there.mergeTask(two, { into: "next", attempt: 1, unverified: true });
    assert.equal(repository.git("show", "next:old.txt"), "old");
    await there.mergeTask(one, { into: "next", unverified: true });
    assert.equal(repository.git("show", "next:two.txt"), "two");
    assert.equal(repository.git("status", "--porcelain"), "");
  });

  test("a conflict is 409, and its details are what a task needs that resolves it", async (t) => {
    const { kit, finished, make, repository } = await bench(t);
    const [one, two] = [await finished(), await finished()];
    const first = (await make(one)).inside.commit({ "a.txt": "one\n" });
    const second = (await make(two)).inside.commit({ "a.txt": "two\n" });
    const reply = await kit.call("/v1/workspaces/integrate", { method: "POST", json: { tasks: [one, two] } });
    assert.equal(reply.status, 409);
    assert.deepEqual(reply.body?.["details"], {
      task: two,
      branch: `tutti/${two}-1`,
      commit: second,
      files: ["a.txt"],
      merged: { commit: first, works: [{ task: one, attempt: 1, branch: `tutti/${one}-1`, commit: first }] },
      rest: [],
    });
    assert.equal(repository.git("branch", "--list", "*integration"), "");
  });
});

describe("removing over HTTP", () => {
  test("refuses uncommitted work, saves it on request, and keeps the branch", async (t) => {
    const { there, finished, make, repository } = await bench(t);
    const task = await finished();
    const { workspace, inside } = await make(task);
    const tip = inside.commit({ "b.txt": "b\n" });
    inside.write("c.txt", "c\n");
    assert.equal(await codeOf(() => there.removeWorkspace(workspace.id)), "refused");
    const removed = await there.removeWorkspace(workspace.id, { uncommitted: "save" });
    assert.ok(!existsSync(workspace.folder));
    assert.equal(repository.git("rev-parse", removed.branch ?? ""), tip);
    assert.equal(repository.git("show", `${removed.saved}:c.txt`), "c");
    assert.equal((await there.workspaces()).workspaces[0]?.state, "removed");
    assert.equal((await there.workspaceDiff(task)).tip, tip, "the work can still be looked at");
    const { workspace: again } = await there.restoreWorkspace(workspace.id);
    assert.deepEqual([again.folder, again.state, again.uncommitted], [workspace.folder, "uncommitted", ["c.txt"]]);
    assert.equal(await codeOf(() => there.restoreWorkspace("wsp_none")), "not_found");
  });

  test("pruning takes the old ones, and leaves what is in use or uncommitted; the config's limits hold without options", async (t) => {
    const { kit, there, finished, unfinished, make } = await bench(t, { workspaceLimits: { max_size: 0 } });
    const [idle, dirty, running] = [await finished(), await finished(), await unfinished()];
    const gone = await make(idle);
    const kept = await make(dirty);
    kept.inside.write("c.txt", "c\n");
    const used = await make(running);
    const dry = await there.pruneWorkspaces({ dry_run: true });
    assert.deepEqual(
      dry.removed.map(({ id, why }) => [id, why]),
      [[gone.workspace.id, "size"]],
    );
    assert.ok(existsSync(gone.workspace.folder) && dry.over_bytes > 0);
    await there.pruneWorkspaces({ older_than_ms: 86_400_000, max_bytes: 2 ** 40 });
    assert.ok(existsSync(gone.workspace.folder), "nothing is a day old");
    await there.pruneWorkspaces();
    assert.deepEqual(
      [gone, kept, used].map(({ workspace }) => existsSync(workspace.folder)),
      [false, true, true],
    );
    await there.cancel(running, "enough");
    await until(() => kit.state.engine.counts().running === 0, "the task ends");
    await there.pruneWorkspaces();
    assert.ok(!existsSync(used.workspace.folder));
  });
});

/** Details of a refused query differ: the service lists every issue. */
function withoutDetails(value: unknown): unknown {
  const { details: _, ...rest } = value as { details?: unknown };
  return rest;
}
