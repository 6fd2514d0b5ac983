import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import type { CompleteMessage, Part } from "../../protocol/task/message.ts";
import { estimateTokens, foldEnd, foldTurns, isWorthwhile, maskEnd, maskResults } from "./compaction.ts";
import { sizeOf } from "./model-view.ts";

let count = 0;

function message(role: CompleteMessage["role"], part: Part): CompleteMessage {
  count += 1;
  return { id: `m${count}`, name: null, role, parts: [part], created_at: 0 };
}

const said = (role: "user" | "assistant", length: number) =>
  message(role, { part_type: "text", data: "x".repeat(length) });
const resultOf = (data: string) =>
  message("tool", {
    part_type: "tool_result",
    data: { tool_call_id: "c1", tool_name: "look", parts: [{ part_type: "text", data }] },
  });

test("tokens are the provider's count, and four characters each for what was added or left out since", () => {
  assert.equal(estimateTokens(400, undefined), 100);
  assert.equal(estimateTokens(1_400, { tokens: 1_000, size: 1_000 }), 1_100);
  assert.equal(estimateTokens(600, { tokens: 1_000, size: 1_000 }), 900);
  assert.equal(estimateTokens(0, { tokens: 10, size: 1_000 }), 0);
});

test("a masked result keeps its length, how to read it again and the ids in it; short ones stay", () => {
  const long = `tsk_a_1 ${"word ".repeat(200)} ask_b_2`;
  const [masked, short, recent] = maskResults([resultOf(long), resultOf("short"), resultOf(long)], 2);
  const textOf = (each: CompleteMessage | undefined): string => JSON.stringify(each?.parts);
  assert.match(textOf(masked), /\[1016 characters left out.*read_result.*c1.*Ids in it: tsk_a_1, ask_b_2\.\]/);
  assert.match(textOf(short), /short/);
  assert.match(textOf(recent), /word word/);
  assert.equal(maskEnd([]), 0);
  assert.equal(maskEnd(Array.from({ length: 10 }, () => said("user", 1))), 2);
});

test("what stays after folding begins with a reply, fits its share, and always holds the newest turn", () => {
  const turn = fc.tuple(fc.nat(3_000), fc.array(fc.nat(3_000), { minLength: 1, maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 12 }), (turns) => {
      const view = [said("user", 10), said("user", 10)];
      for (const [reply, results] of turns) {
        view.push(said("assistant", reply), ...results.map((length) => resultOf("y".repeat(length))));
      }
      const limit = 4_000;
      const end = foldEnd(view, limit);
      const kept = view.slice(end);
      assert.equal(kept[0]?.role, "assistant");
      const newest = view.findLastIndex(({ role }) => role === "assistant");
      assert.ok(end <= newest);
      assert.ok(end === newest || sizeOf(kept) <= limit);
    }),
  );
});

test("folding keeps the opening, the summary and the newest messages", () => {
  const view = [said("user", 1), said("assistant", 1), said("assistant", 2), said("user", 3)];
  const summary = said("user", 9);
  assert.deepEqual(foldTurns(view, 2, { opening: view.slice(0, 1), summary }), [view[0], summary, view[2], view[3]]);
});

test("only what saves a tenth of the limit is worth doing", () => {
  assert.equal(isWorthwhile(4_000, 10_000), true);
  assert.equal(isWorthwhile(3_999, 10_000), false);
});
