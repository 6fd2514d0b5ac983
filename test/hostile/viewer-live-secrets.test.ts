// A viewer comes, goes and comes again while a secret is being written piece by piece, to be shown what is left of it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { SecretKeeper } from "../../src/daemon/secrets/secret-keeper.ts";
import { liveRelay } from "../../src/daemon/state/live-relay.ts";
import type { LiveDelta } from "../../src/protocol/task/event.ts";

const secret = "sk-test-Zq81mPw0Rv5T";

function scene() {
  const secrets = new SecretKeeper();
  secrets.add([{ name: "KEY", value: secret }]);
  const relay = liveRelay(secrets);
  const seen: string[] = [];
  return {
    secrets,
    tell: (text: string, channel: LiveDelta["channel"] = "output") =>
      relay.tell({ task: "tsk_1", root: "tsk_1", attempt: 1, run: 1, key: "k", channel, offset: 0, text }),
    look: () => relay.on(({ text }) => void seen.push(text)),
    seen: () => seen.join(""),
  };
}

test("whoever begins to look inside of a secret is not shown the rest of it", () => {
  for (let at = 1; at < secret.length; at += 1) {
    const { tell, look, seen } = scene();
    tell(`key: ${secret.slice(0, at)}`);
    look();
    tell(`${secret.slice(at)} and more`);
    assert.ok(!seen().includes(secret.slice(-4)), seen());
    assert.match(seen(), / and more$/);
  }
});

test("whoever looks away inside of a secret is not shown the rest of it afterwards", () => {
  const { tell, look, seen } = scene();
  const away = look();
  tell("key: sk-");
  away();
  tell("test-Zq81");
  look();
  tell("mPw0Rv5T and more");
  assert.equal(seen(), "key: [redacted:KEY] and more");
});

test("a secret that becomes known while another one is being written shows nothing of either", () => {
  for (let at = 1; at < secret.length; at += 1) {
    const { secrets, tell, look, seen } = scene();
    look();
    tell(`key: ${secret.slice(0, at)}`);
    secrets.add([{ name: "OTHER", value: "another-secret" }]);
    tell(`${secret.slice(at)}, another-`);
    tell("secret and more");
    assert.equal(seen(), "key: [redacted:KEY], [redacted:OTHER] and more");
  }
});

test("a secret in pieces of one character is shown in none of the channels", () => {
  for (const channel of ["text", "reasoning", "output", "tool", "notice"] as const) {
    const { tell, look, seen } = scene();
    look();
    for (const letter of `key: ${secret} and more`) tell(letter, channel);
    assert.equal(seen(), "key: [redacted:KEY] and more");
  }
});
