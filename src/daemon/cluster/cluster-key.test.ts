import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";

import { TuttiError } from "../../protocol/error.ts";
import { clusterKeyFrom, newClusterKey } from "./cluster-key.ts";

const text = newClusterKey();
const key = clusterKeyFrom(text, "the test");

test("what is sealed for a row opens there with the same key, and is different each time", () => {
  const sealed = key.seal("signing-key", "a secret with ünusual letters");
  assert.equal(clusterKeyFrom(`${text}\n`, "again").unseal("signing-key", sealed), "a secret with ünusual letters");
  assert.doesNotMatch(sealed, /secret/);
  assert.notEqual(key.seal("signing-key", "x"), key.seal("signing-key", "x"));
});

test("a sealed text that was moved, changed, cut or sealed with another key is refused, and none of it is shown", () => {
  const sealed = key.seal("provider-keys/openai", "sk-hunter2");
  const bytes = Buffer.from(sealed.slice(3), "base64url");
  const tampered = [...bytes.keys()].map((at) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 1;
    return `v1.${copy.toString("base64url")}`;
  });
  const other = clusterKeyFrom(newClusterKey(), "other");
  const bad: (() => string)[] = [
    () => key.unseal("provider-keys/anthropic", sealed),
    () => other.unseal("provider-keys/openai", sealed),
    () => key.unseal("provider-keys/openai", sealed.slice(0, -8)),
    () => key.unseal("provider-keys/openai", sealed.slice(3)),
    () => key.unseal("provider-keys/openai", ""),
    ...tampered.map((each) => () => key.unseal("provider-keys/openai", each)),
  ];
  for (const open of bad) {
    assert.throws(open, (thrown) => {
      assert.ok(thrown instanceof TuttiError && thrown.code === "corrupt");
      assert.doesNotMatch(inspect(thrown, { depth: 5 }), /hunter2/);
      return true;
    });
  }
});

test("what is derived for one use is of no use for another, and none of it is the key", () => {
  const values = [key.check, key.mac("check").toString("hex"), text];
  assert.equal(new Set(values).size, 3);
  assert.equal(clusterKeyFrom(text.toUpperCase(), "again").check, key.check);
  assert.equal(clusterKeyFrom(Buffer.from(text, "hex").toString("base64"), "again").check, key.check);
  assert.notEqual(clusterKeyFrom(newClusterKey(), "other").check, key.check);
});

test("a text that is no key is refused without being shown", () => {
  for (const bad of ["", "hunter2", text.slice(1), `${text}00`, `${text.slice(1)}x`]) {
    assert.throws(
      () => clusterKeyFrom(bad, "cluster.key"),
      (thrown) => {
        assert.ok(thrown instanceof TuttiError && thrown.code === "invalid_input");
        assert.match(thrown.message, /cluster\.key holds no key/);
        assert.ok(bad.length < 5 || !inspect(thrown).includes(bad));
        return true;
      },
    );
  }
});
