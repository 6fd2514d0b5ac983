import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/properties.ts";
import { ClientFrame, ServerFrame } from "./frames.ts";
import { readClientFrame } from "./read-client-frame.ts";

const text = fc.string({ unit: "binary" });
const json = fc.jsonValue({ maxDepth: 4 });
const attempt = fc.integer({ min: 1, max: 0xffff_ffff });
const deadline = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

/** What a value is after it has been on the wire once: -0 becomes 0, keys named __proto__ are own keys. */
function overTheWire(frame: unknown): unknown {
  return JSON.parse(JSON.stringify(frame));
}

const common = { req_id: text, parent_req_id: text, task_id: text };
const serverFrame = fc.oneof(
  fc.record(
    { type: fc.constant("ask"), ...common, question: json, deadline, redelivered: fc.constant(true) },
    { requiredKeys: ["type", "req_id", "task_id", "question"] },
  ),
  fc.record(
    { type: fc.constant("hook_before"), ...common, agent: text, attempt, deadline, redelivered: fc.constant(true) },
    { requiredKeys: ["type", "req_id", "task_id", "agent", "attempt"] },
  ),
  fc.record(
    {
      type: fc.constant("hook_after"),
      ...common,
      agent: text,
      attempt,
      result: json,
      outcome: fc.constantFrom("completed", "failed", "canceled", "stopped", "unknown", "handed_over"),
    },
    { requiredKeys: ["type", "req_id", "task_id", "agent", "attempt", "result"] },
  ),
  fc.record(
    {
      type: fc.constant("spawn"),
      ...common,
      agent: text,
      attempt,
      capability_token: text,
      worker_handle: text,
      directive: text,
      deadline,
      redelivered: fc.constant(true),
    },
    { requiredKeys: ["type", "req_id", "task_id", "agent", "attempt", "capability_token", "directive"] },
  ),
  fc.record(
    { type: fc.constant("error"), req_id: text, code: fc.constantFrom("bad_json", "late"), message: text },
    { requiredKeys: ["type", "code", "message"] },
  ),
);

const clientFrame = fc.oneof(
  fc.record({ type: fc.constant("answer"), req_id: text, value: json }),
  fc.record(
    { type: fc.constant("hook_ack"), req_id: text, ok: fc.boolean(), reason: text },
    { requiredKeys: ["type", "req_id", "ok"] },
  ),
  fc.record(
    { type: fc.constant("spawn_ack"), req_id: text, value: json, ok: fc.boolean(), error: text },
    { requiredKeys: ["type", "req_id", "value", "ok"] },
  ),
);

test("every server frame comes out of the wire as it went in", () => {
  fc.assert(
    fc.property(serverFrame, (frame) => {
      const sent = overTheWire(frame);
      assert.deepEqual(ServerFrame.parse(sent), sent);
    }),
    { numRuns: 300 },
  );
});

test("every client frame comes out of the wire as it went in", () => {
  fc.assert(
    fc.property(clientFrame, (frame) => {
      const read = readClientFrame(JSON.stringify(frame));
      assert.deepEqual(read, { ok: true, frame: overTheWire(frame) });
    }),
    { numRuns: 300 },
  );
});

test("optional server fields that are absent are left out, not null", () => {
  const frame = ServerFrame.parse({ type: "ask", req_id: "r", task_id: "t", question: null });
  assert.equal(JSON.stringify(frame), '{"type":"ask","req_id":"r","task_id":"t","question":null}');
});

test("a hook_after is never marked redelivered, because it is sent at most once", () => {
  const sent = { type: "hook_after", req_id: "r", task_id: "t", agent: "a", attempt: 1, result: 1, redelivered: true };
  const { redelivered: _, ...rest } = sent;
  assert.deepEqual(ServerFrame.parse(sent), rest);
});

test("attempts count from 1", () => {
  const frame = { type: "hook_before", req_id: "r", task_id: "t", agent: "a" };
  assert.equal(ServerFrame.safeParse({ ...frame, attempt: 0 }).success, false);
  assert.equal(ServerFrame.safeParse({ ...frame, attempt: 1 }).success, true);
  assert.equal(ServerFrame.safeParse({ ...frame, attempt: 1.5 }).success, false);
});

test("the client frames are answer, hook_ack and spawn_ack, and no other", () => {
  for (const type of ["ask", "spawn", "error", "spawn_halt", "Answer", ""]) {
    assert.equal(ClientFrame.safeParse({ type, req_id: "r", value: 1, ok: true }).success, false, type);
  }
});
