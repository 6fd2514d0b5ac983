// An MCP server on standard input and output, without any library: it keeps notes in memory.
import { createInterface } from "node:readline";

const notes = ["Flutes are made of silver."];
const text = (said) => ({ content: [{ type: "text", text: said }] });
const tools = [
  { name: "list", description: "Lists all notes.", inputSchema: { type: "object", properties: {} } },
  {
    name: "add",
    description: "Adds a note.",
    inputSchema: { type: "object", properties: { note: { type: "string" } }, required: ["note"] },
  },
];

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "notes", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name, arguments: input }) => {
    if (name === "add") notes.push(input.note);
    return text(notes.join("\n"));
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = methods[method];
  const reply = answer === undefined ? { error: { code: -32601, message: method } } : { result: answer(params ?? {}) };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
});
