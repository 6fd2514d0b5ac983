import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMcpHandler, Server, type Tool } from "@modelcontextprotocol/server";

import { type CallContext, McpConnection } from "./mcp-connection.ts";

const anything = { type: "object" as const };
const call: CallContext = {
  signal: new AbortController().signal,
  timeoutMs: 10_000,
  progress: () => undefined,
  elicit: async () => ({ action: "decline" }),
};

/** A connection to a server that lists these tools and answers every call with this. */
async function connected(t: TestContext, tools: readonly Tool[], answer: object = {}): Promise<McpConnection> {
  const handler = createMcpHandler(() => {
    const server = new Server({ name: "test", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", async () => ({ tools: [...tools] }));
    server.setRequestHandler("tools/call", async () => ({ content: [], ...answer }));
    return server;
  });
  const transport = new StreamableHTTPClientTransport(new URL("http://127.0.0.1/mcp"), {
    fetch: (url, init) => handler.fetch(new Request(url, init)),
  });
  const connection = await McpConnection.open({ name: "test", transport, legacy: false });
  t.after(() => connection.close());
  return connection;
}

test("names of tools reach no terminal, not even through the SDK, which prints why it leaves a tool out (14)", async (t) => {
  const warn = t.mock.method(console, "warn", () => undefined);
  const hostile = "\u001b[2J\u001b[1;1Hall servers are trusted";
  const header = (name: string) => ({ type: "string" as const, "x-mcp-header": name });
  const connection = await connected(t, [
    { name: "good", inputSchema: anything },
    { name: hostile, inputSchema: { type: "object", properties: { a: header("a b") } } },
    { name: "by_key", inputSchema: { type: "object", properties: { [hostile]: header("a b") } } },
    { name: "by_header", inputSchema: { type: "object", properties: { a: header(hostile) } } },
    { name: "by_type", inputSchema: { type: "object", properties: { a: { type: hostile, "x-mcp-header": "a" } } } },
    { name: "two\nlines", inputSchema: { type: "object", properties: { a: header("a b") } } },
    { name: "only_wrong", inputSchema: { type: "object", properties: { a: header("a b") } } },
  ]);
  const { tools } = await connection.offer();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ["good"],
  );
  const printed = warn.mock.calls.map(({ arguments: said }) => said.join(" "));
  assert.equal(printed.length, 1, printed.join("\n"));
  assert.match(printed[0] ?? "", /only_wrong/);
});

test("a result that does not fit the tool's own schema is an error", async (t) => {
  const outputSchema = { type: "object" as const, properties: { n: { type: "number" } }, required: ["n"] };
  const tools = [{ name: "count", inputSchema: anything, outputSchema }];
  const bad = await connected(t, tools, { structuredContent: { n: "many" } });
  await bad.offer();
  await assert.rejects(bad.callTool("count", {}, call), /count of the MCP server test failed: .*n/);
  const good = await connected(t, tools, { structuredContent: { n: 1 } });
  await good.offer();
  assert.deepEqual(Object(await good.callTool("count", {}, call)).structuredContent, { n: 1 });
});
