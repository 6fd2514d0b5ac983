import assert from "node:assert/strict";
import { test } from "node:test";

import { TaskEvent } from "../../protocol/task/event.ts";
import { eventText } from "./transcript-lines.ts";

const reached = (data: object): string =>
  eventText(TaskEvent.parse({ seq: 1, at: 0, task: "tsk_1", root: "tsk_1", type: "budget.reached", data }));

test("a limit that is reached is shown as one, and an unknown price as such", () => {
  const money = { limit: "money_micro_usd", allowed: 10_000_000 };
  assert.equal(reached({ ...money, wanted: 10_000_001 }), "the limit of $10.00 is reached");
  for (const wanted of [0, 10_000_000]) {
    assert.equal(reached({ ...money, wanted }), "the price of this model is not known, and there is a limit of $10.00");
  }
  assert.equal(reached({ limit: "tokens", allowed: 100, wanted: 120 }), "the limit of 100 tokens is reached");
});
