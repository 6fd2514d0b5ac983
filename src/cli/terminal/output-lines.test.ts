import assert from "node:assert/strict";
import { test } from "node:test";

import { agent, completed, eventsOf, top } from "../../../test/support/task-events.ts";
import { outputLines } from "./output-lines.ts";

const delta = (text: string, offset: number, key = "k") =>
  ({ task: agent, root: top, attempt: 1, run: 1, key, channel: "output", offset, text }) as const;

test("output comes in whole lines, and the rest of a step when the task ends", () => {
  const lines = outputLines();
  assert.deepEqual(lines.take(delta("one\ntw", 0)), [{ task: agent, text: "one" }]);
  assert.deepEqual(lines.take(delta("other", 0, "l")), []);
  assert.deepEqual(lines.take(delta("o\nthr", 6)), [{ task: agent, text: "two" }]);
  const [end = assert.fail()] = eventsOf([completed(agent, 1)]);
  assert.deepEqual(
    lines.end(end).map(({ text }) => text),
    ["thr", "other"],
  );
});

test("a line whose beginning was missed is left out", () => {
  const lines = outputLines();
  assert.deepEqual(lines.take(delta("tail\nwhole\nbe", 7)), [{ task: agent, text: "whole" }]);
  assert.deepEqual(lines.take(delta("late\nnext\n", 40)), [{ task: agent, text: "next" }]);
});
