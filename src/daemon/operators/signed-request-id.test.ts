import assert from "node:assert/strict";
import { chmodSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "../../../test/support/properties.ts";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { mostAgain, signRequestId, verifyRequestId } from "./signed-request-id.ts";
import { openSigningKey } from "./signing-key.ts";

const sid = "op-0a1b2c3d-0000-4000-8000-0123456789ab";

test("a req_id can be read back as its kind and wait, also by the next process", async (t) => {
  const path = join(tempFolder(t), "signing.key");
  const [key, again] = [await openSigningKey(path), await openSigningKey(path)];
  const kind = fc.constantFrom("ask", "hook_before", "hook_after", "spawn");
  fc.assert(
    fc.property(kind, fc.integer({ min: 0, max: 2 ** 48 - 1 }), (requestKind, id) => {
      const text = signRequestId({ sid, kind: requestKind, id }, key);
      assert.match(
        text,
        /^op-[0-9a-f-]{36}-(ask|hb|ha|spawn)-[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
      );
      assert.deepEqual(verifyRequestId(text, sid, again), { kind: requestKind, id, again: 0 });
    }),
    { numRuns: 200 },
  );
});

test("a req_id that was changed, is of another operator session or was signed with another key is refused", async (t) => {
  const folder = tempFolder(t);
  const [key, other] = [await openSigningKey(join(folder, "a")), await openSigningKey(join(folder, "b"))];
  const text = signRequestId({ sid, kind: "spawn", id: 42 }, key);
  for (let at = 0; at < text.length; at += 1) {
    for (const char of ["0", "1", "a", "-"]) {
      if (text[at] === char) continue;
      assert.equal(verifyRequestId(text.slice(0, at) + char + text.slice(at + 1), sid, key), undefined, `${at}`);
    }
  }
  assert.equal(verifyRequestId(text, `${sid.slice(0, -1)}c`, key), undefined);
  assert.equal(verifyRequestId(text, sid, other), undefined);
  assert.deepEqual(verifyRequestId(text, sid, key), { kind: "spawn", id: 42, again: 0 });
  const asked = [1, 2, mostAgain].map((again) => signRequestId({ sid, kind: "spawn", id: 42, again }, key));
  assert.equal(new Set([text, ...asked]).size, 4, "a request that is asked again has another id");
  for (const [at, id] of asked.entries()) {
    assert.deepEqual(verifyRequestId(id, sid, key), { kind: "spawn", id: 42, again: at + 1 });
  }
});

test("the signing key is made once, for its owner alone, and refused when others can read it", async (t) => {
  const path = join(tempFolder(t), "signing.key");
  await openSigningKey(path);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const before = readFileSync(path, "utf8");
  await openSigningKey(path);
  assert.equal(readFileSync(path, "utf8"), before);
  chmodSync(path, 0o644);
  await assert.rejects(openSigningKey(path), /open to other users/);
});
