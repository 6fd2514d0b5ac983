import assert from "node:assert/strict";
import { test } from "node:test";

import { areOwnWords } from "./relayed-words.ts";

test("only words that the person wrote are passed on as the person's answer", () => {
  const message = "Tell it to use  PostgreSQL 16,\nnot yesterday's choice.";
  assert.ok(areOwnWords(message, "use PostgreSQL 16"));
  assert.ok(areOwnWords(message, message));
  for (const other of ["use SQLite", "yes", "16, not today's", "", " "]) assert.ok(!areOwnWords(message, other), other);
});
