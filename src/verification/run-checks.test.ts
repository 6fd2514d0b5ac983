import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { checkKit, skipUnconfined as skip } from "../../test/support/check-kit.ts";
import { personsThings, testRepository } from "../../test/support/git-kit.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import type { CheckProgram } from "./check-program.ts";
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
  assert.deepEqual([one?.on_base, again?.on_base, kept.length], ["passed", "passed", 1]);
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
