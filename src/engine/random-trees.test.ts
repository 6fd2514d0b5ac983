import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";
import { z } from "zod";

import {
  anything,
  ask,
  answer,
  codeOf,
  events,
  killed,
  type Loops,
  openWaits,
  person,
  seen,
  started,
  task,
  terminalTypes,
  text,
  world,
} from "../../test/support/engine-kit.ts";
import { ticks } from "../../test/support/settle.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { nextStatus } from "../core/task-state.ts";
import { userMessage } from "../protocol/task/message.ts";
import type { TaskStatus } from "../protocol/task/task-status.ts";

/** What a task of a random tree does, in order; `spawn` names its children in the plan. */
type Act =
  | { readonly kind: "step" | "pay" | "nap" | "ask" | "lapse" | "mail" | "stay" }
  | { readonly kind: "spawn"; readonly kids: readonly Plan[]; readonly join: boolean }
  | { readonly kind: "drop"; readonly which: number }
  | { readonly kind: "fail" | "hand" };
interface Plan {
  readonly name: string;
  readonly acts: readonly Act[];
}

const Planned = z.custom<Plan>();

const plans = fc.letrec<{ plan: Omit<Plan, "name">; act: Act }>((tie) => ({
  plan: fc.record({ acts: fc.array(tie("act"), { maxLength: 4, depthIdentifier: "acts" }) }),
  act: fc.oneof(
    { depthIdentifier: "acts", maxDepth: 3 },
    fc.constantFrom<Act>(
      { kind: "step" },
      { kind: "pay" },
      { kind: "nap" },
      { kind: "ask" },
      { kind: "lapse" },
      { kind: "mail" },
      { kind: "hand" },
    ),
    fc.constantFrom<Act>({ kind: "step" }, { kind: "fail" }, { kind: "stay" }),
    fc.record({
      kind: fc.constant("spawn" as const),
      kids: fc.array(tie("plan") as fc.Arbitrary<Plan>, { minLength: 1, maxLength: 3 }),
      join: fc.boolean(),
    }),
    fc.record({ kind: fc.constant("drop" as const), which: fc.nat(2) }),
  ),
})).plan;

/** Gives every task of the tree a name of its own. */
function named(plan: Omit<Plan, "name">, name = "0"): Plan {
  let count = 0;
  const acts = plan.acts.map((act): Act => {
    if (act.kind !== "spawn") return act;
    return { ...act, kids: act.kids.map((kid) => named(kid, `${name}.${(count += 1)}`)) };
  });
  return { name, acts };
}

/**
 * How each task must end when every question is answered, all mail is delivered, and what still stays at the end is
 * canceled. A parent that joins a child that stays waits with it, and is canceled with the tree.
 */
function endsOf(plan: Plan, into = new Map<string, TaskStatus>()): Map<string, TaskStatus> {
  const kids: Plan[] = [];
  let end: TaskStatus = "completed";
  for (const act of plan.acts) {
    if (act.kind === "fail") end = "failed";
    if (act.kind === "stay") end = "canceled";
    if (act.kind === "spawn") {
      kids.push(...act.kids);
      for (const kid of act.kids) endsOf(kid, into);
      if (act.join && act.kids.some((kid) => into.get(kid.name) === "canceled")) end = "canceled";
    }
    if (act.kind === "drop") dropped(kids[act.which], into);
    if (end !== "completed") break;
  }
  into.set(plan.name, end);
  return into;
}

/** A cancel reaches every descendant that is not over; whether one was is up to the order of things, so both are right. */
function dropped(plan: Plan | undefined, into: Map<string, TaskStatus>): void {
  if (plan === undefined) return;
  into.set(plan.name, "pending");
  for (const act of plan.acts) if (act.kind === "spawn") for (const kid of act.kids) dropped(kid, into);
}

