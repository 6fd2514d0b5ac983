import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { readPatch } from "./read-patch.ts";

const patch = `diff --git a/lib/total.js b/lib/total.js
index 77e4baa..afe0008 100644
--- a/lib/total.js
+++ b/lib/total.js
@@ -1,4 +1,4 @@ export
 a
--- looks like a header
+++ looks like one, too
 c
 d
\\ No newline at end of file
diff --git a/old name.md b/new.md
similarity index 90%
rename from old name.md
rename to new.md
diff --git "a/\\303\\244.txt" "b/\\303\\244.txt"
new file mode 100644
--- /dev/null
+++ "b/\\303\\244.txt"
@@ -0,0 +1 @@
+hello
`;

test("lines have their numbers on both sides, and text that looks like a header stays text", () => {
  const [first] = readPatch(patch);
  assert.deepEqual(
    first?.hunks[0]?.lines.map(({ mark, text, old, fresh }) => [mark, text, old, fresh]),
    [
      [" ", "a", 1, 1],
      ["-", "-- looks like a header", 2, null],
      ["+", "++ looks like one, too", null, 2],
      [" ", "c", 3, 3],
      [" ", "d", 4, 4],
      ["\\", "No newline at end of file", null, null],
    ],
  );
  assert.deepEqual([first?.path, first?.added, first?.removed], ["lib/total.js", 1, 1]);
});

test("a renamed file has both names, and a quoted name is read as what it means", () => {
  const [, second, third] = readPatch(patch);
  assert.deepEqual([second?.change, second?.from, second?.path], ["renamed", "old name.md", "new.md"]);
  assert.deepEqual([third?.change, third?.path, third?.added], ["added", "ä.txt", 1]);
});

test("a patch that is cut anywhere, and any other text, is read without an error", () => {
  for (let length = 0; length < patch.length; length += 1) readPatch(patch.slice(0, length));
  fc.assert(fc.property(fc.string(), (text) => void readPatch(`diff --git a/x b/x\n@@ -1,9 +1,9 @@\n${text}`)));
});
