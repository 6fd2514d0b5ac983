import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeSync, ftruncateSync, mkdirSync, openSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";

import { failsWith, tryTool, workspace } from "../../../test/support/try-tool.ts";
import { read } from "./read.ts";

test("a file is shown with what it is in brackets before it", async (t) => {
  const { root } = workspace(t, { "a.txt": "one\ntwo\nthree\n", "no-end": "one\ntwo", empty: "", blank: "\n" });
  assert.equal(await tryTool(read, { path: "a.txt" }, [root]), `[${root}/a.txt, lines 1 to 3 of 3]\none\ntwo\nthree`);
  assert.equal(await tryTool(read, { path: "no-end" }, [root]), `[${root}/no-end, lines 1 to 2 of 2]\none\ntwo`);
  assert.equal(await tryTool(read, { path: "empty" }, [root]), `[${root}/empty is empty]`);
  assert.equal(await tryTool(read, { path: "blank" }, [root]), `[${root}/blank, lines 1 to 1 of 1]\n`);
});

test("a range is shown with where to go on, and one past the end is said", async (t) => {
  const { root } = workspace(t, { a: "1\n2\n3\n4\n5\n" });
  const some = await tryTool(read, { path: "a", from: 2, lines: 2 }, [root]);
  assert.equal(some, `[${root}/a, lines 2 to 3 of 5; go on from 4]\n2\n3`);
  assert.equal(await tryTool(read, { path: "a", from: 9 }, [root]), `[${root}/a has only 5 lines]`);
});

test("a large file is paged by lines, and the pages together are the file", async (t) => {
  const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index} ${"é".repeat(index % 50)}`);
  const { root } = workspace(t, { big: lines.join("\n") });
  const seen: string[] = [];
  let from: number | undefined = 1;
  for (let pages = 0; from !== undefined && pages < 100; pages += 1) {
    const page: string = String(await tryTool(read, { path: "big", from }, [root]));
    assert.ok(page.length < 32_000);
    const [head = "", ...rest]: string[] = page.split("\n");
    seen.push(...rest);
    const next: string | undefined = /go on from (\d+)\]$/.exec(head)?.[1];
    from = next === undefined ? undefined : Number(next);
  }
  assert.deepEqual(seen, lines);
});

test("a line without an end is cut and said", async (t) => {
  const { root } = workspace(t, { long: `${"x".repeat(3_000_000)}\nnext` });
  const text = String(await tryTool(read, { path: "long" }, [root]));
  assert.match(text, /lines 1 to 2 of 2\]\nx{4000} \[… 3000000 bytes in this line …\]\nnext$/);
});

test("what is not text is said, not shown, however large it is", async (t) => {
  const { root } = workspace(t, {
    png: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 1]),
    noise: Buffer.alloc(9_000, 0xfe),
  });
  assert.equal(await tryTool(read, { path: "png" }, [root]), `[${root}/png is not text: 7 bytes of other data]`);
  assert.match(String(await tryTool(read, { path: "noise" }, [root])), /not text/);
  const fd = openSync(join(root, "sparse"), "w");
  ftruncateSync(fd, 2 ** 40);
  closeSync(fd);
  assert.match(String(await tryTool(read, { path: "sparse" }, [root])), /not text: 1099511627776 bytes/);
});

test("line ends of Windows are left out", async (t) => {
  const { root } = workspace(t, { w: "a\r\nb\r\n" });
  assert.match(String(await tryTool(read, { path: "w" }, [root])), /\na\nb$/);
});

test("folders, pipes, sockets and devices are refused at once instead of being waited for", async (t) => {
  const { root } = workspace(t);
  mkdirSync(join(root, "d"));
  execFileSync("/bin/sh", ["-c", "mkfifo pipe"], { cwd: root });
  const server = createServer().listen(join(root, "socket"));
  t.after(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  symlinkSync("/dev/zero", join(root, "zero"));
  await assert.rejects(tryTool(read, { path: "d" }, [root]), failsWith("refused", /is a folder/));
  await assert.rejects(tryTool(read, { path: "pipe" }, [root]), failsWith("refused", /neither/));
  await assert.rejects(tryTool(read, { path: "socket" }, [root]), failsWith("refused", /neither/));
  await assert.rejects(tryTool(read, { path: "zero" }, [root]), failsWith("refused", /outside/));
  await assert.rejects(tryTool(read, { path: "zero" }, [root, "/dev"]), failsWith("refused", /neither/));
  await assert.rejects(tryTool(read, { path: "gone" }, [root]), failsWith("not_found"));
});
