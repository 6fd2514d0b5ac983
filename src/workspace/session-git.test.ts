import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { confine, runSession, skipUnconfined } from "../../test/support/confined-session.ts";
import { personsThings, repositoryAt, testRepository, type TestRepository } from "../../test/support/git-kit.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { createWorkspace } from "./create-workspace.ts";
import { endSession } from "./end-session.ts";
import { openWorkspaces, type WorkspaceStore } from "./record-store.ts";
import { removeWorkspace } from "./remove-workspace.ts";
import { worktreeGitDir } from "./remove-files.ts";
import { saveWorkspace } from "./save-workspace.ts";
import { beginSession, privateGit } from "./session-git.ts";
import { sessionResult } from "./session-result.ts";
import type { Workspace } from "./workspace-record.ts";

const skip = skipUnconfined;

interface Kit {
  readonly repository: TestRepository;
  readonly store: WorkspaceStore;
  readonly workspace: Workspace;
  readonly run: (script: string) => Promise<{ code: number | null; output: string }>;
}

async function kit(t: TestContext, existingBranch?: string): Promise<Kit> {
  const repository = testRepository(t, { "a.txt": "a\n", "b.txt": "b\n" });
  repository.git("branch", "other");
  repository.git("tag", "v1");
  repository.git("branch", "packed");
  repository.git("pack-refs", "--all");
  repository.git("branch", "loose");
  if (existingBranch !== undefined) repository.git("branch", existingBranch);
  const store = openWorkspaces(join(tempFolder(t), "state"));
  const outcome = await createWorkspace(store, {
    task: "tsk_1",
    attempt: 1,
    project: repository.folder,
    existingBranch,
    now: 1,
  });
  assert.equal(outcome.state, "ready");
  const { workspace } = outcome as { workspace: Workspace };
  return { repository, store, workspace, run: (script) => runSession(store, workspace, script) };
}

/** Everything in the git folder, so that nothing at all can change unseen. */
function gitFolder({ folder }: TestRepository): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(join(folder, ".git"), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    found[path] = `${statSync(path).mtimeMs} ${readFileSync(path, "latin1")}`;
  }
  return found;
}

test("a confined session can commit, and its branch is there afterwards", { skip }, async (t) => {
  const { repository, workspace, run } = await kit(t);
  const before = personsThings(repository);
  const script =
    "echo c > c.txt && git add -A && git commit -qm session && git log --oneline main loose packed | wc -l";
  const { code, output } = await run(script);
  assert.equal(code, 0, output);
  const base = repository.git("rev-parse", "tutti/tsk_1-1");
  assert.equal(base, workspace.base, "the real branch has not moved yet");
  const ended = await endSession(workspace, { confine });
  assert.equal(ended?.moved, true);
  assert.deepEqual([ended.problems, ended.strays], [[], []]);
  assert.equal(repository.git("log", "-1", "--format=%s", "tutti/tsk_1-1"), "session");
  assert.equal(repository.git("fsck", "--strict"), "");
  assert.equal(repositoryAt(workspace.folder).git("status", "--porcelain"), "");
  assert.deepEqual(personsThings(repository), before);
  const second = await run("echo d > d.txt && git add -A && git commit -qm again");
  assert.equal(second.code, 0, second.output);
  await endSession(workspace, { confine });
  assert.equal((await sessionResult(workspace))?.total.commits, 2);
});

