import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";

import {
  again,
  answer,
  anything,
  ask,
  events,
  killed,
  type Loops,
  never,
  openWaits,
  person,
  started,
  task,
  world,
} from "../../test/support/engine-kit.ts";
import { leftByKill } from "../../test/support/kill-process.ts";
import { settle } from "../../test/support/settle.ts";
import { isOnPostgres } from "../../test/support/stores.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { databaseFile } from "../store/sqlite/database.ts";
import { fakeClock } from "./fake-clock.ts";

const yes = { kind: "approval" as const, approved: true };
const no = { kind: "approval" as const, approved: false };

/** A loop whose step never ends: every kill finds it under way. */
function fatal(ran: string[]): Loops {
  return {
    fatal: (d) =>
      d.step("fatal", again, () => {
        ran.push("fatal");
        return never;
      }),
  };
}

test("a task that was under way when the process ended five times in a row is parked and asks; yes runs it once more", async (t) => {
  const ran: string[] = [];
  const loops = fatal(ran);
  let w = world(tempFolder(t), loops);
  const name = await started(w, "fatal");
  await settle();
  for (let restart = 1; restart <= 5; restart += 1) {
    w = await killed(w, t, loops);
    await settle();
    assert.equal(ran.length, 1 + restart);
  }
  for (let restart = 0; restart < 2; restart += 1) {
    w = await killed(w, t, loops);
    await settle();
    assert.equal(ran.length, 6, "it is not run again");
    assert.equal(openWaits(w).length, 1, "one ask, also after another restart");
  }
  const [first = ""] = openWaits(w);
  assert.deepEqual(await w.engine.deliver(first, yes, person), { outcome: "accepted" });
  await settle();
  assert.equal(ran.length, 7);
  w = await killed(w, t, loops);
  await settle();
  assert.equal(ran.length, 7, "once more, not for ever");
  const [second = ""] = openWaits(w);
  assert.notEqual(second, first);
  await w.engine.deliver(second, no, person);
  assert.match(JSON.stringify(await w.engine.result(name)), /5 times in a row, and nobody agreed to try again/);
  await w.stop();
});

test("a parked task can be canceled, and retried", async (t) => {
  const ran: string[] = [];
  const loops = fatal(ran);
  let w = world(tempFolder(t), loops);
  const canceled = await started(w, "fatal");
  const retried = await started(w, "fatal");
  await settle();
  for (let restart = 0; restart < 4; restart += 1) {
    w = await killed(w, t, loops);
    await settle();
  }
  const before = ran.length;
  assert.deepEqual(await w.engine.cancel(canceled, "enough"), [canceled]);
  await w.engine.retry(retried);
  await settle();
  assert.equal(ran.length, before + 1);
  await w.stop();
});

test("a task is not parked that gets further, that only waits, or whose process was stopped as it should be", async (t) => {
  const loops: Loops = {
    further: async (d) => {
      for (let turn = 0; turn < 100; turn += 1) {
        await d.step(`turn ${turn}`, again, () => "done");
        if (turn > 0 && turn % 3 === 0) await d.step(`long ${turn}`, again, () => (turn < cut ? "over" : never));
      }
      return "all";
    },
    waits: (d) => d.wait("a", { ask, schema: anything }),
    parent: async (d) => d.join(await d.spawn("kid", [task("waits")])),
  };
  let cut = 3;
  let w = world(tempFolder(t), loops);
  await started(w, "further");
  await started(w, "parent");
  await settle();
  for (let restart = 0; restart < 6; restart += 1) {
    cut += 3;
    w = await killed(w, t, loops);
    await settle();
  }
  assert.equal(openWaits(w).length, 1, "only the ask of the task itself");
  const [open = ""] = openWaits(w);
  await w.engine.deliver(open, answer("x"), person);
  await settle();

  const ran: string[] = [];
  const stubborn = fatal(ran);
  let other = world(tempFolder(t), stubborn);
  await started(other, "fatal");
  await settle();
  for (let restart = 0; restart < 5; restart += 1) {
    await other.stop();
    other = world(other.folder, stubborn);
    await other.engine.recover();
    await settle();
  }
  assert.equal(ran.length, 6);
  await other.stop();
  await w.stop();
});

test("a task whose step may not be repeated and ends the process each time is parked, whatever it records in between", async (t) => {
  const ran: string[] = [];
  const loops: Loops = {
    fatal: async (d) => {
      for (let turn = 0; turn < 20; turn += 1) {
        await d.step(`think ${turn}`, again, () => "call it again");
        await d.step(`kill ${turn}`, { ...again, repeatable: false }, () => (ran.push("kill"), never)).catch(() => "");
      }
      return "survived";
    },
  };
  let w = world(tempFolder(t), loops);
  await started(w, "fatal");
  await settle();
  for (let restart = 0; restart < 6; restart += 1) {
    w = await killed(w, t, loops);
    await settle();
  }
  assert.equal(ran.length, 6);
  assert.equal(openWaits(w).length, 1);
  await w.stop();
});

