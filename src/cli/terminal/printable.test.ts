import assert from "node:assert/strict";
import { test } from "node:test";

import { oneLine, printable, printableName } from "./printable.ts";

test("codes that move the cursor, change the title or turn the text around are shown, not obeyed", () => {
  assert.equal(
    printable("a\u001b[2Jb\u001b]0;title\u0007c\u009bd\u202ee"),
    "a\\u001b[2Jb\\u001b]0;title\\u0007c\\u009bd\\u202ee",
  );
});

test("line ends and tabs are kept, and a carriage return cannot overwrite a line", () => {
  assert.equal(printable("a\r\nb\tc\rd\n"), "a\nb\tc\\u000dd\n");
});

test("a name stays one line, and two names never look the same", () => {
  assert.equal(printableName("a\n\tb\u001b"), "a\\n\\tb\\u001b");
});

test("one line is the first one, cut to the length, with the number of lines that follow", () => {
  assert.equal(oneLine("one", 5), "one");
  assert.equal(oneLine("\n  one\ntwo\nthree\n", 10), "one (+2 lines)");
  assert.equal(oneLine("abcdef", 5), "abcd…");
  assert.equal(oneLine("👍👍👍", 3), "👍👍👍");
});
