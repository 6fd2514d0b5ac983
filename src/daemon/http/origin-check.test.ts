import assert from "node:assert/strict";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";

import { originCheck } from "./origin-check.ts";

function requestFrom(origin: string | undefined): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  if (origin !== undefined) request.headers.origin = origin;
  return request;
}

const rules = { secure: false, allowedHosts: [], allowedOrigins: [] };

test("a default port may be written or left out, in Host and in Origin", () => {
  const check = originCheck(rules, 80);
  for (const host of ["localhost", "localhost:80", "LOCALHOST", "127.0.0.1", "[::1]:80"]) {
    assert.deepEqual(check(requestFrom(undefined), host), {}, host);
  }
  for (const [host, origin] of [
    ["localhost", "http://localhost"],
    ["localhost:80", "http://localhost"],
    ["localhost", "http://localhost:80"],
  ] as const) {
    assert.deepEqual(check(requestFrom(origin), host), {}, `${host} ${origin}`);
  }
  assert.ok(check(requestFrom("http://localhost:443"), "localhost").error !== undefined);
  const behindProxy = { ...rules, allowedHosts: ["tutti.example"], allowedOrigins: ["https://tutti.example"] };
  const proxied = originCheck(behindProxy, 7878);
  for (const [host, origin] of [
    ["tutti.example:443", "https://tutti.example"],
    ["tutti.example", "https://tutti.example:443"],
  ] as const) {
    assert.deepEqual(proxied(requestFrom(origin), host), { allowed: origin }, `${host} ${origin}`);
  }
  assert.ok(proxied(requestFrom(undefined), "localhost").error !== undefined, "our port is not a default port");
});
