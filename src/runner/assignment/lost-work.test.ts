// Work that was done on a machine that was lost before it was checked: the attempt is unknown, and the task goes on elsewhere.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { type AssignmentWorld, assignmentWorld, skipUnconfined as skip } from "../../../test/support/assignment-kit.ts";
import { testRepository, type TestRepository } from "../../../test/support/git-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until, within } from "../../../test/support/wait-until.ts";
import { askName } from "../../store/names.ts";
import type { Verify } from "./verifier.ts";

const rules = [
  { agent: "coder", turn: 0, call: [{ tool: "write", args: { path: "total.txt", content: "4\n" } }] },
  { agent: "coder", turn: 1, final: "The total is 4." },
];
const delegated = { rules, planned: { checks: [{ run: ["/bin/sh", "check.sh"] as [string, ...string[]] }] } };

const mostAttempts = 8;

interface Scene {
  /** The path of the person's checkout, which is the same on every machine. */
  readonly repository: TestRepository;
  readonly remote: string;
  /** The records, which all machines share. */
  readonly records: string;
}

function scene(t: TestContext): Scene {
  const repository = testRepository(t, { "total.txt": "3\n", "check.sh": 'test "$(cat total.txt)" = 4\n' });
  const remote = join(tempFolder(t), "remote.git");
  execFileSync("git", ["clone", "-q", "--bare", repository.folder, remote], { stdio: "ignore" });
  repository.git("remote", "add", "origin", remote);
  return { repository, remote, records: tempFolder(t) };
}

interface OnMachine {
  readonly world: AssignmentWorld;
  /** Resolves when the work is done and is about to be checked, where it stays. */
  readonly worked: Promise<void>;
}

/** A machine that never gets to check the work. */
async function lostMachine(t: TestContext, { records }: Scene, name: string): Promise<OnMachine> {
  const { promise: worked, resolve } = Promise.withResolvers<void>();
  const verify =
    (): Verify =>
    (_, { signal }) => {
      resolve();
      return new Promise((_done, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
  const world = await assignmentWorld(tempFolder(t), { verify, machine: { name, records } });
  t.after(() => world.close().catch(() => undefined));
  return { world, worked: within(() => worked, `the work on ${name}`, 30_000) };
}

/** The disk of another machine: a checkout of the same remote under the same path, and nothing of the first one's. */
function otherDisk(t: TestContext, { repository, remote }: Scene): void {
  renameSync(repository.folder, join(tempFolder(t), "away"));
  execFileSync("git", ["clone", "-q", "--no-local", "--single-branch", remote, repository.folder], { stdio: "ignore" });
}

const dataOf = (world: AssignmentWorld, root: string, type: string): Record<string, unknown>[] =>
  world.events(root).flatMap((event) => (event.type === type ? [event.data] : []));

/** Whether something of this was said to whoever follows the task. */
const isTold = (world: AssignmentWorld, root: string, words: string): boolean =>
  JSON.stringify(world.events(root)).includes(words);

test(
  "work that is lost before it was checked makes its attempt unknown, and the next one does it anew and is checked",
  { skip },
  async (t) => {
    const shared = scene(t);
    const first = await lostMachine(t, shared, "alder");
    const root = await first.world.start({ ...delegated, folder: shared.repository.folder });
    await first.worked;
    await first.world.close();
    otherDisk(t, shared);

    const world = await assignmentWorld(tempFolder(t), { machine: { name: "birch", records: shared.records } });
    t.after(() => world.close());
    const result = await world.result(root);
    assert.deepEqual([result.state, result.handoff.attempts], ["verified", 2], result.reason);
    assert.equal(shared.repository.git("show", `${result.branch}:total.txt`), "4");
    const [lost, ...others] = dataOf(world, root, "attempt.ended");
    assert.deepEqual([lost?.["outcome"], others.length], ["unknown", 0]);
    assert.match(
      String(lost?.["reason"]),
      /^The work of this attempt is in a workspace on another machine, so it cannot be checked here and may be lost except for what was pushed to the branch tutti\//,
    );
    assert.ok(isTold(world, root, "no remote has its branch, so this attempt begins anew"));
  },
);

test("of work that is lost, what was pushed is where the next attempt begins", { skip }, async (t) => {
  const shared = scene(t);
  const first = await lostMachine(t, shared, "alder");
  const root = await first.world.start({ ...delegated, folder: shared.repository.folder });
  await first.worked;
  const branch = shared.repository.git("for-each-ref", "--format=%(refname:short)", "refs/heads/tutti");
  const tip = shared.repository.git("rev-parse", branch);
  shared.repository.git("push", "-q", "origin", branch);
  await first.world.close();
  otherDisk(t, shared);

  const world = await assignmentWorld(tempFolder(t), { machine: { name: "birch", records: shared.records } });
  t.after(() => world.close());
  const result = await world.result(root);
  assert.deepEqual([result.state, result.handoff.attempts], ["verified", 2], result.reason);
  assert.equal(dataOf(world, root, "attempt.ended")[0]?.["outcome"], "unknown");
  assert.ok(isTold(world, root, `found at the remote origin, and this attempt begins with its commit ${tip}`));
  assert.equal(shared.repository.git("merge-base", tip, result.commit ?? ""), tip);
});

test(
  "work that is lost again and again is judged unchecked when the task has had all its attempts",
  { skip },
  async (t) => {
    const shared = scene(t);
    let root = "";
    for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
      const { world, worked } = await lostMachine(t, shared, `machine-${attempt}`);
      if (attempt === 1) root = await world.start({ ...delegated, folder: shared.repository.folder });
      await worked;
      await world.close();
    }
    const world = await assignmentWorld(tempFolder(t), { machine: { name: "last", records: shared.records } });
    t.after(() => world.close());
    const { store } = world;
    const asked = await until(() => store.openWaits().find(({ ask }) => ask !== null), "a person is asked", 30_000);
    assert.match(asked.body, /The checks were not run, because the workspace is not on this machine/);
    await world.answer(askName(store.salt, asked.id), { kind: "question", value: "give up" });
    const result = await world.result(root);
    assert.equal(result.state, "failed");
    assert.deepEqual(
      dataOf(world, root, "attempt.ended").map(({ outcome }) => outcome),
      Array.from({ length: mostAttempts - 1 }, () => "unknown"),
    );
  },
);
