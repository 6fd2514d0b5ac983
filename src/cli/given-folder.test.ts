import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

const bin = join(import.meta.dirname, "..", "..", "bin", "tutti.js");
const run = (...args: readonly string[]) => spawnSync(process.execPath, [bin, ...args], { encoding: "utf8" });

test("every command with --cwd refuses a folder that is not there", () => {
  const nowhere = join(import.meta.dirname, "nowhere");
  const commands = [
    ["agents", "list"],
    ["agents", "show", "a"],
    ["agents", "check"],
    ["agents", "check", "--watch"],
    ["agents", "new", "a"],
    ["agents", "run", "a", "hello"],
    ["invoke", join("examples", "invocations", "single.json")],
    ["models", "--offline"],
    ["runners"],
    ["doctor"],
    ["policy", "init"],
    ["up"],
  ];
  for (const command of commands) {
    const { status, stderr } = run(...command, "--cwd", nowhere);
    assert.deepEqual([status, stderr], [4, `tutti: there is no folder ${nowhere}\n`], command.join(" "));
  }
  assert.equal(run("doctor", "--cwd", import.meta.filename).status, 3);
});
