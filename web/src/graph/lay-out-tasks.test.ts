import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { type GraphLayout, type GraphTask, layOutTasks, nodeSize } from "./lay-out-tasks.ts";

function overlaps({ places }: GraphLayout): boolean {
  const all = [...places.values()].toSorted((a, b) => a.x - b.x || a.y - b.y);
  return all.some((one, index) => {
    const next = all[index + 1];
    return next !== undefined && next.x === one.x && next.y < one.y + nodeSize.height;
  });
}

const graph = fc.array(fc.array(fc.nat(40), { maxLength: 4 }), { maxLength: 40 }).map((lists): GraphTask[] =>
  lists.map((after, index) => ({
    id: `t${index}`,
    // Only earlier tasks, so that there is no circle.
    after: after.map((each) => `t${index === 0 ? 99 : each % index}`),
  })),
);

test("a task is to the right of everything it waits for, and no two tasks overlap", () => {
  fc.assert(
    fc.property(graph, (tasks) => {
      const layout = layOutTasks(tasks);
      assert.equal(layout.places.size, tasks.length);
      assert.equal(overlaps(layout), false);
      for (const { from, to } of layout.edges) {
        assert.ok((layout.places.get(from)?.x ?? 0) + nodeSize.width < (layout.places.get(to)?.x ?? 0));
      }
    }),
  );
});

test("the same tasks always get the same places", () => {
  fc.assert(fc.property(graph, (tasks) => assert.deepEqual(layOutTasks(tasks), layOutTasks(tasks))));
});

test("tasks that wait for each other, for themselves or for something unknown are placed, too", () => {
  const layout = layOutTasks([
    { id: "a", after: ["b"] },
    { id: "b", after: ["a", "b", "gone"] },
    { id: "c", after: [] },
  ]);
  assert.equal(layout.places.size, 3);
  assert.equal(overlaps(layout), false);
});

test("a layer of hundreds of tasks goes on in further columns", () => {
  const wide = layOutTasks(Array.from({ length: 500 }, (_, index) => ({ id: `t${index}`, after: [] })));
  assert.ok(wide.height < 24 * 120);
  assert.ok(wide.width > 20 * nodeSize.width);
  assert.equal(overlaps(wide), false);
});

test("a branch keeps the order of those before it, so that parallel chains do not cross", () => {
  const { places } = layOutTasks([
    { id: "a", after: [] },
    { id: "b", after: [] },
    { id: "b2", after: ["b"] },
    { id: "a2", after: ["a"] },
  ]);
  assert.ok((places.get("a2")?.y ?? 0) < (places.get("b2")?.y ?? 0));
});
