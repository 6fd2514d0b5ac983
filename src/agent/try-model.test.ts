// A model that is tried for everything, on every wire, against the local server.
import assert from "node:assert/strict";
import { test } from "node:test";

import { idle, model, wires } from "../../test/support/model-server-models.ts";
import { refusalOf } from "../../test/support/model-server-rules.ts";
import { modelServer, type Received, type Turn } from "../../test/support/model-server.ts";
import type { Wire } from "../../test/support/model-server-wires.ts";
import { systemClock } from "../engine/clock.ts";
import { type Tried, tryModel } from "./try-model.ts";

const numbers = Array.from({ length: 400 }, (_, at) => String(at + 1)).join(" ");

/** A model that can do everything that it is tried for. */
function able(wire: Wire, { body }: Received): Turn {
  const text = JSON.stringify(body);
  if (text.includes("1742")) return { reply: { text: ["It returned 1742."] } };
  if (text.includes("Call the tool") && "tools" in body) {
    return { reply: { calls: [{ id: "c1", name: "add", args: '{"a":17,"b":25}' }] } };
  }
  if (text.includes("Call the tool")) {
    return { reply: { text: ['```tool\n{"name":"add","args":{"a":17,"b":25}}\n```'] } };
  }
  if (text.includes("whole numbers")) return { reply: { text: [numbers] } };
  if (text.includes("bat and a ball")) return { reply: { reasoning: "Let x be the ball.", text: ["0.05"] } };
  if (text.includes("Which colour")) {
    const hasPicture = text.includes("iVBORw0KGgo") && (wire === "google" || !text.includes("[image"));
    return { reply: { text: [hasPicture ? "Red" : "I see no picture."] } };
  }
  return { reply: { text: ["ready"] } };
}

const summary = (tried: readonly Tried[]): string[] => tried.map(({ part, outcome }) => `${part} ${outcome}`);

for (const wire of wires) {
  test(`${wire}: a model that can do everything is found to, with what each part cost`, async (t) => {
    const server = await modelServer(t, wire, (received) => refusalOf(wire, received, {}) ?? able(wire, received));
    const shown: Tried[] = [];
    const options = {
      name: "here/m",
      clock: systemClock,
      signal: idle,
      onTried: (each: Tried) => void shown.push(each),
    };
    const tried = await tryModel(model(wire, server), options);
    assert.deepEqual(
      summary(tried),
      ["reply works", "tool works", "long reply works", "thinking works", "image works"],
      JSON.stringify(tried),
    );
    assert.deepEqual(shown, tried);
    assert.ok(tried.every(({ usage }) => (usage.money_micro_usd ?? 0) > 0));
  });
}

test("what a model cannot do is said: no tools, no thinking, a cut reply, no pictures, no reply at all", async (t) => {
  const wire: Wire = "openai-compatible";
  const server = await modelServer(t, wire, (received) => {
    const text = JSON.stringify(received.body);
    if (text.includes("whole numbers")) return { reply: { text: ["1 2 3"], finish: "length" } };
    if (text.includes("bat and a ball")) return { reply: { text: ["0.05"] } };
    if (text.includes("Which colour")) return { status: 400, body: { error: { message: "no image input" } } };
    return refusalOf(wire, received, { noTools: true }) ?? able(wire, received);
  });
  const options = { name: "here/m", clock: systemClock, signal: idle, onTried: () => undefined };
  const tried = await tryModel(model(wire, server, { settings: { format: "auto" } }), options);
  assert.deepEqual(summary(tried), ["reply works", "tool works", "long reply fails", "thinking absent", "image fails"]);
  assert.match(tried[1]?.said ?? "", /the server takes no tools, so the calls are in the text/);
  assert.match(tried[2]?.said ?? "", /raise `max_output_tokens`/);

  const closed = await modelServer(t, wire, [{ status: 401 }]);
  const refused = await tryModel(model(wire, closed), options);
  assert.deepEqual(summary(refused), ["reply fails"]);
  assert.match(refused[0]?.said ?? "", /check HERE_KEY/);
});
