import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { openTrust } from "./trusted-configs.ts";

test("of agreements that several processes record at once, none is lost", async (t) => {
  const state = tempFolder(t);
  const module = JSON.stringify(join(import.meta.dirname, "trusted-configs.ts"));
  const processes = Array.from({ length: 4 }, (_, number) => {
    const code = `import { openTrust } from ${module};
      const trust = openTrust(${JSON.stringify(state)});
      for (let at = 0; at < 25; at += 1) await trust.record({ folder: "/p${number}-" + (at % 5), hash: String(at) });`;
    return spawn(process.execPath, ["--input-type=module-typescript", "-e", code], { stdio: "inherit" });
  });
  for (const child of processes) if (child.exitCode === null) await once(child, "exit");
  assert.equal(openTrust(state).list().length, 100);
  for (const name of readdirSync(state)) assert.equal(statSync(join(state, name)).mode & 0o077, 0, name);
});

test("an agreement that is taken back is remembered as such, and agreeing again counts", async (t) => {
  const trust = openTrust(tempFolder(t));
  const content = { folder: "/p", hash: "a" };
  assert.equal(await trust.revoke("/p"), false);
  await trust.record(content);
  await trust.record(content);
  assert.equal(trust.list().length, 1);
  assert.equal(await trust.revoke("/p"), true);
  assert.deepEqual([trust.isTrusted(content), trust.isRevoked(content), trust.knows("/p")], [false, true, false]);
  await trust.record(content);
  assert.deepEqual([trust.isTrusted(content), trust.isRevoked(content)], [true, false]);
});
