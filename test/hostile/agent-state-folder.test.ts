import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, linkSync, mkdirSync, openSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { edit } from "../../src/agent/tools/edit.ts";
import { read } from "../../src/agent/tools/read.ts";
import { runTool } from "../../src/agent/tools/run.ts";
import { list, search } from "../../src/agent/tools/search.ts";
import { write } from "../../src/agent/tools/write.ts";
import { sandboxCommands } from "../../src/runner/shared/sandbox/sandbox-commands.ts";
import { openStore } from "../../src/store/sqlite/sqlite-store.ts";
import { takeLock } from "../../src/store/sqlite/lock.ts";
import { failsWith, tryTool, workspace } from "../support/try-tool.ts";

const lockModule = JSON.stringify(import.meta.resolve("../../src/store/sqlite/lock.ts"));

/** What a process of its own is told when it wants the folder: "taken", or the code of the error. */
function tryLock(folder: string): string {
  const script = `
    import { takeLock } from ${lockModule};
    try { takeLock(process.argv[1]).release(); console.log("taken"); } catch (error) { console.log(error.code); }`;
  return execFileSync(process.execPath, ["--input-type=module", "-e", script, folder], { encoding: "utf8" }).trim();
}

/** A workspace with a real state folder in it, and other ways to reach the state. */
function worldWithState(t: TestContext) {
  const { root } = workspace(t, { "src/a.txt": "SQLite\n" });
  const state = join(root, "state");
  mkdirSync(state);
  const store = openStore(state);
  const lock = takeLock(state);
  t.after(() => {
    store.close();
    lock.release();
  });
  writeFileSync(join(state, "signing.key"), "SQLite secret\n");
  symlinkSync(state, join(root, "link"));
  linkSync(join(state, "signing.key"), join(root, "src/hard.txt"));
  linkSync(join(state, "lock.db"), join(root, "src/.gitignore"));
  return { root, state };
}

const refused = failsWith("refused", /state that Tutti keeps/);

test("no tool reads, lists, searches, writes or runs in the state folder, by whatever path it is asked", async (t) => {
  const { root, state } = worldWithState(t);
  const use = (tool: typeof read, input: object): Promise<unknown> =>
    tryTool(tool, input, [root], { offLimits: [state] });
  const before = readdirSync(state).toSorted();
  for (const way of ["state", "link", "src/../state", `${root}/./state/`]) {
    await assert.rejects(use(read, { path: `${way}/signing.key` }), refused, way);
    await assert.rejects(use(read, { path: `${way}/lock.db` }), refused, way);
    await assert.rejects(use(write, { path: `${way}/new`, content: "x" }), refused, way);
    await assert.rejects(use(write, { path: `${way}/trusted.json`, content: "{}" }), refused, way);
    await assert.rejects(use(edit, { path: `${way}/signing.key`, old: "secret", new: "x" }), refused, way);
    await assert.rejects(use(list, { path: way }), refused, way);
    await assert.rejects(use(search, { path: way, pattern: "." }), refused, way);
    await assert.rejects(use(search, { path: `${way}/lock.db`, pattern: "." }), refused, way);
  }
  for (const path of ["src/hard.txt", "src/.gitignore"]) {
    await assert.rejects(use(read, { path }), refused, path);
    await assert.rejects(use(write, { path, content: "x" }), refused, path);
    await assert.rejects(use(search, { path, pattern: "." }), refused, path);
  }
  assert.deepEqual(readdirSync(state).toSorted(), before);
});

test("a state folder cannot be a workspace, nor can a folder in it", async (t) => {
  const { state } = worldWithState(t);
  for (const root of [state, join(state, "box"), join(state, "box", "deeper")]) {
    const write_ = tryTool(write, { path: "x", content: "x" }, [root], { offLimits: [state] });
    await assert.rejects(write_, refused, root);
  }
  assert.ok(!existsSync(join(state, "box")));
});

test("a program is not started in the state folder", async (t) => {
  const { root, state } = worldWithState(t);
  const run = runTool(sandboxCommands({ confined: false, reason: "", advice: "" }, { hidden: [state] }));
  for (const cwd of ["state", "link"]) {
    await assert.rejects(tryTool(run, { argv: ["true"], cwd }, [root]), refused, cwd);
  }
});

test("list and search over a root that holds the state leave it out, and its lock stays held", async (t) => {
  const { root, state } = worldWithState(t);
  const options = { offLimits: [state] };
  const listed = JSON.stringify(await tryTool(list, { depth: 9, ignored: true }, [root], options));
  assert.match(listed, /src\/a\.txt/);
  assert.doesNotMatch(listed, /signing|lock\.db|hard\.txt|"state"/);
  const found = JSON.stringify(await tryTool(search, { pattern: "SQLite", ignored: true }, [root], options));
  assert.match(found, /src\/a\.txt/);
  assert.doesNotMatch(found, /secret|lock\.db/);
  assert.equal(tryLock(state), "locked");
});

test("the lock outlives a closed descriptor of its file, is refused in its own process too, and ends with its owner", async (t) => {
  const { root } = workspace(t);
  const script = `
    import { closeSync, openSync } from "node:fs";
    import { takeLock } from ${lockModule};
    const lock = takeLock(process.argv[1]);
    globalThis.lock = lock;
    closeSync(openSync(process.argv[1] + "/lock.db", "r"));
    console.log("held");
    setInterval(() => undefined, 60_000);`;
  const owner = spawn(process.execPath, ["--input-type=module", "-e", script, root], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => owner.kill("SIGKILL"));
  await once(owner.stdout, "data");
  assert.equal(tryLock(root), "locked");
  assert.throws(() => takeLock(root), { code: "locked", message: new RegExp(`process ${owner.pid}`) });
  owner.kill("SIGKILL");
  await once(owner, "exit");
  const lock = takeLock(root);
  assert.throws(() => takeLock(root), { code: "locked" });
  closeSync(openSync(join(root, "lock.db"), "r"));
  assert.equal(tryLock(root), "locked");
  lock.release();
  assert.equal(tryLock(root), "taken");
});

test("a note of a process that is gone, of another start or unreadable, locks nobody out", async (t) => {
  const { root } = workspace(t);
  for (const note of [`{"pid":${process.ppid},"start":"other/1"}`, '{"pid":4194304,"start":"x"}', "{", "[]", ""]) {
    writeFileSync(join(root, "holder.json"), note);
    assert.equal(tryLock(root), "taken", note);
  }
});
