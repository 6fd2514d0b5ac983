import assert from "node:assert/strict";
import { test } from "node:test";

import { PolledOperator } from "./polled-operator.ts";

test("an operator that gave up one question is still told by the other one that it asked meanwhile", async () => {
  const operator = new PolledOperator(() => 0);
  const [first, second] = [new AbortController(), new AbortController()];
  const given = operator.take(first.signal);
  const kept = operator.take(second.signal);
  first.abort();
  assert.deepEqual(await given, { requests: [], news: [] });
  const frame = { type: "hook_after", req_id: "r1", task_id: "tsk_1", agent: "a", attempt: 1, result: null };
  operator.send(JSON.stringify(frame), () => undefined);
  const limit = setTimeout(() => second.abort(), 5_000);
  const { news } = await kept;
  clearTimeout(limit);
  assert.equal(news.length, 1);
  assert.equal(second.signal.aborted, false, "it did not have to wait for the end of its time");
});
