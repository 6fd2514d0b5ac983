import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../test/support/properties.ts";
import type { CompleteMessage, Part } from "../protocol/task/message.ts";
import { inheritHistory, snapshotHistory } from "./history.ts";

const text = (data: string): Part => ({ part_type: "text", data });
const call = (id: string): Part => ({ part_type: "tool_call", data: { tool_call_id: id, tool_name: "t", input: {} } });
const result = (id: string): Part => ({
  part_type: "tool_result",
  data: { tool_call_id: id, tool_name: "t", parts: [text(`result of ${id}`)] },
});
const says = (id: string, ...parts: Part[]): CompleteMessage => ({
  id,
  name: null,
  role: "assistant",
  parts,
  created_at: Number(id.slice(1)),
});

test("an unanswered call is left out and the rest of its message stays", () => {
  const history = [says("m1", text("let me see"), call("a"), call("b")), says("m2", result("a"))];
  assert.deepEqual(snapshotHistory(history), [says("m1", text("let me see"), call("a")), says("m2", result("a"))]);
});

test("a result without its call is left out", () => {
  assert.deepEqual(snapshotHistory([says("m1", result("lost"), text("x"))]), [says("m1", text("x"))]);
});

test("a result that comes before its call pairs with nothing", () => {
  assert.deepEqual(snapshotHistory([says("m1", result("a")), says("m2", call("a"))]), []);
});

test("a second result to the same call is left out", () => {
  const history = [says("m1", call("a")), says("m2", result("a")), says("m3", result("a"))];
  assert.deepEqual(snapshotHistory(history), history.slice(0, 2));
});

test("an id used again in a later turn pairs anew", () => {
  const history = [says("m1", call("a")), says("m2", result("a")), says("m3", call("a")), says("m4", result("a"))];
  assert.deepEqual(snapshotHistory(history), history);
});

test("a result answers the nearest call of its id, and an earlier unanswered one is left out", () => {
  const history = [says("m1", call("a")), says("m2", call("a")), says("m3", result("a"))];
  assert.deepEqual(snapshotHistory(history), history.slice(1));
});

test("a message left with nothing is dropped", () => {
  assert.deepEqual(snapshotHistory([says("m1", call("a")), says("m2", text("x"))]), [says("m2", text("x"))]);
});

test("metadata stays with its part when a call before it is dropped", () => {
  const [message] = snapshotHistory([
    { ...says("m1", call("a"), text("x")), parts_metadata: { "1": { save: true, developer: true } } },
  ]);
  assert.deepEqual(message?.parts_metadata, { "0": { save: true, developer: true } });
});

test("children of one dispatch see neither their own call nor their siblings'", () => {
  const snapshot = snapshotHistory([says("m1", text("go")), says("m2", call("a"), call("b"), call("c"))]);
  assert.deepEqual(snapshot, [says("m1", text("go"))]);
});

test("a copy keeps everything but the ids, and two children share none", () => {
  const snapshot = [says("m1", text("a")), says("m2", text("b"))];
  const first = inheritHistory(snapshot, (_, index) => `c1-${index}`);
  const second = inheritHistory(snapshot, (_, index) => `c2-${index}`);
  assert.deepEqual(
    first,
    [says("m1", text("a")), says("m2", text("b"))].map((m, i) => ({ ...m, id: `c1-${i}` })),
  );
  assert.equal(new Set([...snapshot, ...first, ...second].map(({ id }) => id)).size, 6);
});

test("an id that is not new is an error, not a collision", () => {
  const snapshot = [says("m1", text("a")), says("m2", text("b"))];
  assert.throws(() => inheritHistory(snapshot, (_, index) => (index === 0 ? "m2" : "new")), /already in use/);
  assert.throws(() => inheritHistory(snapshot, () => "same"), /already in use/);
});

const id = fc.constantFrom("a", "b", "c", "d");
const part = fc.oneof(
  fc.string().map(text),
  fc.jsonValue().map((data): Part => ({ part_type: "data", data })),
  id.map(call),
  id.map(result),
);
const histories = fc
  .array(fc.array(part, { maxLength: 5 }), { maxLength: 8 })
  .map((messages) => messages.map((parts, index) => says(`m${index}`, ...parts)));
const partsOf = (messages: readonly CompleteMessage[]): Part[] => messages.flatMap(({ parts }) => parts);
const isTool = ({ part_type: type }: Part): boolean => type === "tool_call" || type === "tool_result";

test("no orphan is left either way: at every point results never outnumber calls, and in the end they are equal", () => {
  fc.assert(
    fc.property(histories, (history) => {
      const open = new Map<string, number>();
      for (const kept of partsOf(snapshotHistory(history))) {
        if (kept.part_type !== "tool_call" && kept.part_type !== "tool_result") continue;
        const count = (open.get(kept.data.tool_call_id) ?? 0) + (kept.part_type === "tool_call" ? 1 : -1);
        assert.ok(count >= 0);
        open.set(kept.data.tool_call_id, count);
      }
      assert.ok([...open.values()].every((count) => count === 0));
    }),
    { numRuns: 1000 },
  );
});

test("the filter is idempotent, keeps every part that is no tool use, keeps order and leaves no empty message", () => {
  fc.assert(
    fc.property(histories, (history) => {
      const snapshot = snapshotHistory(history);
      assert.deepEqual(snapshotHistory(snapshot), snapshot);
      const plain = (messages: readonly CompleteMessage[]) => partsOf(messages).filter((one) => !isTool(one));
      assert.deepEqual(plain(snapshot), plain(history));
      const order = snapshot.map(({ created_at: at }) => at);
      assert.deepEqual(
        order,
        order.toSorted((a, b) => a - b),
      );
      assert.ok(snapshot.every(({ parts }) => parts.length > 0));
    }),
    { numRuns: 1000 },
  );
});

test("as many pairs are kept as there are: a complete conversation passes unchanged", () => {
  const turns = fc.array(fc.uniqueArray(id, { minLength: 1 }), { maxLength: 6 });
  fc.assert(
    fc.property(turns, (calls) => {
      const history = calls.flatMap((ids, turn) => [
        says(`m${turn * 2}`, ...ids.map(call)),
        says(`m${turn * 2 + 1}`, ...ids.toReversed().map(result)),
      ]);
      assert.deepEqual(snapshotHistory(history), history);
    }),
    { numRuns: 200 },
  );
});

test("an inherited history never reuses an id", () => {
  fc.assert(
    fc.property(histories, (history) => {
      const snapshot = snapshotHistory(history);
      let next = 0;
      const copy = inheritHistory(snapshot, () => `new-${(next += 1)}`);
      const before = new Set(history.map((message) => message.id));
      assert.equal(new Set(copy.map((message) => message.id)).size, copy.length);
      assert.ok(copy.every((message) => !before.has(message.id)));
    }),
    { numRuns: 200 },
  );
});
