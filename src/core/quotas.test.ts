import assert from "node:assert/strict";
import { test } from "node:test";

import { passedLimit } from "./quotas.ts";

test("a quota holds up to its last piece and its last byte, and says which of the two is passed", () => {
  const quota = { count: 3, bytes: 100 };
  const used = { count: 2, bytes: 90 };
  assert.equal(passedLimit(quota, used, { count: 1, bytes: 10 }), undefined);
  assert.equal(passedLimit(quota, used, { count: 2, bytes: 0 }), "count");
  assert.equal(passedLimit(quota, used, { count: 1, bytes: 11 }), "bytes");
});
