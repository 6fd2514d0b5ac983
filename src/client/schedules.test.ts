// Schedules through the interface of a front, in process and over HTTP.
import assert from "node:assert/strict";
import { test } from "node:test";

import { openKit } from "../../test/support/http-kit.ts";
import { failsWith } from "../../test/support/try-tool.ts";
import { single, named } from "../protocol/invocation/invocation-builders.ts";
import { httpClient } from "./http-client.ts";

test("a schedule is made once, listed with its next time, and removed, in process and over HTTP", async (t) => {
  const kit = await openKit({ runners: { schedule: () => new Promise(() => undefined) } });
  t.after(() => kit.close());
  const there = httpClient({ url: kit.http.url, key: kit.key });
  t.after(() => there.close());
  const here = kit.state.client;
  const invocation = JSON.stringify({ invocation: single(named("a", "go")), agents: { a: { instructions: "x" } } });
  const wanted = { cron: "0 9 * * *", work: { invocation }, folder: kit.folder, about: "the report" };
  const made = await there.addSchedule(wanted);
  assert.deepEqual([made.existed, made.catch_up, new Date(made.next_at).getHours()], [false, false, 9]);
  assert.deepEqual(await here.addSchedule(wanted), { ...made, existed: true });
  const other = await here.addSchedule({ ...wanted, cron: "@hourly" });
  const { existed: _, ...listed } = made;
  const [first, second] = await there.schedules();
  assert.deepEqual([first, second?.id], [listed, other.id]);
  assert.deepEqual(await here.schedules(), await there.schedules());
  await there.removeSchedule(made.id);
  assert.deepEqual(
    (await here.schedules()).map(({ id }) => id),
    [other.id],
  );
  await assert.rejects(
    there.removeSchedule("tsk_none"),
    failsWith("not_found", /no schedule tsk_none|no task|tsk_none/),
  );
  await assert.rejects(there.addSchedule({ ...wanted, cron: "x" }), failsWith("invalid_input", /needs five fields/));
  await assert.rejects(there.addSchedule({ ...wanted, folder: "." }), failsWith("invalid_input", /absolute path/));
  await assert.rejects(
    here.addSchedule({ ...wanted, work: { goal: {} } }),
    failsWith("invalid_input", /the goal cannot be used: text/),
  );
  await assert.rejects(
    here.addSchedule({ ...wanted, work: { invocation: "{}" } }),
    failsWith("invalid_input", /the invocation cannot be used/),
  );
});
