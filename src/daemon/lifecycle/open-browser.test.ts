import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { browserProgram, openBrowser } from "./open-browser.ts";

test("the browser is the person's own, and there is none without a screen or over ssh", () => {
  assert.deepEqual(browserProgram({ DISPLAY: ":0" }, "linux"), ["xdg-open"]);
  assert.deepEqual(browserProgram({ WAYLAND_DISPLAY: "wayland-0" }, "linux"), ["xdg-open"]);
  assert.deepEqual(browserProgram({}, "darwin"), ["open"]);
  assert.deepEqual(browserProgram({ BROWSER: "firefox -P mine %s:other" }, "linux"), ["firefox", "-P", "mine"]);
  assert.equal(browserProgram({}, "linux"), undefined);
  assert.equal(browserProgram({ DISPLAY: ":0", SSH_CONNECTION: "a b c d" }, "linux"), undefined);
});

test("the address goes to the browser through a file of this user alone, never as an argument that others see", async (t) => {
  const folder = tempFolder(t);
  const [program, heard] = [join(folder, "browser"), join(folder, "heard")];
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > '${heard}'\n`);
  chmodSync(program, 0o700);
  const before = process.env["BROWSER"];
  t.after(() => {
    if (before === undefined) delete process.env["BROWSER"];
    else process.env["BROWSER"] = before;
  });
  process.env["BROWSER"] = program;
  const state = join(folder, "state");
  assert.equal(await openBrowser(state, 'http://127.0.0.1:7878/?a="&b#code=tc_secret'), true);
  const args = readFileSync(heard, "utf8");
  assert.doesNotMatch(args, /tc_secret|7878/);
  const file = fileURLToPath(args.trim());
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(state).mode & 0o777, 0o700);
  const page = readFileSync(file, "utf8");
  assert.match(page, /url=http:\/\/127\.0\.0\.1:7878\/\?a=%22&amp;b#code=tc_secret"/);
  assert.doesNotMatch(page, /<script/);

  process.env["BROWSER"] = join(folder, "nothing-here");
  assert.equal(await openBrowser(state, "http://127.0.0.1:1/"), false);
  assert.ok(existsSync(file));
});