const run = async (d: Parameters<Loops[string]>[0]): Promise<unknown> => {
  const { acts } = Planned.parse(d.input);
  const ids: string[] = [];
  for (const [index, act] of acts.entries()) {
    const key = `${index}`;
    // What came before a handover is the first run's; the keys of the next run are its own.
    if (d.run > 1 && index <= acts.findIndex((each) => each.kind === "hand")) continue;
    if (act.kind === "step") await d.step(key, { repeatable: true, schema: text }, () => "did");
    if (act.kind === "pay")
      await d
        .step(key, { repeatable: false, schema: text }, () => "paid")
        .catch((thrown: unknown) => (String(thrown).includes("under way") ? "unknown" : Promise.reject(thrown)));
    if (act.kind === "nap") await d.sleep(key, 10);
    if (act.kind === "ask") await d.wait(key, { ask, schema: anything });
    if (act.kind === "lapse") await d.wait(key, { ask, within: 5, schema: anything });
    if (act.kind === "mail") await d.receive(key, { block: true });
    if (act.kind === "fail") throw new Error("planned");
    if (act.kind === "stay") await d.sleep(key, 10 ** 9);
    if (act.kind === "hand" && d.run === 1) await d.handover(key, { agent: "node", input: d.input });
    if (act.kind === "spawn") {
      const made = await d.spawn(
        key,
        act.kids.map((kid) => task("node", { input: kid, detached: !act.join })),
      );
      ids.push(...made);
      const results = act.join ? await d.join(made) : [];
      if (act.join)
        assert.deepEqual(
          results.map((result) => result.task_id),
          made,
          "joined in the order asked",
        );
    }
    const target = act.kind === "drop" ? ids[act.which] : undefined;
    if (target !== undefined) await d.cancel(key, target);
  }
  return acts.length;
};

test("invariants 2, 4 and 5: random trees end as a simple model says, whatever the restarts between", async (t) => {
  const loops: Loops = { node: run };
  const met = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(
      plans,
      fc.array(fc.nat(12), { maxLength: 3 }),
      fc.integer({ min: 1, max: 4 }),
      fc.option(fc.nat(8), { nil: -1 }),
      async (shape, restarts, slots, retryAt) => {
        const plan = named(shape);
        let w = world(tempFolder(t), loops, { slots });
        const root = await started(w, "node", { input: plan, budget: { tasks: 10_000, depth: 20 } });
        const openTasks = "SELECT id FROM tasks WHERE id NOT IN (SELECT task FROM results)";
        for (let turn = 0, quiet = 0; quiet < 3; turn += 1) {
          const before = events(w.store).length;
          await ticks(3);
          for (const open of openWaits(w)) await w.engine.deliver(open, answer("yes"), person);
          for (const row of seen(w.folder, openTasks)) {
            const name = `${root.slice(0, root.lastIndexOf("_"))}_${Number(row["id"]).toString(36)}`;
            await codeOf(w.engine.message(name, userMessage("mail")));
          }
          // The children of the attempt that is given up end; the next attempt makes its own, under the same names.
          if (turn === retryAt) await codeOf(w.engine.retry(root));
          if (restarts.includes(turn)) w = await killed(w, t, loops, { slots });
          w.clock.advance(10);
          await ticks(3);
          quiet = events(w.store).length === before && turn > retryAt + 12 ? quiet + 1 : 0;
        }
        // Only what stays is left, and whoever waits for it.
        const canceled = await w.engine.cancel(root, "the end");
        await w.engine.idle();
        assert.deepEqual(seen(w.folder, openTasks), []);

        const names = new Map(
          seen(w.folder, "SELECT id, body ->> '$.input.name' AS name FROM tasks").map((row) => [
            Number(row["id"]),
            String(row["name"]),
          ]),
        );
        const results = new Map(
          seen(w.folder, "SELECT task, status FROM results").map((row) => [
            names.get(Number(row["task"])) ?? "",
            String(row["status"]),
          ]),
        );
        for (const [name, end] of endsOf(plan)) {
          const got = results.get(name);
          // A task below one that ended early was perhaps never made; one that was dropped may have been quicker.
          if (got === undefined || end === "pending") continue;
          assert.equal(got, end, `task ${name} of ${JSON.stringify(plan)}; ${canceled.length} were left`);
          met.set(got, (met.get(got) ?? 0) + 1);
        }
        const statuses = new Map<number, TaskStatus>();
        for (const event of events(w.store)) {
          if (!event.type.startsWith("task.") || event.type === "task.created") continue;
          const next = nextStatus(statuses.get(event.task) ?? "pending", event.type as "task.started");
          assert.ok(next.ok, `task ${event.task}: ${next.ok ? "" : next.reason}`);
          statuses.set(event.task, next.status);
        }
        const ends = events(w.store).filter((event) => terminalTypes.includes(event.type));
        assert.equal(ends.length, names.size, "one terminal event for each task");
        assert.equal(new Set(ends.map((event) => event.task)).size, names.size);
        assert.equal(w.store.failure, undefined);
        await w.stop();
      },
    ),
    { numRuns: 40, timeout: 240_000 },
  );
  assert.ok(
    (met.get("completed") ?? 0) > 0 && (met.get("failed") ?? 0) > 0 && (met.get("canceled") ?? 0) > 0,
    JSON.stringify([...met]),
  );
});
