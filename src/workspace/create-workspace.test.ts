import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { personsThings, repositoryAt, testRepository, type TestRepository } from "../../test/support/git-kit.ts";
import { skipUnconfined } from "../../test/support/confined-session.ts";
import { onSmallDisk } from "../../test/support/small-disk.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { createWorkspace, type CreateOutcome, type NewWorkspace } from "./create-workspace.ts";
import { openWorkspaces, readRecords } from "./record-store.ts";
import { branchName } from "./workspace-record.ts";

const wanted = (project: string, more: Partial<NewWorkspace> = {}): NewWorkspace => ({
  task: "tsk_1",
  attempt: 1,
  project,
  now: 1,
  ...more,
});

function ready(outcome: CreateOutcome): Extract<CreateOutcome, { state: "ready" }> {
  assert.equal(outcome.state, "ready");
  return outcome as Extract<CreateOutcome, { state: "ready" }>;
}

const store = (t: TestContext) => openWorkspaces(join(tempFolder(t), "state"));
const read = (folder: string, path: string): string => readFileSync(join(folder, path), "utf8");

test("a worktree has a branch of its own at HEAD, and nothing of the person's changes", async (t) => {
  const repository = testRepository(t, { "a.txt": "a\n", "sub/b.txt": "b\n" });
  repository.write("a.txt", "changed\n");
  repository.write("new.txt", "new\n");
  const before = personsThings(repository);
  const { workspace, dirty } = ready(await createWorkspace(store(t), wanted(repository.folder)));
  assert.deepEqual(dirty.toSorted(), ["a.txt", "new.txt"]);
  assert.equal(workspace.branch, "tutti/tsk_1-1");
  assert.equal(workspace.base, repository.git("rev-parse", "HEAD"));
  assert.equal(read(workspace.folder, "a.txt"), "a\n");
  const inside = repositoryAt(workspace.folder);
  assert.equal(inside.git("status", "--porcelain"), "");
  assert.equal(inside.git("symbolic-ref", "HEAD"), "refs/heads/tutti/tsk_1-1");
  assert.deepEqual(personsThings(repository), before);
});

test("made again for the same attempt, it is the same workspace", async (t) => {
  const repository = testRepository(t);
  const records = store(t);
  const first = ready(await createWorkspace(records, wanted(repository.folder)));
  const second = ready(await createWorkspace(records, wanted(repository.folder)));
  assert.deepEqual(second.workspace, first.workspace);
});

test("with_changes begins with the uncommitted files, and the person's index is not touched", async (t) => {
  const repository = testRepository(t, { "a.txt": "a\n", "gone.txt": "x\n", ".gitignore": "ignored\n" });
  repository.write("a.txt", "staged\n");
  repository.git("add", "a.txt");
  repository.write("a.txt", "changed\n");
  repository.write("new.txt", "new\n");
  repository.write("ignored", "secret\n");
  repository.git("rm", "-q", "--cached", "gone.txt");
  const before = personsThings(repository);
  const outcome = await createWorkspace(store(t), wanted(repository.folder, { withChanges: true }));
  const { workspace } = ready(outcome);
  assert.equal(read(workspace.folder, "a.txt"), "changed\n");
  assert.equal(read(workspace.folder, "new.txt"), "new\n");
  assert.equal(existsSync(join(workspace.folder, "ignored")), false);
  assert.deepEqual(personsThings(repository), before);
});

test("branches of predecessors are merged in order; a conflict names the files and makes nothing", async (t) => {
  const repository = testRepository(t);
  const one = branchWith(repository, "one", { "one.txt": "1\n" });
  branchWith(repository, "two", { "two.txt": "2\n" });
  const three = branchWith(repository, "three", { "one.txt": "3\n" });
  const records = store(t);
  const both = { kind: "branches", branches: ["one", "two"] } as const;
  const { workspace } = ready(await createWorkspace(records, wanted(repository.folder, { base: both })));
  assert.deepEqual([read(workspace.folder, "one.txt"), read(workspace.folder, "two.txt")], ["1\n", "2\n"]);
  const before = [personsThings(repository), readRecords(records)];
  const outcome = await createWorkspace(
    records,
    wanted(repository.folder, { attempt: 2, base: { kind: "branches", branches: ["one", "three"] } }),
  );
  const merged = { commit: one, branches: ["one"] };
  assert.deepEqual(outcome, {
    state: "conflict",
    branch: "three",
    commit: three,
    files: ["one.txt"],
    merged,
    rest: [],
  });
  assert.deepEqual([personsThings(repository), readRecords(records)], before);
});

