// A small MCP server on standard input and output, for mcp.ts. Any server that you have will do in its place.
import { createInterface } from "node:readline";

const tools = [
  {
    name: "time",
    description: "Tells the time in a city.",
    inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
];
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "clock", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ arguments: { city } }) => ({ content: [{ type: "text", text: `It is noon in ${city}.` }] }),
  ping: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const reply =
    answer === undefined ? { error: { code: -32601, message: `no ${method}` } } : { result: answer(params) };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
}
