import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { workspace } from "../../../test/support/try-tool.ts";
import { readOffLimits } from "./off-limits.ts";
import { walk, type WalkOptions } from "./workspace-walk.ts";

function walked(root: string, options: Partial<WalkOptions> = {}): string[] {
  const all = {
    root,
    names: [],
    depth: 10,
    ignored: false,
    offLimits: readOffLimits([]),
    onUnreadable: () => undefined,
    ...options,
  };
  return [...walk(all)].map(({ path, kind }) => (kind === "file" ? path : `${path} (${kind})`));
}

const files = {
  "b.txt": "",
  "a/c.txt": "",
  "a/deep/d.txt": "",
  ".gitignore": "*.log\n/build/\n",
  "x.log": "",
  "build/out.txt": "",
  "a/.gitignore": "!keep.log\n",
  "a/keep.log": "",
  "node_modules/m/index.js": "",
};

test("files come sorted by name, a folder before what is in it, without what is ignored", (t) => {
  const { root } = workspace(t, files);
  assert.deepEqual(walked(root), [
    ".gitignore",
    "a (folder)",
    "a/.gitignore",
    "a/c.txt",
    "a/deep (folder)",
    "a/deep/d.txt",
    "a/keep.log",
    "b.txt",
  ]);
});

test("ignored files come when they are asked for", (t) => {
  const { root } = workspace(t, files);
  const all = walked(root, { ignored: true });
  for (const path of ["x.log", "build/out.txt", "node_modules/m/index.js"]) assert.ok(all.includes(path), path);
});

test("the walk begins below the names and goes as deep as it is told", (t) => {
  const { root } = workspace(t, files);
  assert.deepEqual(walked(root, { names: ["a"], depth: 1 }), [".gitignore", "c.txt", "deep (folder)", "keep.log"]);
});

test("links are named and not followed, and only regular files can be opened", (t) => {
  const { top, root } = workspace(t, { "a.txt": "inside" });
  mkdirSync(join(top, "outside"));
  symlinkSync(join(top, "outside"), join(root, "out"));
  symlinkSync("a.txt", join(root, "link"));
  assert.deepEqual(walked(root), ["a.txt", "link (link)", "out (link)"]);
  const options = {
    root,
    names: [],
    depth: 1,
    ignored: false,
    offLimits: readOffLimits([]),
    onUnreadable: () => undefined,
  };
  const opened: unknown[] = [];
  for (const entry of walk(options)) opened.push(entry.open()?.size);
  assert.deepEqual(opened, [6, undefined, undefined]);
  assert.throws(() => walked(root, { names: ["out"] }), /ENOTDIR|ELOOP/);
});
