import assert from "node:assert/strict";
import { test } from "node:test";

import { commandLine, readCommandConfig } from "./config.ts";

test("what is not said has a documented default", () => {
  assert.deepEqual(readCommandConfig({ argv: ["true"] }), {
    argv: ["true"],
    env: {},
    env_allow: ["PATH", "HOME", "LANG", "LC_*", "TERM", "TMPDIR", "USER", "SHELL", "TZ"],
    timeout_ms: 1_800_000,
    grace_ms: 2_000,
    max_output_bytes: 262_144,
    repeatable: false,
    ok_exit: [0],
  });
});

const refused: [string, unknown, RegExp][] = [
  ["a field it does not know", { argv: ["true"], cwd: "/" }, /"cwd"/],
  ["neither argv nor shell", {}, /either argv or shell/],
  ["both argv and shell", { argv: ["true"], shell: "true" }, /either argv or shell/],
  ["an empty argv", { argv: [] }, /argv/],
  ["a blank program", { argv: [" "] }, /argv\[0\]: must not be blank/],
  ["a NUL in an argument", { argv: ["echo", "a\0b"] }, /argv\[1\]: must not hold a NUL/],
  ["a variable with a name no shell passes on", { argv: ["true"], env: { "a-b": "" } }, /env\.a-b/],
  ["a star in the middle of an allowed name", { argv: ["true"], env_allow: ["A*B"] }, /env_allow\[0\]/],
  ["a timeout longer than a timer can be", { argv: ["true"], timeout_ms: 2 ** 31 }, /timeout_ms/],
  ["no exit status that is well", { argv: ["true"], ok_exit: [] }, /ok_exit/],
  ["nothing at all", null, /config/],
];

for (const [what, config, message] of refused) {
  test(`a config with ${what} is refused with a message that names it`, () => {
    assert.throws(() => readCommandConfig(config), { code: "invalid_input", message });
  });
}

test("a refused config does not repeat the values of its environment", () => {
  assert.throws(
    () => readCommandConfig({ argv: ["true"], env: { KEY: "hush\0hush" } }),
    (thrown) => thrown instanceof Error && /env\.KEY/.test(thrown.message) && !thrown.message.includes("hush"),
  );
});

test("a command is shown to people on one short line", () => {
  assert.equal(commandLine(readCommandConfig({ argv: ["git", "commit", "-m", "a b\nc"] })), "git commit -m $'a b\\nc'");
  assert.equal(commandLine(readCommandConfig({ shell: "x".repeat(500) })).length, 120);
});
