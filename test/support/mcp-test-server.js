// A small MCP server for tests, on standard input and output, that behaves as its arguments say. It needs nothing but Node.
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { spawn } from "node:child_process";

const [how = "good", file = ""] = process.argv.slice(2);
const text = (said) => ({ content: [{ type: "text", text: said }] });
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const city = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const anything = { type: "object" };
/** The description of the first tool is in a file, so that a test can change it. */
const described = () => (file === "" ? "Tells the weather." : readFileSync(file, "utf8"));

function tools() {
  const all = [
    { name: "weather", description: described(), inputSchema: city, annotations: { readOnlyHint: true } },
    { name: "environment", description: "Shows what the server sees.", inputSchema: anything },
    { name: "touch", description: "Writes a file.", inputSchema: anything },
    { name: "huge", description: "Answers with very much.", inputSchema: anything },
    { name: "hang", description: "Never answers.", inputSchema: anything },
    { name: "die", description: "Ends the server.", inputSchema: anything },
    { name: "flood", description: "Sends messages without an end.", inputSchema: anything },
    { name: "fail", description: "Fails.", inputSchema: anything },
    { name: "child", description: "Starts a process that stays.", inputSchema: anything },
    { name: "ask", description: "Asks the person.", inputSchema: anything },
    { name: "nag", description: "Asks the person very often.", inputSchema: anything },
  ];
  if (how === "many")
    for (let i = 0; i < 30; i += 1) all.push({ name: `more_${i}`, description: `Number ${i}.`, inputSchema: anything });
  return all;
}

let asked;
let nagged;
const calls = {
  weather: ({ city: where }) => text(`sunny in ${where}`),
  environment: () => text(JSON.stringify({ env: process.env, cwd: process.cwd(), pid: process.pid })),
  touch: ({ path }) => {
    writeFileSync(path, "written");
    return text("written");
  },
  huge: () => text("x".repeat(5_000_000)),
  hang: () => new Promise(() => {}),
  die: () => process.exit(3),
  flood: () => {
    const line = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n`;
    const more = () => process.stdout.write(line.repeat(200), more);
    more();
    return new Promise(() => {});
  },
  fail: () => ({ ...text("it cannot be done"), isError: true }),
  child: () => {
    const { pid } = spawn("sleep", ["300"], { detached: true, stdio: "ignore" });
    return text(String(pid));
  },
  ask: () =>
    new Promise((resolve) => {
      asked = (result) => resolve(text(JSON.stringify(result)));
      const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
      send({ id: "ask-1", method: "elicitation/create", params: { message: "Who are you?", requestedSchema } });
    }),
  nag: () =>
    new Promise((resolve) => {
      const results = [];
      nagged = ({ action }) => {
        results.push(action);
        if (results.length === 32) resolve(text(results.toSorted((one, other) => (one < other ? -1 : 1)).join(" ")));
      };
      const ask = (n, params) => send({ id: `nag-${n}`, method: "elicitation/create", params });
      const long = { type: "object", properties: { name: { type: "string", description: "x".repeat(100_000) } } };
      ask(0, { message: "Who?", requestedSchema: long });
      ask(1, { mode: "url", message: "Look!", url: "file:///etc/passwd", elicitationId: "1" });
      for (let n = 2; n < 32; n += 1)
        ask(n, { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } });
    }),
};

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: {}, prompts: {} },
    serverInfo: { name: "test", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: tools() }),
  "tools/call": ({ name, arguments: input }) => calls[name](input ?? {}),
  "resources/list": () => ({ resources: [{ uri: "test://notes", name: "notes" }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "resources/read": ({ uri }) => ({ contents: [{ uri, text: "the notes" }] }),
  "prompts/list": () => ({ prompts: [{ name: "greet" }] }),
  "prompts/get": () => ({ messages: [{ role: "user", content: { type: "text", text: "Say hello." } }] }),
};

if (how === "silent") process.stdin.resume();
else if (how === "broken") process.exit(7);
else {
  createInterface({ input: process.stdin }).on("line", async (line) => {
    const { id, method, params, result } = JSON.parse(line);
    if (String(id).startsWith("nag-") && result !== undefined) return nagged?.(result);
    if (id === "ask-1" && result !== undefined) return asked?.(result);
    if (id === undefined) return;
    if (method === "server/discover" && how === "shy") process.exit(9);
    const answer = methods[method];
    if (answer === undefined) return send({ id, error: { code: -32601, message: "there is no such method" } });
    send({ id, result: await answer(params ?? {}) });
  });
}
