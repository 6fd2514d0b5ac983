import assert from "node:assert/strict";
import { test } from "node:test";

import {
  again,
  answer,
  anything,
  ask,
  gate,
  type Loops,
  openWaits,
  person,
  seen,
  started,
  task,
  text,
  world,
} from "../../test/support/engine-kit.ts";
import { settle } from "../../test/support/settle.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { TuttiError } from "../protocol/error.ts";
import { idInName } from "../store/names.ts";

const usage = { input_tokens: 1, output_tokens: 1, money_micro_usd: 1 };

test("a tree that is released ends its loops, records no end, and goes on where it is adopted", async (t) => {
  let ran = 0;
  const loops: Loops = {
    one: async (d) => {
      ran += 1;
      await d.step("first", again, () => "1");
      await d.wait("q", { ask, schema: anything });
      return `run ${ran}`;
    },
    other: async (d) => {
      await d.wait("q", { ask, schema: anything });
      return "undisturbed";
    },
  };
  const w = world(tempFolder(t), loops);
  t.after(() => w.stop());
  const [name, other] = [await started(w, "one"), await started(w, "other")];
  await settle();
  const root = idInName(w.store.salt, name) ?? 0;
  await w.engine.release(name);
  assert.equal(seen(w.folder, `SELECT status FROM open WHERE task = ${root}`)[0]?.["status"], "input_required");
  const [mine = "", theirs = ""] = openWaits(w);
  assert.equal((await w.engine.deliver(mine, answer("x"), person)).outcome, "unknown", "nobody here works on it");
  await w.engine.deliver(theirs, answer("y"), person);
  assert.equal((await w.engine.result(other)).content, "undisturbed");
  assert.equal(await w.engine.adopt(root, { downSince: w.clock.now() }), 1);
  await w.engine.deliver(mine, answer("x"), person);
  assert.equal((await w.engine.result(name)).content, "run 2");
});

test("a tree whose events do not follow from each other is refused by name; the others are taken over", async (t) => {
  const loops: Loops = { one: (d) => d.wait("q", { ask, schema: anything }) };
  const first = world(tempFolder(t), loops);
  const names = [await started(first, "one"), await started(first, "one")];
  await settle();
  // The first run of a tree has the number of its root.
  const run = idInName(first.store.salt, names[0] ?? "") ?? 0;
  first.store.addEvent({ run, at: 1, type: "task.started", body: null });
  await first.store.committed();
  await first.stop();
  const second = world(first.folder, loops, { clock: first.clock });
  t.after(() => second.stop());
  const [broken = 0, whole = 0] = names.map((name) => idInName(second.store.salt, name));
  await assert.rejects(second.engine.adopt(broken, { downSince: 0 }), (thrown) => {
    return (
      thrown instanceof TuttiError && thrown.code === "corrupt" && /task.started cannot happen/.test(thrown.message)
    );
  });
  assert.equal(await second.engine.adopt(whole, { downSince: 0 }), 1);
});

test("a paid call does not begin while earlier records of its run are not on disk", async (t) => {
  const missing: string[] = [];
  const folder = tempFolder(t);
  const w = world(folder, {
    one: async (d) => {
      for (let turn = 0; turn < 5; turn += 1) {
        await d.step(`free.${turn}`, { repeatable: true, schema: text }, () => "done");
        d.say(`said.${turn}`, { name: null, role: "user", parts: [] });
        await d.step(`paid.${turn}`, { repeatable: true, schema: text, reserve: usage }, () => {
          const keys = new Set(seen(folder, "SELECT key FROM log").map((row) => row["key"]));
          for (const before of [`free.${turn}`, `said.${turn}`]) if (!keys.has(before)) missing.push(before);
          return "paid";
        });
      }
      return "ok";
    },
  });
  t.after(() => w.stop());
  await w.engine.result(await started(w, "one"));
  assert.deepEqual(missing, []);
});

test("a run that is canceled while its paid call waits for the disk leaves nothing held against the budget", async (t) => {
  const tight = { input_tokens: 60, output_tokens: 0, money_micro_usd: 0 };
  const loops: Loops = {
    parent: async (d) => {
      const [kid = ""] = await d.spawn("kid", [task("kid")]);
      await d.cancel("enough", kid);
      return d.step("own", { repeatable: true, schema: text, reserve: tight }, () => "there was enough left");
    },
    kid: async (d) => {
      d.say("said", { name: null, role: "user", parts: [] });
      return d.step("paid", { repeatable: true, schema: text, reserve: tight }, () => "paid");
    },
  };
  const w = world(tempFolder(t), loops);
  t.after(() => w.stop());
  const result = await w.engine.result(await started(w, "parent", { budget: { tokens: 100 } }));
  assert.equal(result.content, "there was enough left");
});

test("runners of a tree are resolved once, by the first task that needs one, and again only after a failure", async (t) => {
  let resolved = 0;
  let broken = true;
  const w = world(
    tempFolder(t),
    {},
    {
      runners: {},
      treeRunners: {
        kinds: ["loop"],
        resolve: async () => {
          resolved += 1;
          if (broken) throw new TuttiError("invalid_input", "the config is broken");
          return { loop: async (d) => (d.agent === "leaf" ? "leaf" : d.join(await d.spawn("kids", leaves))) };
        },
      },
    },
  );
  t.after(() => w.stop());
  const failed = await w.engine.result(await started(w, "root"));
  assert.equal(failed.status, "failed");
  broken = false;
  const [before] = [resolved];
  assert.equal((await w.engine.result(await started(w, "root"))).status, "completed");
  assert.equal(resolved - before, 1);
});

const leaves = Array.from({ length: 3 }, () => ({
  runner: { kind: "loop", config: {} },
  agent: "leaf",
  input: null,
  rights: { tools: "*", roots: [] } as const,
}));

test("many trees are started and idle at once", async (t) => {
  const hold = gate();
  const w = world(tempFolder(t), { one: (d) => d.step("s", again, async () => (await hold.opened, "")) });
  t.after(() => w.stop());
  for (let count = 0; count < 5; count += 1) await started(w, "one");
  hold.open();
  await w.engine.idle();
  assert.equal(seen(w.folder, "SELECT COUNT(*) AS n FROM results")[0]?.["n"], 5);
});
