import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

import { systemClock } from "../../engine/clock.ts";
import { runProgram } from "./run-program.ts";

test("whatever keeps a program from being run is reported, whether Node throws it or emits it", async () => {
  const { signal } = new AbortController();
  const options = { env: process.env, input: "", timeoutMs: 5_000, clock: systemClock, signal };
  for (const [argv, why] of [
    [[join(import.meta.filename, "below-a-file")], "ENOTDIR"],
    [[join(import.meta.dirname, "nothing-there")], "ENOENT"],
    [["echo", "\0"], "ERR_INVALID_ARG_VALUE"],
  ] as const) {
    assert.deepEqual(await runProgram(argv, options), { problem: `it cannot be run: ${why}`, output: "" });
  }
});

test("a process without file descriptors left reports that it cannot run a program, and goes on", () => {
  const code = `import { closeSync, openSync } from "node:fs";
    import { runProgram } from ${JSON.stringify(join(import.meta.dirname, "run-program.ts"))};
    const clock = { now: Date.now, timer: (ms, fire) => { const timer = setTimeout(fire, ms); return () => clearTimeout(timer); } };
    const held = [];
    try { for (;;) held.push(openSync("/dev/null", "r")); } catch {}
    const { signal } = new AbortController();
    const result = await runProgram(["true"], { env: process.env, input: "", timeoutMs: 5_000, clock, signal });
    held.forEach((each) => closeSync(each));
    process.stdout.write(result.problem ?? "it ran");`;
  const argv = ["-c", 'ulimit -n 64; exec "$0" --input-type=module-typescript -e "$1"', process.execPath, code];
  const { status, stdout, stderr } = spawnSync("sh", argv, { encoding: "utf8" });
  assert.equal(stdout, "it cannot be run: EMFILE", stderr);
  assert.equal(status, 0, stderr);
});
