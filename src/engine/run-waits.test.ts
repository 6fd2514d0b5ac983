import assert from "node:assert/strict";
import { test } from "node:test";
import {
  again,
  answer,
  anything,
  ask,
  killed,
  type Loops,
  never,
  openWaits,
  person,
  started,
  task,
  world,
} from "../../test/support/engine-kit.ts";
import { settle } from "../../test/support/settle.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { messageText, userMessage } from "../protocol/task/message.ts";

test("what a sleep or a select remembers is not given to clean up as a note", async (t) => {
  const notes: unknown[] = [];
  const loops: Loops = {
    one: async (d) => {
      await d.sleep("nap", 1_000);
      await d.select("first", [{ after: 5_000 }]);
    },
  };
  const first = world(tempFolder(t), loops);
  await started(first, "one");
  await settle();
  first.clock.advance(1_000);
  await settle();
  await killed(first, t, loops, { cleanUp: async (note) => void notes.push(note) });
  assert.deepEqual(notes, []);
});

test("select records its winner: the loser stays open and can win the next one, over a restart too", async (t) => {
  const kinds: string[][] = [];
  const loops: Loops = {
    parent: async (d) => {
      const [child = ""] = await d.spawn("kid", [task("child")]);
      const wait = await d.open("wait", { ask, schema: anything });
      const sources = [{ child }, { wait }, { after: 1_000 }];
      const first = await d.select("first", sources);
      const second = await d.select("second", [{ child }, { wait }]);
      kinds.push([first.kind, second.kind]);
      return d.step("hold", again, () => never);
    },
    child: (d) => d.sleep("nap", 5_000).then(() => "late"),
  };
  const first = world(tempFolder(t), loops);
  await started(first, "parent");
  await settle();
  first.clock.advance(1_000);
  await settle();
  const second = await killed(first, t, loops);
  await settle();
  assert.deepEqual(kinds, []);
  const [wait = ""] = openWaits(second);
  assert.deepEqual(await second.engine.deliver(wait, answer("yes"), person), { outcome: "accepted" });
  await settle();
  const third = await killed(second, t, loops);
  await settle();
  assert.deepEqual(kinds, [
    ["after", "wait"],
    ["after", "wait"],
  ]);
  third.clock.advance(5_000);
});

test("of several deadlines in a select the shortest wins, wherever it stands", async (t) => {
  const w = world(tempFolder(t), {
    one: async (d) => (await d.select("first", [{ after: 500 }, { after: 100 }, { after: 300 }])).index,
  });
  t.after(() => w.stop());
  const name = await started(w, "one");
  await settle();
  w.clock.advance(100);
  assert.equal((await w.engine.result(name)).content, 1);
});

test("sleep and select keep the time they are due over a restart", async (t) => {
  const woke: [string, number][] = [];
  const loops: Loops = {
    sleeper: async (d) => {
      await d.sleep("nap", 10_000);
      woke.push(["sleep", await d.now("t")]);
    },
    chooser: async (d) => {
      await d.select("nap", [{ message: true }, { after: 20_000 }]);
      woke.push(["select", await d.now("t")]);
    },
  };
  const first = world(tempFolder(t), loops);
  const begin = first.clock.now();
  await started(first, "sleeper");
  await started(first, "chooser");
  await settle();
  first.clock.advance(9_000);
  const second = await killed(first, t, loops);
  await settle();
  second.clock.advance(1_000);
  await settle();
  const third = await killed(second, t, loops);
  await settle();
  third.clock.advance(30_000);
  await settle();
  assert.deepEqual(
    woke.map(([kind, at]) => [kind, at - begin]),
    [
      ["sleep", 10_000],
      ["select", 40_000],
    ],
  );
});

test("messages are received in order, early ones are kept, none twice over a restart", async (t) => {
  const got: string[][] = [];
  const loops: Loops = {
    one: async (d) => {
      await d.sleep("busy", 1_000);
      const heard: string[] = [];
      for (const index of [0, 1, 2, 3]) {
        const mail = await d.receive(`m${index}`, { block: index < 3 });
        heard.push(mail === undefined ? "none" : messageText(mail));
        if (index === 1) await d.step("pause", again, () => (got.push([...heard]), "ok"));
      }
      return heard;
    },
  };
  const first = world(tempFolder(t), loops);
  const name = await started(first, "one");
  for (const mail of ["a", "b"]) await first.engine.message(name, userMessage(mail));
  await settle();
  first.clock.advance(1_000);
  await settle();
  const second = await killed(first, t, loops);
  await settle();
  await second.engine.message(name, userMessage("c"));
  assert.deepEqual((await second.engine.result(name)).content, ["a", "b", "c", "none"]);
  assert.deepEqual(got, [["a", "b"]]);
});

test("two chains that wait for mail at once get one message each", async (t) => {
  const w = world(tempFolder(t), {
    one: async (d) => {
      const both = await Promise.all([
        d.receive("x", { block: true }),
        d.select("y", [{ message: true }, { after: 99_999 }]),
      ]);
      const [mail, selected] = both;
      return [
        mail === undefined ? "" : messageText(mail),
        selected.kind === "message" ? messageText(selected.value) : selected.kind,
      ];
    },
  });
  t.after(() => w.stop());
  const name = await started(w, "one");
  await settle();
  await Promise.all([w.engine.message(name, userMessage("1")), w.engine.message(name, userMessage("2"))]);
  assert.deepEqual((await w.engine.result(name)).content, ["1", "2"]);
});
