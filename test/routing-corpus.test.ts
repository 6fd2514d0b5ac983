// The routing corpus: every case reads its policy and handoff as they would come in, then routes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readHandoff } from "../src/protocol/routing/read-handoff.ts";
import { readPolicy } from "../src/protocol/routing/read-policy.ts";
import { route } from "../src/protocol/routing/route-handoff.ts";

interface Case {
  id: string;
  note?: string;
  policy?: unknown;
  handoff: unknown;
  expect: { model: string; reason: string } | { error: string };
}

const file = new URL("corpus/routing.jsonl", import.meta.url);
const cases = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Case);

test("the corpus is there", () => assert.ok(cases.length >= 59));

for (const { id, note, policy, handoff, expect } of cases) {
  test(`${id}${note === undefined ? "" : `: ${note}`}`, () => {
    const readableHandoff = readHandoff(JSON.stringify(handoff));
    const readablePolicy = readPolicy(policy ?? {});
    assert.ok(readableHandoff.ok && readablePolicy.ok);
    const routed = route(readablePolicy.value, readableHandoff.value);
    if (routed.ok) {
      const { model, reason } = routed.value;
      assert.deepEqual({ model, reason }, expect);
    } else {
      assert.deepEqual({ error: routed.error.message }, expect);
    }
  });
}
