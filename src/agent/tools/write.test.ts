import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { world } from "../../../test/support/agent-kit.ts";
import { led } from "../../../test/support/lead-and-worker.ts";
import { failsWith, tryTool, workspace } from "../../../test/support/try-tool.ts";
import { write, writeFile } from "./write.ts";

const put = (path: string, roots: readonly string[], content = "x"): Promise<unknown> =>
  tryTool(write, { path, content }, roots);

test("it writes relative and absolute paths inside a root, makes folders, and replaces what was there", async (t) => {
  const { root, top } = workspace(t);
  const path = join(root, "a/b/c.txt");
  assert.deepEqual(await put("a/b/c.txt", [root], "žlutý"), { path, bytes: 7, created: true });
  assert.deepEqual(await put(path, [root], "two"), { path, bytes: 3, created: false });
  assert.equal(readFileSync(path, "utf8"), "two");
  await put(join(top, "second/x"), [root, join(top, "second")]);
  assert.equal(readFileSync(join(top, "second/x"), "utf8"), "x");
  assert.deepEqual(readdirSync(join(root, "a/b")), ["c.txt"]);
});

test("write_file is the same tool", async (t) => {
  const { root } = workspace(t);
  await tryTool(writeFile, { path: "x", content: "y" }, [root]);
  assert.equal(readFileSync(join(root, "x"), "utf8"), "y");
});

test("it refuses what lies outside, by .., absolutely, by a name that only begins like the root, and the root itself", async (t) => {
  const { root, top } = workspace(t);
  for (const path of ["../x", "a/../../x", "/etc/x", join(top, "x"), `${root}2/x`, "..", ".", root]) {
    await assert.rejects(put(path, [root]), failsWith("refused"), path);
  }
  assert.deepEqual(readdirSync(top), ["root"]);
  await assert.rejects(put("x", []), failsWith("refused"));
});

test("it refuses links that lead outside, as folder, as file, dangling, and through a chain", async (t) => {
  const { root, top } = workspace(t);
  const out = join(top, "out");
  mkdirSync(out);
  writeFileSync(join(out, "precious"), "kept");
  symlinkSync(out, join(root, "folder"));
  symlinkSync(join(out, "precious"), join(root, "file"));
  symlinkSync(join(out, "new"), join(root, "dangling"));
  symlinkSync(join(root, "folder"), join(root, "chain"));
  symlinkSync("loop", join(root, "loop"));
  for (const path of ["folder/x", "folder/deep/x", "file", "dangling", "dangling/x", "chain/x", "loop", "loop/x"]) {
    await assert.rejects(put(path, [root]), failsWith("refused"), path);
  }
  assert.deepEqual(readdirSync(out), ["precious"]);
  assert.equal(readFileSync(join(out, "precious"), "utf8"), "kept");
});

test("a link that stays inside, and a root that is itself a link, are followed", async (t) => {
  const { root, top } = workspace(t);
  mkdirSync(join(root, "real"));
  symlinkSync(join(root, "real"), join(root, "alias"));
  await put("alias/x", [root]);
  assert.ok(existsSync(join(root, "real/x")));
  symlinkSync(root, join(top, "door"));
  await put("y", [join(top, "door")]);
  await put(join(root, "z"), [join(top, "door")]);
  assert.ok(existsSync(join(root, "y")) && existsSync(join(root, "z")));
});

test("a folder in the file's place is refused, and a file in a folder's place is said", async (t) => {
  const { root } = workspace(t, { f: "" });
  mkdirSync(join(root, "d"));
  await assert.rejects(put("d", [root]), failsWith("refused", /is a folder/));
  await assert.rejects(put("f/x", [root]), failsWith("not_found", /not a folder/));
});

test("the mode of a file is kept, and another hard link of it keeps its content", async (t) => {
  const { root, top } = workspace(t, { "run.sh": "old" });
  chmodSync(join(root, "run.sh"), 0o750);
  linkSync(join(root, "run.sh"), join(top, "outside"));
  await put("run.sh", [root], "new");
  assert.equal(statSync(join(root, "run.sh")).mode & 0o777, 0o750);
  assert.equal(readFileSync(join(top, "outside"), "utf8"), "old");
});

test("a reader sees the old content or the new one, never a part", async (t) => {
  const { root } = workspace(t);
  const one = "1".repeat(500_000);
  const two = "2".repeat(500_000);
  await put("f", [root], one);
  let done = false;
  const writing = (async () => {
    for (let round = 0; round < 20; round += 1) await put("f", [root], round % 2 === 0 ? two : one);
    done = true;
  })();
  for (let reads = 0; !done && reads < 10_000; reads += 1) {
    const seen = readFileSync(join(root, "f"), "utf8");
    assert.ok(seen === one || seen === two);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await writing;
  assert.deepEqual(readdirSync(root), ["f"]);
});

test("what git keeps is not written to, in whatever letters it is named", async (t) => {
  const { root } = workspace(t, { ".git/config": "" });
  for (const path of [".git/config", ".GIT/hooks/pre-commit", "sub/.Git/config", ".g\u200Dit/config", ".git"]) {
    await assert.rejects(put(path, [root]), failsWith("refused", /a person must approve/), path);
  }
  await put(".gitignore", [root]);
  assert.equal(readFileSync(join(root, ".git/config"), "utf8"), "");
});

test("write_file writes inside the roots, with the folders it needs", async (t) => {
  const w = await world(t);
  const { status } = await w.scalar({
    ...led({ call: [{ tool: "write_file", args: { path: "a/b/c.txt", content: "hello" } }] }),
    roots: ["out"],
  });
  assert.equal(status, "completed");
  assert.equal(readFileSync(join(w.folder, "out/a/b/c.txt"), "utf8"), "hello");
});
