import assert from "node:assert/strict";
import { test } from "node:test";

import { type AcpWorld, acpWorld } from "../../../test/support/acp-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";
import { heldAgents, openAgentFailures } from "./agent-failures.ts";

async function answered(world: AcpWorld, approved: boolean): Promise<string> {
  const asks = await until(async () => {
    const raised = (await world.events()).flatMap((event) => (event.type === "ask.raised" ? [event.data.ask] : []));
    const settled = (await world.events()).flatMap((event) => (event.type === "ask.answered" ? [event.data.ask] : []));
    const open = raised.filter(({ id }) => !settled.includes(id));
    return open.length > 0 ? open : undefined;
  });
  const [ask] = asks;
  await world.engine.deliver(ask?.id ?? "", { kind: "approval", approved }, { kind: "person", name: "Ada" });
  return ask?.question ?? "";
}

test("an agent that failed several times in a row is launched again only when a person agrees", async (t) => {
  const state = tempFolder(t);
  const world = await acpWorld(t, { runner: { breaker: openAgentFailures(state, 2) } });
  const fails = [{ stderr: "out of \u001b[31mluck\n" }, { exit: 3 }];
  assert.equal((await world.run(fails)).status, "failed");
  assert.equal((await world.run([{ say: "well" }])).status, "completed");
  for (const _ of [1, 2]) assert.equal((await world.run(fails)).status, "failed");
  assert.equal(world.ledger("started").length, 4);

  const refused = await world.start([{ say: "not reached" }]);
  const question = await answered(world, false);
  assert.match(question, /^acp:scripted failed 2 times in a row\. Launch it again\?/);
  assert.match(question, /\ntsk_\w+: .*exit status 3: out of \\u\{1b\}\[31mluck/);
  const result = await world.engine.result(refused);
  assert.equal(Object(result.content).code, "refused");
  assert.equal(world.ledger("started").length, 4, "it was not launched");

  const { failures } = heldAgents(state)[0] ?? {};
  assert.equal(failures?.length, 2);
  assert.equal(openAgentFailures(state, 2).heldBack("acp:scripted").length, 2, "a restart finds it");
  assert.deepEqual(openAgentFailures(state, 2).heldBack("acp:scripted/other"), [], "another model is not held back");

  const agreed = await world.start([{ say: "well again" }]);
  await answered(world, true);
  assert.equal((await world.engine.result(agreed)).content, "well again");
  assert.deepEqual(heldAgents(state), []);
});

test("a login that is missing, a usage limit, and a cancel do not count as failures of the agent", async (t) => {
  const state = tempFolder(t);
  const breaker = openAgentFailures(state, 1);
  const world = await acpWorld(t, { behaviour: { login: true }, runner: { breaker } });
  assert.equal((await world.run([{ say: "hello" }])).status, "failed");
  const limited = await acpWorld(t, { runner: { breaker } });
  const parked = await limited.start([{ say: "You've hit your usage limit, try again in 2 hours" }]);
  await until(async () => (await limited.events()).some(({ type }) => type === "ask.raised"));
  await limited.engine.cancel(parked, "enough");
  const hanging = await limited.start([{ hang: true }]);
  await until(() => limited.ledger("prompts").length === 2);
  await limited.engine.cancel(hanging, "enough");
  await limited.engine.stop();
  assert.deepEqual(heldAgents(state), []);
});
