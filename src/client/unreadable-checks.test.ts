// Checks of a person that could never run are refused through every interface of a front, before a goal begins.
import assert from "node:assert/strict";
import { test } from "node:test";

import { openKit } from "../../test/support/http-kit.ts";
import { failsWith } from "../../test/support/try-tool.ts";
import type { StartGoal } from "../protocol/api/goal-shapes.ts";
import { httpClient } from "./http-client.ts";

test("a goal or a schedule with a check that needs a shell, or is none, is refused, and nothing begins", async (t) => {
  const kit = await openKit({ runners: { schedule: () => new Promise(() => undefined) } });
  t.after(() => kit.close());
  const there = httpClient({ url: kit.http.url, key: kit.key });
  t.after(() => there.close());
  const here = kit.state.client;
  const refused: readonly (readonly [Partial<StartGoal>, RegExp])[] = [
    [{ checks: ["make && make test"] }, /"make && make test" cannot be run: "&&" needs a shell.*several checks.*sh -c/],
    [{ checks: ["npm test", "npm test | tail"] }, /"\|" needs a shell/],
    [{ checks: [{ run: [" "] }] }, /it names no program/],
    [{ accept: [{ text: "it is right", by: "" }] }, /the check "" cannot be run: it names no program/],
    [{ accept: ["it is right", { text: "it is fast", by: "a; b" }] }, /";" needs a shell/],
  ];
  for (const [more, why] of refused) {
    const goal = { text: "make it right", ...more };
    for (const client of [here, there]) {
      await assert.rejects(client.startGoal({ ...goal, folder: kit.folder }), failsWith("invalid_input", why));
      const schedule = { cron: "0 9 * * *", folder: kit.folder, about: "right", work: { goal } };
      await assert.rejects(client.addSchedule(schedule), failsWith("invalid_input", why));
    }
  }
  assert.deepEqual([(await here.goals({})).goals.length, (await here.schedules()).length], [0, 0]);
});
