// The time limits of the HTTP client, and proxies of the environment.
import assert from "node:assert/strict";
import { createServer, request as httpRequest } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test, type TestContext } from "node:test";

import { Agent, getGlobalDispatcher, setGlobalDispatcher } from "undici";

import { systemClock } from "../engine/clock.ts";
import { messageText } from "../protocol/task/message.ts";
import { idle, model, request } from "../../test/support/model-server-models.ts";
import { modelServer } from "../../test/support/model-server.ts";
import { models } from "./model-registry.ts";
import { ModelsConfig } from "./models-config.ts";
import { pacingOf } from "./pacing.ts";
import { rehearsalModel } from "./rehearsal/rehearsal-model.ts";
import { resolveProvider } from "./resolve-model.ts";

test("the time limits of the HTTP client do not end a call, only those of the provider's settings do", async (context) => {
  const before = getGlobalDispatcher();
  context.after(() => setGlobalDispatcher(before));
  // As the client's own limit of 300 s, in a test that need not wait so long.
  setGlobalDispatcher(new Agent({ headersTimeout: 300, bodyTimeout: 300 }));
  const inner = await modelServer(context, "openai-compatible", [{ reply: { text: ["late"] } }]);
  const slow = createServer((incoming, outgoing) => {
    setTimeout(() => {
      const { method, headers, url } = incoming;
      const on = httpRequest(`${inner.origin}${url ?? ""}`, { method, headers }, (answer) => answer.pipe(outgoing));
      incoming.pipe(on);
    }, 2_500);
  });
  await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
  context.after(() => slow.close());
  const { port } = slow.address() as AddressInfo;
  const told: string[] = [];
  const reply = await model("openai-compatible", { origin: `http://127.0.0.1:${port}` }).call(request(), {
    signal: idle,
    onRetry: ({ reason }) => told.push(reason),
  });
  assert.equal(messageText(reply.message), "late");
  assert.deepEqual(told, []);
});

test("a server of one's own has longer time limits than a provider", () => {
  const setup = { config: ModelsConfig.parse({}), env: {} };
  const [own, hosted] = ["ollama", "openai"].map((name) => pacingOf(resolveProvider(setup, name)));
  assert.ok((own?.firstByteMs ?? 0) > 600_000 && hosted?.firstByteMs === 120_000);
});

/** A proxy that leads every connection to one server, whatever its address. */
async function proxyTo(
  context: TestContext,
  origin: string,
): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const { port: target } = new URL(origin);
  const proxy = createServer((incoming, outgoing) => {
    asked.push(incoming.url ?? "");
    const { method, headers, url = "" } = incoming;
    const on = httpRequest(`${origin}${new URL(url).pathname}`, { method, headers }, (answer) => answer.pipe(outgoing));
    incoming.pipe(on);
  });
  proxy.on("connect", ({ url = "" }, socket, head: Buffer) => {
    asked.push(url);
    const on = connect(Number(target), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      on.write(head);
      on.pipe(socket);
      socket.pipe(on);
    });
    for (const end of [socket, on]) end.on("error", () => undefined);
    context.after(() => on.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  context.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked };
}

test("requests go through the proxy of the environment, but not to this machine and not where NO_PROXY says", async (context) => {
  const server = await modelServer(context, "openai-compatible", [{ reply: { text: ["hello"] } }]);
  const proxy = await proxyTo(context, server.origin);
  const provider = (base_url: string): object => ({ kind: "openai-compatible", base_url, key_env: null });
  const config = {
    providers: { far: provider("http://model.example/v1"), near: provider(`${server.origin}/v1`) },
  };
  const env = { HTTP_PROXY: proxy.url };
  const here = models({ config, env, clock: systemClock }).withRehearsal(rehearsalModel({}));
  const far = await here.call(request({ model: "far/m" }), { signal: idle });
  assert.equal(messageText(far.message), "hello");
  assert.match(proxy.asked.join(), /model\.example/);
  const count = proxy.asked.length;
  await here.call(request({ model: "near/m" }), { signal: idle });
  assert.deepEqual([proxy.asked.length, server.received.length], [count, 2]);
});
