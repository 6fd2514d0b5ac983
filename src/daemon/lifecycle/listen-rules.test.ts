import assert from "node:assert/strict";
import { test } from "node:test";

import { decideListening, defaultPort, isLoopback, type ListenRequest } from "./listen-rules.ts";

const request = (given: Partial<ListenRequest>): ListenRequest => ({ tls: false, insecure: false, ...given });

test("by default a daemon listens on loopback and the usual port, or on a free one if that is in use", () => {
  assert.deepEqual(decideListening(request({})), {
    ok: true,
    host: "127.0.0.1",
    ports: [defaultPort, 0],
    loopback: true,
  });
});

test("a daemon first tries its last port, then the usual one", () => {
  const decision = decideListening(request({ lastPort: 40_123 }));
  assert.deepEqual(decision.ok && decision.ports, [40_123, defaultPort, 0]);
  const same = decideListening(request({ lastPort: defaultPort }));
  assert.deepEqual(same.ok && same.ports, [defaultPort, 0]);
});

test("if a port is asked for, no other is tried", () => {
  for (const port of [0, 1, 65_535]) {
    const decision = decideListening(request({ port, lastPort: 40_123 }));
    assert.deepEqual(decision.ok && decision.ports, [port]);
  }
});

test("every form of loopback needs neither TLS nor a flag", () => {
  const hosts = ["127.0.0.1", "127.1.2.3", "127.255.255.255", "::1", "[::1]", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"];
  for (const host of [...hosts, "localhost", "LOCALHOST"]) {
    const decision = decideListening(request({ host }));
    assert.equal(decision.ok && decision.loopback, true, host);
  }
  const named = decideListening(request({ host: "localhost" }));
  assert.equal(named.ok && named.host, "127.0.0.1");
});

const beyond = [
  "0.0.0.0",
  "::",
  "[::]",
  "192.168.1.4",
  "::ffff:10.0.0.1",
  "fe80::1",
  "tutti.example",
  "localhost.example",
];

test("nothing beyond loopback is listened on without TLS or the explicit flag", () => {
  for (const host of beyond) {
    const refused = decideListening(request({ host }));
    assert.equal(refused.ok, false, host);
    assert.match(refused.ok ? "" : refused.message, /--tls-cert.*--insecure/, host);
  }
});

test("beyond loopback, TLS is enough; the flag is enough too, with a warning", () => {
  for (const host of beyond) {
    const safe = decideListening(request({ host, tls: true }));
    assert.deepEqual([safe.ok, safe.ok && safe.loopback, safe.ok && safe.warning], [true, false, undefined], host);
    const open = decideListening(request({ host, insecure: true }));
    assert.match((open.ok && open.warning) || "", /unencrypted/, host);
  }
});

test("text that is no host and a number that is no port are refused", () => {
  for (const host of [
    "",
    " ",
    "a b",
    "127.0.0.1:80",
    "http://x",
    "1.2.3",
    "999.1.1.1",
    "a..b",
    "-a",
    "a_b",
    "x\n",
    "0x7f.1",
  ]) {
    const decision = decideListening(request({ host, tls: true }));
    assert.equal(decision.ok ? "taken" : decision.code, host === "0x7f.1" ? "taken" : "usage", JSON.stringify(host));
  }
  for (const port of [-1, 65_536, 1.5, Number.NaN]) {
    const decision = decideListening(request({ port }));
    assert.equal(decision.ok ? "taken" : decision.code, "usage", String(port));
  }
});

test("only addresses count as loopback, names do not", () => {
  for (const text of ["localhost", "127.evil.example", "", "128.0.0.1", "::2"])
    assert.equal(isLoopback(text), false, text);
});
