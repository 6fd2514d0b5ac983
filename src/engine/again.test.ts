import assert from "node:assert/strict";
import { test } from "node:test";

import { z } from "zod";

import {
  anything,
  codeOf,
  events,
  gate,
  killed,
  type Loops,
  openWaits,
  person,
  seen,
  started,
  task,
  text,
  world,
} from "../../test/support/engine-kit.ts";
import { settle, ticks } from "../../test/support/settle.ts";
import { fewestCommits } from "../../test/support/stores.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import type { Durable } from "../ports.ts";
import { userMessage } from "../protocol/task/message.ts";

const repeatable = { repeatable: true, schema: text } as const;
const Ended = z.object({ outcome: z.string(), reason: z.string() });

test("again gives the attempt up with its reason, ends its children and waits, and the next attempt begins anew", async (t) => {
  const loops: Loops = {
    root: async (d) => {
      if (d.attempt > 1)
        return [d.attempt, d.run, (await d.messages()).length, await d.step("s", repeatable, () => "2")];
      d.say("hello", userMessage("first try"));
      await d.step("s", repeatable, () => "1");
      await d.spawn("kids", [task("kid"), task("kid", { detached: true })]);
      await d.open("left", { label: "left", schema: anything });
      return d.again("again", { reason: "the worker fell silent" });
    },
    kid: (d) => d.wait("for ever", { label: "kid", schema: anything }),
  };
  const w = world(tempFolder(t), loops);
  t.after(() => w.stop());
  const name = await started(w, "root");
  assert.deepEqual((await w.engine.result(name)).content, [2, 1, 0, "2"]);
  await w.engine.idle();
  const told = events(w.store).filter((event) => event.type === "attempt.ended");
  assert.deepEqual(
    told.map((event) => [event.attempt, Ended.parse(JSON.parse(event.body ?? ""))]),
    [[1, { outcome: "unknown", reason: "the worker fell silent" }]],
  );
  assert.deepEqual(openWaits(w), []);
  assert.deepEqual(
    seen(w.folder, "SELECT status FROM results ORDER BY task").map((row) => row["status"]),
    ["completed", "canceled", "canceled"],
  );
});

test("an answer to a wait of the attempt that was given up is late, and the next attempt hears nothing of it", async (t) => {
  const begun = gate();
  const w = world(tempFolder(t), {
    root: async (d) => {
      const wait = await d.open("result", { label: "result", schema: text });
      if (d.attempt === 1) {
        await begun.opened;
        return d.again("again", { reason: "too slow" });
      }
      const selected = await d.select("first", [{ wait }]);
      return selected.kind === "wait" ? selected.value : null;
    },
  });
  t.after(() => w.stop());
  const name = await started(w, "root");
  await settle();
  const [old = ""] = openWaits(w);
  begun.open();
  await settle();
  const late = await w.engine.deliver(old, "from the first", person);
  assert.deepEqual(late.outcome === "late" && late.settled, { kind: "withdrawn" });
  await w.engine.deliver(openWaits(w)[0] ?? "", "from the second", person);
  assert.deepEqual((await w.engine.result(name)).content, { value: "from the second", by: person });
});

test("a task has eight attempts, then it is refused another and can still end well", async (t) => {
  const w = world(tempFolder(t), {
    stubborn: async (d) => {
      const code = await codeOf(d.attempt < 8 ? Promise.resolve() : d.again("more", { reason: "no luck" }));
      return d.attempt < 8 ? d.again("again", { outcome: "failed", reason: "no luck" }) : [d.attempt, code];
    },
    failing: (d) => d.again("again", { reason: "no luck" }),
  });
  t.after(() => w.stop());
  const [stubborn, failing] = [await started(w, "stubborn"), await started(w, "failing")];
  assert.deepEqual((await w.engine.result(stubborn)).content, [8, "refused"]);
  const failed = await w.engine.result(failing);
  assert.deepEqual([failed.status, /tried 8 times/.test(JSON.stringify(failed.content))], ["failed", true]);
});

