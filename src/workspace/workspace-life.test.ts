import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { confine, runSession, skipUnconfined } from "../../test/support/confined-session.ts";
import { personsThings, repositoryAt, testRepository, type TestRepository } from "../../test/support/git-kit.ts";
import { chance, type Chance } from "../../test/support/seeded-random.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { TuttiError } from "../protocol/error.ts";
import { chooseRemovals } from "./choose-removals.ts";
import { createWorkspace } from "./create-workspace.ts";
import { listWorkspaces } from "./list-workspaces.ts";
import { integrateWorks } from "./integrate-works.ts";
import { finishedWork } from "./merge-predecessors.ts";
import { openWorkspaces, readRecords, type WorkspaceStore } from "./record-store.ts";
import { recoverWorkspaces } from "./recover-workspaces.ts";
import { removeWorkspace, restoreWorkspace } from "./remove-workspace.ts";
import { saveWorkspace } from "./save-workspace.ts";
import { savedRef, type Workspace } from "./workspace-record.ts";

/** A life of workspaces: what was done to them, and what must be found afterwards. */
interface Life {
  readonly random: Chance;
  readonly repository: TestRepository;
  readonly stateFolder: string;
  store: WorkspaceStore;
  attempt: number;
  /** The last content of each file of each workspace. */
  readonly work: Map<string, Map<string, string>>;
  persons: unknown;
  /** How many steps the next action gets before the process ends. */
  stepsLeft: number;
}

const paths = ["a.txt", "b.txt", "sub/c.txt"] as const;
const crashed = Symbol("crashed");

function open(life: Omit<Life, "store">, onCrash: () => void): WorkspaceStore {
  return openWorkspaces(life.stateFolder, {
    checkpoint: async () => {
      life.stepsLeft -= 1;
      if (life.stepsLeft !== 0) return;
      onCrash();
      // A process that ended does nothing more, so neither does this call: no cleaning up, no error.
      await new Promise(() => undefined);
    },
  });
}

/** Does the action; the process may end in the middle of it, and a new one recovers. */
async function survive(life: Life, action: (store: WorkspaceStore) => Promise<unknown>): Promise<void> {
  const end = Promise.withResolvers<typeof crashed>();
  life.stepsLeft = life.random.oneIn(3) ? Infinity : 1 + life.random.below(3);
  life.store = open(life, () => end.resolve(crashed));
  const done = action(life.store).catch((thrown: unknown) => {
    if (!(thrown instanceof TuttiError) || thrown.code === "internal" || thrown.code === "io") throw thrown;
  });
  const outcome = await Promise.race([done, end.promise]);
  if (outcome !== crashed) return;
  life.stepsLeft = Infinity;
  life.store = openWorkspaces(life.stateFolder);
  for (const { did, problem } of await recoverWorkspaces(life.store)) assert.notEqual(did, "failed", problem);
}

function anyWorkspace(life: Life, state: Workspace["state"] = "ready"): Workspace | undefined {
  return life.random.any(readRecords(life.store).workspaces.filter((each) => each.state === state));
}

function edit(life: Life, workspace: Workspace): void {
  const path = life.random.pick(paths);
  const content = `${workspace.id} ${life.random.next()}\n`;
  repositoryAt(workspace.folder).write(path, content);
  const work = life.work.get(workspace.id) ?? new Map<string, string>();
  life.work.set(workspace.id, work.set(path, content));
}

