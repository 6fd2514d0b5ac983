// A few cases of the official MCP conformance suite; `npm run test:mcp` runs all of them.
import assert from "node:assert/strict";
import { test } from "node:test";

import { upScene } from "../support/up-process.ts";
import { openKit } from "../support/http-kit.ts";
import { runClient, runServer, withKey } from "./conformance-kit.ts";
import { suiteParts } from "./suite-parts.ts";

test("the client calls tools and logs in as the conformance suite wants it", async () => {
  const cases = [
    ["tools_call", "2025-11-25"],
    ["http-custom-headers", "2026-07-28"],
    ["json-schema-2020-12-preservation", "2026-07-28"],
    // The login is wanted in the middle of the list of tools.
    ["auth/authorization-server-migration", "2026-07-28"],
  ] as const;
  for (const [scenario, of] of cases) {
    const { passed, said } = await runClient(scenario, of);
    assert.ok(passed, said);
  }
});

test("the server is one for the conformance suite, and refuses other names of the host", async (t) => {
  const { found } = await upScene(t).up();
  const proxy = await withKey(found.daemon.url, found.key);
  t.after(() => proxy.close());
  for (const scenario of ["tools-list", "dns-rebinding-protection"]) {
    const { passed, said } = await runServer(scenario, "2025-11-25", proxy.url);
    assert.ok(passed, said);
  }
});

test("what the suite wants a server to have goes through /mcp as it should", async (t) => {
  const kit = await openKit({ http: { extendMcp: suiteParts } });
  t.after(() => kit.close());
  const proxy = await withKey(kit.http.url, kit.key);
  t.after(() => proxy.close());
  const cases = [
    ["tools-call-with-progress", "2025-11-25"],
    ["http-custom-header-server-validation", "2026-07-28"],
    ["server-stateless", "2026-07-28"],
  ] as const;
  for (const [scenario, of] of cases) {
    const { passed, said } = await runServer(scenario, of, proxy.url);
    assert.ok(passed, said);
  }
});
