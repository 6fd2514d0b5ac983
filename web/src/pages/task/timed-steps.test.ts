import assert from "node:assert/strict";
import { test } from "node:test";

import type { TaskEvent } from "../../../../src/client/index.ts";
import { timedSteps } from "./timed-steps.ts";

const of = { task: "tsk_a_1", root: "tsk_a_1" };

test("a step counts from what was recorded before it, and the time of a question is no step", () => {
  const events: TaskEvent[] = [
    { ...of, seq: 1, at: 100, type: "task.started", data: {} },
    {
      ...of,
      seq: 2,
      at: 350,
      type: "step.finished",
      data: { key: "model:0", outcome: "ok", tokens: 9, money_micro_usd: 4 },
    },
    { ...of, seq: 3, at: 400, type: "task.input_required", data: { ask: "ask_1" } },
    { ...of, seq: 4, at: 9_000, type: "task.resumed", data: {} },
    {
      ...of,
      seq: 5,
      at: 9_010,
      type: "step.finished",
      data: { key: "tool:0", outcome: "failed", tokens: 0, money_micro_usd: 0 },
    },
  ];
  assert.deepEqual(
    timedSteps(events).map(({ key, from, to, outcome }) => [key, to - from, outcome]),
    [
      ["model:0", 250, "ok"],
      ["tool:0", 10, "failed"],
    ],
  );
});
