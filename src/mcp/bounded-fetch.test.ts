import assert from "node:assert/strict";
import { test } from "node:test";

import { boundedFetch } from "./bounded-fetch.ts";

const address = "https://mcp.example/";

/** Reads what a server sends: the text over and over, so many times. */
async function readAll(type: string, text: string, times: number): Promise<number> {
  let sent = 0;
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent === times) controller.close();
      else controller.enqueue(bytes);
      sent += 1;
    },
  });
  const response = await boundedFetch(async () => new Response(body, { headers: { "content-type": type } }))(address);
  return (await response.text()).length;
}

test("a server elsewhere is read up to a length, and its events only as fast as anybody can read", async () => {
  const events = "text/event-stream";
  assert.equal(await readAll(events, "data: {}\n\n", 900), 9_000);
  assert.equal(await readAll(events, "data: a\r\ndata: b\r\n\r\n", 900), 18_000, "the lines of an event are one event");
  const mebibyte = `data: ${"x".repeat(2 ** 20)}\n\n`;
  assert.equal(await readAll(events, mebibyte, 40), mebibyte.length * 40, "only each event has a limit of length");
  for (const end of ["\n\n", "\r\r", "\r\n\r\n"]) {
    await assert.rejects(readAll(events, `data: {}${end}`.repeat(100), 1_000), { code: "slow_down" });
  }
  await assert.rejects(readAll(events, "x".repeat(2 ** 20), 40), { code: "too_large" });
  await assert.rejects(readAll("application/json", `${"x".repeat(2 ** 20)}\n`, 40), { code: "too_large" });
  await assert.rejects(boundedFetch(fetch)("http://mcp.example/"), { code: "refused" });
});

test("a server leads a request nowhere but to itself (14)", async () => {
  const seen: string[] = [];
  const leading = (status: number, location: string): typeof fetch =>
    boundedFetch(async (input, init) => {
      const { url, method } = new Request(input, init);
      seen.push(`${method} ${url} ${String(init?.redirect)}`);
      if (url.endsWith("/there")) return new Response("arrived");
      return new Response(null, { status, headers: { location } });
    });
  const post = { method: "POST", body: "{}", headers: { "x-api-key": "secret" } };
  assert.equal(await (await leading(307, "/there")(address, post)).text(), "arrived");
  assert.deepEqual(seen, ["POST https://mcp.example/ manual", "POST https://mcp.example/there manual"]);
  assert.equal(await (await leading(302, "/there")(address)).text(), "arrived");
  for (const elsewhere of [
    "https://other.example/there",
    "http://127.0.0.1/there",
    "http://mcp.example/there",
    "http://[",
  ]) {
    await assert.rejects(leading(308, elsewhere)(address, post), { code: "refused" }, elsewhere);
  }
  await assert.rejects(leading(302, "/there")(address, post), { code: "refused" }, "it would become another request");
  await assert.rejects(leading(307, "/round")(address, post), { code: "refused" }, "without an end");
});
