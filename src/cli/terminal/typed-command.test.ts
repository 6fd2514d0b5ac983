import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { asTyped, typedCommand } from "./typed-command.ts";

const root = join(import.meta.dirname, "..", "..", "..");

test("a command is named as it was started: by its path in a clone, and by its name where it is installed", () => {
  const at = { script: "/src/tutti/bin/tutti.js", folder: "/src/tutti", fromSource: true, given: "" };
  assert.equal(typedCommand(at), "bin/tutti.js");
  assert.equal(typedCommand({ ...at, folder: "/src/tutti/bin" }), "./tutti.js");
  assert.equal(typedCommand({ ...at, folder: "/home/ada" }), "/src/tutti/bin/tutti.js");
  assert.equal(typedCommand({ ...at, script: "/my src/bin/tutti.js" }), "'/my src/bin/tutti.js'");
  assert.equal(typedCommand({ ...at, script: "/usr/bin/tutti" }), "tutti");
  assert.equal(typedCommand({ ...at, fromSource: false }), "tutti");
  assert.equal(typedCommand({ ...at, given: "npx tutti" }), "npx tutti");
});

test("commands in backticks and at the beginning of a line are shown so, and nothing else is", () => {
  const text = [
    "see `tutti run --help` and `tutti`; tutti is a word, and tutti/tsk_1 a branch",
    "  tutti init --state /tmp",
    "$ tutti tasks",
    "Usage: tutti [options]",
    "tutti: it failed",
  ];
  assert.deepEqual(asTyped(text.join("\n"), "bin/tutti.js").split("\n"), [
    "see `bin/tutti.js run --help` and `bin/tutti.js`; tutti is a word, and tutti/tsk_1 a branch",
    "  bin/tutti.js init --state /tmp",
    "$ bin/tutti.js tasks",
    "Usage: bin/tutti.js [options]",
    "tutti: it failed",
  ]);
});

test("in a clone every page of help, every hint and every error names the command that was typed", (t) => {
  const { TUTTI_COMMAND: _, ...env } = process.env;
  const run = (...args: readonly string[]) => {
    const options = { cwd: root, encoding: "utf8", env: { ...env, HOME: tempFolder(t) }, input: "" } as const;
    const { stdout, stderr } = spawnSync(process.execPath, ["bin/tutti.js", ...args], options);
    return stdout + stderr;
  };
  const state = ["--state", tempFolder(t)];
  for (const args of [[], ["--help"], ["run", "--help"], ["tasks", "--nope"], ["show", "last", ...state]]) {
    const said = run(...args);
    assert.match(said, /bin\/tutti\.js /, args.join(" "));
    assert.doesNotMatch(said, /`tutti |^ *tutti [a-z]/m, args.join(" "));
  }
});
