import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { keptOutput } from "./kept-output.ts";

const marker = /\n\[… (\d+) bytes left out …\]\n/;

function kept(limit: number, chunks: readonly Uint8Array[]): { text: string; truncated: boolean } {
  const output = keptOutput(limit);
  for (const chunk of chunks) output.add(chunk);
  return { text: output.text(), truncated: output.truncated };
}

test("an output within the limit is kept whole, wherever its chunks are cut", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.array(fc.nat(20)), (text, cuts) => {
      const bytes = Buffer.from(text);
      assert.deepEqual(kept(Math.max(2, bytes.length), inChunks(bytes, cuts)), { text, truncated: false });
    }),
    { numRuns: 300 },
  );
});

test("of a longer output the beginning and the end are kept, and the line between them counts what was left out", () => {
  const ascii = fc.string({ unit: fc.constantFrom("a", "b", "c", "\n"), minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(ascii, fc.integer({ min: 2, max: 100 }), fc.array(fc.nat(40)), (text, limit, cuts) => {
      fc.pre(text.length > limit);
      const found = kept(limit, inChunks(Buffer.from(text), cuts));
      const head = Math.ceil(limit / 2);
      const expected = `${text.slice(0, head)}\n[… ${text.length - limit} bytes left out …]\n${text.slice(text.length - (limit - head))}`;
      assert.deepEqual(found, { text: expected, truncated: true });
    }),
    { numRuns: 500 },
  );
});

test("no character is cut in two, and the count covers the bytes of those that would have been", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "é", "€", "😀"), minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(letters, fc.integer({ min: 8, max: 60 }), fc.array(fc.nat(9)), (text, limit, cuts) => {
      const bytes = Buffer.from(text);
      fc.pre(bytes.length > limit);
      const found = kept(limit, inChunks(bytes, cuts)).text;
      const leftOut = Number(marker.exec(found)?.[1]);
      const [before = "", after = ""] = found.split(marker.exec(found)?.[0] ?? "");
      assert.ok(text.startsWith(before) && text.endsWith(after));
      assert.equal(Buffer.byteLength(before) + leftOut + Buffer.byteLength(after), bytes.length);
      assert.ok(leftOut <= bytes.length - limit + 6, "at most three bytes on either side are given up");
    }),
    { numRuns: 500 },
  );
});

test("bytes that are no text become replacement characters instead of an error", () => {
  assert.equal(kept(64, [Uint8Array.of(0x61, 0xff, 0x62)]).text, "a\uFFFDb");
  assert.match(kept(4, [new Uint8Array(100).fill(0x80)]).text, marker);
});

function inChunks(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...chunks, bytes.subarray(at)];
}
