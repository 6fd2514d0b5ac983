import assert from "node:assert/strict";
import { test } from "node:test";

import { cut, shorten, sizeOf } from "./fit.ts";

const family = "\u{1F468}\u200D\u{1F469}\u200D\u{1F467}";

test("text is shortened between visible characters, with an ellipsis", () => {
  assert.equal(shorten(`${family}ab`, 3), `${family}ab`);
  assert.equal(shorten(`${family}abc`, 3), `${family}a…`);
});

test("a line is cut one column before the edge, and colour codes take no room", () => {
  assert.equal(cut("\u001b[1mabcdef\u001b[0mgh", 5), "\u001b[1mabcd\u001b[0m");
  assert.equal(cut("abc", 5), "abc");
});

test("a terminal that reports no size counts as 80 by 24", () => {
  const screen = (columns: number, rows: number): NodeJS.WriteStream =>
    Object.assign(Object.create(process.stderr) as NodeJS.WriteStream, { columns, rows });
  assert.deepEqual(sizeOf(screen(0, 0)), { columns: 80, rows: 24 });
  assert.deepEqual(sizeOf(screen(120, 40)), { columns: 120, rows: 40 });
});
