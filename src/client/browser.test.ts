// The client without Node: bundled for a browser and run in a context that has only what browsers have.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { createContext, runInContext } from "node:vm";

import { build } from "esbuild";

import { sendJson, sendProblem, wireServer } from "../../test/support/loopback-server.ts";

const web = {
  AbortController,
  AbortSignal,
  clearInterval,
  clearTimeout,
  fetch,
  Headers,
  ReadableStream,
  Response,
  setInterval,
  setTimeout,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
  WebSocket,
};

test("the client can be bundled for a browser and works with what a browser has", async (t) => {
  const task = "tsk_s_1";
  const event = { seq: 1, at: 0, task, root: task, type: "task.resumed", data: {} };
  const { url } = await wireServer(t, (request, response) => {
    if (request.url === "/v1/keys") return sendProblem(response, { status: 403, code: "refused", detail: "not you" });
    if (request.url?.startsWith("/v1/asks") === true) return sendJson(response, { asks: [], next: null });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`id: 1\ndata: ${JSON.stringify(event)}\n\nevent: end\ndata: {"reason":"settled","after":1}\n\n`);
  });
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "index.ts")],
    bundle: true,
    write: false,
    platform: "browser",
    format: "iife",
    globalName: "client",
  });
  const world = createContext({ ...web, url, task });
  runInContext(outputFiles[0]?.text ?? "", world);
  const result: unknown = await runInContext(
    `(async () => {
      const tutti = client.httpClient({ url, key: "tk_x" });
      const seqs = [];
      for await (const item of tutti.follow({ task })) seqs.push(item.event.seq);
      const refused = await tutti.keys().catch((error) => error.code);
      return JSON.stringify({ asks: await tutti.asks(), seqs, refused });
    })()`,
    world,
  );
  assert.equal(result, '{"asks":[],"seqs":[1],"refused":"refused"}');
});
