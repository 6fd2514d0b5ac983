import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { homeName, removeOldHomes } from "./old-homes.ts";

test("homes of tasks that are over are removed with the logins in them; those of others stay", async (t) => {
  const homes = tempFolder(t);
  const [over, open] = [homeName("tsk_a_1", 2), homeName("tsk_a_2", 1)];
  for (const name of [over, open, "notes"]) {
    mkdirSync(join(homes, name));
    writeFileSync(join(homes, name, "login.json"), "{}");
  }
  await removeOldHomes(homes, async (task) => task === "tsk_a_1");
  assert.deepEqual(readdirSync(homes).toSorted(), ["notes", open]);
  await removeOldHomes(join(homes, "none"), async () => true);
});
