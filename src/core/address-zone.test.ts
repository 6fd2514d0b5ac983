import assert from "node:assert/strict";
import { test } from "node:test";

import { addressZone, zoneOfHost } from "./address-zone.ts";

test("an address is told by where it leads, in every form that it can have", () => {
  const zones = {
    "this machine":
      "127.0.0.1 127.255.0.9 ::1 0:0:0:0:0:0:0:1 ::ffff:127.0.0.1 ::ffff:7f00:1 64:ff9b::7f00:1 2002:7f00:1::",
    private:
      "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 100.127.255.255 fc00::1 fd12:3456::1 fec0::1 ::ffff:10.1.2.3 64:ff9b:1::1 64:ff9b::a00:1 2002:c0a8:101::1",
    unusable:
      "0.0.0.0 0.1.2.3 169.254.169.254 ::ffff:169.254.169.254 :: ::127.0.0.1 fe80::1 fe80::1%eth0 ff02::1 224.0.0.1 255.255.255.255 240.0.0.1 203.0.113.9 2001:db8::1 2001::1 64:ff9b::a9fe:a9fe 0177.0.0.1 127.1 2130706433 1.2.3.256 localhost mcp.example 1::2::3",
    public:
      "1.1.1.1 172.15.0.1 172.32.0.1 100.63.0.1 100.128.0.1 2606:4700::1111 ::ffff:1.1.1.1 64:ff9b::101:101 2002:101:101::1",
  };
  for (const [zone, addresses] of Object.entries(zones)) {
    for (const address of addresses.split(" ")) assert.equal(addressZone(address), zone, address);
  }
});

test("the host of an address on the web tells its zone if it is an address or this machine, and otherwise does not", () => {
  const hostOf = (url: string): string => new URL(url).hostname;
  for (const url of [
    "http://localhost:1",
    "http://a.localhost.",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://[::ffff:127.0.0.1]/",
  ]) {
    assert.equal(zoneOfHost(hostOf(url)), "this machine", url);
  }
  assert.equal(zoneOfHost(hostOf("https://10.0.0.1/")), "private");
  assert.equal(zoneOfHost(hostOf("https://[fe80::1]/")), "unusable");
  for (const url of ["https://mcp.example/", "https://localhost.example/", "https://notlocalhost/"]) {
    assert.equal(zoneOfHost(hostOf(url)), undefined, url);
  }
});
