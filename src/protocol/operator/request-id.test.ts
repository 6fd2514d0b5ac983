import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/properties.ts";
import { formatRequestId, parseRequestId } from "./request-id.ts";

const uuid = "0a1b2c3d-0000-4000-8000-0123456789ab";

test("request ids name their session and kind", () => {
  assert.equal(formatRequestId({ sid: "op-1", kind: "ask", uuid }), `op-1-ask-${uuid}`);
  assert.equal(formatRequestId({ sid: "op-1", kind: "hook_before", uuid }), `op-1-hb-${uuid}`);
  assert.equal(formatRequestId({ sid: "op-1", kind: "hook_after", uuid }), `op-1-ha-${uuid}`);
  assert.equal(formatRequestId({ sid: "op-1", kind: "spawn", uuid }), `op-1-spawn-${uuid}`);
});

test("a request id reads back as its parts, also when the session id looks like one itself", () => {
  const sid = fc.oneof(
    fc.uuid().map((id) => `op-${id}`),
    fc.constant(`op-ask-${uuid}`),
    fc.stringMatching(/^[a-z-]{1,40}$/),
  );
  const kind = fc.constantFrom("ask", "hook_before", "hook_after", "spawn");
  fc.assert(
    fc.property(sid, kind, fc.uuid(), (session, requestKind, random) => {
      const parts = { sid: session, kind: requestKind, uuid: random };
      assert.deepEqual(parseRequestId(formatRequestId(parts)), parts);
    }),
    { numRuns: 300 },
  );
});

test("anything else is no request id", () => {
  for (const text of ["", `-ask-${uuid}`, `op-1-ask-${uuid} `, `op-1-asks-${uuid}`, `op-1-ask-${uuid.toUpperCase()}`]) {
    assert.equal(parseRequestId(text), undefined, text);
  }
  assert.equal(parseRequestId(`${"s".repeat(300)}-ask-${uuid}`), undefined);
});
