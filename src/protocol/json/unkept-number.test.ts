import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/properties.ts";

import { readFrontMatter } from "../../agent/definition/front-matter.ts";
import { readClientFrame } from "../operator/read-client-frame.ts";
import { readHandoff } from "../routing/read-handoff.ts";
import { readStrictJson } from "./strict-json.ts";
import { readWrittenJson } from "./written-json.ts";

const limits = { maxDepth: 20 };

test("an integer is read exactly or refused by name, never changed", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (integer) => {
      const read = readStrictJson(`{"s":"12\\"9007199254740993","n":[${integer}]}`, limits);
      if (!read.ok) return assert.deepEqual(read, { ok: false, fault: "number_out_of_range", number: `${integer}` });
      const { n = [] } = read.value as { n?: number[] };
      assert.ok(JSON.stringify(n) === `[${integer}]` || BigInt(n[0] ?? 0) === integer);
    }),
    { numRuns: 500 },
  );
  for (const kept of ["9007199254740991", "9007199254740992", "1e20", "0.1", "-0", '"9007199254740993"']) {
    assert.ok(readStrictJson(kept, limits).ok, kept);
  }
  for (const unkept of ["9007199254740993", "-9007199254740993", "1e999"]) {
    assert.deepEqual(readStrictJson(`[${unkept}]`, limits), {
      ok: false,
      fault: "number_out_of_range",
      number: unkept,
    });
  }
});

test("frames, files, front matter and routing documents name the number that they refuse", () => {
  const big = "9007199254740993";
  const frame = readClientFrame(`{"type":"answer","req_id":"r","value":${big}}`);
  assert.ok(!frame.ok && frame.error.code === "number_out_of_range" && frame.error.message.includes(big));
  const file = readWrittenJson(`{"n":${big}}`);
  assert.ok(!file.ok && file.problem.includes(big));
  const front = readFrontMatter(`name: a\nrunner:\n  config:\n    id: ${big}\n`);
  assert.ok(!front.ok && front.message.includes(big) && front.line === 5);
  assert.ok(readFrontMatter(`id: "${big}"\nlimit: 12\n`).ok);
  for (const text of [`{"id":${big}}`, `id: ${big}`]) {
    const read = readHandoff(text);
    assert.match(read.ok ? "" : read.error.message, /cannot be kept as it is/, text);
  }
});
