import assert from "node:assert/strict";
import { test } from "node:test";

import { up } from "../../test/support/cli-daemon.ts";
import { bench } from "../../test/support/cli-process.ts";

test("tutti open prints an address that signs a page in once, with the rights of the owner's key", async (t) => {
  const b = bench(t);
  const { url } = up(b);
  const printed = b.run("open", "--print");
  assert.equal(printed.status, 0, printed.err);
  assert.match(printed.err, /within a minute; it works once/);
  const address = new URL(printed.out.trim());
  assert.deepEqual([address.origin, address.pathname, address.search], [url, "/", ""]);
  const code = new URLSearchParams(address.hash.slice(1)).get("code");
  const signIn = (): Promise<Response> =>
    fetch(`${url}/v1/sign-in`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
    });
  const signedIn = await signIn();
  assert.equal(signedIn.status, 201);
  assert.partialDeepStrictEqual(await signedIn.json(), { key: { name: "admin", role: "admin" } });
  assert.equal((await signIn()).status, 401);

  const { url: second, expires_at } = JSON.parse(b.run("open", "--json").out);
  assert.match(second, /#code=tc_/);
  assert.ok(expires_at > Date.now());
  const wrong = b.run("open", "last", "--print");
  assert.deepEqual([wrong.status, /leave the task out/.test(wrong.err)], [2, true]);
});
