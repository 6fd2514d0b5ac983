import assert from "node:assert/strict";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import fc from "../../../test/support/properties.ts";
import { openStoreIn } from "../../../test/support/stores.ts";

import { TuttiError } from "../../protocol/error.ts";
import { Keys } from "./api-keys.ts";

function opened(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "tutti-keys-"));
  const file = join(folder, "admin.key");
  let store = openStoreIn(folder);
  t.after(() => {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const keys = (): Keys => new Keys({ records: store.records, committed: () => store.committed() });
  return {
    folder,
    file,
    keys,
    reopened: (): Keys => {
      store.close();
      store = openStoreIn(folder);
      return keys();
    },
    stored: () => store.records.keys(),
  };
}

const code = (wanted: string) => (thrown: unknown) => thrown instanceof TuttiError && thrown.code === wanted;

test("a key is shown once, found by its digest alone, also after a restart, and nowhere kept as it is", async (t) => {
  const { keys, reopened, folder, stored } = opened(t);
  const made = await keys().add({ name: "ci", role: "operator" });
  assert.match(made.key, /^tk_[\w-]{43}$/);
  const again = reopened();
  assert.deepEqual(
    { id: again.find(made.key)?.id, name: again.find(made.key)?.name, role: again.find(made.key)?.role },
    { id: made.id, name: "ci", role: "operator" },
  );
  assert.doesNotMatch(JSON.stringify([stored(), again.list()]), new RegExp(made.key.slice(3)));
  for (const file of readdirSync(folder)) {
    assert.ok(!readFileSync(join(folder, file)).includes(made.key.slice(3)), `${file} holds the key`);
  }
});

test("any change of a key makes it unknown", async (t) => {
  const keys = opened(t).keys();
  const { key } = await keys.add({ name: "k", role: "viewer" });
  fc.assert(
    fc.property(
      fc.nat({ max: key.length - 1 }),
      fc.constantFrom("a", "Z", "0", "9", "-", "_", " ", "=", "\0"),
      (at, char) => {
        fc.pre(key[at] !== char);
        assert.equal(keys.find(key.slice(0, at) + char + key.slice(at + 1)), undefined);
      },
    ),
    { numRuns: 200 },
  );
  for (const other of ["", key.slice(0, -1), `${key}A`, ` ${key}`, key.toUpperCase()]) {
    assert.equal(keys.find(other), undefined);
  }
});

test("a revoked key is unknown at once and stays so over a restart; listeners are told, twice changes nothing", async (t) => {
  const { keys: open, reopened } = opened(t);
  const keys = open();
  const told: string[] = [];
  keys.onRevoked((id) => void told.push(id));
  const { key, id } = await keys.add({ name: "k", role: "viewer" });
  const revoking = keys.revoke(id);
  assert.equal(keys.find(key), undefined, "before it is on disk");
  await revoking;
  await keys.revoke(id);
  assert.deepEqual(told, [id]);
  const again = reopened();
  assert.equal(again.find(key), undefined);
  assert.equal(typeof again.list().find((each) => each.id === id)?.revoked_at, "number");
  await assert.rejects(keys.revoke("key_none"), code("not_found"));
});

test("the last live admin key cannot be revoked, also when two are revoked at once", async (t) => {
  const { keys: open, file } = opened(t);
  const keys = open();
  await keys.ensureAdmin(file);
  const [first] = keys.list();
  assert.ok(first !== undefined);
  await assert.rejects(keys.revoke(first.id), code("conflict"));
  const second = await keys.add({ name: "second", role: "admin" });
  const outcomes = await Promise.allSettled([keys.revoke(first.id), keys.revoke(second.id)]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "rejected"],
  );
  assert.notEqual(keys.find(second.key), undefined);
});

test("the admin key is made once, for its owner's eyes alone, in one line", async (t) => {
  const { keys: open, reopened, file, folder } = opened(t);
  const before = process.umask(0);
  t.after(() => process.umask(before));
  const key = await open().ensureAdmin(file);
  assert.equal(readFileSync(file, "utf8"), `${key}\n`);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith("admin.key")),
    ["admin.key"],
    "no draft is left",
  );
  const again = reopened();
  assert.equal(await again.ensureAdmin(file), key);
  assert.equal(again.list().length, 1);
  assert.equal(again.find(key)?.role, "admin");
});

test("a file whose key the store does not know, as after a crash between the two, is taken in again", async (t) => {
  const { keys: open, file } = opened(t);
  const key = `tk_${"k".repeat(43)}`;
  writeFileSync(file, `${key}\n`, { mode: 0o600 });
  const keys = open();
  assert.equal(await keys.ensureAdmin(file), key);
  assert.equal(keys.find(key)?.role, "admin");
});

test("a file whose key was revoked gets a new one: what was revoked does not come back", async (t) => {
  const { keys: open, reopened, file } = opened(t);
  const keys = open();
  const old = await keys.ensureAdmin(file);
  await keys.add({ name: "other", role: "admin" });
  await keys.revoke(keys.list()[0]?.id ?? "");
  const again = reopened();
  const fresh = await again.ensureAdmin(file);
  assert.notEqual(fresh, old);
  assert.equal(again.find(old), undefined);
  assert.equal(again.find(fresh)?.role, "admin");
  assert.equal(readFileSync(file, "utf8"), `${fresh}\n`);
});

test("a key file that is gone takes its key with it: whoever has read it is locked out by the new one", async (t) => {
  const { keys: open, reopened, file } = opened(t);
  const old = await open().ensureAdmin(file);
  const other = await open().add({ name: "admin", role: "admin" });
  rmSync(file);
  const again = reopened();
  const fresh = await again.ensureAdmin(file);
  assert.equal(again.find(old), undefined);
  assert.equal(again.find(fresh)?.role, "admin");
  assert.equal(again.find(other.key)?.id, other.id, "a key that was made by hand is not that of the file");
  assert.equal(await reopened().ensureAdmin(file), fresh);
  // As after a crash between the two writes: the file has a newer one already.
  const newer = `tk_${"n".repeat(43)}`;
  writeFileSync(file, `${newer}\n`, { mode: 0o600 });
  const last = reopened();
  assert.equal(await last.ensureAdmin(file), newer);
  assert.deepEqual([last.find(fresh), last.find(newer)?.role], [undefined, "admin"]);
});

test("a key file that others can read or write, a link, a folder and rubbish are refused and left alone", async (t) => {
  const { keys: open, file, folder } = opened(t);
  const keys = open();
  const key = `tk_${"k".repeat(43)}\n`;
  for (const mode of [0o640, 0o604, 0o602, 0o660]) {
    writeFileSync(file, key);
    chmodSync(file, mode);
    await assert.rejects(keys.ensureAdmin(file), code("refused"), `mode ${mode.toString(8)}`);
    rmSync(file);
  }
  const elsewhere = join(folder, "elsewhere");
  writeFileSync(elsewhere, key, { mode: 0o600 });
  symlinkSync(elsewhere, file);
  await assert.rejects(keys.ensureAdmin(file), code("refused"));
  rmSync(file);
  for (const text of ["", "tk_short\n", `${key}${key}`, "\0"]) {
    writeFileSync(file, text, { mode: 0o600 });
    await assert.rejects(keys.ensureAdmin(file), code("refused"), JSON.stringify(text));
    assert.equal(readFileSync(file, "utf8"), text);
  }
  assert.deepEqual(keys.list(), []);
});
