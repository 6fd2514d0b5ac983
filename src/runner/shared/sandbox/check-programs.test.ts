import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../../test/support/temp-folder.ts";
import type { StepContext } from "../../../ports.ts";
import { checkPrograms } from "./check-programs.ts";
import { probeSandbox } from "./sandbox-status.ts";

const sandbox = { confined: false, reason: "it is not installed", advice: "install it" } as const;

test("where nothing confines programs, a check runs only if a person agreed to that", async (t) => {
  const folder = tempFolder(t);
  const home = join(tempFolder(t), "home");
  const notes: unknown[] = [];
  const step: StepContext = {
    signal: AbortSignal.timeout(240_000),
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

const confined = await probeSandbox();

test(
  "a check sees its checkout and the toolchains: no other folder of the machine, and no socket",
  { skip: confined.confined ? false : confined.reason },
  async (t) => {
    const folder = tempFolder(t);
    const outside = mkdtempSync("/var/tmp/tutti-outside-");
    t.after(() => rmSync(outside, { recursive: true, force: true }));
    writeFileSync(join(outside, "secret"), "secret\n");
    const server = createServer().listen(join(outside, "socket"));
    t.after(() => server.close());
    await once(server, "listening");
    const signal = AbortSignal.timeout(240_000);
    const step: StepContext = {
      signal,
      key: `tsk_${crypto.randomUUID()}/1.1/verify`,
      noted: undefined,
      note: async () => undefined,
      live: () => undefined,
      now: () => 0,
    };
    const look = `const { existsSync, readdirSync } = require("node:fs");
      const there = (path) => existsSync(path);
      console.log(JSON.stringify([...process.argv.slice(1).map(there), ...["/mnt", "/srv", "/var", "/dev/shm", "/run"].filter(there).flatMap((path) => readdirSync(path)).filter((name) => name !== "tmp")]));`;
    const paths = [join(outside, "secret"), join(outside, "socket"), import.meta.filename];
    const run = checkPrograms({ sandbox: confined, hidden: [], toolchains: [] }, step);
    const limits = { network: false, timeoutMs: 30_000, maxOutputBytes: 65_536 };
    const place = { cwd: folder, folder, readable: [] };
    const ended = await run(
      { argv: ["node", "-e", look, ...paths], ...place, home: join(tempFolder(t), "home"), ...limits },
      signal,
    );
    assert.partialDeepStrictEqual(ended, { ran: true, exit_code: 0, stdout: "[false,false,false]\n" });
    for (const program of ["node", "npm", "git", "python3", "make"]) {
      const argv = ["sh", "-c", `command -v ${program} >/dev/null || exit 0; ${program} --version`] as const;
      const tried = await run({ argv: [...argv], ...place, home: join(tempFolder(t), "home"), ...limits }, signal);
      assert.partialDeepStrictEqual(tried, { ran: true, exit_code: 0 }, program);
    }
  },
);