test("of git a session changes nothing but its own: each way is closed", { skip }, async (t) => {
  const { repository, workspace, run } = await kit(t);
  const git = join(repository.folder, ".git");
  const own = worktreeGitDir(workspace);
  const pack = join(git, "objects", "pack");
  repository.git("gc", "-q");
  const [object] = readdirSync(pack).filter((name) => name.endsWith(".pack"));
  const before = gitFolder(repository);
  const ways: readonly string[] = [
    `echo x >> ${git}/config`,
    `git config core.fsmonitor evil`,
    `mv ${git}/config ${git}/config2`,
    `echo x > ${git}/hooks/pre-commit`,
    `mv ${git}/hooks ${git}/hooks2`,
    `echo x >> ${git}/info/exclude`,
    `echo x > ${git}/info/attributes`,
    `echo x > ${git}/HEAD`,
    `echo x > ${git}/index`,
    `git update-ref refs/tags/evil HEAD`,
    `git tag -d v1`,
    `git update-ref refs/tutti/saved/x HEAD`,
    `git branch -D packed`,
    `echo x >> ${git}/packed-refs`,
    `rm ${git}/packed-refs`,
    `mv ${git}/refs/heads ${git}/refs/heads2`,
    `mkdir ${git}/worktrees/evil`,
    `mv ${own} ${own}2`,
    `git worktree add /tmp/other`,
    `echo x > ${own}/commondir`,
    `rm ${own}/commondir`,
    `mv ${own}/gitdir ${own}/gitdir2`,
    `echo x > ${own}/config.worktree`,
    `mv /tmp/x ${own}/config.worktree`,
    `git config --worktree core.fsmonitor evil`,
    `rm ${workspace.folder}/.git`,
    `mv ${workspace.folder}/.git ${workspace.folder}/git2`,
    `echo ${git} > ${git}/objects/info/alternates`,
    `mv ${git}/objects/info ${git}/objects/info2`,
    `echo x > ${privateGit(workspace).realObjects}/pack/${object}`,
    `rm ${privateGit(workspace).realObjects}/pack/${object}`,
    `echo x > ${privateGit(workspace).start}`,
  ];
  const script = ways.map((way, at) => `( ${way} ) >/dev/null 2>&1 && echo open ${at}`).join("\n");
  const { output } = await run(`echo x > /tmp/x\n${script}`);
  const open = [...output.matchAll(/^open (\d+)$/gm)].map(([, at]) => ways[Number(at)]);
  // In the sandbox this file is on a file system of its own, which vanishes with it.
  assert.deepEqual(
    open.filter((way) => way !== `echo x > ${privateGit(workspace).start}`),
    [],
  );
  assert.deepEqual(gitFolder(repository), before);
  const moved = await run(`git update-ref refs/heads/main ${"HEAD"} && git branch -f loose HEAD~0 && git branch evil`);
  assert.equal(moved.code, 0, moved.output);
  assert.deepEqual(gitFolder(repository), before, "what it sees as other branches is its own copy");
  await endSession(workspace, { confine });
  assert.equal(repository.git("branch", "--list", "evil"), "");
});

test("existing objects cannot be replaced by a session's", { skip }, async (t) => {
  const { repository, workspace, run } = await kit(t);
  const blob = repository.git("rev-parse", "HEAD:a.txt");
  const git = join(repository.folder, ".git");
  const planted = `${git}/objects/${blob.slice(0, 2)}/${blob.slice(2)}`;
  const { code } = await run(
    `mkdir -p ${git}/objects/${blob.slice(0, 2)}; echo evil > ${planted} && echo c > c.txt && git add c.txt && git commit -qm x`,
  );
  assert.equal(code, 0);
  await endSession(workspace, { confine });
  assert.equal(repository.git("cat-file", "-p", blob), "a");
  assert.equal(repository.git("fsck", "--strict"), "");
});

test(
  "commits that are damaged, or that git forbids, are not brought over, and the branch stays",
  { skip },
  async (t) => {
    const { repository, store, workspace, run } = await kit(t);
    const before = personsThings(repository);
    const script = [
      // A tree with an entry named .git, which would plant a repository in a checkout.
      `blob=$(echo x | git hash-object -w --stdin)`,
      `tree=$(printf '100644 blob %s\\tconfig\\n' $blob | git mktree)`,
      `evil=$(printf '040000 tree %s\\t.git\\n' $tree | git mktree)`,
      `commit=$(git commit-tree $evil -p HEAD -m evil)`,
      `git update-ref refs/heads/tutti/tsk_1-1 $commit`,
    ].join("\n");
    const { code, output } = await run(script);
    assert.equal(code, 0, output);
    const ended = await endSession(workspace, { confine });
    assert.equal(ended?.moved, false);
    assert.match(ended.problems.join(), /cannot be used: .*hasDotgit/s);
    assert.equal(repository.git("rev-parse", "tutti/tsk_1-1"), workspace.base);
    assert.deepEqual(personsThings(repository), before);
    await assert.rejects(removeWorkspace(store, workspace.id, { confine, uncommitted: "save" }), /was not removed/);
  },
);

