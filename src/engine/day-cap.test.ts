import assert from "node:assert/strict";
import { test } from "node:test";

import { z } from "zod";

import {
  answer,
  codeOf,
  killed,
  type Loops,
  openWaits,
  person,
  seen,
  started,
  world,
  type World,
} from "../../test/support/engine-kit.ts";
import { settle } from "../../test/support/settle.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import type { DayLimits } from "../core/day-ledger.ts";
import type { Usage } from "../protocol/task/budget.ts";
import type { Durable } from "../ports.ts";
import { idInName } from "../store/names.ts";
import { DayCap, type DayRecord } from "./day-cap.ts";
import type { FakeClock } from "./fake-clock.ts";
import { fakeClock } from "./fake-clock.ts";

const dayMs = 86_400_000;
const noon = 20_000 * dayMs + dayMs / 2;
const usage = (tokens: number): Usage => ({ input_tokens: tokens, output_tokens: 0, money_micro_usd: 0 });

/** The record of one folder, which outlives the processes. */
interface Place {
  readonly folder: string;
  readonly clock: FakeClock;
  text: string | undefined;
  world: World | undefined;
}

function recordOf(place: Place): DayRecord {
  return {
    read: () => place.text,
    async change(work) {
      const { after, result } = work(place.text);
      place.text = after ?? place.text;
      return result;
    },
    async usedSince(at) {
      const [row] = seen(place.folder, `SELECT SUM(tokens) AS tokens FROM log WHERE at >= ${at}`);
      return { tokens: Number(row?.["tokens"] ?? 0), money_micro_usd: 0 };
    },
    async isOpen(ask) {
      const { world: at } = place;
      const id = at === undefined ? undefined : idInName(at.store.salt, ask);
      return id !== undefined && at?.store.answer(id) === undefined;
    },
  };
}

let processes = 0;
function cap(place: Place, limits: DayLimits): DayCap {
  processes += 1;
  const made = new DayCap({
    clock: place.clock,
    record: recordOf(place),
    process: { id: `p${processes}`, node: "" },
  });
  made.setLimits(limits);
  return made;
}

interface Counted {
  sent: number;
}

/** One model call of each task, which reserves 60 and uses 50. */
function loops(counted: Counted): Loops {
  const call = async (d: Durable, key: string): Promise<string> =>
    d.step(key, { repeatable: true, schema: z.string(), reserve: usage(60), spent: () => usage(50) }, () => {
      counted.sent += 1;
      return "ok";
    });
  return {
    one: (d) => call(d, "a"),
    two: async (d) => [await call(d, "a"), await call(d, "b")],
    told: async (d) => codeOf(call(d, "a")),
  };
}

function begin(
  t: Parameters<typeof tempFolder>[0],
  limits: DayLimits,
): { place: Place; day: DayCap; w: World; counted: Counted } {
  const place: Place = { folder: tempFolder(t), clock: fakeClock(noon), text: undefined, world: undefined };
  const counted = { sent: 0 };
  const day = cap(place, limits);
  const w = world(place.folder, loops(counted), { clock: place.clock, day });
  place.world = w;
  t.after(() => w.stop().catch(() => undefined));
  return { place, day, w, counted };
}

interface Asked {
  readonly question: string;
  readonly choices: readonly string[];
}

/** Of the questions that are open; the waits that are none are left out. */
function openAsks(w: World): (Asked & { readonly id: string })[] {
  return openWaits(w).flatMap((id) => {
    const [row] = seen(w.folder, `SELECT body FROM waits WHERE id = ${idInName(w.store.salt, id)}`);
    const { ask } = z
      .object({ ask: z.object({ question: z.string(), choices: z.array(z.string()) }).optional() })
      .parse(JSON.parse(String(row?.["body"])));
    return ask === undefined ? [] : [{ id, ...ask }];
  });
}

const asksEver = (w: World): number =>
  seen(
    w.folder,
    "SELECT id FROM waits WHERE ask IS NOT NULL AND id NOT IN (SELECT wait FROM answers WHERE kind = 'withdrawn')",
  ).length;

