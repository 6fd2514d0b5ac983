import assert from "node:assert/strict";
import { test } from "node:test";

import { messageId } from "../core/message-id.ts";
import type { CompleteMessage } from "../protocol/task/message.ts";
import { lineTime, messageIn, shortMessage, wholeMessage } from "./recorded-message.ts";

const line = { task: "tsk_ab_1", attempt: 2, run: 1, key: "model:3", at: 1_000 };
const message: CompleteMessage = {
  id: messageId(line, line.key),
  name: null,
  role: "assistant",
  parts: [{ part_type: "text", data: "hello" }],
  created_at: 1_000,
  agent_id: "guide",
};
const usage = { input_tokens: 7, output_tokens: 2, money_micro_usd: null };

test("what follows from the line of a message is not written, and comes back to the letter", () => {
  const written = JSON.stringify(shortMessage(message, line));
  assert.equal(written, '{"role":"assistant","parts":[{"part_type":"text","data":"hello"}],"agent_id":"guide"}');
  assert.equal(JSON.stringify(wholeMessage(JSON.parse(written), line)), JSON.stringify(message));
  assert.deepEqual(messageIn(written, line), message);
});

test("a reply has its usage as numbers beside the message, and comes back to the letter", () => {
  const reply = { message, usage, finish: "stop" };
  const written = JSON.stringify(shortMessage(reply, line));
  assert.match(written, /"usage":\[7,2,null\],"finish":"stop"\}$/);
  assert.equal(JSON.stringify(wholeMessage(JSON.parse(written), line)), JSON.stringify(reply));
  assert.deepEqual(messageIn(written, line), message);
});

test("an id, a name and a time of the message's own are written", () => {
  const own = { ...message, id: "m1", name: "ann", created_at: 5 };
  const written = JSON.stringify(shortMessage(own, line));
  assert.deepEqual(JSON.parse(written), own);
  assert.deepEqual(messageIn(written, line), own);
});

test("a line of an earlier version is read as it is", () => {
  for (const written of [message, { message, usage, finish: "stop" }]) {
    assert.deepEqual(wholeMessage(written, line), written);
    assert.deepEqual(messageIn(JSON.stringify(written), { ...line, at: 9 }), message);
  }
});

test("the line of a message that was just made has its time, and an older or a later one has none of it", () => {
  assert.equal(lineTime(message, 1_999), 1_000);
  assert.equal(lineTime({ message }, 1_000), 1_000);
  assert.equal(lineTime(message, 2_000), 2_000, "a second old");
  assert.equal(lineTime(message, 999), 999, "from a clock that is ahead");
  assert.equal(lineTime({ made: 1 }, 7), 7);
});

test("what is no message passes unchanged", () => {
  for (const value of [null, 3, "text", [1], { message: null }]) {
    assert.equal(shortMessage(value, line), value);
    assert.equal(wholeMessage(value, line), value);
  }
});
