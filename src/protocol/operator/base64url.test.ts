import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/properties.ts";
import { decodeBase64url, encodeBase64url } from "./base64url.ts";

test("bytes survive, and the text is what Node writes for them", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const text = encodeBase64url(bytes);
      assert.equal(text, Buffer.from(bytes).toString("base64url"));
      assert.deepEqual(decodeBase64url(text), Uint8Array.from(bytes));
    }),
    { numRuns: 300 },
  );
});

test("a text that decodes is the only text of its bytes", () => {
  const char = fc.constantFrom(...Array.from("ABCDwxyz0189-_+/= \n.é"));
  fc.assert(
    fc.property(fc.array(char, { maxLength: 12 }), (chars) => {
      const text = chars.join("");
      const bytes = decodeBase64url(text);
      if (bytes !== undefined) assert.equal(encodeBase64url(bytes), text);
    }),
    { numRuns: 2000 },
  );
});

test("padding, spare bits, foreign characters and impossible lengths are refused", () => {
  for (const text of ["AA==", "AB", "AAB", "A", "AAAAA", "A+", "A/", "AA ", "AA\n", "é", "A.A"]) {
    assert.equal(decodeBase64url(text), undefined, JSON.stringify(text));
  }
  assert.deepEqual(decodeBase64url("AA"), Uint8Array.of(0));
  assert.deepEqual(decodeBase64url(""), new Uint8Array());
});