test("commits outside of its branch are kept, and a rewritten branch loses nothing", { skip }, async (t) => {
  const { repository, workspace, run } = await kit(t);
  await run("echo 1 > 1 && git add 1 && git commit -qm one");
  await endSession(workspace, { confine });
  const one = repository.git("rev-parse", "tutti/tsk_1-1");
  const script = [
    "git checkout -qb side && echo s > s && git add s && git commit -qm side",
    "git checkout -q tutti/tsk_1-1 && git commit -q --amend -m amended",
    "git checkout -q --detach && echo d > d && git add d && git commit -qm detached",
  ].join(" && ");
  const { code, output } = await run(script);
  assert.equal(code, 0, output);
  const ended = await endSession(workspace, { confine });
  assert.equal(repository.git("log", "-1", "--format=%s", "tutti/tsk_1-1"), "amended");
  const subjects = ended?.strays.map(({ ref }) => repository.git("log", "-1", "--format=%s", ref)).toSorted();
  assert.deepEqual(subjects, ["detached", "one", "side"]);
  assert.equal(repository.git("merge-base", "--is-ancestor", one, `refs/tutti/stray/${workspace.id}/${one}`), "");
});

test("a branch of the person is moved forward only", { skip }, async (t) => {
  const { repository, workspace, run } = await kit(t, "feature");
  const tip = repository.git("rev-parse", "feature");
  const { code, output } = await run("git checkout -q --orphan new && git commit -qm new && git branch -f feature new");
  assert.equal(code, 0, output);
  const ended = await endSession(workspace, { confine });
  assert.equal(repository.git("rev-parse", "feature"), tip);
  assert.equal(ended?.strays.length, 1);
});

test(
  "links and pipes that a session leaves in its git folder lead Tutti's git nowhere",
  { skip, timeout: 240_000 },
  async (t) => {
    const { store, repository, workspace, run } = await kit(t);
    const victim = join(tempFolder(t), "victim");
    writeFileSync(victim, "precious\n");
    const own = worktreeGitDir(workspace);
    const script = [
      `rm -rf ${own}/index ${own}/logs && ln -s ${victim} ${own}/index && mkdir ${own}/logs && ln -s ${victim} ${own}/logs/HEAD`,
      `rm ${own}/HEAD && mkfifo ${own}/HEAD && ln -s ${victim} ${own}/index.lock && ln -s ${victim} ${own}/index.new`,
      `echo work > work.txt`,
    ].join(" && ");
    assert.equal((await run(script)).code, 0);
    const saved = await saveWorkspace(workspace, { commits: "tutti", confine });
    assert.notEqual(saved.commit, null);
    assert.equal(repository.git("show", "tutti/tsk_1-1:work.txt"), "work");
    assert.equal(readFileSync(victim, "utf8"), "precious\n");
    assert.equal(repositoryAt(workspace.folder).git("status", "--porcelain"), "");
    await removeWorkspace(store, workspace.id);
    assert.equal(readFileSync(victim, "utf8"), "precious\n");
  },
);

test("a session sees neither other workspaces nor what Tutti keeps of its own", { skip }, async (t) => {
  const { store, workspace, run } = await kit(t);
  mkdirSync(join(store.root, "wsp_other"));
  writeFileSync(join(store.root, "wsp_other", "secret"), "secret");
  const { output } = await run(
    `ls -a ${store.root} ${workspace.folder}.session ${workspace.folder}.session/git; cat ${store.root}/wsp_other/secret`,
  );
  assert.doesNotMatch(output, /wsp_other\n|\bstart\b|wsp_1-1\.json/);
});

test("objects that a repository borrows from another one are found in the sandbox, too", { skip }, async (t) => {
  const lender = testRepository(t);
  const folder = join(tempFolder(t), "borrower");
  lender.git("clone", "-q", "--shared", lender.folder, folder);
  const store = openWorkspaces(join(tempFolder(t), "state"));
  const outcome = await createWorkspace(store, { task: "tsk_1", attempt: 1, project: folder, now: 1 });
  const { workspace } = outcome as { workspace: Workspace };
  const { code, output } = await runSession(
    store,
    workspace,
    "echo c > c && git add c && git commit -qm c && git fsck",
  );
  assert.equal(code, 0, output);
  await endSession(workspace, { confine });
  assert.equal(repositoryAt(folder).git("log", "-1", "--format=%s", "tutti/tsk_1-1"), "c");
});

test("the mounts of a session are refused when git does not know the worktree any more", async (t) => {
  const { repository, store, workspace } = await kit(t);
  repository.git("worktree", "remove", "--force", workspace.folder);
  await assert.rejects(beginSession(store, workspace), /restore the workspace/);
});
