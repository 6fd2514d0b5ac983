import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

import { tempFolder } from "../../../../test/support/temp-folder.ts";
import { ProcessNote } from "./end-processes.ts";
import { startHeld } from "./held-process.ts";
import { processTable } from "./process-table.ts";

const folder = tempFolder({ after });
const step = `held-${process.pid}/1.1/run`;

const running = (...argv: [string, ...string[]]) => ({
  program: { argv, env: { PATH: "/usr/bin:/bin" } },
  cwd: folder,
  step,
});
const touching = (file: string) => running("/bin/sh", "-c", `echo ran > ${file}`);

async function gone(pid: number): Promise<boolean> {
  for (let look = 0; look < 200; look += 1) {
    const entry = (await processTable.list()).find((found) => found.pid === pid);
    if (entry === undefined || entry.ended) return true;
    await sleep(20);
  }
  return false;
}

test("a held process runs nothing until it is released, then keeps its pid and start", async () => {
  const held = await startHeld(running("/bin/sh", "-c", "echo ran > a; exec sleep 30"));
  try {
    await sleep(100);
    assert.equal(existsSync(join(folder, "a")), false);
    held.release();
    for (let look = 0; look < 200 && !existsSync(join(folder, "a")); look += 1) await sleep(20);
    assert.equal(existsSync(join(folder, "a")), true);
    assert.equal(await processTable.start(held.note.pid), held.note.start);
  } finally {
    process.kill(-held.note.pid, "SIGKILL");
    held.letGo();
  }
  assert.deepEqual(await held.exited, { code: null, signal: "SIGKILL" });
});

test("a held process we let go of ends without having run anything", async () => {
  const held = await startHeld(touching("b"));
  held.letGo();
  assert.deepEqual(await held.exited, { code: 125, signal: null });
  assert.equal(existsSync(join(folder, "b")), false);
});

test("invariant 3: if we are killed before the release, nothing has run and nothing is left", async () => {
  const driver = `
    import { startHeld } from ${JSON.stringify(new URL("./held-process.ts", import.meta.url).href)};
    const held = await startHeld(${JSON.stringify(touching("c"))});
    console.log(JSON.stringify(held.note));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", driver], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  try {
    const [line] = await once(child.stdout, "data");
    const note = ProcessNote.parse(JSON.parse(z.coerce.string().parse(line)));
    assert.equal(await processTable.start(note.pid), note.start);
    child.kill("SIGKILL");
    await exited;
    assert.equal(await gone(note.pid), true);
    assert.equal(existsSync(join(folder, "c")), false);
  } finally {
    child.kill("SIGKILL");
  }
});

test("arguments that are too long for the system are a clear error", async () => {
  await assert.rejects(startHeld(running("/bin/true", "x".repeat(4_000_000))), {
    code: "io",
    message: /too long/,
  });
});

test("a folder that vanished is a clear error", async () => {
  await assert.rejects(startHeld({ ...touching("e"), cwd: join(folder, "nowhere") }), {
    code: "io",
    message: /nowhere/,
  });
});
