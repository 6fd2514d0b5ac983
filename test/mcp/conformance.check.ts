// Every case of the official MCP conformance suite, in every revision that Tutti states, for its client and its server. `npm run test:mcp` runs it.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { type Kit, openKit } from "../support/http-kit.ts";
import { runClient, runServer, scenarios, withKey } from "./conformance-kit.ts";
import { notOurs } from "./not-ours.ts";
import { suiteParts } from "./suite-parts.ts";

let kit: Kit;
let proxy: Awaited<ReturnType<typeof withKey>>;

before(async () => {
  // The service with its own tools, and with what the suite wants a server to have beside them.
  kit = await openKit({ http: { extendMcp: suiteParts } });
  proxy = await withKey(kit.http.url, kit.key);
});

after(async () => {
  proxy.close();
  await kit.close();
});

const runs = { client: runClient, server: (name: string, of: string) => runServer(name, of, proxy.url) };

for (const side of ["client", "server"] as const) {
  const all = await scenarios(side);
  const others = notOurs[side];
  describe(`Tutti as a ${side}`, { concurrency: 2 }, () => {
    test("the suite has cases, and each that is not ours is one of them", () => {
      assert.ok(all.length > 40);
      assert.deepEqual(
        Object.keys(others).filter((name) => !all.some((each) => each.name === name)),
        [],
      );
    });
    for (const { name, of } of all.flatMap((each) => each.of.map((of) => ({ name: each.name, of })))) {
      const reason = others[name];
      test(`${name} (${of})${reason === undefined ? "" : ` is not ours: ${reason}`}`, async () => {
        const { passed, said } = await runs[side](name, of);
        if (reason === undefined) assert.ok(passed, said);
        else assert.equal(passed, false, `${name} passes; take it off the list`);
      });
    }
  });
}
