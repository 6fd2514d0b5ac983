import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Worker } from "node:worker_threads";

import fc from "../../../test/support/properties.ts";

import { failsWith, tryTool, workspace } from "../../../test/support/try-tool.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { StepTool } from "../tools/tool.ts";
import { edit } from "../tools/edit.ts";
import { read } from "../tools/read.ts";
import { list, search } from "../tools/search.ts";
import { write } from "../tools/write.ts";
import { resolvePath } from "./resolve-path.ts";

const canary = "CANARY-7c1f";

/** A root full of ways out, and outside of it what must be neither seen nor touched. */
function trapped(t: TestContext): { readonly top: string; readonly root: string; readonly outside: () => string } {
  const { top, root } = workspace(t, { "a/b/c": "inside", é: "inside", "e\u0301": "inside", "a\\..\\x": "inside" });
  mkdirSync(join(top, "out/deep"), { recursive: true });
  mkdirSync(join(top, "root2"));
  const kept = ["", "out", "out/deep", "root2"].flatMap((folder) => [join(folder, "canary"), join(folder, canary)]);
  for (const path of kept) writeFileSync(join(top, path), canary);
  const links = {
    up: "..",
    out: join(top, "out"),
    file: "../canary",
    chain: "out",
    "a/up2": "../..",
    "a/b/top": top,
    dangling: "../new",
    loop: "loop",
    proc: "/proc/self/root",
    cwd: "/proc/self/cwd",
    fds: "/dev/fd",
    self: ".",
    back: "a/../../root/a",
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name));
  const outside = (): string =>
    JSON.stringify(
      ["", "out", "out/deep", "root2"].map((folder) =>
        readdirSync(join(top, folder))
          .sort()
          .map((name) => {
            const stats = statSync(join(top, folder, name));
            return [
              name,
              stats.isFile() ? `${readFileSync(join(top, folder, name), "utf8")} ${stats.ino} ${stats.mode}` : "folder",
            ];
          }),
      ),
    );
  return { top, root, outside };
}

const names = fc.constantFrom(
  "..",
  ".",
  "",
  "a",
  "b",
  "c",
  "up",
  "out",
  "file",
  "chain",
  "up2",
  "top",
  "dangling",
  "loop",
  "proc",
  "cwd",
  "fds",
  "self",
  "back",
  "canary",
  "deep",
  "root",
  "root2",
  "new",
  "ROOT",
  "Up",
  "OUT",
  "Canary",
  "A",
  "é",
  "e\u0301",
  "É",
  "~",
  "a\\..\\x",
  "..\\canary",
  "%2e%2e",
  "..%2fcanary",
  "․․",
  "．．",
  "...",
  ".. ",
  " ..",
  "..\u200b",
  "\u202e..",
  "*",
  "\0",
  "..\0",
  "n".repeat(256),
  "n".repeat(5_000),
  "\n",
  "\ud800",
  "/",
  "//",
  "/proc/self/root",
  "/etc/passwd",
  "C:",
);
const soup = fc.oneof(
  { weight: 6, arbitrary: fc.array(names, { minLength: 1, maxLength: 7 }).map((parts) => parts.join("/")) },
  { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 40, unit: "binary" }) },
);

function escapes(
  t: TestContext,
  tool: StepTool,
  how: { input: (path: string) => unknown; numRuns: number },
): Promise<void> {
  const { top, root, outside } = trapped(t);
  const before = outside();
  return fc.assert(
    fc.asyncProperty(soup, fc.constantFrom("", `${root}/`, `${top}/`, `${root}/../`), async (path, begin) => {
      if (begin + path === "") return;
      let told: unknown;
      try {
        told = await tryTool(tool, how.input(begin + path), [root]);
      } catch (thrown) {
        // Whatever goes wrong is something a model can be told.
        assert.ok(thrown instanceof TuttiError, String(thrown));
        assert.notEqual(thrown.code, "internal");
        told = thrown.message.replaceAll(/canary/gi, "");
      }
      assert.ok(!JSON.stringify(told).includes(canary), `${begin}${path}`);
      assert.equal(outside(), before, `${begin}${path}`);
    }),
    { numRuns: how.numRuns },
  );
}

