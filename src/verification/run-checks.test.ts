import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { checkKit, skipUnconfined as skip } from "../../test/support/check-kit.ts";
import { personsThings, testRepository } from "../../test/support/git-kit.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import type { CheckProgram, RunProgram } from "./check-program.ts";
import { type StartedCheck, startedCheckText } from "../protocol/task/started-check.ts";
import { openBaseCache } from "./base-cache.ts";
import { removeCheckFolders } from "./fresh-checkout.ts";

test(
  "checks run on a fresh checkout of the commit, and on the base; the person's things stay as they are",
  { skip },
  async (t) => {
    const repository = testRepository(t, { "a.txt": "a\n", "b.txt": "b\n" });
    const { check } = checkKit(t, repository);
    repository.commit({ "a.txt": "A\n" });
    repository.write("a.txt", "uncommitted\n");
    const before = personsThings(repository);
    const facts = await check([
      "grep -qx A a.txt",
      'grep -q "b" b.txt',
      { run: ["sh", "-c", "git log --format=%s && git status --porcelain && echo out && echo err >&2 && exit 3"] },
      "true && true",
    ]);
    assert.deepEqual(
      facts.map(({ outcome, on_base, exit_code }) => [outcome, on_base, exit_code]),
      [
        ["passed", "failed", 0],
        ["passed", "passed", 0],
        ["failed", "failed", 3],
        ["not_run", null, null],
      ],
    );
    assert.match(facts[1]?.reason ?? "", /still holds/);
    assert.equal(facts[2]?.output_tail, "change\nfirst\nout\n\nerr\n");
    assert.match(facts[3]?.reason ?? "", /needs a shell/);
    assert.deepEqual(personsThings(repository), before);
  },
);

test("a check that fails and then passes on the same files is flaky, and one that fails twice is not", async (t) => {
  const repository = testRepository(t);
  const { check } = checkKit(t, repository);
  const codes = [1, 0, 2, 3];
  const ended = { ran: true, signal: null, timed_out: false, stdout: "", stderr: "", duration_ms: 1 } as const;
  const runProgram = async () => ({ ...ended, exit_code: codes.shift() ?? 0 });
  const facts = await check(["one", "two"], { base: null, runProgram });
  assert.deepEqual(
    facts.map(({ outcome, exit_code }) => [outcome, exit_code]),
    [
      ["flaky", 1],
      ["failed", 2],
    ],
  );
});

test("each run of a check is told before it begins: which of how many, and on what", async (t) => {
  const repository = testRepository(t);
  const { check } = checkKit(t, repository);
  repository.commit({ "a.txt": "A\n" });
  const told: string[] = [];
  const ended = { ran: true, signal: null, timed_out: false, stdout: "", stderr: "", duration_ms: 1 } as const;
  // The first check passes on the work and fails on the base, the second fails everywhere.
  const codes = [0, 1, 1, 1, 1, 1];
  await check(["grep -q A a.txt", "false"], {
    runProgram: async ({ argv }) => {
      told.push(`${argv[0]} runs`);
      return { ...ended, exit_code: codes.shift() ?? 1 };
    },
    onStart: (started) => told.push(startedCheckText(started)),
  });
  assert.deepEqual(told, [
    "checking 1 of 2: grep -q A a.txt, on the work",
    "grep runs",
    "checking 2 of 2: false, on the work",
    "false runs",
    "checking 2 of 2: false, on the work, again",
    "false runs",
    "checking 1 of 2: grep -q A a.txt, on the base",
    "grep runs",
    "checking 2 of 2: false, on the base",
    "false runs",
    "checking 2 of 2: false, on the base, again",
    "false runs",
  ]);
});

test("two verifications that begin with the same base share its run, and work that another begins with is its base", async (t) => {
  const repository = testRepository(t);
  const [{ check }, other] = [checkKit(t, repository), checkKit(t, repository)];
  const cache = openBaseCache(tempFolder(t));
  const first = repository.git("rev-parse", "HEAD");
  repository.commit({ "a.txt": "one\n" });
  const one = repository.git("rev-parse", "HEAD");
  repository.commit({ "a.txt": "two\n" });
  const runs: string[] = [];
  const ended = { ran: true, signal: null, timed_out: false, stdout: "", stderr: "", duration_ms: 1 } as const;
  const both = Promise.withResolvers<void>();
  let waiting = 0;
  const runProgram = async () => ({ ...ended, exit_code: 1 });
  const onStart = ({ on, again }: StartedCheck): void => {
    runs.push(`${on}${again ? " again" : ""}`);
  };
  const held: RunProgram = async () => {
    waiting += 1;
    if (waiting === 2) both.resolve();
    await both.promise;
    return { ...ended, exit_code: 1 };
  };
  // Both are at their work at the same time, so both come to the base before either knows how it ends there.
  await Promise.all([
    check(["false"], { commit: one, base: first, runProgram: held, cache }),
    other.check(["false"], { base: first, runProgram: held, cache }),
  ]);
  assert.equal(waiting, 6, "twice for each work, and twice for the base");
  await check(["false"], { base: one, runProgram, onStart, cache });
  assert.deepEqual(runs, ["work", "work again"], "the base is work that was checked already");
});

