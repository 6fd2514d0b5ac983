import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { redactStream } from "./redact-stream.ts";
import { redactor } from "./redact.ts";

const hex32 = "0123456789abcdef0123456789abcdef";
const redact = redactor([
  { name: "KEY", value: "sk-test-Zq81mPw0Rv5T" },
  { name: "SHORT", value: "abcdefgh" },
  { name: "LONG", value: "abcdefghijkl" },
  { name: "NEXT", value: "ijklmnopq" },
]);

function sent(pieces: readonly string[]): { readonly shown: string; readonly parts: readonly string[] } {
  const stream = redactStream(redact);
  const parts = [...pieces.map((piece) => stream.push("a", piece)), stream.flush("a")];
  return { shown: parts.join(""), parts };
}

test("a secret that comes in pieces is never shown, and what cannot be one is shown at once", () => {
  assert.deepEqual(sent(["hello sk-", "test-Zq81", "mPw0Rv5T, bye"]).parts, ["hello ", "", "[redacted:KEY], bye", ""]);
  assert.deepEqual(sent(["ask-", "me"]).parts, ["a", "sk-me", ""]);
  assert.deepEqual(sent(["plain", " word"]).parts, ["plain", " word", ""]);
});

test("what was held back is shown when the stream ends", () => {
  assert.deepEqual(sent(["sk-test"]).parts, ["", "sk-test"]);
  assert.deepEqual(sent(["abcdefgh"]).parts, ["", "[redacted:SHORT]"]);
});

test("a word that ends like the beginning of a token of ours is not one", () => {
  const name = `snapshot-${hex32}`;
  assert.equal(sent(name.split("")).shown, name);
  assert.equal(sent(`a long enough robot-${hex32} here`.split("")).shown, `a long enough robot-${hex32} here`);
  assert.equal(sent(`at ot-${hex32} here`.split("")).shown, "at [redacted:operator token] here");
});

test("in whatever pieces a text comes, what is shown is what the whole would be", () => {
  const words = fc.constantFrom(
    "sk-test-Zq81mPw0Rv5T",
    "sk-test-",
    "abcdefgh",
    "abcdefghijkl",
    "ijklmnopq",
    `wh-${hex32}`,
    `tt1.abc.${"A".repeat(43)}`,
    "tt1.abc.",
    " ",
    "t",
    "x",
    "\\n",
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 8 }), fc.array(fc.nat({ max: 60 }), { maxLength: 12 }), (all, cuts) => {
      // The first word keeps the whole from being read as JSON.
      const text = `: ${all.join("")}`;
      const places = [0, ...cuts.filter((cut) => cut < text.length).toSorted((one, other) => one - other), text.length];
      const pieces = places.slice(1).map((place, index) => text.slice(places[index], place));
      assert.equal(sent(pieces).shown, redact(text));
    }),
    { numRuns: 2_000 },
  );
});

test("streams are apart, and of too many the one that was quiet longest is forgotten", () => {
  const stream = redactStream(redact, { maxStreams: 2 });
  stream.push("a", "sk-");
  stream.push("b", "abcd");
  assert.equal(stream.push("a", "test-Zq81mPw0Rv5T!"), "[redacted:KEY]!");
  stream.push("c", "sk-");
  assert.equal(stream.size, 2);
  assert.equal(stream.flush("b"), "");
  assert.equal(stream.flush("c"), "sk-");
});

test("secrets that reach into each other without end are not held for ever", () => {
  const endless = redactor([{ name: "A", value: "a".repeat(12) }]);
  const stream = redactStream(endless);
  let shown = "";
  for (let piece = 0; piece < 120; piece += 1) shown += stream.push("a", "a".repeat(100));
  shown += stream.flush("a");
  assert.match(shown, /^(?:\[redacted:A\])+a{0,11}$/);
});
