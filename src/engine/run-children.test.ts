import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import {
  again,
  codeOf,
  gate,
  killed,
  type Loops,
  never,
  seen,
  started,
  task,
  world,
} from "../../test/support/engine-kit.ts";
import { settle } from "../../test/support/settle.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { userMessage } from "../protocol/task/message.ts";

test("a spawn is recorded with its children: after a restart the same ids, no child twice", async (t) => {
  const ids: string[][] = [];
  const loops: Loops = {
    parent: async (d) => {
      ids.push(await d.spawn("kids", [task("child"), task("child")]));
      return d.step("wait", again, () => never);
    },
    child: (d) => d.step("wait", again, () => never),
  };
  const first = world(tempFolder(t), loops);
  await started(first, "parent");
  await settle();
  const second = await killed(first, t, loops);
  await settle();
  assert.equal(ids.length, 2);
  assert.deepEqual(ids[0], ids[1]);
  assert.equal(seen(second.folder, "SELECT COUNT(*) AS n FROM tasks")[0]?.["n"], 3);
});

test("a refused spawn makes no child, and is refused the same way after a restart", async (t) => {
  const codes: string[] = [];
  const loops: Loops = {
    parent: async (d) => {
      const beyond = task("child", { rights: { tools: ["shell"], roots: [] } });
      codes.push(await codeOf(d.spawn("kids", [task("child"), beyond], { shared: true })));
      return d.step("wait", again, () => never);
    },
  };
  const first = world(tempFolder(t), loops);
  await started(first, "parent", { rights: { tools: ["read"], roots: [] } });
  await settle();
  const second = await killed(first, t, loops);
  await settle();
  assert.deepEqual(codes, ["refused", "refused"]);
  assert.equal(second.store.failure, undefined);
  assert.equal(seen(second.folder, "SELECT COUNT(*) AS n FROM tasks")[0]?.["n"], 1);
});

test("what a spawn shares is stored once, and every child and every restart sees it", async (t) => {
  const w = world(tempFolder(t), {
    parent: async (d) => {
      const results = await d.join(
        await d.spawn("kids", [task("child"), task("child", { input: "own" })], { history: ["a"] }),
      );
      return results.map((result) => result.content);
    },
    child: async (d) => [d.shared, d.input, d.rootInput],
  });
  t.after(() => w.stop());
  const result = await w.engine.result(await started(w, "parent", { input: "root" }));
  assert.deepEqual(result.content, [
    [{ history: ["a"] }, null, "root"],
    [{ history: ["a"] }, "own", "root"],
  ]);
  assert.equal(seen(w.folder, "SELECT COUNT(*) AS n FROM log WHERE body LIKE '%history%'")[0]?.["n"], 1);
});

test("invariant 5: join returns every result in the order asked, the failed ones too, live as after a restart", async (t) => {
  const hold = gate();
  const loops: Loops = {
    parent: async (d) => {
      const ids = await d.spawn("kids", [task("slow"), task("bad"), task("quick")]);
      const results = await d.join([...ids, ...ids.toReversed()]);
      const told = results.map((result) => (result.status === "completed" ? result.content : result.status));
      await d.step("pause", again, () => hold.opened.then(() => ""));
      return told;
    },
    slow: async (d) => {
      await d.sleep("nap", 50);
      return { slow: new Date(0) };
    },
    bad: async () => {
      throw new Error("bad");
    },
    quick: async () => "quick",
  };
  const first = world(tempFolder(t), loops);
  const name = await started(first, "parent");
  await settle();
  first.clock.advance(50);
  await settle();
  const second = await killed(first, t, loops);
  await settle();
  hold.open();
  const slow = { slow: "1970-01-01T00:00:00.000Z" };
  assert.deepEqual((await second.engine.result(name)).content, [slow, "failed", "quick", "quick", "failed", slow]);
});

test("a join gets what JSON keeps of a result, the same live as after a restart", async (t) => {
  const w = world(tempFolder(t), {
    parent: async (d) => {
      const [result] = await d.join(await d.spawn("kid", [task("child")]));
      return typeof z.object({ at: z.unknown() }).parse(result?.content).at;
    },
    child: async () => ({ at: new Date(0) }),
  });
  t.after(() => w.stop());
  assert.equal((await w.engine.result(await started(w, "parent"))).content, "string");
});

test("only own descendants may be joined, selected, written to, canceled or looked at", async (t) => {
  const codes: string[] = [];
  let stranger = "";
  const w = world(tempFolder(t), {
    stranger: (d) => d.sleep("long", 1_000),
    one: async (d) => {
      codes.push(await codeOf(d.join([stranger])));
      codes.push(await codeOf(d.select("s", [{ message: true }, { child: stranger }])));
      codes.push(await codeOf(d.send("m", stranger, userMessage("hi"))));
      codes.push(await codeOf(d.cancel("c", stranger)));
      codes.push(await codeOf(d.snapshot("l", [stranger])));
      codes.push(await codeOf(d.join([d.task])));
      return d.receive("mail", { block: true });
    },
  });
  t.after(() => w.stop());
  stranger = await started(w, "stranger");
  const name = await started(w, "one");
  await settle();
  assert.deepEqual(codes, ["refused", "refused", "refused", "refused", "refused", "refused"]);
  await w.engine.message(name, userMessage("still there"));
  const { content } = await w.engine.result(name);
  assert.equal(
    z.object({ parts: z.array(z.object({ data: z.string() })) }).parse(content).parts[0]?.data,
    "still there",
  );
});

test("state saved before a join, replayed after a restart, is no conflict", async (t) => {
  const loops: Loops = {
    one: async (d) => {
      d.save("s", { n: 1 });
      await d.join(await d.spawn("kid", [task("child")]));
      d.save("s2", { n: 2 });
      await d.join(await d.spawn("kid2", [task("child")]));
      return "fine";
    },
    child: (d) => d.sleep("nap", 100),
  };
  let w = world(tempFolder(t), loops);
  const name = await started(w, "one");
  for (let restart = 0; restart < 3; restart += 1) {
    await settle();
    w = await killed(w, t, loops);
    await settle();
    assert.equal(w.store.failure, undefined);
    w.clock.advance(100);
  }
  await settle();
  assert.equal((await w.engine.result(name)).content, "fine");
});
