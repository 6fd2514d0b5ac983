import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { ClientFrame } from "../protocol/operator/frames.ts";
import { rememberReplies } from "./operator-replies.ts";

const answer = (req_id: string): ClientFrame => ({ type: "answer", req_id, value: 1 });

describe("a request", () => {
  test("is new once, busy while it is handled, and gets its reply when it is delivered again", () => {
    const replies = rememberReplies();
    assert.equal(replies.begin("a"), "new");
    assert.equal(replies.begin("a"), "busy");
    replies.settle(answer("a"));
    assert.deepEqual(replies.begin("a"), answer("a"));
  });

  test("without a reply is handled again when it is delivered again", () => {
    const replies = rememberReplies();
    replies.begin("a");
    replies.forget("a");
    assert.equal(replies.begin("a"), "new");
  });

  test("whose reply was refused is handled again, unless the request is over", () => {
    const replies = rememberReplies();
    for (const id of ["a", "b"]) {
      replies.begin(id);
      replies.settle(answer(id));
    }
    replies.refused("a", { over: false });
    replies.refused("b", { over: true });
    replies.refused("unknown", { over: false });
    assert.equal(replies.begin("a"), "new");
    assert.deepEqual(replies.begin("b"), answer("b"));
    assert.deepEqual(replies.unconfirmed(1_000_000), [], "nothing more is sent for a request that is over");
  });
});

describe("a new connection", () => {
  test("sends replies that were never sent, and those sent less than a minute ago", () => {
    const replies = rememberReplies();
    for (const id of ["never", "old", "recent"]) {
      replies.begin(id);
      replies.settle(answer(id));
    }
    replies.begin("busy");
    replies.sent("old", 0);
    replies.sent("recent", 50_000);
    assert.deepEqual(replies.unconfirmed(100_000), [answer("never"), answer("recent")]);
  });

  test("knows which replies were sent more than once", () => {
    const replies = rememberReplies();
    replies.begin("a");
    replies.settle(answer("a"));
    replies.sent("a", 1);
    assert.equal(replies.wasResent("a"), false);
    replies.sent("a", 2);
    assert.equal(replies.wasResent("a"), true);
  });
});

test("the oldest replies are forgotten first, and requests that are being handled never", () => {
  const replies = rememberReplies();
  replies.begin("busy");
  for (let count = 0; count < 1_005; count += 1) {
    replies.begin(`r${count}`);
    replies.settle(answer(`r${count}`));
  }
  assert.equal(replies.begin("busy"), "busy");
  assert.equal(replies.begin("r0"), "new");
  assert.deepEqual(replies.begin("r1004"), answer("r1004"));
});
