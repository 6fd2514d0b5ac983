import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClientFrame } from "./frames.ts";
import { matchReply, type NotOpen } from "./match-reply.ts";
import { requestKinds } from "./request-id.ts";

const replies = {
  ask: { type: "answer", req_id: "r", value: 1 },
  hook_before: { type: "hook_ack", req_id: "r", ok: true },
  spawn: { type: "spawn_ack", req_id: "r", value: null, ok: true },
} as const satisfies Record<string, ClientFrame>;

test("each kind of request takes its own reply", () => {
  for (const kind of requestKinds) {
    assert.deepEqual(matchReply(kind, replies[kind]), { ok: true, reply: replies[kind] });
  }
});

test("a reply of the wrong kind is named, and says that the request still waits", () => {
  for (const kind of requestKinds) {
    for (const other of requestKinds.filter((candidate) => candidate !== kind)) {
      const match = matchReply(kind, replies[other]);
      assert.ok(!match.ok);
      assert.equal(match.error.code, "wrong_kind");
      assert.equal(match.error.req_id, "r");
      assert.match(
        match.error.message,
        new RegExp(`${kind} and takes ${replies[kind].type}, not ${replies[other].type}`),
      );
      assert.match(match.error.message, /still waits/);
    }
  }
});

test("a wrong reply keeps the request: the right one still answers it", () => {
  assert.equal(matchReply("ask", replies.hook_before).ok, false);
  assert.equal(matchReply("ask", replies.ask).ok, true);
});

test("unknown, repeated and late replies are told so", () => {
  const standings: readonly NotOpen[] = ["unknown_request", "already_answered", "late"];
  for (const standing of standings) {
    const match = matchReply<"ask">(standing, replies.ask);
    assert.ok(!match.ok);
    assert.equal(match.error.code, standing);
    assert.equal(match.error.req_id, "r");
  }
});
