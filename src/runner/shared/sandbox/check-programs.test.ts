import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../../test/support/temp-folder.ts";
import type { StepContext } from "../../../ports.ts";
import { checkPrograms } from "./check-programs.ts";

const sandbox = { confined: false, reason: "it is not installed", advice: "install it" } as const;

test("where nothing confines programs, a check runs only if a person agreed to that", async (t) => {
  const folder = tempFolder(t);
  const home = join(tempFolder(t), "home");
  const notes: unknown[] = [];
  const step: StepContext = {
    signal: AbortSignal.timeout(60_000),
    key: `tsk_${crypto.randomUUID()}/1.1/verify`,
    noted: undefined,
    note: async (value) => void notes.push(value),
    live: () => undefined,
    now: () => 0,
  };
  const program = {
    argv: ["sh", "-c", 'echo "$HOME"; touch "$TMPDIR/x"'],
    cwd: folder,
    folder,
    home,
    readable: [],
    network: false,
    timeoutMs: 30_000,
    maxOutputBytes: 4_096,
  } as const;
  const options = { sandbox, hidden: [], toolchains: [] };
  const refused = await checkPrograms(options, step)(program, step.signal);
  assert.deepEqual(refused, {
    ran: false,
    reason: "Nothing confines programs on this machine (it is not installed), so it was not run.",
  });
  const ended = await checkPrograms({ ...options, unconfined: true }, step)(program, step.signal);
  assert.partialDeepStrictEqual(ended, { ran: true, exit_code: 0, stdout: `${home}\n` });
  assert.equal(notes.length, 1, "the process is noted before it runs, so that recovery ends it");
  assert.equal(existsSync(home), false, "the home of a program does not stay");
  const missing = await checkPrograms({ ...options, unconfined: true }, step)(
    { ...program, argv: ["./none"] },
    step.signal,
  );
  assert.equal(missing.ran, false);
});
