import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import { type SlotQueue, Slots, type Ticket } from "./slots.ts";

test("invariant 7: trees that wait take turns, however many tasks one of them has queued", () => {
  const slots = new Slots(1);
  const started: string[] = [];
  const [big, small] = [slots.queue(() => 10), slots.queue(() => 10)];
  slots.take(big, () => undefined);
  for (let index = 0; index < 5; index += 1) slots.take(big, () => started.push("big"));
  slots.take(small, () => started.push("small"));
  slots.give(big);
  slots.give(big);
  assert.deepEqual(started, ["big", "small"]);
});

test("a tree at its own limit is passed over, and goes on when the limit is raised", () => {
  const slots = new Slots(10);
  let limit = 1;
  const started: number[] = [];
  const queue = slots.queue(() => limit);
  slots.take(queue, () => undefined);
  for (const each of [1, 2, 3]) slots.take(queue, () => started.push(each));
  slots.next();
  assert.deepEqual(started, []);
  limit = 3;
  slots.next();
  assert.deepEqual(started, [1, 2]);
});

test("ten thousand tasks that give their slot back at once do not nest", () => {
  const slots = new Slots(1);
  const queue = slots.queue(() => 1);
  let started = 0;
  slots.take(queue, () => undefined);
  for (let index = 0; index < 20_000; index += 1) {
    slots.take(queue, () => {
      started += 1;
      slots.give(queue);
    });
  }
  slots.give(queue);
  assert.equal(started, 20_000);
});

test("invariant 7: concurrency is never exceeded and no slot is lost, whatever the interleaving", () => {
  const action = fc.record({ kind: fc.constantFrom("take", "give", "leave"), tree: fc.nat(2), pick: fc.nat(50) });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 3, maxLength: 3 }),
      fc.array(action, { maxLength: 80 }),
      (total, limits, actions) => {
        const slots = new Slots(total);
        const queues = limits.map((limit) => slots.queue(() => limit));
        const running: SlotQueue[] = [];
        const waiting = new Map<Ticket, SlotQueue>();
        const mayRun = (queue: SlotQueue): boolean =>
          running.length < total && running.filter((each) => each === queue).length < queue.limit();
        for (const { kind, tree, pick } of actions) {
          const queue = queues[tree];
          if (queue === undefined) continue;
          if (kind === "take") {
            let own: Ticket | undefined;
            own = slots.take(queue, () => {
              if (own !== undefined) waiting.delete(own);
              running.push(queue);
            });
            if (own === undefined) running.push(queue);
            else waiting.set(own, queue);
          } else if (kind === "give" && running.length > 0) {
            const [gone] = running.splice(pick % running.length, 1);
            if (gone !== undefined) slots.give(gone);
          } else if (kind === "leave" && waiting.size > 0) {
            const ticket = [...waiting.keys()][pick % waiting.size];
            if (ticket === undefined) continue;
            ticket.gone = true;
            waiting.delete(ticket);
          }
          assert.ok(running.length <= total, "more run than there are slots");
          for (const each of queues) {
            const count = running.filter((one) => one === each).length;
            assert.ok(count <= each.limit(), "more run in a tree than it may");
            assert.equal(each.running, count);
          }
          for (const queued of waiting.values()) assert.ok(!mayRun(queued), "a slot is free and nobody was started");
        }
      },
    ),
    { numRuns: 300 },
  );
});
