import assert from "node:assert/strict";
import { test } from "node:test";

import {
  again,
  anything,
  ask,
  answer,
  codeOf,
  events,
  gate,
  killed,
  type Loops,
  never,
  openWaits,
  person,
  seen,
  started,
  text,
  type World,
  world,
} from "../../test/support/engine-kit.ts";
import { settle, ticks } from "../../test/support/settle.ts";
import { fewestCommits } from "../../test/support/stores.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { userMessage } from "../protocol/task/message.ts";

const once = { repeatable: false, schema: anything } as const;
const tokens = (count: number) => ({ input_tokens: count, output_tokens: 0, money_micro_usd: 0 });
const told = (silent_ms: number) => ({ type: "session.stalled" as const, data: { silent_ms } });

const types = ({ store }: World): string[] => events(store).map((event) => event.type);
const statuses = ({ folder }: World): unknown[] => seen(folder, "SELECT status FROM open").map((row) => row["status"]);

test("a step asks while its body runs: the task needs input until the answer, and holds neither a slot nor its clock", async (t) => {
  const heard: unknown[] = [];
  const loops: Loops = {
    session: (d) =>
      d.step("session", once, async ({ during }) => {
        const [first, second] = await Promise.all([
          during.ask("one", { ask, schema: anything }),
          during.ask("two", { ask, schema: anything }),
        ]);
        heard.push(first, second);
        return "done";
      }),
    other: (d) => d.step("work", again, () => "worked"),
  };
  const w = world(tempFolder(t), loops, { slots: 1 });
  t.after(() => w.stop());
  const name = await started(w, "session", { deadline: w.clock.now() + 1_000 });
  await settle();
  assert.deepEqual(statuses(w), ["input_required"]);
  assert.equal((await w.engine.result(await started(w, "other"))).content, "worked");
  w.clock.advance(3_600_000);
  await settle();
  const [one = "", two = ""] = openWaits(w);
  assert.equal((await w.engine.deliver(two, answer("b"), person)).outcome, "accepted");
  await settle();
  assert.deepEqual(statuses(w), ["input_required"]);
  assert.equal((await w.engine.deliver(one, answer("a"), person)).outcome, "accepted");
  assert.equal((await w.engine.result(name)).content, "done");
  assert.deepEqual(heard, [
    { value: answer("a"), by: person },
    { value: answer("b"), by: person },
  ]);
  assert.deepEqual(
    types(w).filter((type) => type.startsWith("task.resumed")),
    ["task.resumed"],
  );
});

test("invariants 1 and 3: killed after any commit, a step that asked while it ran is unknown and its ask withdrawn", async (t) => {
  let bodies = 0;
  const loops: Loops = {
    session: async (d) => {
      const code = await codeOf(
        d.step("session", once, async ({ during }) => {
          bodies += 1;
          during.tell("begun", told(1));
          await ticks(1);
          during.spend("used", tokens(7));
          await during.ask("may I", { ask, schema: anything });
          return never;
        }),
      );
      return [code, await d.step("after", again, () => "after")];
    },
  };
  let commits = 0;
  for (let kill = 1; kill <= commits + 1 && kill < 30; kill += 1) {
    bodies = 0;
    const first = world(tempFolder(t), loops);
    const reached = gate();
    let count = 0;
    first.store.onCommit(() => {
      count += 1;
      if (count === kill) reached.open();
    });
    const name = await started(first, "session");
    await Promise.race([reached.opened, settle()]);
    await ticks(1);
    const begun = bodies > 0 || seen(first.folder, "SELECT * FROM step_starts").length > 0;
    const [asked] = openWaits(first);
    const second = await killed(first, t, loops);
    await settle();
    commits = Math.max(commits, count);
    if (!begun) continue;
    assert.deepEqual((await second.engine.result(name)).content, ["outcome_unknown", "after"], `commit ${kill}`);
    assert.deepEqual(openWaits(second), []);
    assert.ok(types(second).filter((type) => type === "session.stalled").length <= 1);
    if (asked === undefined) continue;
    const late = await second.engine.deliver(asked, answer("yes"), person);
    assert.deepEqual(late.outcome === "late" && late.settled, { kind: "withdrawn" }, `commit ${kill}`);
    const [row] = seen(second.folder, "SELECT SUM(tokens) AS tokens FROM log");
    assert.equal(row?.["tokens"], 7);
    await second.stop();
  }
  assert.ok(commits >= fewestCommits(3), `only ${commits} commits`);
});

