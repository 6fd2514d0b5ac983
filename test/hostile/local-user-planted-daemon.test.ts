// Another user of the machine plants files where our key is looked for, or has a folder in which they could.
import assert from "node:assert/strict";
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { probeDaemon } from "../../src/daemon/lifecycle/find-daemon.ts";
import { importRecords } from "../../src/daemon/lifecycle/move-records.ts";
import { ownProcess } from "../../src/daemon/lifecycle/process-identity.ts";
import { openState } from "../../src/daemon/state/open-state.ts";
import { refuseSharedFolder } from "../../src/files/private-folder.ts";
import { tempFolder } from "../support/temp-folder.ts";

const key = `tk_${"k".repeat(43)}`;
const nobody = 65_534;
const asRoot = process.getuid?.() === 0;

/** A server of the attacker's that remembers whoever sends it a key, and a daemon.json that leads there. */
async function planted(t: TestContext, folder: string): Promise<readonly string[]> {
  const stolen: string[] = [];
  const server = createServer((request, response) => {
    stolen.push(request.headers.authorization ?? "nothing");
    response.end('{"instance":"theirs"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { pid, start } = await ownProcess();
  const file = {
    pid,
    process_start: start,
    url: `http://127.0.0.1:${port}`,
    instance: "theirs",
    started_at: 1,
    version: "0",
  };
  writeFileSync(join(folder, "daemon.json"), JSON.stringify(file), { mode: 0o600 });
  writeFileSync(join(folder, "admin.key"), `${key}\n`, { mode: 0o600 });
  return stolen;
}

function stateFolder(t: TestContext): string {
  const folder = join(tempFolder(t), "state");
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

const refused = { code: "refused" };

test("the attack works where nothing is wrong with the files, so the tests below prove something", async (t) => {
  const folder = stateFolder(t);
  const stolen = await planted(t, folder);
  await probeDaemon(folder);
  assert.deepEqual(stolen, [`Bearer ${key}`]);
});

test("in a state folder that others can write, no daemon is looked for and no key is sent", async (t) => {
  const folder = stateFolder(t);
  const stolen = await planted(t, folder);
  for (const mode of [0o777, 0o707, 0o702]) {
    chmodSync(folder, mode);
    await assert.rejects(probeDaemon(folder), { ...refused, message: /chmod go-w/ });
    await assert.rejects(openState(folder), refused);
  }
  assert.deepEqual(stolen, []);
});

test("records that others can write are not imported", async (t) => {
  const folder = stateFolder(t);
  await (await openState(folder)).close();
  chmodSync(folder, 0o777);
  const database = { url: "postgres://tutti@127.0.0.1:1/none" };
  await assert.rejects(
    importRecords(folder, database, () => undefined),
    { ...refused, message: /chmod go-w/ },
  );
});

test("a daemon.json that others can write, or that is a link, leads nowhere", async (t) => {
  const folder = stateFolder(t);
  const stolen = await planted(t, folder);
  chmodSync(join(folder, "daemon.json"), 0o666);
  await assert.rejects(probeDaemon(folder), { ...refused, message: /daemon\.json can be read or written by others/ });
  const other = stateFolder(t);
  symlinkSync(join(folder, "daemon.json"), join(other, "daemon.json"));
  await assert.rejects(probeDaemon(other), { ...refused, message: /it is a link/ });
  assert.deepEqual(stolen, []);
});

test("a folder below one that others can write is refused, unless that one is sticky as /tmp is", (t) => {
  const shared = join(tempFolder(t), "shared");
  const folder = join(shared, "state");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  chmodSync(shared, 0o777);
  assert.throws(() => refuseSharedFolder(folder), { ...refused, message: /others can write to/ });
  for (const below of ["not-there-yet", "not/there/yet"]) {
    assert.throws(() => refuseSharedFolder(join(shared, below)), { ...refused, message: /others can write to/ }, below);
  }
  chmodSync(shared, 0o1777);
  refuseSharedFolder(folder);
  refuseSharedFolder(join(folder, "not-there-yet"));
  refuseSharedFolder(join(shared, "not/there/yet"));
});

test(
  "a folder below one that a group can write is refused",
  { skip: !asRoot && "only root can choose a group" },
  (t) => {
    const shared = join(tempFolder(t), "shared");
    const folder = join(shared, "state");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chownSync(shared, 0, nobody);
    chmodSync(shared, 0o775);
    assert.throws(() => refuseSharedFolder(folder), { ...refused, message: /others can write to/ });
    chmodSync(shared, 0o755);
    refuseSharedFolder(folder);
  },
);

test("a state folder or a daemon.json of another user is refused by name", async (t) => {
  if (!asRoot) {
    // Only root can give files away; everybody else meets them as they are: the root folder belongs to somebody else.
    assert.throws(() => refuseSharedFolder("/"), { ...refused, message: /belongs to another user/ });
    return;
  }
  const folder = stateFolder(t);
  const stolen = await planted(t, folder);
  chownSync(join(folder, "daemon.json"), nobody, nobody);
  await assert.rejects(probeDaemon(folder), { ...refused, message: /daemon\.json belongs to another user/ });
  chownSync(folder, nobody, nobody);
  await assert.rejects(probeDaemon(folder), { ...refused, message: /belongs to another user/ });
  await assert.rejects(openState(folder), refused);
  assert.deepEqual(stolen, []);
});
