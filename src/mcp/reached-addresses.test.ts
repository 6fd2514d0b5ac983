import assert from "node:assert/strict";
import type { LookupAddress } from "node:dns";
import { test } from "node:test";

import { reachedAddresses } from "./reached-addresses.ts";

/** Answers each lookup of a name with the next of its addresses, and counts them. */
function names(known: Record<string, string[]>): {
  resolve: (name: string) => Promise<LookupAddress[]>;
  asked: string[];
} {
  const asked: string[] = [];
  return {
    asked,
    async resolve(name) {
      asked.push(name);
      const next = known[name]?.shift() ?? "";
      return next.split(" ").map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    },
  };
}

function connecting({ lookup }: ReturnType<typeof reachedAddresses>, name: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(name, { all: true }, (error, found) => {
      if (error !== null) reject(error);
      else resolve(Array.isArray(found) ? found : []);
    });
  });
}

test("a connection gets the addresses that were judged, and each connection is judged anew", async () => {
  const { resolve, asked } = names({ "mcp.example": ["1.1.1.1 2606:4700::1111", "127.0.0.1", "1.1.1.1 ::1"] });
  const reached = reachedAddresses(new URL("https://mcp.example/"), resolve);
  const found = await connecting(reached, "mcp.example");
  assert.deepEqual(
    found.map(({ address }) => address),
    ["1.1.1.1", "2606:4700::1111"],
  );
  assert.deepEqual(asked, ["mcp.example"], "it is looked up once");
  await assert.rejects(connecting(reached, "mcp.example"), { code: "refused" }, "it leads to this machine by now");
  await assert.rejects(connecting(reached, "mcp.example"), { code: "refused" }, "one of two does");
});

test("a server from outside leads nowhere inside, whatever it was before", async () => {
  const inside = [
    "10.0.0.1",
    "::ffff:192.168.1.1",
    "127.0.0.1",
    "169.254.169.254",
    "fd00::1",
    "64:ff9b::a00:1",
    "0.0.0.0",
  ];
  const { resolve } = names({
    "mcp.example": ["1.1.1.1", "10.0.0.9"],
    "auth.example": [...inside, "10.0.0.1", "8.8.8.8"],
  });
  const reached = reachedAddresses(new URL("https://mcp.example/"), resolve);
  await assert.rejects(
    connecting(reached, "auth.example"),
    { code: "refused" },
    "where the server is, nobody knows yet",
  );
  await connecting(reached, "mcp.example");
  for (const address of inside.slice(1)) {
    await assert.rejects(connecting(reached, "auth.example"), { code: "refused" }, address);
  }
  await connecting(reached, "mcp.example");
  await assert.rejects(connecting(reached, "auth.example"), { code: "refused" }, "it was outside before");
  assert.equal((await connecting(reached, "auth.example")).length, 1);
  for (const host of ["127.0.0.1", "[::1]", "10.0.0.1", "localhost", "a.localhost", "[::ffff:127.0.0.1]", "0.0.0.0"]) {
    assert.throws(() => reached.checkHost(host), { code: "refused" }, host);
  }
});

test("a server in a private network leads into it and out of it, and not to this machine", async () => {
  const { resolve } = names({ "mcp.corp": ["10.0.0.1"], "sso.corp": ["10.0.0.2", "1.1.1.1", "127.0.0.1"] });
  const reached = reachedAddresses(new URL("https://mcp.corp/"), resolve);
  await connecting(reached, "mcp.corp");
  await connecting(reached, "sso.corp");
  await connecting(reached, "sso.corp");
  await assert.rejects(connecting(reached, "sso.corp"), { code: "refused" });
});

test("what says that it is on this machine is there", async () => {
  const { resolve } = names({ localhost: ["127.0.0.1 ::1", "10.0.0.1", "1.1.1.1"] });
  const reached = reachedAddresses(new URL("http://localhost:3000/"), resolve);
  assert.equal((await connecting(reached, "localhost")).length, 2);
  await assert.rejects(connecting(reached, "localhost"), { code: "refused" });
  await assert.rejects(connecting(reached, "localhost"), { code: "refused" });
});
