import assert from "node:assert/strict";
import { test } from "node:test";

import { parseDecision } from "./parse-decision.ts";
import { renderReprompt } from "./render-reprompt.ts";

test("says what was wrong with each thing that was dropped", () => {
  const { dropped } = parseDecision('{"action":"delegate","tasks":[{"workdir":7,"prompt":"p"}]}');
  const text = renderReprompt("no_decision", dropped);
  assert.match(text, /no decision could be read/);
  assert.match(text, /^- tasks\[0\]: workdir: /m);
});

test("names the first ten and counts the rest", () => {
  const dropped = Array.from({ length: 12 }, (_, index) => ({ what: `tasks[${index}]`, reason: "broken" }));
  const lines = renderReprompt("no_decision", dropped).split("\n");
  assert.equal(lines.filter((line) => line.endsWith(": broken")).length, 10);
  assert.ok(lines.includes("- and 2 more"));
});

test("with nothing dropped there is no list", () => {
  const text = renderReprompt("nothing_delegated");
  assert.match(text, /delegated no task/);
  assert.doesNotMatch(text, /^- |not used/m);
});

test("a missing confidence is asked for", () => {
  const text = renderReprompt("no_confidence", [{ what: "tasks[1]", reason: "has no `conf`" }]);
  assert.match(text, /how sure you are/);
  assert.match(text, /^- tasks\[1\]: has no `conf`$/m);
});
