// A program of the person ends in time, with all that it started, and when Tutti stops.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";
import { runPersonsProgram } from "./run-persons-program.ts";

const never = new AbortController().signal;

test("what it said is given back, and one that cannot be started has no code", async (t) => {
  const cwd = tempFolder(t, "tutti-program-");
  const said = await runPersonsProgram(
    { argv: ["sh", "-c", "echo out; echo err >&2; exit 3"], cwd, timeoutMs: 60_000 },
    never,
  );
  assert.deepEqual(said, { code: 3, out: "out\n", err: "err\n" });
  const none = await runPersonsProgram({ argv: ["tutti-no-such-program"], cwd, timeoutMs: 60_000 }, never);
  assert.equal(none.code, null);
});

test("one that takes too long is ended with what it started, and so is one when Tutti stops", async (t) => {
  const cwd = tempFolder(t, "tutti-program-");
  const argv = ["sh", "-c", "sleep 300 & echo $! > child; wait"] as const;
  const child = (): number => Number(readFileSync(join(cwd, "child"), "utf8"));
  await assert.rejects(runPersonsProgram({ argv, cwd, timeoutMs: 500 }, never), {
    code: "deadline",
    message: /^sh -c took longer than 0\.5 s and was ended/,
  });
  const first = child();
  await until(() => !isAlive(first), "the child ends");
  const stopping = new AbortController();
  const running = runPersonsProgram({ argv, cwd, timeoutMs: 60_000 }, stopping.signal);
  await until(() => child() > 0 && child() !== first, "the child begins");
  const second = child();
  stopping.abort();
  await assert.rejects(running, { code: "canceled" });
  await until(() => !isAlive(second), "the child ends");
  await assert.rejects(runPersonsProgram({ argv, cwd, timeoutMs: 60_000 }, stopping.signal), { code: "canceled" });
});

/** A process that has ended may be listed until whoever got it as a child notices. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
  } catch {
    return false;
  }
}