const actions: Readonly<Record<string, (life: Life) => Promise<void>>> = {
  create: async (life) => {
    life.attempt += 1;
    const others = readRecords(life.store).workspaces.flatMap(({ branch }) => branch ?? []);
    const branches = others.filter(() => life.random.oneIn(3));
    const base = branches.length > 0 ? ({ kind: "branches", branches } as const) : undefined;
    await survive(life, (store) =>
      createWorkspace(store, {
        task: "tsk_life",
        attempt: life.attempt,
        project: life.repository.folder,
        withChanges: base === undefined && life.random.oneIn(3),
        base,
        now: life.attempt,
      }),
    );
  },
  edit: async (life) => {
    const workspace = anyWorkspace(life);
    if (workspace !== undefined) edit(life, workspace);
  },
  commit: async (life) => {
    const workspace = anyWorkspace(life);
    if (workspace === undefined) return;
    edit(life, workspace);
    repositoryAt(workspace.folder).commit({});
  },
  session: async (life) => {
    const workspace = anyWorkspace(life);
    if (workspace === undefined || skipUnconfined !== false) return;
    edit(life, workspace);
    const { code, output } = await runSession(life.store, workspace, "git add -A && git commit -qm session");
    assert.equal(code, 0, output);
  },
  save: async (life) => {
    const workspace = anyWorkspace(life);
    if (workspace !== undefined) await survive(life, () => saveWorkspace(workspace, { commits: "tutti", confine }));
  },
  remove: async (life) => {
    const workspace = anyWorkspace(life);
    if (workspace !== undefined && !life.random.oneIn(3)) edit(life, workspace);
    const uncommitted = life.random.oneIn(3) ? "refuse" : "save";
    if (workspace !== undefined) await survive(life, (store) => removeWorkspace(store, workspace.id, { uncommitted }));
  },
  restore: async (life) => {
    const workspace = anyWorkspace(life, "removed");
    if (workspace !== undefined) await survive(life, (store) => restoreWorkspace(store, workspace.id));
  },
  integrate: async (life) => {
    const sessions = readRecords(life.store).workspaces.filter(({ kind }) => kind === "attempt");
    const works = await Promise.all(sessions.slice(0, 2).map((each) => finishedWork(each)));
    const repository = life.repository.folder;
    const git_dir = join(repository, ".git");
    await survive(life, (store) =>
      integrateWorks(store, { repository, git_dir, task: "tsk_life", works, now: life.attempt }),
    );
  },
  prune: async (life) => {
    const { workspaces } = await listWorkspaces(life.store);
    const candidates = workspaces.map(({ workspace, state, bytes }) => ({
      id: workspace.id,
      state,
      bytes,
      used_at: workspace.created_at,
      active: false,
    }));
    const { remove } = chooseRemovals(
      candidates,
      { maxCount: 1, mayRemoveUncommitted: life.random.oneIn(2) },
      life.attempt,
    );
    for (const { id } of remove) await survive(life, (store) => removeWorkspace(store, id, { uncommitted: "save" }));
  },
  person: async (life) => {
    life.repository.write("mine.txt", `${life.random.next()}\n`);
    if (life.random.oneIn(2)) life.repository.commit({ "b.txt": `mine ${life.random.next()}\n` });
    life.persons = personsThings(life.repository);
  },
};

function check(life: Life, did: string): void {
  const { repository, store } = life;
  assert.deepEqual(personsThings(repository), life.persons, `${did}: what is the person's is as it was`);
  const { workspaces, unreadable, unknown } = readRecords(store);
  assert.deepEqual([unreadable, unknown], [[], []], `${did}: nothing is unlisted`);
  const branches = repository.git("for-each-ref", "--format=%(refname:short)", "refs/heads/tutti").split("\n");
  const known = new Set([...workspaces.map(({ branch }) => branch), "tutti/integration", ""]);
  assert.deepEqual(
    branches.filter((branch) => !known.has(branch)),
    [],
    `${did}: every branch has a record`,
  );
  for (const workspace of workspaces) {
    for (const [path, content] of life.work.get(workspace.id) ?? []) {
      assert.equal(foundWork(life, workspace, path), content, `${did}: ${path} of ${workspace.id} is lost`);
    }
  }
  for (const id of life.work.keys())
    assert.ok(
      workspaces.some((each) => each.id === id),
      `${did}: ${id} is forgotten`,
    );
}

function foundWork({ repository }: Life, workspace: Workspace, path: string): string | undefined {
  if (existsSync(workspace.folder)) return readFileSync(join(workspace.folder, path), "utf8");
  const show = (ref: string): string | undefined => {
    try {
      return `${repository.git("show", `${ref}:${path}`)}\n`;
    } catch {
      return undefined;
    }
  };
  return show(savedRef(workspace)) ?? show(`refs/heads/${workspace.branch}`);
}

async function live(t: TestContext, seed: number, length: number): Promise<void> {
  const random = chance(seed);
  const repository = testRepository(t, { "a.txt": "a\n", "b.txt": "b\n" });
  repository.git("branch", "feature");
  repository.write("a.txt", "uncommitted and mine\n");
  repository.write("untracked.txt", "mine\n");
  const stateFolder = join(tempFolder(t), "state");
  const life: Life = {
    random,
    repository,
    stateFolder,
    store: openWorkspaces(stateFolder),
    attempt: 0,
    work: new Map(),
    persons: personsThings(repository),
    stepsLeft: Infinity,
  };
  // Those in which a crash can do most come more often.
  const names = [...Object.keys(actions), "create", "remove", "remove", "restore", "restore"];
  const done: string[] = [];
  for (let at = 0; at < length; at += 1) {
    const name = at < 2 ? "create" : (random.any(names) ?? "create");
    done.push(name);
    await actions[name]?.(life);
    check(life, `seed ${seed}, after ${done.join(", ")}`);
  }
}

/** More can be asked for by hand, such as TUTTI_LIVES=100. */
const lives = Number(process.env["TUTTI_LIVES"] ?? 4);

for (let seed = 1; seed <= lives; seed += 1) {
  test(`any order of actions and crashes loses no work and touches nothing of the person's (seed ${seed})`, (t) =>
    live(t, seed, 24));
}