test("whatever the path, read shows nothing from outside", (t) =>
  escapes(t, read, { input: (path) => ({ path }), numRuns: 1_000 }));

test("whatever the path, write changes nothing outside", (t) =>
  escapes(t, write, { input: (path) => ({ path, content: "x" }), numRuns: 400 }));

test("whatever the path, edit neither shows nor changes anything outside", (t) =>
  escapes(t, edit, { input: (path) => ({ path, old: "CANARX", new: "x" }), numRuns: 600 }));

test("whatever the path, list shows nothing from outside", (t) =>
  escapes(t, list, { input: (path) => ({ path, depth: 3 }), numRuns: 150 }));

test("whatever the path, search shows nothing from outside", (t) =>
  escapes(t, search, { input: (path) => ({ path, pattern: "CANARY|inside" }), numRuns: 150 }));

test("an existing file is found by every path that really leads to it", async (t) => {
  const { root } = trapped(t);
  const c = { root, names: ["a", "b", "c"], path: join(root, "a/b/c") };
  for (const path of ["a/b/c", "./a//b/./c", "x/../a/b/c", "self/self/a/b/c", "back/b/c", join(root, "a/b/c")]) {
    assert.deepEqual(await resolvePath(path, [root]), c, path);
  }
  assert.deepEqual(await resolvePath("é", [root]), { root, names: ["é"], path: join(root, "é") });
  await assert.rejects(resolvePath("a\0", [root]), failsWith("invalid_input", /zero byte/));
  await assert.rejects(resolvePath("x".repeat(5_000), [root]), failsWith("invalid_input", /longer/));
});

test("a folder exchanged for a link while calls run leads none of them outside", async (t) => {
  const { top, root, outside } = trapped(t);
  mkdirSync(join(root, "flip"));
  writeFileSync(join(root, "flip/canary"), "inside");
  const before = outside();
  const stop = new Int32Array(new SharedArrayBuffer(4));
  // A folder and a link in turn under the one name, as fast as it can; what a write makes there in between is removed.
  const flipping = `
    const { renameSync, rmSync, symlinkSync } = require("node:fs");
    const { workerData: { flip, other, out, stop } } = require("node:worker_threads");
    // A write can make something under the name at any moment, also while it is being removed.
    const often = (act, between) => {
      for (let count = 0; count < 100_000; count += 1) try { return act() } catch { between?.() }
      throw new Error("the name was never free");
    };
    const clear = () => often(() => rmSync(flip, { recursive: true, force: true }));
    while (Atomics.load(stop, 0) === 0) {
      often(() => renameSync(flip, other));
      often(() => symlinkSync(out, flip), clear);
      clear();
      often(() => renameSync(other, flip), clear);
    }`;
  const names = { flip: join(root, "flip"), other: join(root, "other"), out: join(top, "out") };
  const worker = new Worker(flipping, { eval: true, workerData: { ...names, stop } });
  const ended = new Promise((resolve, reject) => worker.once("exit", resolve).once("error", reject));
  const seen = { done: 0, refused: 0, not_found: 0 };
  try {
    // Both ways must be met often, else nothing was tried.
    for (let rounds = 0; rounds < 20_000 && (rounds < 200 || Math.min(seen.done, seen.refused) < 30); rounds += 1) {
      const calls = [
        tryTool(read, { path: "flip/canary" }, [root]),
        tryTool(write, { path: "flip/deep/made", content: "x" }, [root]),
        tryTool(edit, { path: "flip/canary", old: canary, new: "x" }, [root]),
      ];
      for (const result of await Promise.allSettled(calls)) {
        const told = result.status === "fulfilled" ? JSON.stringify(result.value) : codeOf(result.reason);
        assert.ok(!told.includes(canary), told);
        if (result.status === "fulfilled") seen.done += 1;
        else if (told === "refused") seen.refused += 1;
        else seen.not_found += 1;
      }
    }
  } finally {
    Atomics.store(stop, 0, 1);
    await ended;
  }
  assert.equal(outside(), before);
  assert.ok(Math.min(seen.done, seen.refused) >= 30, JSON.stringify(seen));
});

function codeOf(thrown: unknown): string {
  assert.ok(thrown instanceof TuttiError, String(thrown));
  return thrown.code;
}