test("invariant 3: killed after any commit, a task that gives up twice has each attempt once and ends the same", async (t) => {
  const loops: Loops = {
    root: async (d) => {
      const ids = await d.spawn("kid", [task("kid", { input: d.attempt })]);
      const [result] = await d.join(ids);
      const said = await d.step("s", repeatable, () => ticks(2).then(() => `s${d.attempt}`));
      if (d.attempt < 3) return d.again("again", { reason: `try ${d.attempt}` });
      return [d.attempt, said, result?.content];
    },
    kid: (d) => d.step("k", repeatable, () => ticks(1).then(() => `k${String(d.input)}`)),
  };
  let commits = 0;
  for (let kill = 1; kill <= commits + 1 && kill < 60; kill += 1) {
    const first = world(tempFolder(t), loops);
    const reached = gate();
    let count = 0;
    first.store.onCommit(() => {
      count += 1;
      if (count === kill) reached.open();
    });
    const name = await started(first, "root");
    await Promise.race([reached.opened, first.engine.result(name)]);
    const second = await killed(first, t, loops);
    assert.deepEqual((await second.engine.result(name)).content, [3, "s3", "k3"], `killed after commit ${kill}`);
    const all = events(second.store);
    const reasons = all.flatMap((event) =>
      event.type === "attempt.ended" ? [Ended.parse(JSON.parse(event.body ?? "")).reason] : [],
    );
    assert.deepEqual(reasons, ["try 1", "try 2"], `killed after commit ${kill}`);
    const begun = all.filter((event) => event.type === "run.started").map((event) => event.attempt);
    assert.deepEqual([...new Set(begun)], [2, 3], `killed after commit ${kill}`);
    commits = Math.max(commits, count);
    await second.stop();
  }
  assert.ok(commits >= fewestCommits(6), `only ${commits} commits`);
});

test("again gives the next attempt another input and another runner, for that attempt only, whatever is killed", async (t) => {
  const loops: Loops = {
    root: async (d) => {
      const runner = { kind: "loop", config: { model: "larger" } };
      if (d.attempt === 1) return d.again("again", { reason: "checks failed", input: { failed: "unit" }, runner });
      return d.attempt === 2 ? d.handover("to", { agent: "kid", input: d.input }) : [d.attempt, d.agent, d.input];
    },
    kid: (d) => d.again("again", { reason: "no better" }),
  };
  const configs: string[] = [];
  const loop = async (d: Durable, config: unknown): Promise<unknown> => {
    configs.push(`${d.attempt}.${d.run}:${JSON.stringify([config, d.input])}`);
    await d.step("s", repeatable, () => ticks(2).then(() => "s"));
    return loops[d.agent]?.(d);
  };
  let commits = 0;
  for (let kill = 1; kill <= commits + 1 && kill < 40; kill += 1) {
    configs.length = 0;
    const first = world(tempFolder(t), loops, { runners: { loop } });
    const reached = gate();
    let count = 0;
    first.store.onCommit(() => {
      count += 1;
      if (count === kill) reached.open();
    });
    const name = await started(first, "root", { input: "own" });
    await Promise.race([reached.opened, first.engine.result(name)]);
    const second = await killed(first, t, loops, { runners: { loop } });
    assert.deepEqual((await second.engine.result(name)).content, [3, "root", "own"]);
    assert.deepEqual(
      [...new Set(configs)],
      [
        '1.1:[{},"own"]',
        '2.1:[{"model":"larger"},{"failed":"unit"}]',
        '2.2:[{"model":"larger"},{"failed":"unit"}]',
        '3.1:[{},"own"]',
      ],
      `killed after commit ${kill}`,
    );
    commits = Math.max(commits, count);
    await second.stop();
  }
  assert.ok(commits >= fewestCommits(4), `only ${commits} commits`);
});

test("again with a kind of runner that nobody runs is refused, and the attempt goes on", async (t) => {
  const w = world(tempFolder(t), {
    root: (d) => codeOf(d.again("again", { reason: "route", runner: { kind: "nobody", config: {} } })),
  });
  t.after(() => w.stop());
  const name = await started(w, "root");
  assert.equal((await w.engine.result(name)).content, "not_found");
});
