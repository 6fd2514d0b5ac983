// Ollama, which leaves out the beginning of a conversation that is longer than the context it has loaded.
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";

import { systemClock } from "../engine/clock.ts";
import type { Model } from "../model-port.ts";
import type { TuttiError } from "../protocol/error.ts";
import { userMessage } from "../protocol/task/message.ts";
import { idle, request } from "../../test/support/model-server-models.ts";
import { framesOf } from "../../test/support/model-server-wires.ts";
import { models } from "./model-registry.ts";
import { rehearsalModel } from "./rehearsal/rehearsal-model.ts";

interface Ollama {
  readonly model: Model;
  /** Path and body of every request. */
  readonly asked: (readonly [string, Record<string, unknown>])[];
}

/** `context` is what it loads; null when this server is too old to say. */
async function ollama(
  t: TestContext,
  { context, parameters }: { context: number | null; parameters?: string },
): Promise<Ollama> {
  const asked: [string, Record<string, unknown>][] = [];
  let isLoaded = false;
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    let text = "";
    for await (const chunk of incoming) text += String(chunk);
    const { url = "" } = incoming;
    asked.push([url, text === "" ? {} : (JSON.parse(text) as Record<string, unknown>)]);
    if (url === "/v1/chat/completions") {
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      outgoing.end(framesOf("openai-compatible", { text: ["ok"] }).join(""));
      return;
    }
    if (url === "/api/generate") isLoaded = true;
    const loaded = { name: "small:latest", ...(context === null ? {} : { context_length: context }) };
    outgoing.setHeader("content-type", "application/json");
    outgoing.end(JSON.stringify(url === "/api/ps" ? { models: isLoaded ? [loaded] : [] } : { parameters }));
  };
  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const all = models({ config: { providers: { ollama: { base_url } } }, env: {}, clock: systemClock });
  return { model: all.withRehearsal(rehearsalModel({})), asked };
}

test("the context that is loaded is read from the server; a longer request is refused instead of being cut", async (t) => {
  const { model, asked } = await ollama(t, { context: 8_192 });
  const told: string[] = [];
  const options = { signal: idle, onNotice: (text: string) => told.push(text) };
  const reply = await model.call(request({ model: "ollama/small" }), options);
  assert.equal(reply.contextLimit, 8_192);
  const [, body] = asked.find(([path]) => path === "/v1/chat/completions") ?? assert.fail();
  assert.ok(Number(body["max_tokens"]) < 8_192, "the reply fits beside the request");
  const long = request({ model: "ollama/small" }, [userMessage("word ".repeat(20_000))]);
  await assert.rejects(model.call(long, options), (thrown: TuttiError) => {
    assert.match(thrown.message, /context of 8192 tokens, .*OLLAMA_CONTEXT_LENGTH/);
    return thrown.code === "too_large" && thrown.details?.["limit"] === 8_192;
  });
  assert.equal(asked.filter(([path]) => path === "/v1/chat/completions").length, 1);
  assert.deepEqual(told, []);
});

test("a server that does not say it is taken at the model's own setting, else for small with a warning", async (t) => {
  const set = await ollama(t, { context: null, parameters: "stop <eos>\nnum_ctx    16384\n" });
  assert.equal((await set.model.call(request({ model: "ollama/small" }), { signal: idle })).contextLimit, 16_384);
  const { model } = await ollama(t, { context: null });
  const told: string[] = [];
  const options = { signal: idle, onNotice: (text: string) => told.push(text) };
  for (let count = 0; count < 2; count += 1) {
    assert.equal((await model.call(request({ model: "ollama/small" }), options)).contextLimit, 4_096);
  }
  assert.deepEqual([told.length, /4096 tokens are assumed/.test(told[0] ?? "")], [1, true]);
});
