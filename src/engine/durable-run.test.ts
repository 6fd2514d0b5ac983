import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import {
  again,
  anything,
  ask,
  codeOf,
  events,
  killed,
  type Loops,
  never,
  openWaits,
  started,
  task,
  world,
} from "../../test/support/engine-kit.ts";
import { settle } from "../../test/support/settle.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { messageText, userMessage } from "../protocol/task/message.ts";

test("a handover starts the next run under another agent, and a restart finds it there", async (t) => {
  const seenBy: unknown[] = [];
  const loops: Loops = {
    first: async (d) => {
      await d.open("question", { ask, schema: anything });
      return d.handover("to", { agent: "second", input: { from: "first" }, reason: "better at it" });
    },
    second: async (d) => {
      seenBy.push([d.agent, d.run, d.input, d.rights]);
      await d.step("work", again, () => (seenBy.length < 2 ? never : "worked"));
      return "done by second";
    },
  };
  const first = world(tempFolder(t), loops);
  const name = await started(first, "first", { rights: { tools: ["read"], roots: [] } });
  await settle();
  assert.deepEqual(openWaits(first), [], "nobody can hear an answer to the first run's question");
  const second = await killed(first, t, loops);
  assert.equal((await second.engine.result(name)).content, "done by second");
  const same = ["second", 2, { from: "first" }, { tools: ["read"], roots: [] }];
  assert.deepEqual(seenBy, [same, same]);
});

test("invariant 6: a handover cannot widen the task's rights, and the ninth is refused", async (t) => {
  const w = world(tempFolder(t), {
    one: async (d) => {
      const wider = await codeOf(
        d.handover("wider", { agent: "one", input: 0, rights: { tools: ["shell"], roots: [] } }),
      );
      if (wider !== "refused") return wider;
      return d.run <= 8
        ? d.handover("to", { agent: "one", input: 0 })
        : [d.run, await codeOf(d.handover("to", { agent: "one", input: 0 }))];
    },
  });
  t.after(() => w.stop());
  const name = await started(w, "one", { rights: { tools: ["read"], roots: [] } });
  assert.deepEqual((await w.engine.result(name)).content, [9, "refused"]);
});

test("a loop is restored from what it saved and from its messages, and looks up only the keys of its turn", async (t) => {
  const turns: unknown[] = [];
  const loops: Loops = {
    one: async (d) => {
      const found = await d.restore(z.object({ turn: z.number() }));
      turns.push(["restored", found?.state.turn, found?.messages.map(messageText)]);
      for (let turn = found?.state.turn ?? 0; turn < 3; turn += 1) {
        d.say(`say${turn}`, userMessage(`turn ${turn}`));
        await d.step(`work${turn}`, again, () => (turns.push(turn), "ok"));
        d.save(`save${turn}`, { turn: turn + 1 });
        await d.sleep(`nap${turn}`, 100);
      }
      return "all";
    },
  };
  const first = world(tempFolder(t), loops);
  const name = await started(first, "one");
  await settle();
  first.clock.advance(100);
  await settle();
  const second = await killed(first, t, loops);
  await settle();
  second.clock.advance(100);
  await settle();
  second.clock.advance(100);
  assert.equal((await second.engine.result(name)).content, "all");
  assert.deepEqual(turns, [["restored", undefined, undefined], 0, 1, ["restored", 2, ["turn 0", "turn 1"]], 2]);
});

test("after a cancel every operation throws canceled, even to a loop that catches everything", async (t) => {
  const codes: string[] = [];
  const w = world(tempFolder(t), {
    one: async (d) => {
      codes.push(await codeOf(d.wait("ask", { ask, schema: anything })));
      codes.push(await codeOf(d.step("a", again, () => "a")));
      codes.push(await codeOf(d.spawn("k", [task("one")])));
      codes.push(await codeOf(d.receive("m", { block: false })));
      return "as if nothing had happened";
    },
  });
  t.after(() => w.stop());
  const name = await started(w, "one");
  await settle();
  await w.engine.cancel(name, "enough");
  await settle();
  assert.deepEqual(codes, ["canceled", "canceled", "canceled", "canceled"]);
  assert.equal((await w.engine.result(name)).status, "canceled");
  const types = events(w.store).map((event) => event.type);
  assert.deepEqual(types.slice(types.indexOf("task.canceled")), ["task.canceled", "ask.withdrawn"]);
});

test("now and id are the same after a restart", async (t) => {
  const told: unknown[] = [];
  const loops: Loops = {
    one: async (d) => {
      told.push([await d.now("n"), await d.id("i")]);
      return d.step("wait", again, () => never);
    },
  };
  const first = world(tempFolder(t), loops);
  await started(first, "one");
  await settle();
  first.clock.advance(5_000);
  await killed(first, t, loops);
  await settle();
  assert.deepEqual(told[0], told[1]);
});
