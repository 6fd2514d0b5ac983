import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve, sep } from "node:path";
import { test, type TestContext } from "node:test";

import fc from "fast-check";

import { TuttiError } from "../../protocol/error.ts";
import { writeFile } from "./write-file.ts";

function place(t: TestContext): { top: string; root: string } {
  const top = mkdtempSync(join(tmpdir(), "tutti-"));
  t.after(() => rmSync(top, { recursive: true, force: true }));
  const root = join(top, "root");
  mkdirSync(root);
  return { top, root };
}

async function write(path: string, roots: readonly string[], content = "x"): Promise<unknown> {
  const ready = writeFile.prepare({ path, content });
  assert.ok(ready.ok);
  const step = {
    signal: new AbortController().signal,
    key: "k",
    noted: undefined,
    note: async () => undefined,
    live: () => undefined,
  };
  return ready.run({ step, rights: { tools: "*", roots } });
}

function refused(thrown: unknown): boolean {
  return thrown instanceof TuttiError && thrown.code === "refused";
}

test("it writes relative and absolute paths inside a root, makes folders, and replaces what was there", async (t) => {
  const { root, top } = place(t);
  assert.deepEqual(await write("a/b/c.txt", [root], "žlutý"), { path: join(root, "a/b/c.txt"), bytes: 7 });
  await write(join(root, "a/b/c.txt"), [root], "two");
  assert.equal(readFileSync(join(root, "a/b/c.txt"), "utf8"), "two");
  await write(join(top, "second/x"), [root, join(top, "second")]);
  assert.equal(readFileSync(join(top, "second/x"), "utf8"), "x");
});

test("it refuses what lies outside, by .., absolutely, by a name that only begins like the root, and the root itself", async (t) => {
  const { root, top } = place(t);
  for (const path of ["../x", "a/../../x", "/etc/x", join(top, "x"), `${root}2/x`, "..", ".", root, ""]) {
    if (path !== "") await assert.rejects(write(path, [root]), refused, path);
  }
  assert.deepEqual(readdirSync(top), ["root"]);
  await assert.rejects(write("x", []), refused);
});

test("it refuses links that lead outside, as folder, as file, dangling, and through a chain", async (t) => {
  const { root, top } = place(t);
  const out = join(top, "out");
  mkdirSync(out);
  writeFileSync(join(out, "precious"), "kept");
  symlinkSync(out, join(root, "folder"));
  symlinkSync(join(out, "precious"), join(root, "file"));
  symlinkSync(join(out, "new"), join(root, "dangling"));
  symlinkSync(join(root, "folder"), join(root, "chain"));
  for (const path of ["folder/x", "folder/deep/x", "file", "dangling", "chain/x"]) {
    await assert.rejects(write(path, [root]), refused, path);
  }
  assert.deepEqual(readdirSync(out), ["precious"]);
  assert.equal(readFileSync(join(out, "precious"), "utf8"), "kept");
});

test("a link that stays inside, and a root that is itself a link, are followed", async (t) => {
  const { root, top } = place(t);
  mkdirSync(join(root, "real"));
  symlinkSync(join(root, "real"), join(root, "alias"));
  await write("alias/x", [root]);
  assert.ok(existsSync(join(root, "real/x")));
  symlinkSync(root, join(top, "door"));
  await write("y", [join(top, "door")]);
  assert.ok(existsSync(join(root, "y")));
});

test("a folder in the file's place is refused", async (t) => {
  const { root } = place(t);
  mkdirSync(join(root, "d"));
  await assert.rejects(write("d", [root]), refused);
});

test("whatever the path, nothing outside the root changes", async (t) => {
  const { root, top } = place(t);
  symlinkSync(top, join(root, "up"));
  const name = fc.constantFrom("..", ".", "a", "b", "up", "root", "", "~", "a\\b");
  await fc.assert(
    fc.asyncProperty(fc.array(name, { minLength: 1, maxLength: 6 }), fc.boolean(), async (names, absolute) => {
      const path = absolute ? resolve(sep, ...names) : names.join("/");
      if (absolute && !path.startsWith(top)) return;
      if (path !== "") await write(path, [root]).catch(() => undefined);
      assert.deepEqual(readdirSync(top), ["root"]);
    }),
    { numRuns: 300 },
  );
});