test("a later attempt begins at the commit of an earlier one; an existing branch is used on request", async (t) => {
  const repository = testRepository(t);
  const earlier = branchWith(repository, "earlier", { "x.txt": "x\n" });
  const records = store(t);
  const base = { kind: "commit", commit: earlier } as const;
  const second = ready(await createWorkspace(records, wanted(repository.folder, { attempt: 2, base })));
  assert.equal(second.workspace.base, earlier);
  const third = ready(
    await createWorkspace(records, wanted(repository.folder, { attempt: 3, existingBranch: "earlier" })),
  );
  assert.deepEqual([third.workspace.branch, third.workspace.new_branch], ["earlier", false]);
  const taken = createWorkspace(records, wanted(repository.folder, { attempt: 4, existingBranch: "main" }));
  await assert.rejects(taken, /the branch main is checked out at/);
  const again = createWorkspace(records, wanted(repository.folder, { attempt: 5, branchPattern: "earlier" }));
  await assert.rejects(again, { code: "conflict", message: /the branch earlier exists already/ });
  assert.deepEqual(
    readRecords(records).workspaces.map(({ attempt }) => attempt),
    [2, 3],
    "what was refused leaves no record",
  );
});

test("listed files are copied, but not through a link and not out of the project", async (t) => {
  const repository = testRepository(t, { "a.txt": "a\n", ".gitignore": ".env\ncache\nlinked\nout\n" });
  const outside = tempFolder(t);
  writeFileSync(join(outside, "secret"), "secret\n");
  repository.write(".env", "KEY=1\n");
  repository.write("cache/deep/x", "x\n");
  symlinkSync(join(outside, "secret"), join(repository.folder, "linked"));
  symlinkSync(outside, join(repository.folder, "out"));
  const copy = [".env", "cache", "linked", "out/secret", "absent"];
  const { workspace, copied } = ready(await createWorkspace(store(t), wanted(repository.folder, { copy })));
  assert.deepEqual(copied.copied, [".env", "cache"]);
  assert.deepEqual(
    copied.skipped.map(({ path }) => path),
    ["linked", "out/secret", "absent"],
  );
  assert.equal(read(workspace.folder, ".env"), "KEY=1\n");
  assert.equal(read(workspace.folder, "cache/deep/x"), "x\n");
  for (const path of ["../x", "/etc/passwd", ".git/config"]) {
    const outcome = createWorkspace(
      store(t),
      wanted(repository.folder, { copy: [path], attempt: 2, branchPattern: "b2" }),
    );
    await assert.rejects(outcome, { code: "invalid_input" }, path);
  }
});

test("a copied file never leaves the workspace through a link that a commit put there", async (t) => {
  const outside = tempFolder(t);
  const repository = testRepository(t);
  const head = repository.git("rev-parse", "HEAD");
  symlinkSync(outside, join(repository.folder, "conf"));
  const evil = repository.commit({}, "a link");
  repository.git("reset", "-q", "--hard", head);
  repository.write("conf/.env", "KEY=1\n");
  const { copied } = ready(
    await createWorkspace(
      store(t),
      wanted(repository.folder, { base: { kind: "commit", commit: evil }, copy: ["conf/.env"] }),
    ),
  );
  assert.match(copied.skipped[0]?.reason ?? "", /conf is a link/);
  assert.equal(existsSync(join(outside, ".env")), false);
});

test("outside of git, and on request, a workspace is a copy named by its content", async (t) => {
  const folder = tempFolder(t);
  const plain = repositoryAt(folder);
  plain.write("a.txt", "a\r\n");
  plain.write(".gitattributes", "* text=auto\n*.txt filter=evil\n");
  plain.write("sub/b", "b");
  const records = store(t);
  const one = ready(await createWorkspace(records, wanted(folder)));
  const two = ready(await createWorkspace(records, wanted(folder, { attempt: 2 })));
  assert.equal(one.workspace.mode, "copy");
  assert.equal(one.workspace.base, two.workspace.base);
  assert.equal(read(one.workspace.folder, "a.txt"), "a\r\n", "line ends are kept");
  plain.write("sub/b", "changed");
  const three = ready(await createWorkspace(records, wanted(folder, { attempt: 3 })));
  assert.notEqual(three.workspace.base, one.workspace.base);
  await assert.rejects(
    createWorkspace(records, wanted(folder, { attempt: 4, mode: "worktree" })),
    /not in a git repository/,
  );
});

test("neither the state folder nor a copy of a copy gets into a copy", async (t) => {
  const folder = tempFolder(t);
  writeFileSync(join(folder, "a.txt"), "a\n");
  const records = openWorkspaces(join(folder, "state"));
  await createWorkspace(records, wanted(folder));
  const { workspace } = ready(await createWorkspace(records, wanted(folder, { attempt: 2 })));
  assert.deepEqual(readdirSync(workspace.folder), ["a.txt"]);
});

test("workspaces made at the same moment do not take each other's branch", async (t) => {
  const repository = testRepository(t);
  const records = store(t);
  const attempts = [1, 2, 3].map((attempt) =>
    createWorkspace(records, wanted(repository.folder, { attempt, branchPattern: "same" })),
  );
  const made = (await Promise.allSettled(attempts)).flatMap((each) =>
    each.status === "fulfilled" ? [each.value] : [],
  );
  assert.equal(made.length, 1);
  assert.equal(repository.git("rev-parse", "same"), repository.git("rev-parse", "main"));
  assert.equal(readRecords(records).workspaces.length, 1);
});

