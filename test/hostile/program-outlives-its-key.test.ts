// A program whose key is revoked goes on with another key, which it made before.
import assert from "node:assert/strict";
import { test } from "node:test";

import { TuttiError } from "../../src/protocol/error.ts";
import { daemonFor } from "../e2e/daemon-process.ts";

async function codeOf(call: () => Promise<unknown>): Promise<string> {
  try {
    await call();
  } catch (thrown) {
    if (thrown instanceof TuttiError) return thrown.code;
    throw thrown;
  }
  return "done";
}

test("keys that a program made end with its own, in a row and also after a restart; those of a person do not", async (t) => {
  const daemon = await daemonFor(t);
  const person = daemon.client();
  const first = await person.addKey({ name: "first", role: "admin" });
  const second = await daemon.client(first.key).addKey({ name: "second", role: "admin" });
  const third = await daemon.client(second.key).addKey({ name: "third", role: "operator" });
  const colleague = await person.addKey({ name: "colleague", role: "admin", person: true });
  const theirs = await daemon.client(colleague.key).addKey({ name: "ci", role: "operator" });
  const status = async (key: string): Promise<string> => codeOf(() => daemon.client(key).status());
  for (const { key } of [first, second, third]) assert.equal(await status(key), "done");

  // What the last one made is found, too, when it was made before the process was started.
  await daemon.restartKilled();
  await person.revokeKey(first.id);
  for (const { key } of [first, second, third]) assert.equal(await status(key), "unauthorized");
  await person.revokeKey(colleague.id);
  assert.equal(await status(theirs.key), "done");
  await daemon.restartKilled();
  for (const { key } of [first, second, third]) assert.equal(await status(key), "unauthorized");
  assert.equal(await status(theirs.key), "done");
});