test("an ask that is open when the body ends is withdrawn, and one can be withdrawn by its signal", async (t) => {
  const stop = new AbortController();
  const heard: unknown[] = [];
  const loops: Loops = {
    session: (d) =>
      d.step("session", once, async ({ during }) => {
        void during.ask("left", { ask, schema: anything });
        heard.push(await during.ask("stalled", { ask, schema: anything, signal: stop.signal }));
        return "done";
      }),
  };
  const w = world(tempFolder(t), loops);
  t.after(() => w.stop());
  const name = await started(w, "session");
  await settle();
  const [left = "", stalled = ""] = openWaits(w);
  stop.abort();
  assert.equal((await w.engine.result(name)).content, "done");
  assert.deepEqual(heard, [{ expired: true }]);
  for (const id of [left, stalled]) {
    const late = await w.engine.deliver(id, answer("x"), person);
    assert.deepEqual(late.outcome === "late" && late.settled, { kind: "withdrawn" });
  }
});

test("invariant 3: what a step records while it runs is kept once, however often the step is begun", async (t) => {
  const loops: Loops = {
    root: (d) =>
      d.step("work", again, async ({ during }) => {
        for (let index = 1; index <= 3; index += 1) {
          during.say(`said${index}`, userMessage(`message ${index}`));
          during.tell(`told${index}`, told(index));
          during.spend(`used${index}`, tokens(index));
          await ticks(1);
        }
        return "done";
      }),
  };
  let commits = 0;
  for (let kill = 1; kill <= commits + 1 && kill < 30; kill += 1) {
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
    assert.equal((await second.engine.result(name)).content, "done");
    const kept = types(second);
    for (const type of ["message.added", "session.stalled", "budget.settled"]) {
      assert.equal(kept.filter((each) => each === type).length, 3, `${type}, killed after commit ${kill}`);
    }
    assert.equal(seen(second.folder, "SELECT SUM(tokens) AS tokens FROM log")[0]?.["tokens"], 6);
    commits = Math.max(commits, count);
    await second.stop();
  }
  assert.ok(commits >= fewestCommits(3), `only ${commits} commits`);
});

test("invariant 7: usage is booked as it arrives, a limit that is passed is noticed, and the person decides", async (t) => {
  const seenLimits: boolean[] = [];
  const loops: Loops = {
    session: (d) =>
      d.step("session", once, async ({ during }) => {
        for (let turn = 1; turn <= 3; turn += 1) {
          during.spend(`turn${turn}`, tokens(60));
          seenLimits.push(during.withinLimits);
          await during.passLimits();
        }
        return "done";
      }),
  };
  for (const [goOn, ends] of [
    [true, "completed"],
    [false, "failed"],
  ] as const) {
    seenLimits.length = 0;
    const w = world(tempFolder(t), loops);
    t.after(() => w.stop());
    const name = await started(w, "session", { budget: { tokens: 100 } });
    await settle();
    assert.deepEqual(statuses(w), ["input_required"]);
    await w.engine.deliver(openWaits(w)[0] ?? "", { kind: "budget", go_on: goOn }, person);
    assert.equal((await w.engine.result(name)).status, ends);
    assert.deepEqual(seenLimits, goOn ? [true, false, true] : [true, false]);
  }
});

test("a step takes messages while it runs; one that comes after its end is left to the next to look", async (t) => {
  const loops: Loops = {
    session: async (d) => {
      const first = await d.step("session", once, async ({ during }) => {
        const message = await during.receive("mail1");
        void during.receive("mail2");
        return message?.parts;
      });
      const second = await d.receive("later", { block: true });
      return [first, second?.parts];
    },
  };
  const w = world(tempFolder(t), loops);
  t.after(() => w.stop());
  const name = await started(w, "session");
  await settle();
  await w.engine.message(name, userMessage("one"));
  await settle();
  await w.engine.message(name, userMessage("two"));
  assert.deepEqual((await w.engine.result(name)).content, [userMessage("one").parts, userMessage("two").parts]);
});

test("a key that is used twice in a step is a conflict, and nothing can be recorded after the step", async (t) => {
  const loops: Loops = {
    session: async (d) => {
      let late: (() => void) | undefined;
      const code = await d.step("session", { repeatable: true, schema: text }, async ({ during }) => {
        during.tell("a", told(1));
        late = () => during.tell("b", told(2));
        return codeOf((async () => during.tell("a", told(1)))());
      });
      return [code, await codeOf((async () => late?.())())];
    },
  };
  const w = world(tempFolder(t), loops);
  t.after(() => w.stop());
  assert.deepEqual((await w.engine.result(await started(w, "session"))).content, ["conflict", "canceled"]);
});
