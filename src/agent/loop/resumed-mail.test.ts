// What came to a task while it was stopped is in the first request of the attempt that goes on.
import assert from "node:assert/strict";
import { test } from "node:test";

import { World, world } from "../../../test/support/agent-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";
import type { Model } from "../../model-port.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import { messageText, userMessage } from "../../protocol/task/message.ts";

const file = { invocation: single(named("a", "go")), agents: { a: { instructions: "x" } } };
const usage = { input_tokens: 1, output_tokens: 1, money_micro_usd: 0 };
const interrupt = { kind: "rule", name: "interrupt" } as const;

/** Its first `hanging` calls never answer; the others end the task. */
function slowModel(hanging: number): { readonly requests: string[][]; readonly model: () => Model } {
  const requests: string[][] = [];
  const model: Model = {
    estimate: () => usage,
    call({ messages }, { signal }) {
      requests.push(messages.map(messageText));
      if (requests.length > hanging) {
        const parts = [{ part_type: "text" as const, data: "done" }];
        return Promise.resolve({ message: { name: null, role: "assistant", parts }, usage, finish: "stop" });
      }
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  };
  return { requests, model: () => model };
}

function sessionOf(w: World, root: string): string {
  return w.tree(root).at(-1)?.id ?? assert.fail("there is no session");
}

test("a message that interrupts is in the very next request, and nothing runs in between", async (t) => {
  const { requests, model } = slowModel(1);
  const w = await world(t, { model });
  const root = await w.start(file);
  await until(() => requests.length === 1);
  const session = sessionOf(w, root);
  await w.engine.message(session, userMessage("take x"));
  await w.engine.message(session, userMessage("and y"));
  await w.engine.interruptTask(session, "interrupted by a message", interrupt);
  assert.equal((await w.engine.result(root)).status, "completed");
  assert.equal(requests.length, 2);
  const [, [opening, stopped, ...mail] = []] = requests;
  assert.deepEqual([opening, mail], ["go", ["take x", "and y"]]);
  assert.match(stopped ?? "", /^A person stopped the work here/);
});

test("after a restart the request has what came before it, too, and each message once (invariant 3)", async (t) => {
  const folder = tempFolder(t);
  const first = slowModel(2);
  const before = new World(folder, { model: first.model });
  const root = await before.start(file);
  await until(() => first.requests.length === 1);
  const session = sessionOf(before, root);
  await before.engine.message(session, userMessage("take x"));
  await before.engine.interruptTask(session, "interrupted by a message", interrupt);
  await until(() => first.requests.length === 2);
  await before.engine.message(session, userMessage("late"));
  await before.close();

  const again = slowModel(0);
  const after = await world(t, { folder, model: again.model });
  assert.equal((await after.engine.result(root)).status, "completed");
  assert.deepEqual(again.requests, [[...(first.requests[1] ?? []), "late"]]);
});
