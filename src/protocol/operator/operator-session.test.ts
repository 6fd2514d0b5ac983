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
  const joined = { sid, token: `ot-${"0f".repeat(16)}`, roles: ["ops"] };
  assert.deepEqual(JoinedOperator.parse(joined), joined);
  for (const token of ["0123456789", "0f".repeat(16), `tk_${"0f".repeat(16)}`]) {
    assert.equal(JoinedOperator.safeParse({ ...joined, token }).success, false, token);
  }
  assert.equal(JoinedOperator.safeParse({ ...joined, sid: sid.slice(3) }).success, false);
});

test("a conflict names the names, and an operator's info whether it is connected", () => {
  assert.equal(RolesConflict.safeParse({ error: "roles conflict", conflicts: ["ops"] }).success, true);
  assert.equal(RolesConflict.safeParse({ error: "roles conflict", conflicts: [] }).success, false);
  const info = { sid, roles: [], connected: false, pending: 0, joined_at: 1, last_seen: 2 };
  assert.deepEqual(OperatorInfo.parse(info), info);
});

test("a name that has a meaning of its own cannot be taken", () => {
  for (const roles of [["any"], [" any "], [sid], ["op-something"]]) {
    assert.equal(JoinOperator.safeParse({ roles }).success, false, JSON.stringify(roles));
  }
});
