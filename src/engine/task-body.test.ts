import assert from "node:assert/strict";
import { test } from "node:test";

import { taskBodyIn } from "./task-body.ts";

const rights = { tools: ["look"], roots: ["/p"] };
const plain = { input: { a: 1 }, config: {}, rights, budget: null };

test("the record of a task is read with its own fields and nothing else, plain or not", () => {
  const read = (value: unknown): unknown => taskBodyIn(JSON.stringify(value));
  assert.deepEqual(read(plain), plain);
  assert.deepEqual(read({ ...plain, rights: { tools: "*", roots: [] } }), {
    ...plain,
    rights: { tools: "*", roots: [] },
  });
  assert.deepEqual(read({ ...plain, budget: { tokens: 5 } }), { ...plain, budget: { tokens: 5 } });
  assert.deepEqual(read({ ...plain, odd: 1, rights: { ...rights, odd: 1 } }), plain);
  for (const wrong of [
    null,
    [],
    {},
    { ...plain, rights: { tools: "look", roots: [] } },
    { ...plain, rights: { tools: [1], roots: [] } },
    { ...plain, rights: { tools: "*", roots: "/p" } },
    { ...plain, budget: { tokens: "many" } },
  ]) {
    assert.throws(() => read(wrong), JSON.stringify(wrong));
  }
});
