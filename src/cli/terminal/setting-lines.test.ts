import assert from "node:assert/strict";
import { test } from "node:test";

import { settingLines } from "./setting-lines.ts";

test("a config is shown as words, without rows for what is empty", () => {
  const config = {
    models: { default: "local/qwen", providers: { local: { base_url: "http://127.0.0.1:8080/v1", key_env: null } } },
    checks: [{ name: "test", run: ["npm", "run", "all tests"], network: false }, "make lint"],
    tools: [],
    acp: {},
    workspaces: { copy: [".env"], setup: [] },
  };
  assert.deepEqual(settingLines(config), [
    "models",
    "  default: local/qwen",
    "  providers",
    "    local",
    "      base_url: http://127.0.0.1:8080/v1",
    "      key_env: null",
    "checks",
    "  - name: test",
    "    run: npm run 'all tests'",
    "    network: false",
    "  - make lint",
    "workspaces",
    "  copy: .env",
  ]);
  assert.deepEqual(settingLines({ tools: [], acp: {} }), []);
});

test("a value cannot look like another row, and a key neither", () => {
  const lines = settingLines({
    a: "x\nchecks: none",
    b: "x, network: false",
    "c: d\n": "",
    e: ["one two", "three\n- four"],
    f: { g: " padded " },
  });
  assert.deepEqual(lines, [
    'a: "x\\nchecks: none"',
    'b: "x, network: false"',
    '"c: d\\n": ""',
    "e: 'one two' $'three\\n- four'",
    "f",
    '  g: " padded "',
  ]);
});
