// Amounts of data as a page shows them.
import assert from "node:assert/strict";
import { test } from "node:test";

import { bytes } from "./show-bytes.ts";

test("an amount has a unit in which its number is short", () => {
  assert.deepEqual([0, 512, 1_023, 1_024, 1_536, 10_240, 1_048_575, 200 * 2 ** 20, 5 * 2 ** 30, 2 ** 50].map(bytes), [
    "0 bytes",
    "512 bytes",
    "1023 bytes",
    "1 KiB",
    "1.5 KiB",
    "10 KiB",
    "1 MiB",
    "200 MiB",
    "5 GiB",
    "1024 TiB",
  ]);
});
