import assert from "node:assert/strict";
import { test } from "node:test";

import type { Contexts } from "./contexts.ts";
import { targetFlags } from "./declare-target.ts";
import { findTarget, type TargetOptions } from "./find-target.ts";

const contexts: Contexts = {
  contexts: {
    work: { url: "https://work.example", key: "tk_work" },
    lab: { url: "http://10.0.0.7:7878", key: "tk_lab", insecure: true },
  },
};
const inUse: Contexts = { ...contexts, current: "work" };
const find = (options: TargetOptions, env: NodeJS.ProcessEnv = {}, kept: Contexts = contexts) =>
  findTarget(options, { env, contexts: () => kept });

test("options go before the environment, the environment before the context in use, and a state folder is here", () => {
  const env = { TUTTI_URL: "https://env.example", TUTTI_KEY: "tk_env" };
  assert.deepEqual(find({ context: "work" }, env), { url: "https://work.example", key: "tk_work" });
  assert.deepEqual(find({ context: "work", key: "tk_mine" }), { url: "https://work.example", key: "tk_mine" });
  assert.deepEqual(find({}, env, inUse), { url: "https://env.example", key: "tk_env" });
  assert.deepEqual(find({}, {}, inUse), { url: "https://work.example", key: "tk_work" });
  assert.deepEqual(find({ context: "lab" }), { url: "http://10.0.0.7:7878", key: "tk_lab" });
  assert.equal(find({}), undefined);
  assert.equal(find({}, { TUTTI_URL: "" }), undefined);
  assert.equal(find({ context: "local" }, env, inUse), undefined);
  assert.equal(find({ state: "s" }, env, inUse), undefined);
  assert.equal(find({}, { TUTTI_STATE: "s" }, inUse), undefined);
  assert.throws(() => find({ url: "https://a.example", context: "work" }), { code: "usage" });
  assert.throws(() => find({ url: "https://a.example", state: "s" }), { code: "usage" });
  assert.throws(() => find({ key: "tk_1" }), { code: "usage" });
  assert.throws(() => find({ context: "nowhere" }), { code: "not_found", message: /local, work, lab/ });
});

test("a key is sent only to the daemon that it was given for", () => {
  const env = { TUTTI_URL: "https://env.example/", TUTTI_KEY: "tk_env" };
  assert.throws(() => find({ url: "https://other.example" }, env, inUse), { code: "unauthorized" });
  assert.throws(() => find({ url: "http://env.example:80", insecure: true }, env), { code: "unauthorized" });
  assert.deepEqual(find({ url: "https://env.example:443" }, env), { url: "https://env.example", key: "tk_env" });
  assert.throws(() => find({ url: "https://work.example" }, {}, inUse), { code: "unauthorized" });
});

test("a key is not sent unencrypted to another machine, unless the person accepts that", () => {
  const key = "tk_1";
  for (const url of ["http://work.example", "http://10.0.0.7:7878", "http://[fe80::1]", "http://127.0.0.1.example"]) {
    assert.throws(() => find({ url, key }), { code: "refused", message: /--insecure/ }, url);
    assert.equal(find({ url, key, insecure: true })?.key, key);
  }
  for (const url of [
    "http://localhost:1",
    "http://127.0.0.1:1",
    "http://127.8.0.1:1",
    "http://[::1]:1",
    "https://a.example",
  ]) {
    assert.equal(find({ url, key })?.url, url);
  }
  for (const url of [
    "ftp://a",
    "a.example",
    "https://u:p@a.example",
    "https://a.example/?key=1",
    "https://a.example/#x",
  ]) {
    assert.throws(() => find({ url, key }), { code: "usage" }, url);
  }
  assert.throws(() => find({ url: "https://a.example", key: "tk\r\nx: y" }), { code: "invalid_input" });
});

test("hints repeat what named the daemon, and never a key", () => {
  const args = ["tasks", "--url=https://a.example", "--key", "tk_1", "--key-file", "k", "--json"];
  assert.equal(targetFlags(args), " --url https://a.example --key-file k");
  assert.equal(targetFlags(["up", "--insecure"]), "");
});