test("invariant 7: at the cap of the day new calls of all trees wait, and the person is asked once", async (t) => {
  const { w, counted } = begin(t, { tokens: 120 });
  for (let at = 0; at < 5; at += 1) await started(w, "one");
  await settle();
  assert.equal(counted.sent, 2, "a third would need 60 of the 20 that are left");
  const [ask, ...more] = openAsks(w);
  assert.deepEqual(more, []);
  assert.match(
    ask?.question ?? "",
    /Today's cap of 120 tokens over all work is used up: 100 tokens spent, 0 tokens reserved, and the next call may use 60 tokens/,
  );
  assert.equal(openWaits(w).length, 3, "the others wait where everybody can see it");
  const [raise = ""] = ask?.choices ?? [];
  assert.equal(raise, "raise it by 120 tokens for today");
  assert.equal((await w.engine.deliver(ask?.id ?? "", answer(raise), person)).outcome, "accepted");
  await settle();
  assert.equal(counted.sent, 4);
  assert.equal(openAsks(w).length, 1, "the raise is used up too");
});

test("only a person answers the question about the cap of the day", async (t) => {
  const { w } = begin(t, { tokens: 30 });
  await started(w, "one");
  await settle();
  const [ask] = openAsks(w);
  const [raise = ""] = ask?.choices ?? [];
  for (const by of [
    { kind: "operator", name: "bot" },
    { kind: "rule", name: "always" },
  ] as const) {
    const given = await w.engine.deliver(ask?.id ?? "", answer(raise), by);
    assert.equal(given.outcome, "invalid");
  }
  assert.equal(
    (await w.engine.deliver(ask?.id ?? "", { kind: "none" }, { kind: "operator", name: "bot" })).outcome,
    "invalid",
  );
  assert.equal(openAsks(w).length, 1);
});

test("what waits goes on by itself when the day is over, also when the person said to wait", async (t) => {
  const { w, place, counted } = begin(t, { tokens: 70 });
  for (let at = 0; at < 2; at += 1) await started(w, "one");
  await settle();
  assert.equal(counted.sent, 1);
  const [ask] = openAsks(w);
  await w.engine.deliver(ask?.id ?? "", answer("wait until 00:00 UTC"), person);
  await settle();
  assert.deepEqual([openAsks(w), openWaits(w).length], [[], 1]);
  await started(w, "one");
  await settle();
  assert.deepEqual([openAsks(w), counted.sent], [[], 1], "nobody is asked a second time that day");
  place.clock.advance(dayMs / 2);
  await settle();
  assert.equal(counted.sent, 2, "the new day has room for one");
  assert.equal(openAsks(w).length, 1, "and its own question");
});

test("a person stops what waits for the cap, and later calls of that day are refused", async (t) => {
  const { w, place } = begin(t, { tokens: 30 });
  const names = [await started(w, "told"), await started(w, "told")];
  await settle();
  const [ask] = openAsks(w);
  await w.engine.deliver(ask?.id ?? "", answer("stop what waits"), person);
  for (const name of names) assert.equal((await w.engine.result(name)).content, "over_budget");
  assert.equal((await w.engine.result(await started(w, "told"))).content, "over_budget");
  place.clock.advance(dayMs / 2);
  await started(w, "told");
  await settle();
  assert.equal(openAsks(w).length, 1, "the next day asks anew");
});

test("when the task that asked is canceled, another one asks", async (t) => {
  const { w } = begin(t, { tokens: 30 });
  const names = [await started(w, "one"), await started(w, "one"), await started(w, "one")];
  for (const name of names) {
    await settle();
    assert.equal(openAsks(w).length, 1, name);
    await w.engine.cancel(name, "not needed");
  }
  await settle();
  assert.deepEqual(openWaits(w), []);
});

