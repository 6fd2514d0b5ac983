import assert from "node:assert/strict";
import { test } from "node:test";

import { defaultPort, isLoopback, listenRuling, type ListenWish } from "./listen-rules.ts";

const wish = (given: Partial<ListenWish>): ListenWish => ({ tls: false, insecure: false, ...given });

test("a daemon listens on loopback and the usual port when nothing is said, and on a free one when that is taken", () => {
  assert.deepEqual(listenRuling(wish({})), { ok: true, host: "127.0.0.1", ports: [defaultPort, 0], loopback: true });
});

test("a daemon comes back where it was, before it tries the usual port", () => {
  const ruling = listenRuling(wish({ lastPort: 40_123 }));
  assert.deepEqual(ruling.ok && ruling.ports, [40_123, defaultPort, 0]);
  const same = listenRuling(wish({ lastPort: defaultPort }));
  assert.deepEqual(same.ok && same.ports, [defaultPort, 0]);
});

test("a port that was asked for is the only one", () => {
  for (const port of [0, 1, 65_535]) {
    const ruling = listenRuling(wish({ port, lastPort: 40_123 }));
    assert.deepEqual(ruling.ok && ruling.ports, [port]);
  }
});

test("every form of loopback needs neither TLS nor a flag", () => {
  const hosts = ["127.0.0.1", "127.1.2.3", "127.255.255.255", "::1", "[::1]", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"];
  for (const host of [...hosts, "localhost", "LOCALHOST"]) {
    const ruling = listenRuling(wish({ host }));
    assert.equal(ruling.ok && ruling.loopback, true, host);
  }
  const named = listenRuling(wish({ host: "localhost" }));
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
    const refused = listenRuling(wish({ host }));
    assert.equal(refused.ok, false, host);
    assert.match(refused.ok ? "" : refused.message, /--tls-cert.*--insecure/, host);
  }
});

test("beyond loopback TLS is enough, and the flag is enough but is warned about", () => {
  for (const host of beyond) {
    const safe = listenRuling(wish({ host, tls: true }));
    assert.deepEqual([safe.ok, safe.ok && safe.loopback, safe.ok && safe.warning], [true, false, undefined], host);
    const open = listenRuling(wish({ host, insecure: true }));
    assert.match((open.ok && open.warning) || "", /in the clear/, host);
  }
});

test("what is no host and what is no port is refused before anything is opened", () => {
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
    const ruling = listenRuling(wish({ host, tls: true }));
    assert.equal(ruling.ok ? "taken" : ruling.code, host === "0x7f.1" ? "taken" : "usage", JSON.stringify(host));
  }
  for (const port of [-1, 65_536, 1.5, Number.NaN]) {
    const ruling = listenRuling(wish({ port }));
    assert.equal(ruling.ok ? "taken" : ruling.code, "usage", String(port));
  }
});

test("only addresses are loopback, whatever a name says", () => {
  for (const text of ["localhost", "127.evil.example", "", "128.0.0.1", "::2"])
    assert.equal(isLoopback(text), false, text);
});