test("a parallel wait does not hide a step that ends the process", async (t) => {
  const ran: string[] = [];
  const loops: Loops = {
    both: (d) =>
      Promise.all([
        d.wait("a", { ask, schema: anything }),
        (async () => {
          await d.sleep("nap", 0);
          await new Promise((resolve) => setImmediate(resolve));
          return d.step("fatal", again, () => (ran.push("fatal"), never));
        })(),
      ]),
  };
  let w = world(tempFolder(t), loops);
  await started(w, "both");
  await settle();
  for (let restart = 0; restart < 6; restart += 1) {
    w = await killed(w, t, loops);
    await settle();
  }
  assert.equal(ran.length, 6);
  await w.stop();
});

test("taken over without launching, a tree runs nothing and can be canceled", async (t) => {
  const ran: string[] = [];
  const loops = fatal(ran);
  const first = world(tempFolder(t), loops);
  const name = await started(first, "fatal");
  await settle();
  const second = await killed(first, t, loops, { launch: false });
  await settle();
  assert.equal(ran.length, 1);
  assert.deepEqual(await second.engine.cancel(name, "while down"), [name]);
  assert.equal(events(second.store).at(-1)?.type, "task.canceled");
  await second.stop();
});

test("a tree that cannot be taken over is left as it is and told; the others go on", async (t) => {
  if (isOnPostgres()) return t.skip("it damages the file of the embedded store");
  const ran: string[] = [];
  const loops = fatal(ran);
  const first = world(tempFolder(t), loops);
  const broken = await started(first, "fatal");
  await started(first, "fatal");
  await settle();
  const left: string[] = [];
  const folder = leftByKill(t, first);
  await first.stop();
  const database = new DatabaseSync(databaseFile(folder));
  database.exec("UPDATE tasks SET body = 'damaged' WHERE id = 1");
  database.close();
  const second = world(folder, loops, { onLeft: (root, error) => left.push(`${root} ${error.code}`) });
  await second.engine.recover();
  await settle();
  assert.equal(left.length, 1);
  assert.match(left[0] ?? "", new RegExp(`^${broken} `));
  assert.equal(ran.length, 3);
  await second.stop();
});

test("only the task that ends the process is parked, whatever else was running each time", async (t) => {
  let [deadly, ran] = [false, 0];
  const long = (): Promise<never> => ((ran += 1), never);
  const loops: Loops = {
    long: (d) => d.step("long", again, long),
    fatal: (d) => d.step("fatal", again, () => ((deadly = true), never)),
    caller: async (d) => d.join(await d.spawn("kid", [task("fatal")])),
  };
  const clock = fakeClock();
  let w = world(tempFolder(t), loops, { clock });
  for (const agent of ["long", "caller", "long", "long"]) await started(w, agent);
  await settle();
  let deaths = 0;
  for (; deaths < 20 && deadly; deaths += 1) {
    [deadly, ran] = [false, 0];
    w = await killed(w, t, loops);
    for (let look = 0; look < 6 && !deadly; look += 1) {
      await settle();
      if (!deadly) clock.advance(2_000);
    }
  }
  assert.equal(deaths, 6, "it ended the process once by itself and five times when it was resumed");
  assert.equal(ran, 3, "the others run");
  const raised = events(w.store).filter(({ type }) => type === "ask.raised");
  assert.deepEqual(
    raised.map((event) => w.store.task(event.task)?.agent),
    ["fatal"],
  );
  await w.stop();
});

test("one of very many tasks that ends the process is found and parked within seconds of waiting, and no other", async (t) => {
  const many = 300;
  let [deadly, ran] = [false, 0];
  const loops: Loops = {
    long: (d) => d.step("long", again, () => ((ran += 1), never)),
    fatal: (d) => d.step("fatal", again, () => ((deadly = true), never)),
  };
  const clock = fakeClock();
  let w = world(tempFolder(t), loops, { clock, slots: many });
  for (let index = 0; index < many; index += 1) await started(w, index === many - 1 ? "fatal" : "long");
  await settle();
  let [deaths, trials] = [0, 0];
  for (; deaths < 20 && deadly; deaths += 1) {
    [deadly, ran] = [false, 0];
    w = await killed(w, t, loops, { slots: many });
    for (let look = 0; look < 40 && !deadly && (ran < many - 1 || openWaits(w).length === 0); look += 1) {
      await settle();
      if (!deadly) clock.advance(2_000);
      trials += 1;
    }
  }
  assert.equal(deaths, 6);
  assert.equal(ran, many - 1, "the others run");
  assert.ok(trials < 100, `${trials} trials of two seconds`);
  const raised = events(w.store).filter(({ type }) => type === "ask.raised");
  assert.deepEqual(
    raised.map((event) => w.store.task(event.task)?.agent),
    ["fatal"],
  );
  await w.stop();
});
