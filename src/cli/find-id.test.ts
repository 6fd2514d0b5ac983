import assert from "node:assert/strict";
import { test } from "node:test";

import type { Reader } from "../client/client.ts";
import type { TaskListQuery } from "../protocol/api/task-shapes.ts";
import { TuttiError } from "../protocol/error.ts";
import { failsWith } from "../../test/support/try-tool.ts";
import { findAsk, findTask } from "./find-id.ts";

/** Tasks with the numbers 1 to `many`, of which the first and every tenth is a root, and open questions. */
function readerOf(many: number, asks: readonly string[] = [], waits: readonly string[] = []): Reader {
  const numbers = Array.from({ length: many }, (_, index) => many - index);
  const reader = {
    async tasks({ limit, roots, cursor }: TaskListQuery) {
      const all = numbers.filter((number) => roots === false || number === 1 || number % 10 === 0);
      const from = Number(cursor ?? 0);
      const tasks = all.slice(from, from + Number(limit)).map((number) => ({ id: `tsk_ab12_${number.toString(36)}` }));
      const until = from + Number(limit);
      return { tasks, next: until < all.length ? String(until) : null };
    },
    async task(id: string) {
      const number = Number.parseInt(id.replace("tsk_ab12_", ""), 36);
      if (!id.startsWith("tsk_ab12_") || !(number <= many)) throw new TuttiError("not_found", `there is no task ${id}`);
      return { id };
    },
    asks: async () => asks.map((id) => ({ id })),
    waits: async () => waits.map((id) => ({ id })),
  };
  return reader as unknown as Reader;
}

test("a task is found by its id, by the end of it, by a unique beginning, and by `last`, the newest root", async () => {
  const reader = readerOf(45);
  assert.equal(await findTask(reader, "tsk_ab12_1"), "tsk_ab12_1", "the whole id wins over ids that begin like it");
  assert.equal(await findTask(reader, "z"), "tsk_ab12_z");
  assert.equal(await findTask(reader, "last"), "tsk_ab12_14", "number 40");
  assert.equal(await findTask(readerOf(1), "tsk_"), "tsk_ab12_1");
  assert.equal(await findTask(readerOf(1), "ab"), "tsk_ab12_1");
});

test("a beginning that fits several tasks is refused and names them", async () => {
  const several = findTask(readerOf(45), "tsk_ab12");
  const message = /^tsk_ab12 fits several: tsk_ab12_1, tsk_ab12_2, .* and 37 more; write more of the id$/;
  await assert.rejects(several, failsWith("invalid_input", message));
});

test("what fits no task is not found", async () => {
  await assert.rejects(findTask(readerOf(3), "tsk_zz_1"), failsWith("not_found", /there is no task tsk_zz_1/));
  await assert.rejects(findTask(readerOf(3), ""), failsWith("not_found", /there is no task/));
  await assert.rejects(findTask(readerOf(0), "last"), failsWith("not_found", /no tasks yet/));
});

test("a question is found among those that are open; `last` is the newest of them", async () => {
  const reader = readerOf(1, ["ask_ab12_2", "ask_ab12_1a"], ["ask_ab12_z"]);
  assert.equal(await findAsk(reader, "last"), "ask_ab12_1a");
  assert.equal(await findAsk(reader, "z"), "ask_ab12_z");
  assert.equal(await findAsk(reader, "ask_ab12_1"), "ask_ab12_1a");
  assert.equal(await findAsk(reader, "ask_ab12_9"), "ask_ab12_9", "the command says why it is not open");
  await assert.rejects(findAsk(reader, "ask_"), failsWith("invalid_input", /ask_ab12_2, ask_ab12_z, ask_ab12_1a/));
  await assert.rejects(findAsk(readerOf(1), "last"), failsWith("not_found", /nothing waits/));
});
