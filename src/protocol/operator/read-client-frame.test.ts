import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/properties.ts";
import { ErrorFrame } from "./frames.ts";
import { maxFrameLength, readClientFrame } from "./read-client-frame.ts";

function faultOf(text: string): string {
  const read = readClientFrame(text);
  return read.ok ? "none" : read.error.code;
}

test("a spawn_ack without value and ok has value null and ok true", () => {
  assert.deepEqual(readClientFrame('{"type":"spawn_ack","req_id":"r"}'), {
    ok: true,
    frame: { type: "spawn_ack", req_id: "r", value: null, ok: true },
  });
});

test("fields nobody knows are ignored", () => {
  assert.deepEqual(readClientFrame('{"type":"answer","req_id":"r","value":{"x":1},"stats":{"n":1}}'), {
    ok: true,
    frame: { type: "answer", req_id: "r", value: { x: 1 } },
  });
});

test("an answer needs its value, null included, and a hook_ack its ok", () => {
  assert.equal(faultOf('{"type":"answer","req_id":"r"}'), "bad_frame");
  assert.equal(faultOf('{"type":"answer","req_id":"r","value":null}'), "none");
  assert.equal(faultOf('{"type":"hook_ack","req_id":"r"}'), "bad_frame");
  assert.equal(faultOf('{"type":"hook_ack","req_id":"r","ok":"yes"}'), "bad_frame");
});

test("reason and error may be null, which is the same as absent", () => {
  assert.equal(faultOf('{"type":"hook_ack","req_id":"r","ok":false,"reason":null}'), "none");
  assert.equal(faultOf('{"type":"spawn_ack","req_id":"r","error":null}'), "none");
});

test("no frame is dropped in silence: each unusable one is named in an error frame", () => {
  const cases: Record<string, string> = {
    "": "bad_json",
    "{": "bad_json",
    '{"type":"answer"} {}': "bad_json",
    null: "bad_frame",
    "[]": "bad_frame",
    '"answer"': "bad_frame",
    "{}": "unknown_type",
    '{"type":7}': "unknown_type",
    '{"type":"constructor","req_id":"r"}': "unknown_type",
    '{"type":"__proto__","req_id":"r"}': "unknown_type",
    '{"type":"spawn_halt","req_id":"r"}': "unknown_type",
    '{"type":"answer","value":1}': "bad_frame",
    '{"type":"answer","req_id":1,"value":1}': "bad_frame",
  };
  for (const [text, code] of Object.entries(cases)) assert.equal(faultOf(text), code, text);
});

test("the error frame carries the req_id when the client sent a usable one", () => {
  const read = readClientFrame('{"type":"spawn_halt","req_id":"op-1-ask-2"}');
  assert.deepEqual(read, {
    ok: false,
    error: {
      type: "error",
      req_id: "op-1-ask-2",
      code: "unknown_type",
      message: '"type" must be one of answer, hook_ack, spawn_ack',
    },
  });
  for (const reqId of [7, null, { a: 1 }, "x".repeat(257)]) {
    const unusable = readClientFrame(JSON.stringify({ type: "nope", req_id: reqId }));
    assert.equal(!unusable.ok && "req_id" in unusable.error, false);
  }
});

test("the field that is wrong is named", () => {
  const read = readClientFrame('{"type":"hook_ack","req_id":"r","ok":1}');
  assert.match(read.ok ? "" : read.error.message, /hook_ack.*\bok\b.*boolean/);
});

test("a frame past the size limit is refused unread, one at the limit is read", () => {
  const frame = (length: number): string => {
    const shell = '{"type":"answer","req_id":"r","value":""}';
    return shell.replace('""', `"${"v".repeat(length - shell.length)}"`);
  };
  assert.equal(frame(maxFrameLength).length, maxFrameLength);
  assert.equal(faultOf(frame(maxFrameLength)), "none");
  assert.equal(faultOf(frame(maxFrameLength + 1)), "too_large");
});

