import assert from "node:assert/strict";
import { test } from "node:test";

import { NotifyConfig } from "./notify-config.ts";
import { webhookKey } from "./webhook-target.ts";

test("by default the desktop is used if there is one, for all kinds of notices", () => {
  assert.deepEqual(NotifyConfig.parse({}), { desktop: "auto", on: ["ask", "finished", "failed"] });
});

test("a webhook is https or on this machine, and holds no password", () => {
  const takes = (url: string): boolean => NotifyConfig.safeParse({ webhook: { url, secret_env: "S" } }).success;
  const good = ["https://a.example/x", "http://127.0.0.1:1/", "http://localhost:8080/a?b", "http://[::1]:1/"];
  const bad = [
    "http://a.example/",
    "http://127.0.0.1.a.example/",
    "ftp://a.example",
    "https://u:p@a.example/",
    "/hook",
    "",
  ];
  for (const url of good) assert.ok(takes(url), url);
  for (const url of bad) assert.ok(!takes(url), url);
});

test("a command is a program and its arguments; a secret or an unknown setting is refused", () => {
  for (const config of [
    { command: [] },
    { command: "say hi" },
    { webhook: { url: "https://a.example", secret: "x" } },
    { of: [] },
  ]) {
    assert.equal(NotifyConfig.safeParse(config).success, false, JSON.stringify(config));
  }
});

test("a signing secret is text, or base64 after whsec_, and long enough", () => {
  assert.deepEqual(webhookKey(`whsec_${Buffer.alloc(24, 7).toString("base64")}`), Buffer.alloc(24, 7));
  assert.deepEqual(webhookKey(" sixteen-bytes-16 "), Buffer.from("sixteen-bytes-16"));
  for (const short of ["", "short", "whsec_c2hvcnQ="]) assert.equal(webhookKey(short), undefined);
});
