import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { killed, type World, world } from "../../../test/support/engine-kit.ts";
import { settle } from "../../../test/support/settle.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { fakeClock } from "../../engine/fake-clock.ts";
import { messageText, Message } from "../../protocol/task/message.ts";
import { TuttiError } from "../../protocol/error.ts";
import { idInName } from "../../store/names.ts";
import { scheduleTask } from "./root-task.ts";
import { scheduleRunner, type StartScheduled } from "./runner.ts";

const hour = 3_600_000;
const midnight = Date.UTC(2026, 0, 1);

/** A schedule for nine o'clock every day, on a clock that begins at midnight; `started` has what it started. */
async function bench(t: TestContext, { catch_up = false, fails = false, key = "" } = {}) {
  const clock = fakeClock(midnight);
  const started: Parameters<StartScheduled>[0][] = [];
  const revoked = new Set<string>();
  const runner = scheduleRunner({
    clock,
    offset: () => 0,
    isRevoked: (id) => revoked.has(id),
    async start(work) {
      started.push(work);
      if (fails) throw new TuttiError("refused", "the policy is not trusted");
      return { task: `tsk_run${started.length}` };
    },
  });
  const options = { runners: { schedule: runner } };
  const first = world(tempFolder(t), {}, { ...options, clock });
  t.after(() => first.stop());
  const config = {
    cron: "0 9 * * *",
    work: { invocation: "{}" },
    folder: "/p",
    about: "x",
    catch_up,
    ...(key === "" ? {} : { key }),
  };
  const { task } = await first.engine.start(scheduleTask(config));
  await settle();
  const said = ({ store }: World): string[] =>
    store
      .messages(idInName(store.salt, task) ?? 0, 1)
      .map(({ body }) => messageText(Message.parse(JSON.parse(body ?? "null"))));
  const restart = async (before: World): Promise<World> => killed(before, t, {}, options);
  return { first, clock, task, started, said, restart, revoked };
}

const times = (started: readonly Parameters<StartScheduled>[0][]): string[] =>
  started.map(({ at }) => new Date(at).toISOString().slice(0, 16));

test("the work is started at every planned time, once, with the schedule and the time that name it", async (t) => {
  const { first, clock, task, started, said } = await bench(t);
  for (const wait of [9 * hour, 24 * hour]) {
    clock.advance(wait);
    await settle();
  }
  assert.deepEqual(times(started), ["2026-01-01T09:00", "2026-01-02T09:00"]);
  assert.deepEqual([...new Set(started.map(({ schedule }) => schedule))], [task]);
  assert.deepEqual(said(first), ["Started tsk_run1.", "Started tsk_run2."]);
});

test("after a restart before the time, the schedule starts at the time as if nothing had happened", async (t) => {
  const { first, clock, started, restart } = await bench(t);
  clock.advance(8 * hour);
  await settle();
  const second = await restart(first);
  await settle();
  clock.advance(hour);
  await settle();
  assert.deepEqual(times(started), ["2026-01-01T09:00"]);
  await restart(second);
  await settle();
  assert.equal(started.length, 1, "what was started is not started again");
});

test("a schedule starts nothing more once the key that made it is revoked, also when nobody told it", async (t) => {
  const { first, clock, task, started, revoked } = await bench(t, { key: "key_colleague" });
  clock.advance(9 * hour);
  await settle();
  revoked.add("key_colleague");
  clock.advance(24 * hour);
  await settle();
  assert.equal(started.length, 1);
  const { status, content } = await first.engine.result(task);
  assert.equal(status, "failed");
  assert.match(JSON.stringify(content), /API key that made this schedule was revoked/);
});

for (const catch_up of [false, true]) {
  test(`times that were missed are told in one note, and ${catch_up ? "the newest is started" : "none is started"}`, async (t) => {
    const { first, clock, started, said, restart } = await bench(t, { catch_up });
    await first.stop();
    clock.advance(3 * 24 * hour + 12 * hour);
    const second = await restart(first);
    await settle();
    const [note] = said(second);
    assert.match(
      note ?? "",
      /^4 times were missed while Tutti did not run, the newest at 2026-01-04T09:00:00\.000Z\. /,
    );
    assert.match(note ?? "", catch_up ? /made up for now\.$/ : /Nothing is started for them\.$/);
    assert.deepEqual(times(started), catch_up ? ["2026-01-04T09:00"] : []);
    clock.advance(21 * hour);
    await settle();
    assert.equal(times(started).at(-1), "2026-01-05T09:00");
  });
}

test("work that cannot be started is told, and the schedule goes on", async (t) => {
  const { first, clock, started, said } = await bench(t, { fails: true });
  for (const wait of [9 * hour, 24 * hour]) {
    clock.advance(wait);
    await settle();
  }
  assert.equal(started.length, 2);
  assert.match(said(first)[1] ?? "", /could not be started: the policy is not trusted/);
});
