import assert from "node:assert/strict";
import { test } from "node:test";

import { refusedYes } from "./program-work.ts";

const ofProgram = { by_program: {} };
const program = { kind: "operator", name: "ci" } as const;
const person = { kind: "person", name: "ana" } as const;
const yes = { kind: "approval", approved: true } as const;
const more = { kind: "budget", go_on: true } as const;

test("a program agrees to nothing that its own work asks for, and not to more budget either", () => {
  assert.match(refusedYes(ofProgram, "approval", { answer: yes, by: program }) ?? "", /only a person may agree/);
  assert.match(refusedYes(ofProgram, "budget", { answer: more, by: program }) ?? "", /only a person may agree/);
});

test("a person agrees, anybody says no, and work of a person is not held by it", () => {
  assert.equal(refusedYes(ofProgram, "budget", { answer: more, by: person }), undefined);
  assert.equal(refusedYes(ofProgram, "budget", { answer: { ...more, go_on: false }, by: program }), undefined);
  assert.equal(refusedYes(ofProgram, "approval", { answer: { ...yes, approved: false }, by: program }), undefined);
  assert.equal(refusedYes({}, "budget", { answer: more, by: program }), undefined);
});
