// An agent that goes on with another model, or in another format, because its model refuses or cannot be reached.
import assert from "node:assert/strict";
import { test } from "node:test";

import { World, world } from "../../../test/support/agent-kit.ts";
import { model } from "../../../test/support/model-server-models.ts";
import { refusalOf, signed } from "../../../test/support/model-server-rules.ts";
import { modelServer } from "../../../test/support/model-server.ts";
import { solo } from "../../../test/support/recording-model.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { Model, ModelFacts, ModelReply, ModelRequest } from "../../model-port.ts";
import { TuttiError } from "../../protocol/error.ts";
import { readPolicy } from "../../protocol/routing/read-policy.ts";
import { route } from "../../protocol/routing/route-handoff.ts";
import type { Part } from "../../protocol/task/message.ts";

const usage = { input_tokens: 1, output_tokens: 1, money_micro_usd: 0 };
const facts: ModelFacts = { format: "native", contextTokens: null, maxOutputTokens: 100, formatMayChange: true };

function say(data: string, finish: ModelReply["finish"] = "stop"): ModelReply {
  const parts: Part[] = [{ part_type: "text", data }];
  return { message: { name: null, role: "assistant", parts }, usage, finish };
}

interface Stub {
  readonly asked: string[];
  readonly model: () => Model;
}

function stub(reply: (request: ModelRequest) => ModelReply): Stub {
  const asked: string[] = [];
  const stubbed: Model = {
    estimate: () => usage,
    facts: () => facts,
    async call(request) {
      asked.push(`${request.model} ${request.format}`);
      return reply(request);
    },
  };
  return { asked, model: () => stubbed };
}

function changesOf(w: World, task: string): unknown[] {
  return w
    .events(task)
    .filter(({ type }) => type === "model.changed")
    .map(({ body }) => JSON.parse(body ?? "null"));
}

test("the models of the list are tried in order when one is out of reach or refuses, and the reasons are recorded", async (t) => {
  const { asked, model: stubbed } = stub(({ model: name }) => {
    if (name === "a/down") throw new TuttiError("refused", "no credit", { retry: "never" });
    return name === "b/prim" ? say("I will not.", "refusal") : say("done");
  });
  const w = await world(t, { model: stubbed });
  // The list is the one that a policy gives with its decision.
  const read = readPolicy({
    policy: { info: "a/down" },
    fallbacks: { info: ["b/prim", "c/willing"] },
    gate: { require_fields: [] },
  });
  const none = ["none"];
  const contract = { acceptance_criteria: none, assumptions_made: none, open_questions: none, failed_checks: none };
  const routed = read.ok ? route(read.value, { scope: "research", ...contract }) : undefined;
  assert.ok(routed?.ok);
  const { model: chosen, fallback_models = [] } = routed.value;
  const definition = { model: chosen, fallback_models: [...fallback_models] };
  const result = await w.scalar(solo([], definition));
  assert.equal(result.content, "done");
  assert.deepEqual(asked, ["a/down native", "b/prim native", "c/willing native"]);
  assert.deepEqual(changesOf(w, result.task_id), [
    { from: "a/down", to: "b/prim", format: "native", reason: "no credit" },
    { from: "b/prim", to: "c/willing", format: "native", reason: "the model refused to answer: I will not." },
  ]);
  assert.ok(!JSON.stringify(w.messages(result.task_id)).includes("I will not."));
});

test("without another model a refusal and an outage fail the task, and a wrong request is not passed on", async (t) => {
  const refusing = await world(t, { model: stub(() => say("No.", "refusal")).model });
  assert.equal((await refusing.scalar(solo([], { model: "a/one" }))).status, "failed");
  const { asked, model: stubbed } = stub(() => {
    throw new TuttiError("invalid_input", "a bad request", { retry: "never" });
  });
  const wrong = await world(t, { model: stubbed });
  const result = await wrong.scalar(solo([], { model: "a/one", fallback_models: ["b/two"] }));
  assert.deepEqual([result.status, asked.length], ["failed", 1]);
});

test("a server that takes no tools gets the calls in the text, also after a restart and for the next agent", async (t) => {
  const folder = tempFolder(t);
  let isDown = false;
  const call = '```tool\n{"name":"echo","args":{"text":"heard"}}\n```';
  const server = await modelServer(t, "openai-compatible", (received) => {
    const refused = refusalOf("openai-compatible", received, { noTools: true });
    if (refused !== undefined) return refused;
    const isSecond = JSON.stringify(received.body).includes("heard");
    if (isDown && isSecond) return { silent: true };
    const text = isSecond ? "done" : call;
    return { reply: signed("openai-compatible", received, { text: [text] }) };
  });
  const file = { ...solo([], { model: "here/m" }), script: undefined };
  const here = model("openai-compatible", server, { settings: { format: "auto" } });
  const first = new World(folder, { model: () => here });
  const result = await first.scalar(file);
  assert.equal(result.content, "done");
  assert.equal(server.received.filter(({ body }) => "tools" in body).length, 1);
  assert.equal(changesOf(first, result.task_id).length, 1);
  assert.equal((await first.scalar(file)).content, "done");
  assert.equal(server.received.filter(({ body }) => "tools" in body).length, 1, "the next agent offers none");

  isDown = true;
  const before = server.received.length;
  const third = await first.start(file);
  for (let rounds = 0; server.received.length < before + 2 && rounds < 2_000; rounds += 1)
    await new Promise((resolve) => setTimeout(resolve, 5));
  await first.close();
  isDown = false;
  // The new process knows nothing of the server, but the task does.
  const fresh = model("openai-compatible", server, { settings: { format: "auto" } });
  const second = new World(folder, { model: () => fresh });
  await second.engine.recover();
  const resumed = await second.engine.result(third);
  await second.close();
  assert.equal(resumed.status, "completed");
  assert.equal(server.received.filter(({ body }) => "tools" in body).length, 1, "the task goes on in its format");
});