test("a check that does not end is ended, and says so", { skip }, async (t) => {
  const repository = testRepository(t);
  const { check } = checkKit(t, repository);
  const endless = { check: "sh -c 'echo began; sleep 600'", named_by: "config", timeoutMs: 700 } as const;
  const [fact] = await check([endless], { base: null });
  assert.deepEqual([fact?.outcome, fact?.exit_code, fact?.output_tail], ["timed_out", null, "began\n"]);
});

test("each run begins with the same files, after setup, whatever another run left", { skip }, async (t) => {
  const repository = testRepository(t);
  const { check } = checkKit(t, repository);
  repository.commit({ "a.txt": "A\n" });
  const dirty = { run: ["sh", "-c", "test ! -e left && test -e ready/made && touch left && chmod -w ready && false"] };
  const setup = [{ command: ["sh", "-c", "mkdir ready && touch ready/made"], network: false }] as const;
  const [first, second] = await check([dirty, { run: ["sh", "-c", "test -e ready/made && test ! -e left"] }], {
    setup,
  });
  assert.deepEqual([first?.outcome, second?.outcome], ["failed", "passed"]);
});

test(
  "setup and checks run in the folder of the project, also where that is a part of the repository",
  { skip },
  async (t) => {
    const repository = testRepository(t, { "app/a.txt": "a\n" });
    const { check } = checkKit(t, repository);
    repository.commit({ "app/a.txt": "A\n" });
    const setup = [{ command: ["sh", "-c", "cp a.txt made"], network: false }] as const;
    const facts = await check(["grep -q A made", { check: "test -d app", cwd: ".", named_by: "config" }], {
      setup,
      project: "app",
    });
    assert.deepEqual(
      facts.map(({ outcome, cwd, on_base }) => [outcome, cwd, on_base]),
      [
        ["passed", "app", "failed"],
        ["passed", ".", "passed"],
      ],
    );
  },
);

test("a base is checked once, and its outcome is kept for the same tree, check and setup", { skip }, async (t) => {
  const repository = testRepository(t);
  const { check, state } = checkKit(t, repository);
  repository.commit({ "a.txt": "A\n" });
  const [one] = await check(["test -e a.txt"]);
  const kept = readdirSync(join(state, "checks"));
  const [again] = await check(["test -e a.txt"]);
  // One of the base, and one of the work, which a later task may begin with.
  assert.deepEqual([one?.on_base, again?.on_base, kept.length], ["passed", "passed", 2]);
  assert.deepEqual(readdirSync(join(state, "checks")), kept);
});

test("an attempt with the same files and the same base is not run again, and what failed is", { skip }, async (t) => {
  const repository = testRepository(t);
  const { check } = checkKit(t, repository);
  repository.commit({ "a.txt": "A\n" });
  const ended = { ran: true, signal: null, timed_out: false, stdout: "", stderr: "", duration_ms: 1 } as const;
  let runs = 0;
  const runProgram = async ({ argv }: CheckProgram) => {
    runs += 1;
    return { ...ended, exit_code: argv[0] === "false" ? 1 : 0 };
  };
  await check(["true"], { runProgram });
  const first = runs;
  repository.git("commit", "--allow-empty", "-qm", "the same files");
  const [fact] = await check(["true"], { runProgram });
  assert.deepEqual([fact?.outcome, first, runs], ["passed", 2, 2]);
  await check(["false"], { runProgram });
  const second = runs;
  await check(["false"], { runProgram });
  assert.equal(runs - second, 2, "the attempt runs and is tried again; its base is known");
});

test("what a crash left of checkouts is removed, also where a program took the right to do so away", async (t) => {
  const parent = tempFolder(t);
  mkdirSync(join(parent, "check-1", "work", "cache"), { recursive: true });
  mkdirSync(join(parent, "other"));
  writeFileSync(join(parent, "check-1", "work", "cache", "a"), "");
  chmodSync(join(parent, "check-1", "work", "cache"), 0o500);
  await removeCheckFolders(parent);
  assert.deepEqual(readdirSync(parent), ["other"]);
  await removeCheckFolders(join(parent, "nowhere"));
});

test("setup that only the session's commit breaks is a failure of the check", { skip }, async (t) => {
  const repository = testRepository(t, { "setup.sh": "true\n" });
  const { check } = checkKit(t, repository);
  repository.commit({ "setup.sh": "echo no >&2; exit 1\n" });
  const setup = [{ command: ["sh", "setup.sh"], network: false }] as const;
  const [fact] = await check(["true"], { setup });
  assert.deepEqual([fact?.outcome, fact?.on_base], ["failed", "passed"]);
  assert.match(fact?.reason ?? "", /cannot be run any more: Setup \(sh setup\.sh\) failed/);
});
