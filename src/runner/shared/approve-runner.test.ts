import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";
import { openState } from "../../daemon/state/open-state.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import { InvocationResult } from "../../protocol/invocation/invocation-result.ts";

const runner = { kind: "command", config: { argv: ["echo", "counted"] } };
const markdown = `---\ndescription: x\nrunner:\n  kind: command\n  config:\n    argv: [echo, counted]\n---\nCounts.\n`;
const person = { kind: "person", name: "ana" } as const;

async function project(t: TestContext) {
  const folder = tempFolder(t);
  mkdirSync(join(folder, "project/.tutti/agents"), { recursive: true });
  writeFileSync(join(folder, "project/.tutti/agents/counter.md"), markdown);
  const state = await openState(join(folder, "state"));
  t.after(() => state.close());
  const { client } = state;
  return {
    client,
    start: async (more: object): Promise<string> => {
      const body = { invocation: single(named("counter", "go")), roots: ["."], ...more };
      return (await client.invoke(JSON.stringify(body), { folder: join(folder, "project"), anew: true })).task;
    },
    outcome: async (task: string): Promise<string> => {
      const result = InvocationResult.parse((await client.result(task)).content);
      return result.kind === "scalar" ? `${result.result.status} ${JSON.stringify(result.result.content)}` : "";
    },
  };
}

test("a definition of the caller carries its runner, and auto uses it without a question", async (t) => {
  const { start, outcome, client } = await project(t);
  const task = await start({ agents: { counter: { instructions: "Count.", runner } } });
  assert.match(await outcome(task), /^completed .*counted/);
  assert.deepEqual(await client.asks(), []);
});

test("the runner of a project's agent starts only after a person agreed to exactly what it will do", async (t) => {
  const { start, outcome, client } = await project(t);
  for (const approved of [true, false]) {
    const task = await start({});
    await until(async () => (await client.asks(task)).length === 1);
    const [ask] = await client.asks(task);
    assert.match(ask?.question ?? "", /May counter run with the runner command\?[^]*"echo",\n\s*\|\s*"counted"/);
    await client.answer(ask?.id ?? "", { kind: "approval", approved }, person);
    assert.match(await outcome(task), approved ? /^completed .*counted/ : /^failed .*counter was not started/);
  }
});
