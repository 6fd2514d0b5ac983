// Schedules through the interface of a front, in process and over HTTP.
import assert from "node:assert/strict";
import { test } from "node:test";

import { openKit } from "../../test/support/http-kit.ts";
import { failsWith } from "../../test/support/try-tool.ts";
import { single, named } from "../protocol/invocation/invocation-builders.ts";
import { scheduledStarter } from "../daemon/state/schedule-control.ts";
import { taskBodyIn } from "../engine/task-body.ts";
import { isByProgram } from "../protocol/invocation/by-program.ts";
import { idInName } from "../store/names.ts";
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

test("what people are shown of a schedule has no secrets; its work stays as it was given", async (t) => {
  const kit = await openKit({ runners: { schedule: () => new Promise(() => undefined) } });
  t.after(() => kit.close());
  const goal = { text: "use hunter2" };
  const made = await kit.state.client.addSchedule({
    cron: "0 9 * * *",
    folder: kit.folder,
    about: "with hunter2",
    work: { goal },
  });
  assert.equal(made.about, "with [secret]");
  assert.deepEqual(
    (await kit.state.client.schedules()).map(({ about }) => about),
    ["with [secret]"],
  );
  const row = await kit.state.view.taskRow(idInName(kit.state.view.salt, made.id) ?? 0);
  assert.match(row?.body ?? "", /"text":"use hunter2"/);
});

test("the work of a schedule that a program made is that program's", async (t) => {
  const kit = await openKit({ runners: { schedule: () => new Promise(() => undefined) } });
  t.after(() => kit.close());
  const { key } = await kit.keys.add({ name: "cron", role: "operator" });
  const there = httpClient({ url: kit.http.url, key });
  t.after(() => there.close());
  const invocation = JSON.stringify({ invocation: single(named("a", "go")), agents: { a: { instructions: "x" } } });
  const wanted = { cron: "0 9 * * *", work: { invocation }, folder: kit.folder, about: "the report" };
  const made = await there.addSchedule(wanted);
  const own = await kit.state.client.addSchedule(wanted);
  const isMarked = async (schedule: string): Promise<boolean> => {
    const row = await kit.state.view.taskRow(idInName(kit.state.view.salt, schedule) ?? 0);
    return row !== undefined && isByProgram(taskBodyIn(row.body).config);
  };
  assert.deepEqual([await isMarked(made.id), await isMarked(own.id), own.existed], [true, false, false]);

  const program = { key: "cron", over: "HTTP", may: [], folders: [] } as const;
  const given: unknown[] = [];
  const start = scheduledStarter({
    invoke: async (_, options) => {
      given.push(options.program);
      return { task: "tsk_1", existed: false, warnings: [] };
    },
  });
  const due = { schedule: made.id, at: 1, work: wanted.work, folder: kit.folder };
  await start({ ...due, program });
  await start({ ...due, program: undefined });
  assert.deepEqual(given, [program, undefined]);
});
