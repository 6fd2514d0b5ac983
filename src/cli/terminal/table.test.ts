import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { captureOutput } from "../../../test/support/captured-output.ts";
import { fitted, writeTable } from "./table.ts";

const sum = (widths: readonly number[]): number => widths.reduce((all, width) => all + width, 0);

test("columns fit the width, the first is never cut, and the widest is cut first", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(120), { minLength: 1, maxLength: 6 }), fc.nat(200), (wanted, room) => {
      const widths = fitted(wanted, room);
      const [first, ...rest] = widths;
      assert.equal(first, wanted[0]);
      widths.forEach((width, at) => assert.ok(width <= (wanted[at] ?? 0)));
      if (sum(wanted) <= room) assert.deepEqual(widths, wanted);
      else if (rest.some((width) => width > 6)) assert.equal(sum(widths), room, "no room is wasted");
      // One that was cut is as wide as the widest that is left.
      const widest = Math.max(0, ...rest);
      rest.forEach((width, at) => {
        if (width < (wanted[at + 1] ?? 0)) assert.ok(widest - width <= 1, `${widths.join(" ")} of ${wanted.join(" ")}`);
      });
    }),
    { numRuns: 500 },
  );
});

test("rows are written in columns under their head, with a mark before the first cell", async (t) => {
  const captured = captureOutput(t);
  await writeTable(
    [{ mark: "✓", cells: ["tsk_1", "lead", "completed"] }, { cells: ["tsk_22", "a helper"] }],
    ["id", "agent", "status"],
  );
  const lines = ["  id      agent     status", "✓ tsk_1   lead      completed", "  tsk_22  a helper", ""];
  assert.equal(captured.out, lines.join("\n"));
});
