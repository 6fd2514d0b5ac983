import assert from "node:assert/strict";
import { mkdirSync, rmdirSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { watchDiskSpace } from "./disk-space.ts";

test("with less free than asked for, new work is refused with how much is there and how much is needed", (t) => {
  const folder = tempFolder(t);
  const { bsize, blocks } = statfsSync(folder);
  const problem = watchDiskSpace(folder, { minFreeBytes: bsize * blocks + 1 })();
  assert.equal(problem?.code, "disk_full");
  assert.match(
    problem?.message ?? "",
    /is almost full: [\d.]+ MiB are free, and new work needs [\d.]+ MiB; free some space/,
  );
  assert.equal(watchDiskSpace(folder, { minFreeBytes: 0 })(), undefined);
});

test("the disk is looked at five times a second at most, and at once after the clock was set back", (t) => {
  const folder = join(tempFolder(t), "later");
  let now = 1_000_000;
  const disk = watchDiskSpace(folder, { minFreeBytes: 1e18, now: () => now });
  assert.equal(disk(), undefined, "there is no folder to look at yet");
  mkdirSync(folder);
  now += 199;
  assert.equal(disk(), undefined);
  now += 1;
  assert.equal(disk()?.code, "disk_full");
  rmdirSync(folder);
  assert.equal(disk()?.code, "disk_full");
  now -= 5_000;
  assert.equal(disk(), undefined);
});

test("a disk that does not say how full it is refuses nothing", (t) => {
  assert.equal(watchDiskSpace(join(tempFolder(t), "missing"), { minFreeBytes: 1e18 })(), undefined);
});
