import assert from "node:assert/strict";
import { test } from "node:test";

import { splitQuestion } from "./split-question.ts";

test("a command and a patch in a question stand apart from its words", () => {
  assert.deepEqual(
    splitQuestion(
      "May it run?\ncommand:\n  | npm test\n  | --all\nIt is confined.\n  | @@ -1,1 +1,1 @@\n  | -a\n  | +b",
    ),
    [
      { kind: "words", text: "May it run?" },
      { kind: "quoted", text: "npm test\n--all" },
      { kind: "words", text: "It is confined." },
      { kind: "patch", text: "@@ -1,1 +1,1 @@\n-a\n+b" },
    ],
  );
});

test("a question without quotes is one part, and an empty one has none", () => {
  assert.deepEqual(splitQuestion("Down or up?"), [{ kind: "words", text: "Down or up?" }]);
  assert.deepEqual(splitQuestion("\n"), []);
});

test("lines that say something by name are facts, and a single one stays a sentence", () => {
  assert.deepEqual(splitQuestion("May it run?\nIt is confined.\nfolder: /a b\nnetwork: no"), [
    { kind: "words", text: "May it run?\nIt is confined." },
    {
      kind: "facts",
      rows: [
        ["folder", "/a b"],
        ["network", "no"],
      ],
    },
  ]);
  assert.deepEqual(splitQuestion("This is it\nnote: one"), [{ kind: "words", text: "This is it\nnote: one" }]);
});
