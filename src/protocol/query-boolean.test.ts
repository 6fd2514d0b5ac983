import assert from "node:assert/strict";
import { test } from "node:test";

import { z } from "zod";

import { queryBoolean } from "./query-boolean.ts";
import { TaskListQuery } from "./api/task-shapes.ts";

test("the texts true and false become booleans, and booleans stay what they are", () => {
  for (const [value, wanted] of [
    ["true", true],
    ["false", false],
    [true, true],
    [false, false],
  ]) {
    assert.equal(queryBoolean.parse(value), wanted);
  }
});

test("no other spelling of a boolean is accepted", () => {
  for (const value of ["", "1", "0", "TRUE", "False", " true", "yes", "on", 1, 0, null, undefined, ["true"]]) {
    assert.equal(queryBoolean.safeParse(value).success, false, JSON.stringify(value));
  }
});

test("callers in code pass a boolean, and the JSON Schema says boolean", () => {
  const query: TaskListQuery = { roots: false, limit: 5 };
  assert.equal(TaskListQuery.parse(query).roots, false);
  // @ts-expect-error Text is for the wire.
  const text: TaskListQuery = { roots: "false" };
  assert.equal(TaskListQuery.parse(text).roots, false);
  assert.equal(z.toJSONSchema(queryBoolean, { io: "input" }).type, "boolean");
});
