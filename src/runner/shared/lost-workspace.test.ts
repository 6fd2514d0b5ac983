import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, realpathSync, renameSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { repositoryAt, testRepository, type TestRepository } from "../../../test/support/git-kit.ts";
import { type Cleanup, tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";
import { runPersonsProgram } from "../../daemon/state/run-persons-program.ts";
import { systemClock } from "../../engine/clock.ts";
import { Engine } from "../../engine/engine.ts";
import type { Durable } from "../../ports.ts";
import { eventView } from "../../engine/event-view.ts";
import { openStore } from "../../store/sqlite/sqlite-store.ts";
import { openView } from "../../store/sqlite/sqlite-view.ts";
import { openWorkspaces, readRecords, type WorkspaceStore } from "../../workspace/index.ts";
import { type OpenedFolder, openSessionFolder } from "./session-folder.ts";

/** What two machines see in turn: the records of tasks are shared, and each has its own disk. */
interface World {
  readonly records: string;
  /** The path of the person's checkout, which is the same on both machines. */
  readonly repository: TestRepository;
  readonly remote: string;
}

function world(t: Cleanup): World {
  const repository = testRepository(t);
  const remote = join(tempFolder(t), "remote.git");
  execFileSync("git", ["clone", "-q", "--bare", repository.folder, remote], { stdio: "ignore" });
  repository.git("remote", "add", "origin", remote);
  return { records: realpathSync(tempFolder(t)), repository, remote };
}

interface OnMachine {
  readonly engine: Engine;
  readonly workspaces: WorkspaceStore;
  readonly opened: OpenedFolder[];
  close(): Promise<void>;
}

type Work = (durable: Durable, opened: OpenedFolder) => Promise<unknown>;

/** Opens the records on a machine with this name, and goes on with what is unfinished. */
async function machine(t: Cleanup, { records }: World, name: string, work: Work): Promise<OnMachine> {
  const workspaces = openWorkspaces(join(tempFolder(t), "state"), { machine: { id: `id-of-${name}`, name } });
  const opened: OpenedFolder[] = [];
  const store = openStore(records);
  const working = async (durable: Durable): Promise<unknown> => {
    const given = { store: workspaces, commits: "tutti", copy: [], confine: undefined, runPersonsProgram } as const;
    const folder = await openSessionFolder(durable, { offLimits: [], workspaces: given, wanted: {} });
    opened.push(folder);
    return work(durable, folder);
  };
  const engine = new Engine({ store, clock: systemClock, runners: { working } });
  await engine.recover();
  const close = async (): Promise<void> => {
    await engine.stop();
    store.close();
  };
  t.after(() => close().catch(() => undefined));
  return { engine, workspaces, opened, close };
}

const never = ({ signal }: Durable): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });

async function start({ engine }: OnMachine, { repository }: World): Promise<string> {
  const rights = { tools: "*", roots: [repository.folder] } as const;
  const runner = { kind: "working", config: {} };
  return (await engine.start({ runner, agent: "coder", input: null, rights: { ...rights, roots: [...rights.roots] } }))
    .task;
}

/** The disk of another machine: a checkout of the same remote under the same path, and nothing of the first one's. */
function otherDisk(t: Cleanup, { repository, remote }: World, { workspaces }: OnMachine): void {
  renameSync(workspaces.root, join(tempFolder(t), "workspaces-away"));
  renameSync(repository.folder, join(tempFolder(t), "away"));
  execFileSync("git", ["clone", "-q", remote, repository.folder], { stdio: "ignore" });
}

/** How attempts ended, as everybody reads it. */
async function endedAttempts({ records }: World): Promise<{ outcome: string; reason: string }[]> {
  const view = openView(records);
  try {
    const { rows } = await view.eventsAfter({ after: 0, limit: 10_000 });
    const events = rows.map((event) => eventView(view.salt, event));
    return events.flatMap((event) => (event.type === "attempt.ended" ? [event.data] : []));
  } finally {
    view.close();
  }
}

const done: Work = async ({ attempt }, { workspace, warnings }) => ({ attempt, base: workspace?.base, warnings });