test("invariant 3: after a kill there is still one question, what was spent counts, and a raise is kept", async (t) => {
  const { w, place, counted } = begin(t, { tokens: 120 });
  for (let at = 0; at < 4; at += 1) await started(w, "one");
  await settle();
  const again = async (before: World): Promise<World> => {
    const after = await killed(before, t, loops(counted), { day: cap(place, { tokens: 120 }) });
    place.world = after;
    await settle();
    return after;
  };
  let now = await again(w);
  assert.deepEqual([counted.sent, openAsks(now).length, asksEver(now)], [2, 1, 1]);
  const [ask] = openAsks(now);
  await now.engine.deliver(ask?.id ?? "", answer("raise it by 120 tokens for today"), person);
  await settle();
  assert.equal(counted.sent, 4);
  await started(now, "one");
  await settle();
  assert.equal(openAsks(now).length, 1);
  now = await again(now);
  assert.deepEqual([counted.sent, openAsks(now).length], [4, 1]);
});

test("invariant 1: a call that a kill cut off counts as spent", async (t) => {
  const place: Place = { folder: tempFolder(t), clock: fakeClock(noon), text: undefined, world: undefined };
  let sent = 0;
  const cut: Loops = {
    cut: (d) =>
      d.step("a", { repeatable: true, schema: z.string(), reserve: usage(60), spent: () => usage(50) }, () => {
        sent += 1;
        return sent === 1 ? new Promise<string>(() => undefined) : "ok";
      }),
  };
  const first = world(place.folder, cut, { clock: place.clock, day: cap(place, { tokens: 100 }) });
  await started(first, "cut");
  await settle();
  assert.equal(sent, 1);
  const second = await killed(first, t, cut, { day: cap(place, { tokens: 100 }) });
  await settle();
  assert.equal(sent, 1, "60 are spent, and 60 more do not fit into 100");
  assert.equal(openAsks(second).length, 1);
});

test("a cap that is set during the day counts what was used before it", async (t) => {
  const { w, day, counted } = begin(t, {});
  for (let at = 0; at < 3; at += 1) await w.engine.result(await started(w, "one"));
  day.setLimits({ tokens: 200 });
  await started(w, "one");
  await settle();
  assert.equal(counted.sent, 3, "150 of 200 are used, and the next one reserves 60");
  assert.equal(openAsks(w).length, 1);
  day.setLimits({ tokens: 1_000 });
  await settle();
  assert.deepEqual([counted.sent, openWaits(w)], [4, []], "a higher cap in the config needs no answer");
});

test("a call that only has to wait for others under way does not ask", async (t) => {
  const place: Place = { folder: tempFolder(t), clock: fakeClock(noon), text: undefined, world: undefined };
  const ends: (() => void)[] = [];
  const slow: Loops = {
    slow: (d) =>
      d.step("a", { repeatable: true, schema: z.string(), reserve: usage(60), spent: () => usage(10) }, () => {
        return new Promise<string>((resolve) => ends.push(() => resolve("ok")));
      }),
  };
  const w = world(place.folder, slow, { clock: place.clock, day: cap(place, { tokens: 100 }) });
  place.world = w;
  t.after(() => w.stop());
  for (let at = 0; at < 3; at += 1) await started(w, "slow");
  for (let at = 0; at < 3; at += 1) {
    await settle();
    assert.deepEqual([ends.length, openWaits(w)], [at + 1, []]);
    ends[at]?.();
  }
});

test("work that tells afterwards what it used counts, and begins nothing more once a cap is used up", async (t) => {
  const place: Place = { folder: tempFolder(t), clock: fakeClock(noon), text: undefined, world: undefined };
  const turns: number[] = [];
  const session: Loops = {
    session: (d) =>
      d.step("session", { repeatable: false, schema: z.string() }, async ({ during }) => {
        for (let turn = 1; turn <= 3; turn += 1) {
          await during.passLimits();
          turns.push(turn);
          during.spend(`turn${turn}`, usage(60));
        }
        return "ok";
      }),
  };
  const w = world(place.folder, session, { clock: place.clock, day: cap(place, { tokens: 100 }) });
  place.world = w;
  t.after(() => w.stop());
  const name = await started(w, "session");
  await settle();
  assert.deepEqual([turns, openAsks(w).length], [[1, 2], 1]);
  const [ask] = openAsks(w);
  await w.engine.deliver(ask?.id ?? "", answer("raise it by 100 tokens for today"), person);
  assert.equal((await w.engine.result(name)).content, "ok");
  assert.deepEqual(turns, [1, 2, 3]);
});
