// What a program finds after it was stopped or has crashed: its work goes on by name, and a name that is gone parks its tasks.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { z } from "zod";

import { openState } from "../daemon/state/open-state.ts";
import { noteProcess } from "../mcp/process-ledger.ts";
import { startHeld } from "../runner/shared/process/held-process.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { failsWith } from "../../test/support/try-tool.ts";
import { until } from "../../test/support/wait-until.ts";
import { agent, openTutti, tool } from "../index.ts";
import { call, crashAt, final, script, transcriptOf } from "./testing.ts";

function shop() {
  const charged: string[] = [];
  const looked: string[] = [];
  const charge = tool({
    name: "charge",
    description: "Charges.",
    input: z.object({ who: z.string() }),
    effects: ["network"],
    run: ({ who }) => `charged ${charged.push(who)}`,
  });
  const look = tool({
    name: "look",
    description: "Looks.",
    input: z.object({}),
    effects: ["read"],
    repeatable: true,
    run: () => `looked ${looked.push("x")}`,
  });
  const clerk = agent({
    name: "clerk",
    instructions: "Sell.",
    tools: [charge, look],
    model: script(call("look"), call("charge", { who: "Ann" }), final({ sold: true })),
    output: z.object({ sold: z.boolean() }),
  });
  return { charged, looked, clerk };
}

test("a step that was recorded is not repeated after a crash, one that may be repeated is, and any other has an unknown outcome (invariant 1)", async (t) => {
  for (const [step, when, charges, looks] of [
    ["look", "during", 1, 2],
    ["look", "after", 1, 1],
    ["charge", "before", 0, 1],
    ["charge", "during", 1, 1],
    ["charge", "after", 1, 1],
  ] as const) {
    const { charged, looked, clerk } = shop();
    const state = tempFolder(t);
    const first = await openTutti({ state, agents: [clerk], testing: { crash: crashAt(step, { when }) } });
    await first.run(clerk, "sell", { key: "order-1" });
    await first.crashed;
    await first.close();
    await using second = await openTutti({ state, agents: [clerk] });
    const run = await second.run(clerk, "sell", { key: "order-1" });
    assert.equal(run.existed, true);
    assert.deepEqual(await run.result(), { sold: true }, `${step} ${when}`);
    assert.deepEqual([charged.length, looked.length], [charges, looks], `${step} ${when}`);
    const [told] = (await transcriptOf(run)).callsOf("charge");
    const isUnknown = step === "charge" && when !== "after";
    assert.equal(told?.failed, isUnknown, `${step} ${when}: ${String(told?.output)}`);
  }
});

test("close stops the work without ending it, and the next openTutti goes on with it at once", async (t) => {
  const state = tempFolder(t);
  const asker = agent({
    name: "asker",
    instructions: "Ask.",
    tools: ["ask"],
    model: script({ ask: { question: "Which?" } }, { final: "{{last}}" }),
  });
  const first = await openTutti({ state, agents: [asker] });
  const { task } = await first.run(asker, "go");
  await until(async () => (await first.asks()).length === 1);
  await assert.rejects(openTutti({ state, agents: [asker] }), failsWith("locked"));
  await first.close();
  await using second = await openTutti({ state, agents: [asker], onAsk: () => "this one" });
  assert.deepEqual(
    (await second.runs({ open: true })).map(({ id }) => id),
    [task],
  );
  const run = await second.find(asker, task);
  assert.match(await run.result(), /this one/);
  await assert.rejects(second.find(asker, "tsk_none_1"), failsWith("not_found"));
});

test("a task whose agent is gone is parked and says so, here and in a daemon, until a program has the agent again", async (t) => {
  const { clerk } = shop();
  const state = tempFolder(t);
  const other = agent({ name: "other", instructions: "x", model: script("y") });
  const first = await openTutti({ state, agents: [clerk], testing: { crash: crashAt("look", { when: "after" }) } });
  const { task } = await first.run(clerk, "sell");
  await first.crashed;
  {
    await using second = await openTutti({ state, agents: [other] });
    const [parked] = second.parked();
    assert.equal(parked?.task, task);
    assert.match(parked?.reason ?? "", /no agent or workflow clerk; give it to openTutti/);
    const run = await second.run(other, "go");
    assert.equal(await run.result(), "y", "other work goes on");
  }
  const daemon = await openState(state);
  const { parked } = await daemon.client.status();
  const shown = await daemon.client.task(task);
  await daemon.close();
  assert.deepEqual(
    parked.map((each) => each.task),
    [task],
  );
  assert.deepEqual([shown.runner, shown.agent, shown.status], ["program", "clerk", "running"]);
  await using third = await openTutti({ state, agents: [clerk] });
  assert.deepEqual(third.parked(), []);
  assert.deepEqual(await (await third.find(clerk, task)).result(), { sold: true });
});

test("with memory nothing is written to disk", async (t) => {
  const folder = tempFolder(t);
  const before = process.cwd();
  process.chdir(folder);
  t.after(() => process.chdir(before));
  const { clerk } = shop();
  await using tutti = await openTutti({ memory: true, agents: [clerk] });
  assert.deepEqual(await (await tutti.run(clerk, "sell")).result(), { sold: true });
  assert.deepEqual(readdirSync(folder), []);
});

test("an MCP server that a killed program left behind is ended by the next one (3)", async (t) => {
  const state = tempFolder(t);
  const left = await startHeld({ program: { argv: ["/bin/sleep", "300"], env: {} }, cwd: state, step: "mcp:left" });
  left.release();
  await noteProcess(state, left.note);
  const [file = ""] = readdirSync(join(state, "mcp-processes"));
  const path = join(state, "mcp-processes", file);
  const note = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify({ ...note, owner: { pid: 2 ** 22 - 1, start: "long ago" } }));
  await using tutti = await openTutti({ state });
  assert.deepEqual(tutti.parked(), []);
  await until(() => !existsSync(`/proc/${left.note.pid}`));
  assert.deepEqual(readdirSync(join(state, "mcp-processes")), []);
});
