import assert from "node:assert/strict";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { openState } from "./open-state.ts";

test("operators that joined with a key are torn down with it, over a restart too; others stay", async (t) => {
  const folder = tempFolder(t);
  const first = await openState(folder);
  const [bad, good] = await Promise.all(["bad", "good"].map((name) => first.keys.add({ name, role: "operator" })));
  const leaving = await first.operators.join(["gate"], bad?.id ?? "");
  const staying = await first.operators.join(["builder"], good?.id ?? "");
  assert.ok(leaving.ok && staying.ok);
  await first.keys.revoke(bad?.id ?? "");
  assert.equal(first.operators.authenticates(leaving.sid, leaving.token), "unknown_sid");
  await first.close();
  const second = await openState(folder);
  t.after(() => second.close());
  assert.deepEqual(
    second.operators.list().map(({ sid }) => sid),
    [staying.sid],
  );
  assert.equal((await second.operators.join(["gate"], good?.id ?? "")).ok, true, "its name is free");
});
