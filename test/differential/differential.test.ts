import assert from "node:assert/strict";
import { test } from "node:test";

import { compare } from "./compare.ts";

const given = process.env["TUTTI_SEED"];
const seed = given === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(given ?? 20_261_116);

for (const [what, wanted] of [
  ["decisions", ["delegate", "respond", "do_work", "fallback", "recovered", "a key twice"]],
  [
    "toolcalls",
    ["call", "prose", "unterminated", "invalid_json", "expected_single_object", "missing_name", "args_not_object"],
  ],
  ["routes", ["handoff destination honored", "confidence below configured thre", "missing required handoff"]],
] as const) {
  test(`2,000 ${what} are what an oracle of its own says`, () => {
    const { outcomes, differences } = compare(what, { cases: 2_000, seed });
    assert.deepEqual(differences, [], `with TUTTI_SEED=${seed}`);
    for (const outcome of wanted) assert.ok((outcomes[outcome] ?? 0) > 0, `no case came to: ${outcome}`);
  });
}
