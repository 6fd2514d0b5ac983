import assert from "node:assert/strict";
import { test } from "node:test";

import { workspace } from "../../../test/support/try-tool.ts";
import { searchWorkspace } from "./search-workspace.ts";

const evil = { source: "^(a+)+b?$", flags: "" };
const job = { names: [], depth: 9, ignored: false, most: 100, offLimits: [] };
const signal = new AbortController().signal;

test("a pattern that would run for ever is stopped, and what was found before is told", async (t) => {
  const { root } = workspace(t, { a: "aaaaab\n", b: `${"a".repeat(60)}!\n`, c: "aaab\n" });
  const began = performance.now();
  const outcome = await searchWorkspace({ ...job, root, regex: evil }, { signal, deadlineMs: 1_500 });
  assert.ok(performance.now() - began < 10_000);
  assert.deepEqual(outcome, { found: [{ path: "a", line: 1, text: "aaaaab" }], end: undefined });
});

test("a glob that would match for ever is stopped too", async (t) => {
  const { root } = workspace(t, { ["a".repeat(200)]: "" });
  const glob = `${"*a".repeat(60)}b`;
  const outcome = await searchWorkspace({ ...job, root, glob }, { signal, deadlineMs: 1_000 });
  assert.deepEqual(outcome.found, []);
});

test("more searches than threads wait for their turn, and all of them are answered", async (t) => {
  const { root } = workspace(t, { a: "x" });
  const regex = { source: "x", flags: "" };
  const all = Array.from({ length: 12 }, () =>
    searchWorkspace({ ...job, root, regex }, { signal, deadlineMs: 20_000 }),
  );
  for (const { found, end } of await Promise.all(all)) {
    assert.deepEqual(found, [{ path: "a", line: 1, text: "x" }]);
    assert.equal(end?.files, 1);
  }
});
