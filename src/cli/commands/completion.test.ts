// Completion scripts, sourced and asked by a real shell.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { bench } from "../../../test/support/cli-process.ts";

const bin = join(import.meta.dirname, "..", "..", "..", "bin", "tutti.js");
const scriptFor = (shell: string): string =>
  spawnSync(process.execPath, [bin, "completion", shell], { encoding: "utf8" }).stdout;
const isThere = (shell: string): boolean => spawnSync(shell, ["-c", "true"]).status === 0;

test("bash completes commands, options, values, tasks and agents", (t) => {
  const b = bench(t);
  b.run("invoke", "--quiet", join("examples", "invocations", "single.json"));
  const [root] = JSON.parse(b.run("tasks", "--json").out);
  const agents = join(b.folder, "p", ".tutti", "agents");
  mkdirSync(agents, { recursive: true });
  writeFileSync(join(agents, "helper.md"), "---\nname: helper\ndescription: helps\n---\nHelp.\n");
  writeFileSync(join(agents, "evil.md"), "---\nname: $(touch pwned)\ndescription: x\n---\nx\n");
  const script = join(b.folder, "completion.bash");
  writeFileSync(script, scriptFor("bash"));
  const complete = (...words: readonly string[]): string[] => {
    const ask = `
      tutti() { "${process.execPath}" "${bin}" "$@"; }
      source "${script}"
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
      _tutti
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", ask, "bash", "tutti", ...words], {
      cwd: b.folder,
      encoding: "utf8",
      env: { ...process.env, HOME: b.folder },
    });
    assert.equal(stderr, "");
    return stdout.split("\n").filter((line) => line !== "");
  };
  assert.deepEqual(complete("ag"), ["agents"]);
  assert.deepEqual(complete("agents", "r"), ["run"]);
  assert.deepEqual(complete("agents", "run", "--mo"), ["--model"]);
  assert.deepEqual(complete("completion", ""), ["bash", "zsh", "fish"]);
  assert.deepEqual(complete("keys", "add", "--role", "v"), ["viewer"]);
  assert.deepEqual(complete("invoke", "--state", "exam"), ["examples"]);
  // What has to be looked up is given up after a second, so that the prompt does not hang; a slow machine needs another Tab.
  const found = (...words: readonly string[]): string[] => {
    for (let tries = 1; tries < 5; tries += 1) {
      const names = complete(...words);
      if (names.length > 0) return names;
    }
    return complete(...words);
  };
  assert.deepEqual(found("show", "--state", b.state, "tsk_"), [root.id]);
  assert.deepEqual(complete("show", "--state", join(b.folder, "none"), ""), []);
  assert.deepEqual(found("agents", "run", "--cwd", "p", ""), ["helper"]);
  assert.deepEqual(complete("context", "use", ""), ["local"]);
  assert.deepEqual(complete("models", "login", "anth"), ["anthropic"]);
  assert.ok(!existsSync(join(b.folder, "pwned")));
  assert.ok(!complete("").includes("__complete"));
});

test("the scripts of the other shells have no syntax error, and name every command", () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const script = scriptFor(shell);
    for (const word of ["agents", "context", "--key-file", "__complete tasks"]) {
      const wanted = word === "__complete tasks" && shell !== "fish" ? "__complete" : word.replace("--", "");
      assert.ok(script.includes(wanted), `${shell}: ${word}`);
    }
    // Without zsh, bash reads its script: the parts that differ are parameters, which are looked at only when it runs.
    const checker = isThere(shell) ? shell : shell === "zsh" ? "bash" : undefined;
    if (checker !== undefined) {
      const { status, stderr } = spawnSync(checker, ["-n"], { input: script, encoding: "utf8" });
      assert.deepEqual([status, stderr], [0, ""], shell);
    }
  }
  const fish = scriptFor("fish").split("\n");
  const opened = fish.filter((line) => /^\s*(function|for|if|switch)\b|; and begin$/.test(line)).length;
  assert.equal(fish.filter((line) => /^\s*end$/.test(line)).length, opened);
  for (const line of fish) assert.equal(line.replaceAll(/\\./g, "").split("'").length % 2, 1, line);
});
