// A few cases of the official MCP conformance suite; `npm run test:mcp` runs all of them.
import assert from "node:assert/strict";
import { test } from "node:test";

import { upScene } from "../support/up-process.ts";
import { runClient, runServer, withKey } from "./conformance-kit.ts";

test("the client calls tools and logs in as the conformance suite wants it", async () => {
  for (const scenario of ["tools_call", "auth/scope-step-up"]) {
    const { passed, said } = await runClient(scenario);
    assert.ok(passed, said);
  }
});

test("the server is one for the conformance suite, and refuses other names of the host", async (t) => {
  const { found } = await upScene(t).up();
  const proxy = await withKey(found.daemon.url, found.key);
  t.after(() => proxy.close());
  for (const scenario of ["tools-list", "dns-rebinding-protection"]) {
    const { passed, said } = await runServer(scenario, proxy.url);
    assert.ok(passed, said);
  }
});
