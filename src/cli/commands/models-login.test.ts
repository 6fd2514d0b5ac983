// Keys of providers, kept with `tutti models login` or set in one shell only, as real processes.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

import { up } from "../../../test/support/cli-daemon.ts";
import { bench } from "../../../test/support/cli-process.ts";

const bin = join(import.meta.dirname, "..", "..", "..", "bin", "tutti.js");
const key = "sk-or-very-secret-4711";

test("a key that is piped in or typed is kept, used, never shown, and removed again", async (t) => {
  const b = bench(t);
  const piped = b.start("models", "login", "openrouter");
  piped.child.stdin?.end(`${key}\n`);
  const { status, out, err } = await piped.ended;
  assert.deepEqual([status, err], [0, ""]);
  assert.ok(!out.includes(key));
  const listed = b.run("models", "login", "nobody");
  assert.deepEqual([listed.status, listed.err.includes("openrouter")], [4, true]);
  assert.equal(b.run("models", "logout", "openrouter").status, 0);
  assert.equal(b.run("models", "logout", "openrouter").status, 4);

  const typed = b.onTerminal("models", "login", "openrouter");
  await typed.said(/the key of openrouter \(it is not shown\): /);
  typed.child.stdin?.write(`${key}\r`);
  const ended = await typed.ended;
  assert.match(ended.out, /the key of openrouter is kept in /);
  assert.ok(!ended.out.includes(key), ended.out);
  assert.equal(b.run("models", "logout", "openrouter").status, 0);
});

test("a key that the shell has and the daemon lacks is told by name, with what to do", (t) => {
  const b = bench(t);
  const { OPENROUTER_API_KEY: _, ...env } = process.env;
  up(b);
  const inShell = (...args: readonly string[]) =>
    spawnSync(process.execPath, [bin, ...args, "--state", b.state], {
      cwd: b.folder,
      env: { ...env, OPENROUTER_API_KEY: key, NO_COLOR: "1" },
      encoding: "utf8",
      input: "",
    });
  const says =
    /no key for openrouter: OPENROUTER_API_KEY is set in this shell, but not there; .*models login openrouter/;
  const project = ["--cwd", join("examples", "project")];
  const run = inShell("agents", "run", "lead", "hello", "--model", "openrouter/some-model", ...project);
  assert.equal(run.status, 5, run.stderr);
  assert.match(run.stderr, says);
  const doctor = inShell("doctor");
  assert.match(doctor.stdout, says);
  assert.match(doctor.stdout, /ok +daemon +http:.*version .*keys: /);
  assert.match(inShell("models", "--offline").stderr, says);
  for (const { stdout, stderr } of [run, doctor]) assert.ok(!`${stdout}${stderr}`.includes(key));
});
