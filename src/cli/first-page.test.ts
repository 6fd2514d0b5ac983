import assert from "node:assert/strict";
import { test } from "node:test";

import { examples } from "./examples.ts";
import { firstPage } from "./first-page.ts";

test("the first page fits a terminal of 80 by 24, and one of 40 columns", () => {
  const lines = firstPage(80).split("\n");
  // The prompt of the shell takes one more line.
  assert.ok(lines.length < 24, `${lines.length} lines`);
  for (const line of lines) assert.ok(line.length < 80, line);
  for (const line of firstPage(40).split("\n")) assert.ok(line.length < 40, line);
});

test("the first page names commands that exist", () => {
  const named = [...firstPage(80).matchAll(/^ {2}tutti ([a-z]+(?: (?:new|run))?)/gm)].map(
    ([, command = ""]) => command,
  );
  assert.ok(named.length > 5);
  for (const command of named)
    assert.ok(
      examples.some((example) => example.command === command),
      command,
    );
});
