// Every case of the official MCP conformance suite, for Tutti's client and server. `npm run test:mcp` runs it; it takes minutes.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { upScene } from "../support/up-process.ts";
import { runClient, runServer, scenarios, withKey } from "./conformance-kit.ts";
import { notOurs } from "./not-ours.ts";

const ends: (() => unknown)[] = [];
let server = "";

before(async () => {
  const scene = upScene({
    after: (end) => void ends.push(() => Reflect.apply(end ?? (() => undefined), undefined, [])),
  });
  const { found } = await scene.up();
  const proxy = await withKey(found.daemon.url, found.key);
  ends.push(() => proxy.close());
  server = proxy.url;
});

after(async () => {
  for (const end of ends.toReversed()) await end();
});

const runs = { client: runClient, server: (scenario: string) => runServer(scenario, server) };

for (const side of ["client", "server"] as const) {
  const all = await scenarios(side);
  const others = notOurs[side];
  describe(`Tutti as a ${side}`, () => {
    test("the suite has cases, and each that is not ours is one of them", () => {
      assert.ok(all.length > 20);
      assert.deepEqual(
        Object.keys(others).filter((name) => !all.some((each) => each.name === name)),
        [],
      );
    });
    for (const { name, of } of all) {
      const reason = others[name];
      test(`${name} (${of.join(", ")})${reason === undefined ? "" : ` is not ours: ${reason}`}`, async () => {
        const { passed, said } = await runs[side](name);
        if (reason === undefined) assert.ok(passed, said);
        else assert.equal(passed, false, `${name} passes; take it off the list`);
      });
    }
  });
}
