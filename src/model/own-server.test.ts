import assert from "node:assert/strict";
import { test } from "node:test";

import { isOwnServer } from "./own-server.ts";

test("only a compatible server on this machine or at a private address is one's own", () => {
  const at = (baseUrl: string): boolean => isOwnServer({ kind: "openai-compatible", baseUrl });
  for (const url of [
    "http://localhost:11434/v1",
    "http://127.0.0.1:1",
    "http://[::1]:8000/v1",
    "http://192.168.1.5/v1",
  ]) {
    assert.equal(at(url), true, url);
  }
  for (const url of [
    "https://openrouter.ai/api/v1",
    "http://8.8.8.8/v1",
    "https://localhost.evil.example/v1",
    "nonsense",
  ]) {
    assert.equal(at(url), false, url);
  }
  assert.equal(isOwnServer({ kind: "anthropic", baseUrl: "http://localhost:1" }), false);
});
