import assert from "node:assert/strict";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import type { CheckFact } from "../../src/protocol/task/evidence.ts";
import { judgeEvidence } from "../../src/core/judge-evidence.ts";
import { checkKit, skipUnconfined as skip } from "../support/check-kit.ts";
import { testRepository, type TestRepository } from "../support/git-kit.ts";

const failing =
  'import test from "node:test";\nimport { sum } from "../sum.js";\ntest("sum", () => { if (sum(1, 2) !== 3) throw new Error("no"); });\n';
const packageFile = JSON.stringify({ type: "module", scripts: { test: "node --test test/*.js" } });

/** A small project whose one test fails, because the sum is wrong. */
function project(t: Parameters<typeof testRepository>[0]): TestRepository {
  return testRepository(t, {
    "package.json": packageFile,
    "sum.js": "export const sum = (a, b) => a - b;\n",
    "test/sum.test.js": failing,
    "check.sh": "#!/bin/sh\ngrep -q 'a + b' sum.js\n",
  });
}

const verdict = (facts: readonly CheckFact[], criteria = [{ id: "k", text: "the sum is right" }]): string =>
  judgeEvidence({
    evidence: facts.map((fact) => ({
      id: "evd_1",
      fact,
      criteria: criteria.map(({ id }) => id),
      verdict: "supports",
      commit: "c",
      tree: "t",
      observed_at: 1,
    })),
    criteria,
    commit: "c",
    tree: "t",
  }).verdict;

const suite = { run: [process.execPath, "--test", "test/sum.test.js"] };

test("work that repairs the code passes with the base's tests and is verified", { skip }, async (t) => {
  const repository = project(t);
  const { check } = checkKit(t, repository);
  repository.commit({
    "sum.js": "export const sum = (a, b) => a + b;\n",
    "test/more.test.js": 'import test from "node:test";\ntest("always", () => undefined);\n',
  });
  const facts = await check([suite, "sh check.sh"]);
  assert.deepEqual(
    facts.map(({ outcome, on_base, with_base_files }) => [outcome, on_base, with_base_files]),
    [
      ["passed", "failed", "passed"],
      ["passed", "failed", "passed"],
    ],
  );
  // No check meets a criterion in words.
  assert.equal(verdict(facts, []), "verified");
});

test("an agent that edits, deletes, skips or links away a check verifies nothing by it", { skip }, async (t) => {
  const cases: Record<string, (repository: TestRepository) => void> = {
    "edits the test": ({ write }) =>
      write("test/sum.test.js", 'import test from "node:test";\ntest("sum", () => undefined);\n'),
    "skips the test": ({ write }) => write("test/sum.test.js", failing.replace("test(", "test.skip(")),
    "edits the script": ({ write }) => write("check.sh", "exit 0\n"),
    "makes the script a link out of the checkout": ({ folder }) => {
      rmSync(join(folder, "check.sh"));
      symlinkSync("/dev/null", join(folder, "check.sh"));
    },
  };
  for (const [name, change] of Object.entries(cases)) {
    const repository = project(t);
    const { check } = checkKit(t, repository);
    change(repository);
    repository.commit({}, name);
    const facts = await check([suite, "sh check.sh"]);
    const changed = facts.filter(({ changed_check_files: files }) => files.length > 0);
    assert.ok(changed.length > 0, name);
    assert.notEqual(verdict(facts), "verified", `${name}: ${facts.map(({ reason }) => reason).join("; ")}`);
    for (const fact of changed) assert.ok(["failed", "review"].includes(verdict([fact])), name);
  }
});

test("a test that is deleted, beside one that always passes, goes to review", { skip }, async (t) => {
  const repository = project(t);
  const { check } = checkKit(t, repository);
  rmSync(join(repository.folder, "test/sum.test.js"));
  repository.commit({ "test/always.test.js": 'import test from "node:test";\ntest("always", () => undefined);\n' });
  const [fact] = await check([{ run: [process.execPath, "--test"] }]);
  assert.deepEqual([fact?.outcome, fact?.on_base, fact?.with_base_files], ["passed", "failed", "failed"]);
  assert.equal(verdict(fact === undefined ? [] : [fact]), "review");
});

test("a changed script of package.json is run as the base has it", { skip }, async (t) => {
  const repository = project(t);
  const { check } = checkKit(t, repository);
  repository.commit({ "package.json": packageFile.replace("node --test test/*.js", "true") });
  const [fact] = await check(["npm test"]);
  assert.deepEqual(fact?.changed_check_files, ["package.json"]);
  assert.deepEqual([fact?.outcome, fact?.on_base, fact?.with_base_files], ["passed", "failed", "failed"]);
  assert.equal(verdict(fact === undefined ? [] : [fact]), "review");
});

test("a package.json that the session adds is its own check, and goes to review", { skip }, async (t) => {
  const repository = testRepository(t);
  const { check } = checkKit(t, repository);
  repository.commit({ "package.json": JSON.stringify({ scripts: { test: "true" } }) });
  const [fact] = await check(["npm test"]);
  assert.deepEqual(fact?.changed_check_files, ["package.json"]);
  assert.deepEqual([fact?.outcome, fact?.on_base, fact?.with_base_files], ["passed", "failed", "failed"]);
  assert.equal(verdict(fact === undefined ? [] : [fact]), "review");
});
