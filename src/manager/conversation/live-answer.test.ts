import assert from "node:assert/strict";
import { test } from "node:test";

import { liveAnswer } from "./live-answer.ts";

function shownOf(reply: string, size: number): string {
  let shown = "";
  const push = liveAnswer((text) => (shown += text));
  for (let at = 0; at < reply.length; at += size) push(reply.slice(at, at + size));
  return shown;
}

test("the person sees the words of an answer as they come, and never the JSON around them", () => {
  for (const size of [1, 3, 1_000]) {
    const message = 'Two "tasks" run:\n- tsk_1 😀 \\ done';
    assert.equal(shownOf(JSON.stringify({ action: "final", message }), size), message);
    assert.equal(shownOf('{"action":"sessions.kill","args":{"task":"tsk_1"}}', size), "");
    assert.equal(shownOf("Nothing runs.", size), "Nothing runs.");
    assert.equal(shownOf('I will look. {"action":"goals.list"}', size), "I will look. ");
  }
});
