import assert from "node:assert/strict";
import { test } from "node:test";

import { question } from "../../test/support/task-events.ts";
import type { Tutti } from "../client/client.ts";
import { submitAnswer } from "./submit-answer.ts";

test("a question is answered and a wait is settled, each in the name of a person", async () => {
  const calls: unknown[] = [];
  const submit =
    (how: string) =>
    async (id: string, value: unknown, by: { readonly kind: string; readonly name: string }): Promise<object> => {
      assert.notEqual(by.name, "");
      calls.push([how, id, value, by.kind]);
      return { accepted: true };
    };
  const tutti = { answer: submit("answer"), settle: submit("settle") } as unknown as Tutti;
  await submitAnswer(tutti, question, { kind: "question", value: "x" });
  await submitAnswer(tutti, { id: "ask_2", task: "tsk_1", root: "tsk_1", label: "l", deadline: 1 }, 42);
  assert.deepEqual(calls, [
    ["answer", "ask_1", { kind: "question", value: "x" }, "person"],
    ["settle", "ask_2", 42, "person"],
  ]);
});
