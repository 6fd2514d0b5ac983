// Tests of an agent without a network: a script plays the model, the transcript is asserted on, and a crash is survived.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { agent, openTutti, tool } from "tutti";
import { assertCalled, call, crashAt, fakeClock, final, script, transcriptOf } from "tutti/testing";
import { z } from "zod";

const charged: string[] = [];
const charge = tool({
  name: "charge",
  description: "Charges a card.",
  input: z.object({ card: z.string() }),
  effects: ["network"],
  run: ({ card }) => `charge ${charged.push(card)}`,
});
const cashier = agent({
  name: "cashier",
  instructions: "Charge the card once. If you cannot know whether it was charged, say so.",
  model: script(call("charge", { card: "visa" }), final({ done: true })),
  tools: [charge],
  output: z.object({ done: z.boolean() }),
});

test("the cashier charges the card", async () => {
  await using tutti = await openTutti({ memory: true, agents: [cashier], testing: { clock: fakeClock() } });
  const run = await tutti.run(cashier, "Charge it.");
  assert.deepEqual(await run.result(), { done: true });
  assertCalled(await transcriptOf(run), "charge", { card: "visa" });
});

test("a crash right after the charge does not charge twice, and the model is told that the outcome is unknown", async () => {
  const state = mkdtempSync(join(tmpdir(), "tutti-example-"));
  charged.length = 0;
  const first = await openTutti({ state, agents: [cashier], testing: { crash: crashAt("charge") } });
  await first.run(cashier, "Charge it.", { key: "order-1" });
  await first.crashed;

  const second = await openTutti({ state, agents: [cashier] });
  const run = await second.run(cashier, "Charge it.", { key: "order-1" });
  await run.result();
  const [told] = (await transcriptOf(run)).callsOf("charge");
  assert.deepEqual(charged, ["visa"]);
  assert.match(String(told?.output), /it may have happened/);
  await second.close();
  rmSync(state, { recursive: true, force: true });
});
