import assert from "node:assert/strict";
import { chmodSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { failsWith, tryTool, workspace } from "../../../test/support/try-tool.ts";
import { edit } from "./edit.ts";

test("a piece that stands once is replaced, and nothing else changes", async (t) => {
  const { root } = workspace(t, { a: "one\ntwo $& three\nfour\n" });
  chmodSync(join(root, "a"), 0o600);
  const outcome = await tryTool(edit, { path: "a", old: "two $&", new: "$1 $$ 2" }, [root]);
  assert.deepEqual(outcome, { path: join(root, "a"), replaced: 1, line: 2 });
  assert.equal(readFileSync(join(root, "a"), "utf8"), "one\n$1 $$ 2 three\nfour\n");
  assert.equal(statSync(join(root, "a")).mode & 0o777, 0o600);
});

test("a piece that stands several times is replaced only when all is said; the lines are told", async (t) => {
  const { root } = workspace(t, { a: "x\ny\nx\nx x\n" });
  const refused = await tryTool(edit, { path: "a", old: "x", new: "z" }, [root]);
  assert.ok(typeof refused === "object" && refused !== null && "lines" in refused && "problem" in refused);
  assert.deepEqual(refused.lines, [1, 3, 4, 4]);
  assert.match(String(refused.problem), /4 times/);
  assert.equal(readFileSync(join(root, "a"), "utf8"), "x\ny\nx\nx x\n");
  const done = await tryTool(edit, { path: "a", old: "x", new: "z", all: true }, [root]);
  assert.deepEqual(done, { path: join(root, "a"), replaced: 4, line: 1 });
  assert.equal(readFileSync(join(root, "a"), "utf8"), "z\ny\nz\nz z\n");
});

test("a piece that is not there is answered with where it nearly stands", async (t) => {
  const text = "function a() {\n\tif (x) {\n\t\treturn one(1);\n\t}\n}\n";
  const { root } = workspace(t, { a: text });
  const missed = await tryTool(edit, { path: "a", old: "  if (x) {\n    return one(1);\n  }", new: "" }, [root]);
  assert.ok(typeof missed === "object" && missed !== null && "nearest" in missed && "replaced" in missed);
  assert.equal(missed.replaced, 0);
  const [nearest] = Array.isArray(missed.nearest) ? missed.nearest : [];
  assert.deepEqual(nearest, {
    from: 2,
    to: 4,
    differs: "only in blanks",
    text: "\tif (x) {\n\t\treturn one(1);\n\t}",
    wanted: "  if (x) {",
    found: "\tif (x) {",
  });
  assert.equal(readFileSync(join(root, "a"), "utf8"), text);
});

test("a file with line ends of Windows keeps them", async (t) => {
  const { root } = workspace(t, { w: "a\r\nb\r\nc\r\n", mixed: "a\r\nb\nc\n" });
  await tryTool(edit, { path: "w", old: "a\nb", new: "x\ny\nz" }, [root]);
  assert.equal(readFileSync(join(root, "w"), "utf8"), "x\r\ny\r\nz\r\nc\r\n");
  await tryTool(edit, { path: "mixed", old: "b\nc", new: "d\ne" }, [root]);
  assert.equal(readFileSync(join(root, "mixed"), "utf8"), "a\r\nd\ne\n");
});

test("a byte order mark stays", async (t) => {
  const { root } = workspace(t, { a: "\uFEFFone" });
  await tryTool(edit, { path: "a", old: "one", new: "two" }, [root]);
  assert.equal(readFileSync(join(root, "a"), "utf8"), "\uFEFFtwo");
});

test("what an edit would damage, and what is too large or not there, is left alone", async (t) => {
  const latin = Buffer.from("caf\xe9 one", "latin1");
  const { root } = workspace(t, { latin, big: "one".repeat(4_000_000), zero: "one\0" });
  const one = (path: string): Promise<unknown> => tryTool(edit, { path, old: "one", new: "two", all: true }, [root]);
  await assert.rejects(one("latin"), failsWith("invalid_input", /UTF-8/));
  await assert.rejects(one("zero"), failsWith("invalid_input"));
  await assert.rejects(one("big"), failsWith("too_large"));
  await assert.rejects(one("gone/deep"), failsWith("not_found"));
  await assert.rejects(one(".git/config"), failsWith("refused"));
  const same = tryTool(edit, { path: "latin", old: "x", new: "x" }, [root]);
  await assert.rejects(same, failsWith("invalid_input"));
  assert.deepEqual(readFileSync(join(root, "latin")), latin);
  assert.deepEqual(readdirSync(root).sort(), ["big", "latin", "zero"]);
});
