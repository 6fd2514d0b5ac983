import assert from "node:assert/strict";
import { test } from "node:test";

import { addressGroup } from "./address-group.ts";

test("an IPv4 address counts by itself, however it is written, and an IPv6 address by its network", () => {
  assert.equal(addressGroup("127.0.0.1"), "127.0.0.1");
  assert.equal(addressGroup("::ffff:10.0.0.7"), "10.0.0.7");
  assert.equal(addressGroup("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2");
  assert.equal(addressGroup("2001:db8:1:2::9"), addressGroup("2001:db8:1:2:ffff::1"));
  assert.notEqual(addressGroup("2001:db8:1:2::9"), addressGroup("2001:db8:1:3::9"));
  assert.equal(addressGroup("::1"), "0:0:0:0");
  assert.equal(addressGroup("fe80::1%eth0"), "fe80:0:0:0");
  assert.equal(addressGroup(""), "");
});