test("a value may nest 127 deep in its frame and no deeper", () => {
  const nested = (depth: number): string =>
    `{"type":"answer","req_id":"r","value":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  assert.equal(faultOf(nested(127)), "none");
  assert.equal(faultOf(nested(128)), "too_deep");
  assert.equal(faultOf(`{"type":"answer","req_id":"r","value":"\\"${"[".repeat(500)}"}`), "none");
  assert.equal(faultOf(`{"type":"answer","req_id":"r","value":[${"[],".repeat(500)}1]}`), "none");
});

test("a frame may hold 65536 values, counting itself and its list, and no more", () => {
  const list = (commas: number): string => `{"type":"answer","req_id":"r","value":[${"1,".repeat(commas)}1]}`;
  assert.equal(faultOf(list(65_536 - 5)), "none");
  assert.equal(faultOf(list(65_536 - 4)), "too_many_values");
  assert.equal(faultOf(`{"type":"answer","req_id":"r","value":"${",[".repeat(100_000)}"}`), "none");
});

test("a number that would be kept as null is refused, not lost", () => {
  assert.equal(faultOf('{"type":"answer","req_id":"r","value":[1,{"n":1e999}]}'), "number_out_of_range");
  assert.equal(faultOf('{"type":"answer","req_id":"r","value":[1,{"n":1e300}]}'), "none");
});

test("a frame that names a key twice is refused by that key, so a no cannot turn into a yes", () => {
  const twice: Record<string, string> = {
    '{"type":"hook_ack","req_id":"r","ok":false,"ok":true}': "ok",
    '{"type":"hook_ack","req_id":"r","ok":false,"reason":"no","\\u006fk":true}': "ok",
    '{"type":"spawn_ack","req_id":"r","ok":false,"value":{"deep":[{"ok":1}]},"ok":true}': "ok",
    '{"type":"answer","req_id":"r","req_id":"s","value":1}': "req_id",
    '{"type":"answer","req_id":"r","value":[{"approved":false,"approved":true}]}': "approved",
    '{"type":"answer","req_id":"r","value":{"__proto__":1,"__proto__":2}}': "__proto__",
  };
  for (const [text, key] of Object.entries(twice)) {
    const message = `the frame names the key "${key}" twice in one object; send each key once`;
    assert.deepEqual(readClientFrame(text), { ok: false, error: { type: "error", code: "bad_json", message } }, text);
  }
});

test("the same key in two objects, or in a text, is not a key given twice", () => {
  assert.equal(faultOf('{"type":"answer","req_id":"r","value":[{"ok":1},{"ok":2,"value":{"ok":3}}]}'), "none");
  assert.equal(faultOf('{"type":"answer","req_id":"r","value":"\\"a\\":1,\\"a\\":2"}'), "none");
});

test("reading never throws and every refusal is a valid error frame", () => {
  const tokens = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    '"',
    ":",
    ",",
    "\\",
    '"type"',
    '"answer"',
    '"req_id"',
    "1e9999",
    "null",
  );
  const soup = fc
    .array(fc.oneof(tokens, fc.string({ unit: "binary" })), { maxLength: 60 })
    .map((parts) => parts.join(""));
  const almost = fc
    .record({
      type: fc.constantFrom("answer", "hook_ack", "spawn_ack"),
      req_id: fc.anything(),
      value: fc.anything(),
      ok: fc.anything(),
    })
    .map((frame) => {
      try {
        return JSON.stringify(frame);
      } catch {
        return "";
      }
    });
  fc.assert(
    fc.property(fc.oneof(soup, fc.json(), almost, fc.string({ unit: "binary" })), (text) => {
      const read = readClientFrame(text);
      if (!read.ok) assert.deepEqual(ErrorFrame.parse(read.error), read.error);
    }),
    { numRuns: 2000 },
  );
});
