import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { TuttiError } from "../error.ts";
import { digestSecret, sameDigest } from "./digest.ts";
import { isHandle, newHandle } from "./handle.ts";

test("a handle is wh- and 128 bits in hex", () => {
  assert.equal(newHandle(Uint8Array.from({ length: 16 }, (_, at) => at)), "wh-000102030405060708090a0b0c0d0e0f");
  assert.match(newHandle(), /^wh-[0-9a-f]{32}$/);
});

test("handles are not made of fewer bits", () => {
  for (const length of [0, 4, 15, 17]) assert.throws(() => newHandle(new Uint8Array(length)), TuttiError);
});

test("handles do not repeat", () => {
  assert.equal(new Set(Array.from({ length: 2000 }, () => newHandle())).size, 2000);
});

test("only the exact form is a handle", () => {
  const handle = newHandle(new Uint8Array(16).fill(0xab));
  assert.equal(isHandle(handle), true);
  const others = [
    "",
    "wh-",
    "wh-abcd1234",
    handle.toUpperCase(),
    `${handle}0`,
    `${handle}\n`,
    ` ${handle}`,
    handle.slice(0, -1),
  ];
  for (const text of others) assert.equal(isHandle(text), false, JSON.stringify(text));
});

test("a digest is SHA-256 in hex, and equal only to itself", async () => {
  const digest = await digestSecret("wh-é");
  assert.equal(digest, createHash("sha256").update("wh-é").digest("hex"));
  assert.equal(sameDigest(digest, await digestSecret("wh-é")), true);
  for (let at = 0; at < digest.length; at += 1) {
    const changed = digest.slice(0, at) + (digest[at] === "0" ? "1" : "0") + digest.slice(at + 1);
    assert.equal(sameDigest(digest, changed), false);
  }
  assert.equal(sameDigest(digest, digest.slice(0, -1)), false);
  assert.equal(sameDigest(digest.slice(0, -1), digest), false);
  assert.equal(sameDigest(digest, ""), false);
});