test("a shared workspace is the person's folder", async (t) => {
  const repository = testRepository(t);
  const { workspace } = ready(await createWorkspace(store(t), wanted(repository.folder, { mode: "shared" })));
  assert.deepEqual([workspace.folder, workspace.branch], [repository.folder, null]);
});

test("what cannot be a workspace is refused by name and leaves nothing", async (t) => {
  const records = store(t);
  const bare = tempFolder(t);
  repositoryAt(bare).git("init", "-q", "--bare");
  await assert.rejects(createWorkspace(records, wanted(bare)), { code: "refused", message: /bare repository/ });
  const unborn = tempFolder(t);
  repositoryAt(unborn).git("init", "-q");
  await assert.rejects(createWorkspace(records, wanted(unborn)), { code: "refused", message: /no commit yet/ });
  const partial = testRepository(t);
  partial.git("config", "remote.origin.promisor", "true");
  await assert.rejects(createWorkspace(records, wanted(partial.folder)), { code: "refused", message: /partial clone/ });
  const filtered = testRepository(t, { "a.txt": "a\n", ".gitattributes": "*.txt filter=crypt\n" });
  filtered.git("config", "filter.crypt.smudge", "cat");
  const before = personsThings(filtered);
  const refused = createWorkspace(records, wanted(filtered.folder));
  await assert.rejects(refused, { code: "refused", message: /a\.txt goes through the git filter "crypt"/ });
  assert.deepEqual(personsThings(filtered), before);
  assert.deepEqual(readRecords(records), { workspaces: [], unreadable: [], unknown: [] });
});

test("submodules and Git LFS are told by name; a sparse checkout becomes a whole one", async (t) => {
  const inner = testRepository(t);
  const repository = testRepository(t, {
    "a.txt": "a\n",
    "sub/b.txt": "b\n",
    ".gitattributes": "*.bin filter=lfs\n",
    "x.bin": "pointer\n",
  });
  repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.folder, "module");
  repository.commit({}, "submodule");
  repository.git("config", "filter.lfs.smudge", "false");
  repository.git("config", "filter.lfs.required", "true");
  repository.git("config", "core.sparseCheckout", "true");
  const { workspace, warnings } = ready(await createWorkspace(store(t), wanted(repository.folder)));
  assert.equal(warnings.length, 2);
  assert.match(warnings.join(" "), /1 files are kept in Git LFS, such as x\.bin.*submodules module are empty/s);
  assert.equal(read(workspace.folder, "x.bin"), "pointer\n");
  assert.equal(read(workspace.folder, "sub/b.txt"), "b\n");
});

test("a full disk is said to be full, and what was half made is gone", { skip: skipUnconfined }, async (t) => {
  const large = randomBytes(1024 * 1024).toString("base64");
  const repository = testRepository(t, { "a.txt": "a\n", "large.txt": large });
  const before = personsThings(repository);
  const state = tempFolder(t, "tutti-state-");
  const source = (name: string) => JSON.stringify(join(import.meta.dirname, name));
  const program = `
    import { createWorkspace } from ${source("create-workspace.ts")};
    import { openWorkspaces, readRecords } from ${source("record-store.ts")};
    const store = openWorkspaces(${JSON.stringify(state)}, { root: ${JSON.stringify(join(state, "work"))} });
    const wanted = { task: "tsk_1", attempt: 1, project: ${JSON.stringify(repository.folder)}, now: 1 };
    const code = await createWorkspace(store, wanted).then(() => "made", (thrown) => thrown.code);
    console.log(JSON.stringify([code, readRecords(store)]));`;
  const command = [process.execPath, "--input-type=module", "-e", program];
  const run = spawnSync(...onSmallDisk(state, 512 * 1024, command), { encoding: "utf8", timeout: 240_000 });
  assert.deepEqual(JSON.parse(run.stdout), ["disk_full", { workspaces: [], unreadable: [], unknown: [] }], run.stderr);
  assert.deepEqual(personsThings(repository), before);
  assert.equal(repository.git("branch", "--list", "tutti/*"), "");
});

test("a pattern makes names that git takes", () => {
  const of = (pattern: string, task = "tsk_1") => branchName(pattern, { task, attempt: 2, agent: "a b" });
  assert.equal(of("tutti/{task}-{attempt}"), "tutti/tsk_1-2");
  assert.equal(of("{agent}/{task}", "tsk_a..b.lock"), "a-b/tsk_a.b");
});

/** A branch beside main with one commit more. Returns the commit. */
function branchWith(repository: TestRepository, name: string, files: Readonly<Record<string, string>>): string {
  repository.git("checkout", "-q", "-b", name, "main");
  const commit = repository.commit(files, name);
  repository.git("checkout", "-q", "main");
  return commit;
}
