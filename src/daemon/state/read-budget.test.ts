import assert from "node:assert/strict";
import { test } from "node:test";

import { z } from "zod";

import { gate, openWaits, person, started, task, world, type World } from "../../../test/support/engine-kit.ts";
import { settle } from "../../../test/support/settle.ts";
import { databaseOf, isOnPostgres } from "../../../test/support/stores.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";
import type { Durable } from "../../ports.ts";
import { idInName, taskName } from "../../store/names.ts";
import { openPostgresView } from "../../store/postgres/postgres-view.ts";
import { openView } from "../../store/sqlite/sqlite-view.ts";
import type { StoreView } from "../../store/view.ts";
import { budgetReader } from "./read-budget.ts";

const usage = (tokens: number) => ({ input_tokens: tokens, output_tokens: 0, money_micro_usd: 0 });

function call(d: Durable, key: string, most: number, how: { used?: number; until?: Promise<unknown> } = {}) {
  const step = { repeatable: true, schema: z.number(), reserve: usage(most), spent: usage };
  return d.step(key, step, async () => {
    await how.until;
    return how.used ?? most;
  });
}

/** Of the store that the world has, as any process sees it. */
function viewOf(t: Parameters<typeof tempFolder>[0], w: World): StoreView {
  const view = isOnPostgres() ? openPostgresView(databaseOf(w.folder), w.store.salt) : openView(w.folder);
  t.after(() => view.close());
  return view;
}

test("a task's budget is what was set apart for it, with what calls hold, and the tree's with every raise", async (t) => {
  const [inCall, goOn] = [gate(), gate()];
  const w = world(tempFolder(t), {
    root: async (d) => {
      await call(d, "plan", 100, { used: 40 });
      const ids = await d.spawn("kids", [{ ...task("kid"), budget: { tokens: 500 } }, task("other")]);
      await d.join(ids);
      // More than is left: a person raises the limit of the tree.
      await call(d, "rest", 900);
      return "done";
    },
    kid: async (d) => {
      await call(d, "k1", 200, { used: 120 });
      inCall.open();
      await call(d, "k2", 300, { used: 30, until: goOn.opened });
      // More than was set apart: that is raised, out of what the tree has.
      await call(d, "k3", 400, { used: 10 });
      return "ok";
    },
    other: async () => "ok",
  });
  t.after(() => w.stop());
  const begun = w.clock.now();
  const root = await started(w, "root", { budget: { tokens: 1_000, tasks: 7 } });
  await inCall.opened;
  await settle();
  const view = viewOf(t, w);
  const here = budgetReader(view, (name) => w.engine.budget(name));
  const elsewhere = budgetReader(view, () => undefined);
  const kid = taskName(w.store.salt, (idInName(w.store.salt, root) ?? 0) + 1);

  const live = await here(kid);
  assert.deepEqual(live.pays.tokens, { owner: kid, limit: 500, used: 120, reserved: 300 });
  assert.deepEqual(
    live.tree.tokens,
    { limit: 1_000, used: 160, reserved: 380 },
    "the rest of what was set apart is held",
  );
  assert.deepEqual(live.tree.tasks, { limit: 7, used: 3 });
  assert.equal((await here(root)).pays.tokens.owner, root);

  // Another process knows the same, but not what is held in the memory of the one that works.
  await until(async () => (await elsewhere(kid)).pays.tokens.used === 120, "what was used is committed");
  const seen = await elsewhere(kid);
  assert.deepEqual(seen.pays.tokens, { owner: kid, limit: 500, used: 120, reserved: null });
  assert.deepEqual(seen.tree.tokens, { limit: 1_000, used: 160, reserved: null });

  goOn.open();
  await until(() => openWaits(w).length === 1, "a person is asked for more than was set apart");
  await w.engine.deliver(openWaits(w)[0] ?? "", { kind: "budget", go_on: true }, person);
  await until(() => openWaits(w).length === 1, "a person is asked for more than the tree has");
  const asking = w.clock.now();
  w.clock.advance(60_000);
  await w.engine.deliver(openWaits(w)[0] ?? "", { kind: "budget", go_on: true, limits: { tokens: 5_000 } }, person);
  await w.engine.settled(root);
  await until(async () => (await elsewhere(root)).tree.tokens.used === 1_100, "all that was used is committed");
  const ended = await here(root);
  assert.deepEqual(
    ended.tree.tokens,
    { limit: 5_000, used: 1_100, reserved: 0 },
    "the raise is seen, and nothing is held",
  );
  assert.deepEqual(await elsewhere(root), ended);
  assert.ok(ended.tree.time_ms.used <= asking - begun, "the minute in which a person was asked does not count");
  assert.deepEqual((await here(kid)).pays.tokens, { owner: kid, limit: 960, used: 160, reserved: 0 });
  await assert.rejects(here("tsk_0_1"), { code: "not_found" });
});
