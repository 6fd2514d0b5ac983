import assert from "node:assert/strict";
import { test } from "node:test";

import { InvalidArgumentError } from "commander";

import { commaList, graceSeconds, portNumber, positiveInteger } from "./options.ts";

function refuses(parse: (text: string) => unknown, texts: readonly string[]): void {
  for (const text of texts) assert.throws(() => parse(text), InvalidArgumentError, JSON.stringify(text));
}

test("a list is split at commas; spaces around the items and empty items do not count", () => {
  assert.deepEqual(commaList(" read, write ,,run "), ["read", "write", "run"]);
  assert.deepEqual(commaList(""), []);
});

test("a count is a whole number above 0", () => {
  assert.equal(positiveInteger("20"), 20);
  refuses(positiveInteger, ["0", "-1", "1.5", "many", "", "1e400"]);
});

test("a port is a number from 0 to 65535", () => {
  assert.deepEqual(["0", "7878", "65535"].map(portNumber), [0, 7878, 65_535]);
  refuses(portNumber, ["65536", "-1", "0x10", "1.5", "", "http"]);
});

test("a grace is a number of seconds up to ten minutes, with decimals", () => {
  assert.deepEqual(["0", "2.5", "600"].map(graceSeconds), [0, 2.5, 600]);
  refuses(graceSeconds, ["601", "-1", "soon", "1e3", ""]);
});
