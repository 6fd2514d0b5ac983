import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { failsWith, tryTool, workspace } from "../../../test/support/try-tool.ts";
import { list, search } from "./search.ts";

const tree = {
  "src/a.ts": "export const a = 1;\nconst secret = 2;\n",
  "src/deep/b.ts": "// nothing\nSECRET\n",
  "src/c.js": "secret\r\n",
  "node_modules/x/index.js": "secret",
  ".git/HEAD": "secret",
  "dist/out.js": "secret",
  "keep/dist/in.js": "secret",
  "notes.log": "secret",
  "important.log": "secret",
  ".gitignore": "/dist/\n*.log\n!important.log\n# comment\n",
  "image.png": Buffer.from([0, 1, 2]),
};

test("list shows the entries of a folder with their kinds and sizes", async (t) => {
  const { root } = workspace(t, tree);
  symlinkSync("/etc", join(root, "src/etc"));
  assert.deepEqual(await tryTool(list, { path: "src" }, [root]), {
    folder: join(root, "src"),
    entries: [
      { path: "a.ts", kind: "file", bytes: 38 },
      { path: "c.js", kind: "file", bytes: 8 },
      { path: "deep", kind: "folder" },
      { path: "etc", kind: "link" },
    ],
    complete: true,
  });
  const all = await tryTool(list, { depth: 9 }, [root]);
  const paths = JSON.stringify(all);
  assert.ok(!paths.includes("node_modules") && !paths.includes("notes.log") && !paths.includes('"dist'));
  assert.ok(paths.includes("keep/dist/in.js") && paths.includes("important.log"));
  assert.match(JSON.stringify(await tryTool(list, { ignored: true }, [root])), /node_modules/);
});

test("search finds lines by a pattern in text files that are not ignored", async (t) => {
  const { root } = workspace(t, tree);
  assert.deepEqual(await tryTool(search, { pattern: "secret\\b" }, [root]), {
    folder: root,
    matches: [
      { path: "important.log", line: 1, text: "secret" },
      { path: "keep/dist/in.js", line: 1, text: "secret" },
      { path: "src/a.ts", line: 2, text: "const secret = 2;" },
      { path: "src/c.js", line: 1, text: "secret" },
    ],
    complete: true,
    skipped_files: 1,
  });
});

test("search narrows by glob, path and case, takes plain text, and finds files by glob alone", async (t) => {
  const { root } = workspace(t, tree);
  const paths = async (input: unknown): Promise<string[]> =>
    [...JSON.stringify(await tryTool(search, input, [root])).matchAll(/"path":"([^"]*)"/g)].map(
      (match) => match[1] ?? "",
    );
  assert.deepEqual(await paths({ pattern: "secret", glob: "*.ts", ignore_case: true }), ["src/a.ts", "src/deep/b.ts"]);
  assert.deepEqual(await paths({ pattern: "secret", path: "src/c.js" }), ["c.js"]);
  assert.deepEqual(await paths({ pattern: "a = 1;", literal: true }), ["src/a.ts"]);
  assert.deepEqual(await paths({ pattern: "(a", literal: true }), []);
  assert.deepEqual(await paths({ glob: "src/**/*.{ts,js}" }), ["src/a.ts", "src/c.js", "src/deep/b.ts"]);
  assert.deepEqual(await paths({ pattern: "secret", path: "node_modules/x" }), ["index.js"]);
});

test("results are bounded and said to be, and long lines are shown around the match", async (t) => {
  const { root } = workspace(t, { a: "x\n".repeat(500), long: `${"-".repeat(5_000)}needle${"-".repeat(5_000)}` });
  const many = await tryTool(search, { pattern: "x", most: 3 }, [root]);
  assert.match(JSON.stringify(many), /"complete":false,"note":"there are more than these 3 results"/);
  const long = JSON.stringify(await tryTool(search, { pattern: "needle" }, [root]));
  assert.ok(long.length < 600 && long.includes("needle"));
});

test("nothing outside is listed or searched, by path or by link, and bad patterns are said", async (t) => {
  const { root, top } = workspace(t, { a: "inside" });
  mkdirSync(join(top, "out"));
  writeFileSync(join(top, "out/canary"), "canary");
  symlinkSync(join(top, "out"), join(root, "folder"));
  symlinkSync(join(top, "out/canary"), join(root, "file"));
  assert.ok(!JSON.stringify(await tryTool(search, { pattern: ".", ignored: true }, [root])).includes("canary"));
  assert.ok(!JSON.stringify(await tryTool(list, { depth: 9 }, [root])).includes("canary"));
  for (const path of ["..", "folder", "file", top, "../out"]) {
    await assert.rejects(tryTool(search, { pattern: ".", path }, [root]), failsWith("refused"), path);
    await assert.rejects(tryTool(list, { path }, [root]), failsWith("refused"), path);
  }
  await assert.rejects(tryTool(search, { pattern: "(" }, [root]), failsWith("invalid_input", /pattern/));
  await assert.rejects(tryTool(search, {}, [root]), failsWith("invalid_input"));
  await assert.rejects(tryTool(list, { path: "gone" }, [root]), failsWith("not_found"));
});

test("a canceled search ends its thread at once", async (t) => {
  const { root } = workspace(t, { b: `${"a".repeat(60)}!\n` });
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error("enough")), 200);
  const began = performance.now();
  await assert.rejects(tryTool(search, { pattern: "^(a+)+$" }, [root], { signal: stop.signal }), /enough/);
  assert.ok(performance.now() - began < 5_000);
});
