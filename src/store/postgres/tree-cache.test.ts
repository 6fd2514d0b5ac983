import assert from "node:assert/strict";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { Write } from "./batch-rows.ts";
import { openTreeCache, type TreeCache } from "./tree-cache.ts";
import { treeUnit } from "./tree-ids.ts";

const rootOfTree = (tree: number): number => tree * treeUnit + 1;
const line = (root: number, at: number, body = "{}"): Write => ({
  name: "addLog",
  values: [root + at, root, `k${at}`, 1, 1, null, 0, 0, 0, body, null],
});

function opened(t: Parameters<typeof tempFolder>[0], onBroken?: (thrown: unknown) => void): TreeCache {
  const cache = openTreeCache(tempFolder(t), "salt", onBroken);
  t.after(() => cache.opened.close());
  return cache;
}

/** How many lines of the tree, or of all, are in the database of the cache. */
function linesIn({ opened: { database } }: TreeCache, root = 0): number {
  const [from, to] = root === 0 ? [0, Number.MAX_SAFE_INTEGER] : [root, root + treeUnit];
  return Number(database.prepare("SELECT COUNT(*) AS n FROM log WHERE id >= ? AND id < ?").get(from, to)?.["n"]);
}

test("what is durable about a tree is brought in when the tree is read, and not before", (t) => {
  const cache = opened(t);
  const [one, two] = [rootOfTree(3), rootOfTree(4)];
  cache.apply([line(one, 1), line(two, 1), line(one, 2)], []);
  assert.equal(linesIn(cache), 0);
  cache.opened.bringIn?.(one + 17);
  assert.deepEqual([linesIn(cache, one), linesIn(cache, two)], [2, 0]);
  cache.apply([line(one, 3)], []);
  cache.opened.bringIn?.();
  assert.deepEqual([linesIn(cache, one), linesIn(cache, two)], [3, 1]);
  cache.opened.bringIn?.();
  assert.equal(linesIn(cache), 4, "each line once");
});

test("the key that a task was started under is there at once", (t) => {
  const cache = opened(t);
  cache.apply([{ name: "bindKey", values: ["k", rootOfTree(3), "c"] }], []);
  const found = cache.opened.database.prepare("SELECT task FROM keys WHERE key = 'k'").get();
  assert.equal(found?.["task"], rootOfTree(3));
  cache.forget([rootOfTree(3)]);
  assert.equal(cache.opened.database.prepare("SELECT task FROM keys").get(), undefined);
});

test("of a tree that is forgotten nothing is left, whether it was brought in or not", (t) => {
  const cache = opened(t);
  const [one, two] = [rootOfTree(3), rootOfTree(4)];
  cache.apply([line(one, 1), line(two, 1)], []);
  cache.opened.bringIn?.(one);
  cache.apply([line(one, 2)], []);
  cache.forget([one, two]);
  cache.opened.bringIn?.();
  assert.equal(linesIn(cache), 0);
});

test("a tree that is loaded takes the place of what waits of it", (t) => {
  const cache = opened(t);
  const root = rootOfTree(3);
  cache.apply([line(root, 1), line(root, 2)], []);
  const row = [root + 1, root, "k1", 1, 1, null, 0, 0, 0, "{}", null, null];
  cache.load({ roots: [root], rows: { log: [row] } });
  cache.opened.bringIn?.();
  assert.equal(linesIn(cache), 1);
});

test("only so much waits: many lines, and large ones, are brought in without being read, the oldest trees first", (t) => {
  const many = opened(t);
  for (let tree = 1; tree <= 400; tree += 1) {
    many.apply(
      Array.from({ length: 50 }, (_, at) => line(rootOfTree(tree), at)),
      [],
    );
  }
  const brought = linesIn(many);
  assert.ok(brought >= 3_600 && brought < 20_000, `${brought} of 20000 lines were brought in`);
  assert.deepEqual([linesIn(many, rootOfTree(1)), linesIn(many, rootOfTree(400))], [50, 0]);
  const large = opened(t);
  for (let at = 0; at < 20; at += 1) large.apply([line(rootOfTree(1), at, "x".repeat(1024 * 1024))], []);
  assert.ok(linesIn(large) >= 11);
});

test("a copy that cannot be brought in is told of, since nothing that is read could be relied on", (t) => {
  const told: unknown[] = [];
  const cache = opened(t, (thrown) => told.push(thrown));
  const root = rootOfTree(3);
  cache.apply([line(root, 1), line(root, 1)], []);
  assert.throws(() => cache.opened.bringIn?.(root), /UNIQUE/);
  assert.equal(told.length, 1);
});
