// The `invoke_agent` calls of one turn over a real engine.

import assert from "node:assert/strict";
import { test } from "node:test";
import { world } from "../../../test/support/agent-kit.ts";
import { led, worker } from "../../../test/support/lead-and-worker.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";

test("several invoke_agent calls of one turn run at once", async (t) => {
  const w = await world(t);
  const file = led({ delegate: Array.from({ length: 6 }, (_, index) => ({ agent: "worker", prompt: `${index}` })) });
  file.script.rules[2] = { agent: "worker", delay_ms: 300, say: "x" };
  const began = performance.now();
  await w.scalar(file);
  assert.ok(performance.now() - began < 1_500, "six of 300 ms one after the other would take 1800 ms");
});

test("a child asking for tools beyond its parent's is refused before it exists, and its siblings start (invariant 6)", async (t) => {
  const w = await world(t);
  const root = await w.start({
    invocation: { ...single(named("lead", "go")), tools: { kind: "exact", tools: ["invoke_agent", "echo"] } },
    agents: { lead: worker, writer: { ...worker, tools: ["write_file"] }, reader: { ...worker, tools: ["echo"] } },
    script: {
      rules: [
        {
          agent: "lead",
          turn: 0,
          delegate: [
            { agent: "writer", prompt: "a" },
            { agent: "reader", prompt: "b" },
            { agent: "nobody", prompt: "c" },
          ],
        },
        { agent: "lead", say: "{{last}}" },
        { agent: "reader", say: "read" },
      ],
    },
  });
  const { content } = await w.engine.result(root);
  const said = String((content as { result: { content: unknown } }).result.content);
  assert.match(said, /writer: the caller may not use write_file.*"read".*there is no agent nobody/s);
  assert.deepEqual(
    w.tree(root).map((row) => row.agent),
    ["invocation", "lead", "reader"],
  );
});

test("past the depth of the budget a call is refused to the model, which goes on", async (t) => {
  const w = await world(t);
  const { content, status } = await w.scalar({
    ...led({ delegate: [{ agent: "worker", prompt: "x" }] }),
    budget: { depth: 1 },
  });
  assert.equal(status, "completed");
  assert.match(String(content), /nested 1 levels deep/);
});
