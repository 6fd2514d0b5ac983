import assert from "node:assert/strict";
import { test } from "node:test";

import { openKit } from "../../../test/support/http-kit.ts";
import { failsWith } from "../../../test/support/try-tool.ts";

test("a goal whose manager has not begun is asked about again, and one that ended before is not there", async (t) => {
  const kit = await openKit({ runners: { manager: () => new Promise(() => undefined) } });
  t.after(() => kit.close());
  const { client } = kit.state;
  await client.pause();
  const { goal, task } = await client.startGoal({ text: "make it right", folder: kit.folder, script: { rules: [] } });
  for (const look of [client.goal(goal), client.goalReport(goal)]) {
    await assert.rejects(look, failsWith("busy", /has not begun yet; ask again in a moment/));
  }
  await client.cancel(task, "not needed");
  await assert.rejects(client.goal(goal), failsWith("not_found", /ended before its manager began/));
  await assert.rejects(client.goal("gol_none_1"), failsWith("not_found", /there is no goal/));
});
