import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import { unifiedDiff } from "./unified-diff.ts";

/** Applies a diff to the text it was made from, checking every line that it removes or keeps. */
function patched(before: string, diff: readonly string[]): string {
  const old = before.split("\n");
  const out: string[] = [];
  let at = 0;
  for (const line of diff) {
    const [, first, count] = /^@@ -(\d+),(\d+) /.exec(line) ?? [];
    if (first !== undefined) {
      const start = Number(first) - 1;
      assert.ok(start >= at && count !== undefined);
      out.push(...old.slice(at, start));
      at = start;
    } else if (line.startsWith("+")) out.push(line.slice(1));
    else if (!line.startsWith("\\")) {
      assert.equal(line.slice(1), old[at]);
      if (line.startsWith(" ")) out.push(line.slice(1));
      at += 1;
    }
  }
  return [...out, ...old.slice(at)].join("\n");
}

test("a change is shown with three lines around it, and changes far apart are hunks of their own", () => {
  const lines = Array.from({ length: 20 }, (_, index) => `${index + 1}\n`);
  const after = lines.with(1, "two\n").with(17, "eighteen\n").join("");
  assert.deepEqual(unifiedDiff(lines.join(""), after), [
    ..."@@ -1,5 +1,5 @@| 1|-2|+two| 3| 4| 5".split("|"),
    ..."@@ -15,6 +15,6 @@| 15| 16| 17|-18|+eighteen| 19| 20".split("|"),
  ]);
  assert.deepEqual(unifiedDiff("a", "a"), []);
  assert.deepEqual(unifiedDiff("a", "a\n"), ["@@ -1,1 +1,1 @@", "-a", "\\ No newline at end of file", "+a"]);
});

test("applied to the old text, a diff gives the new one", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", "c", "", " x", "-", "+", "@"), { maxLength: 40 })
    .map((lines) => lines.map((line) => `${line}\n`).join(""));
  fc.assert(
    fc.property(text, text, (before, after) => assert.equal(patched(before, unifiedDiff(before, after)), after)),
    { numRuns: 500 },
  );
});
