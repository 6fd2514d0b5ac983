import assert from "node:assert/strict";
import { test } from "node:test";

import {
  again,
  answer,
  anything,
  ask,
  codeOf,
  events,
  never,
  openWaits,
  person,
  started,
  task,
  terminalTypes,
  world,
} from "../../test/support/engine-kit.ts";
import { settle } from "../../test/support/settle.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { Answer } from "../protocol/task/ask.ts";
import { userMessage } from "../protocol/task/message.ts";

test("a run that is replayed finds everything that it recorded, and goes on (1, 2)", async (t) => {
  const done: string[] = [];
  let lives = 0;
  const w = world(tempFolder(t), {
    child: async () => "child",
    async a(durable) {
      lives += 1;
      const life = lives;
      const step = await durable.step("once", again, () => {
        done.push("once");
        return "one";
      });
      const now = await durable.now("now");
      const [child = ""] = await durable.spawn("child", [task("child")]);
      const [result] = await durable.join([child]);
      const heard = await durable.receive("mail", { block: true });
      await durable.sleep("rest", 1_000);
      // Under way when the first life ends.
      const charge = codeOf(
        durable.step("charge", { repeatable: false, schema: anything }, () => (life === 1 ? never : 1)),
      );
      const question = durable.wait("which", { ask, schema: Answer });
      question.catch(() => undefined);
      if (life === 1) {
        done.push("waits");
        await new Promise((resolve) => setImmediate(resolve));
        return durable.replay();
      }
      const which = await question;
      return [
        step,
        now,
        result?.content,
        heard?.parts.length,
        await charge,
        "value" in which ? which.value : "expired",
      ];
    },
  });
  t.after(() => w.stop());
  const name = await started(w, "a");
  await w.engine.message(name, userMessage("hello"));
  const at = w.clock.now();
  for (let turn = 0; turn < 50 && lives < 2; turn += 1) {
    await settle();
    w.clock.advance(500);
  }
  await settle();
  const [wait = ""] = openWaits(w);
  assert.equal(openWaits(w).length, 1);
  assert.equal((await w.engine.deliver(wait, answer("this"), person)).outcome, "accepted");
  const { status, content } = await w.engine.result(name);
  assert.equal(status, "completed");
  assert.deepEqual(content, ["one", at, "child", 1, "outcome_unknown", answer("this")]);
  assert.deepEqual(done, ["once", "waits"]);
  assert.equal(lives, 2);
  const types = events(w.store).map(({ type }) => type);
  assert.equal(types.filter((type) => type === "task.started").length, 2, "of the task and of its child");
  assert.equal(types.filter((type) => terminalTypes.includes(type)).length, 2);
  assert.equal(types.filter((type) => type === "ask.raised").length, 1);
});

test("a task that is canceled while it is replayed does not begin again (4)", async (t) => {
  let lives = 0;
  const w = world(tempFolder(t), {
    async a(durable) {
      lives += 1;
      await durable.step("once", again, () => "one");
      void w.engine.cancel(durable.task, "enough");
      return durable.replay();
    },
  });
  t.after(() => w.stop());
  const { status } = await w.engine.result(await started(w, "a"));
  await settle();
  assert.deepEqual([status, lives], ["canceled", 1]);
});
