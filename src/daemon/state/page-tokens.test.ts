import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { openProcessIn } from "../../../test/support/stores.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { fakeClock } from "../../engine/fake-clock.ts";
import { databaseFile } from "../../store/sqlite/database.ts";
import { Keys } from "./api-keys.ts";
import { PageTokens } from "./page-tokens.ts";

async function opened(t: TestContext) {
  const [folder, clock] = [tempFolder(t), fakeClock()];
  const open = () => {
    const { store, committed } = openProcessIn(folder);
    t.after(() => store.close());
    const { records } = store;
    const keys = new Keys({ records, committed, now: () => clock.now() });
    return { keys, records, store, pages: new PageTokens({ records, committed, keys, clock }) };
  };
  const first = open();
  await first.keys.ensureAdmin(join(folder, "admin.key"));
  const key = await first.keys.add({ name: "ann", role: "operator" });
  return { folder, clock, open, key, ...first };
}

test("a code is exchanged once for a token with the rights of its key", async (t) => {
  const { pages, key } = await opened(t);
  const { code } = await pages.makeCode(key.id);
  const page = await pages.exchange(code);
  assert.ok(page !== undefined);
  assert.match(page.token, /^tw_[\w-]{43}$/);
  assert.partialDeepStrictEqual(pages.find(page.token), { holder: { id: key.id, name: "ann", role: "operator" } });
  assert.equal(await pages.exchange(code), undefined);
  assert.equal(pages.find(code), undefined, "a code is no token");
  assert.equal(await pages.exchange(page.token), undefined, "a token is no code");
});

test("of several that show the same code at once, one gets a token", async (t) => {
  const { pages, key, open } = await opened(t);
  const { code } = await pages.makeCode(key.id);
  const others = [pages, open().pages, open().pages];
  const got = await Promise.all(others.flatMap((each) => [each.exchange(code), each.exchange(code)]));
  assert.equal(got.filter((page) => page !== undefined).length, 1);
});

test("a code lives for a minute and a token for a week", async (t) => {
  const { pages, key, clock } = await opened(t);
  const [late, early] = [await pages.makeCode(key.id), await pages.makeCode(key.id)];
  clock.advance(59_999);
  const page = await pages.exchange(early.code);
  assert.ok(page !== undefined);
  clock.advance(1);
  assert.equal(await pages.exchange(late.code), undefined);
  clock.advance(7 * 24 * 3_600_000 - 2);
  assert.ok(pages.find(page.token) !== undefined);
  clock.advance(1);
  assert.equal(pages.find(page.token), undefined);
});

test("codes and tokens die with their key in the commit that revokes it, and those of other keys stay (invariant 14)", async (t) => {
  const { pages, keys, key, records, open } = await opened(t);
  const other = await keys.add({ name: "ben", role: "viewer" });
  const page = await pages.exchange((await pages.makeCode(key.id)).code);
  const of = await pages.exchange((await pages.makeCode(other.id)).code);
  const { code } = await pages.makeCode(key.id);
  assert.ok(page !== undefined && of !== undefined);
  const revoked = keys.revoke(key.id);
  assert.equal(pages.find(page.token), undefined, "at once, before anything is on disk");
  await revoked;
  assert.equal(records.pageToken(page.digest), undefined);
  assert.equal(await pages.exchange(code), undefined);
  assert.equal(open().pages.find(page.token), undefined, "after a restart too");
  assert.equal(open().pages.find(of.token)?.holder.name, "ben");
});

test("a key that is revoked while a code is being exchanged gives no token", async (t) => {
  const { pages, keys, key, store } = await opened(t);
  const { code } = await pages.makeCode(key.id);
  const exchanged = pages.exchange(code);
  await keys.revoke(key.id);
  assert.equal(await exchanged, undefined);
  await store.committed();
});

test("a token outlives a restart, and ends when its page signs out", async (t) => {
  const { pages, key, open } = await opened(t);
  const page = await pages.exchange((await pages.makeCode(key.id)).code);
  assert.ok(page !== undefined);
  const again = open().pages;
  assert.equal(again.find(page.token)?.holder.id, key.id);
  const ended: string[] = [];
  again.onEnded((digest) => ended.push(digest));
  await again.end(page.digest);
  assert.deepEqual([again.find(page.token), again.isInForce(page), ended], [undefined, false, [page.digest]]);
});

test("one key has at most 32 tokens, the oldest end first, and it cannot make codes without limit", async (t) => {
  const { pages, keys, key, clock } = await opened(t);
  const other = await keys.add({ name: "ben", role: "viewer" });
  const of = await pages.exchange((await pages.makeCode(other.id)).code);
  const tokens: string[] = [];
  for (let made = 0; made < 34; made += 1) {
    clock.advance(10_000);
    tokens.push((await pages.exchange((await pages.makeCode(key.id)).code))?.token ?? "");
  }
  assert.deepEqual(
    tokens.map((token) => pages.find(token) !== undefined),
    tokens.map((_, index) => index >= 2),
  );
  assert.ok(pages.find(of?.token ?? "") !== undefined, "those of another key stay");
  const flood = Array.from({ length: 30 }, () => pages.makeCode(key.id));
  const codes = (await Promise.allSettled(flood)).map(({ status }) => status);
  assert.ok(codes.includes("rejected"));
  await assert.rejects(pages.makeCode(key.id), { code: "slow_down" });
  await pages.makeCode(other.id);
});

test("neither codes nor tokens are in the database, only their digests", async (t) => {
  const { pages, key, folder, store } = await opened(t);
  const { code } = await pages.makeCode(key.id);
  const page = await pages.exchange(code);
  await store.committed();
  for (const file of [databaseFile(folder), `${databaseFile(folder)}-wal`]) {
    const bytes = readFileSync(file, "latin1");
    assert.ok(!bytes.includes(code.slice(3)) && !bytes.includes(page?.token.slice(3) ?? ""));
  }
});
