// Limits of a whole tree over a real engine: tokens, prices, cancels and deadlines.

import assert from "node:assert/strict";
import { test } from "node:test";
import { world } from "../../../test/support/agent-kit.ts";
import { leadOf, led, person, worker } from "../../../test/support/lead-and-worker.ts";
import { until } from "../../../test/support/wait-until.ts";
import { all, named, single } from "../../protocol/invocation/invocation-builders.ts";

test("at the tree's token budget a person is asked: a raise lets work go on, a refusal stops it (invariant 7)", async (t) => {
  const spend = { input: 400, output: 100 };
  const file = {
    invocation: all([named("worker", "a"), named("worker", "b"), named("worker", "c")]),
    agents: { worker },
    budget: { tokens: 1_000 },
    script: { rules: [{ say: "ok", spend }] },
  };
  const w = await world(t);
  const raised = await w.start(file);
  const asked = await until(() => w.waits(raised)[0]);
  assert.equal(asked.body.ask?.kind, "budget");
  await w.engine.deliver(asked.id, { kind: "budget", go_on: true, limits: { tokens: 1_500 } }, person);
  const { content } = await w.engine.result(raised);
  assert.ok((content as { results: { status: string }[] }).results.every((each) => each.status === "completed"));

  const stopped = await w.start(file);
  const again = await until(() => w.waits(stopped)[0]);
  await w.engine.deliver(again.id, { kind: "budget", go_on: false }, person);
  const statuses = ((await w.engine.result(stopped)).content as { results: { status: string; content: unknown }[] })
    .results;
  assert.equal(statuses.filter((each) => each.status === "completed").length, 2);
  assert.match(JSON.stringify(statuses.find((each) => each.status === "failed")?.content), /"code":"over_budget"/);
});

test("a model without a price is asked about first when there is a limit of money", async (t) => {
  const w = await world(t);
  const root = await w.start({
    invocation: single(named("worker", "a")),
    agents: { worker },
    script: { rules: [{ say: "ok", spend: { input: 1, output: 1, money_micro_usd: null } }] },
  });
  const asked = await until(() => w.waits(root)[0]);
  assert.match(asked.body.ask?.question ?? "", /What this costs is not known/);
  await w.engine.deliver(asked.id, { kind: "budget", go_on: true }, person);
  assert.equal((await w.engine.result(root)).status, "completed");
});

test("a task that was handed over is still canceled, and still has its deadline", async (t) => {
  const w = await world(t);
  const file = led({ call: [{ tool: "handover", args: { agent: "worker", prompt: "x" } }] }, { handover: ["worker"] });
  file.script.rules[2] = { agent: "worker", delay_ms: 60_000, say: "x" };
  const handed = (root: string) => w.events(leadOf(w, root)).some((event) => event.type === "task.handed_over");
  const first = await w.start(file);
  await until(() => w.tree(first).length === 2 && handed(first));
  assert.equal((await w.engine.cancel(first, "enough")).length, 2);
  const { task: second } = await w.engine.start({ ...w.taskOf(file), deadline: Date.now() + 500 });
  await w.engine.idle();
  assert.ok(handed(second));
  assert.notEqual((await w.engine.result(leadOf(w, second))).status, "completed");
});
