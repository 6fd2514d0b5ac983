import assert from "node:assert/strict";
import { test } from "node:test";
import { JoinedOperator, JoinOperator, OperatorInfo, RolesConflict } from "./operator-session.ts";

const sid = "op-0a1b2c3d-0000-4000-8000-0123456789ab";

test("an operator joins with names or without, and unknown fields do not matter", () => {
  assert.deepEqual(JoinOperator.parse({}), { roles: [] });
  assert.deepEqual(JoinOperator.parse({ roles: ["reviewer", " ops "], desc: "x" }), { roles: ["reviewer", "ops"] });
});

test("a blank name, a name of several lines and too many names are refused", () => {
  for (const roles of [[""], ["  "], ["a\nb"], ["x".repeat(65)], Array(33).fill("a"), "reviewer", [1]]) {
    assert.equal(JoinOperator.safeParse({ roles }).success, false, JSON.stringify(roles));
  }
});

test("a joined operator has an op- id and a token of 128 bits", () => {
  const joined = { sid, token: "0f".repeat(16), roles: ["ops"] };
  assert.deepEqual(JoinedOperator.parse(joined), joined);
  assert.equal(JoinedOperator.safeParse({ ...joined, token: "0123456789" }).success, false);
  assert.equal(JoinedOperator.safeParse({ ...joined, sid: sid.slice(3) }).success, false);
});

test("a conflict names the names, and an operator's info whether it is connected", () => {
  assert.equal(RolesConflict.safeParse({ error: "roles conflict", conflicts: ["ops"] }).success, true);
  assert.equal(RolesConflict.safeParse({ error: "roles conflict", conflicts: [] }).success, false);
  assert.equal(OperatorInfo.safeParse({ sid, roles: [], connected: false }).success, true);
});