test("an attempt whose workspace is on a lost machine is unknown, and the next one begins with the branch that was pushed", async (t) => {
  const shared = world(t);
  const first = await machine(t, shared, "alder", async (durable, { workspace }) => {
    const inside = repositoryAt(workspace?.folder ?? "");
    inside.git("config", "user.name", "Ada");
    inside.commit({ "work.txt": "half\n" }, "half of the work");
    inside.git("push", "-q", "origin", `HEAD:refs/heads/${workspace?.branch ?? ""}`);
    return never(durable);
  });
  const task = await start(first, shared);
  const branch = await until(() => {
    const [made] = readRecords(first.workspaces).workspaces;
    const pushed =
      typeof made?.branch !== "string" ? "" : shared.repository.git("ls-remote", "origin", `refs/heads/${made.branch}`);
    return pushed === "" ? undefined : made?.branch;
  }, "the work was pushed");
  const tip = shared.repository.git("ls-remote", "origin", `refs/heads/${branch}`).slice(0, 40);
  await first.close();
  otherDisk(t, shared, first);

  const second = await machine(t, shared, "birch", done);
  const result = await second.engine.result(task, AbortSignal.timeout(240_000));
  assert.equal(result.status, "completed", JSON.stringify(result.content));
  assert.deepEqual(result.content, {
    attempt: 2,
    base: tip,
    warnings: [
      `Attempt 1 worked on another machine. Its branch ${branch} was found at the remote origin, and this attempt begins with its commit ${tip}.`,
    ],
  });
  const [ended] = await endedAttempts(shared);
  assert.equal(ended?.outcome, "unknown");
  assert.match(ended?.reason ?? "", /on the machine alder, .* except for what was pushed to the branch tutti\//);
  const [here] = readRecords(second.workspaces).workspaces;
  assert.deepEqual([here?.machine?.name, here?.attempt], ["birch", 2]);
  assert.equal(repositoryAt(here?.folder ?? "").git("show", "HEAD:work.txt"), "half");
});

test("work that was not pushed is not looked for under its old path, and the next attempt says that it begins anew", async (t) => {
  const shared = world(t);
  const first = await machine(t, shared, "alder", never);
  const task = await start(first, shared);
  const made = await until(() => first.opened[0]?.workspace, "the workspace was made");
  await first.close();
  otherDisk(t, shared, first);
  // A folder of the same path that is something else here.
  mkdirSync(made.folder, { recursive: true });

  const second = await machine(t, shared, "birch", done);
  const result = await second.engine.result(task, AbortSignal.timeout(240_000));
  assert.equal(result.status, "completed", JSON.stringify(result.content));
  const head = shared.repository.git("rev-parse", "HEAD");
  assert.deepEqual(result.content, {
    attempt: 2,
    base: head,
    warnings: [
      "The work of the attempts before this one is not on this machine, and no remote has its branch, so this attempt begins anew.",
    ],
  });
  assert.deepEqual(
    second.opened.map(({ workspace }) => workspace?.folder === made.folder),
    [false],
  );
});

test("on a disk that both machines share, a workspace is known by its mark, and the attempt goes on in it", async (t) => {
  const shared = world(t);
  const first = await machine(t, shared, "alder", never);
  const task = await start(first, shared);
  const made = await until(() => first.opened[0]?.workspace, "the workspace was made");
  await first.close();

  const second = await machine(t, shared, "birch", async ({ attempt }, { workspace }) => [attempt, workspace?.folder]);
  const result = await second.engine.result(task, AbortSignal.timeout(240_000));
  assert.deepEqual(result.content, [1, made.folder]);
  assert.equal(readRecords(second.workspaces).workspaces[0]?.machine?.name, "birch");
});

test("without machines, a record without one is a workspace of this machine", async (t) => {
  const shared = world(t);
  const workspaces = openWorkspaces(join(tempFolder(t), "state"));
  const store = openStore(shared.records);
  const given = { store: workspaces, commits: "tutti", copy: [], confine: undefined } as const;
  const working = async (durable: Durable): Promise<unknown> => {
    const { workspace } = await openSessionFolder(durable, { offLimits: [], workspaces: given, wanted: {} });
    return [workspace?.machine ?? null, existsSync(`${workspace?.folder ?? ""}.session/origin`)];
  };
  const engine = new Engine({ store, clock: systemClock, runners: { working } });
  await engine.recover();
  t.after(async () => {
    await engine.stop();
    store.close();
  });
  const rights = { tools: "*" as const, roots: [shared.repository.folder] };
  const { task } = await engine.start({ runner: { kind: "working", config: {} }, agent: "coder", input: null, rights });
  assert.deepEqual((await engine.result(task)).content, [null, false]);
});
