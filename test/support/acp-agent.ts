// A scripted agent that speaks the Agent Client Protocol. The text of a prompt is the list of what it does, and it misbehaves on order.
// Arguments: the folder for its ledger, and as JSON how it behaves before the first prompt.

import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

type Json = Readonly<Record<string, unknown>>;

const [folder = ".", behaviourText = "{}"] = process.argv.slice(2);
const behaviour: Json = JSON.parse(behaviourText);

const send = (frame: Json): void => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...frame })}\n`);
};
const ledger = (name: string, value: unknown): void => appendFileSync(join(folder, name), `${JSON.stringify(value)}\n`);

let session = "s-1";
const update = (content: Json): void =>
  send({ method: "session/update", params: { sessionId: session, update: content } });
const say = (text: string): void => update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });

let lastId = 0;
const waiting = new Map<number, (frame: Json) => void>();
const request = (method: string, params: unknown): Promise<Json> => {
  lastId += 1;
  const id = lastId;
  send({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
};

let canceled = false;
let wake: (() => void) | undefined;
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });

const options = [
  { optionId: "yes", name: "Allow", kind: "allow_once" },
  { optionId: "always", name: "Always", kind: "allow_always" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
];

const actions: Readonly<Record<string, (value: never, action: Json) => unknown>> = {
  say: (text: string) => say(text),
  think: (text: string) => update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text } }),
  update: (content: Json) => update(content),
  echo: (text: string) => update({ sessionUpdate: "user_message_chunk", content: { type: "text", text } }),
  cost: (amount: number) =>
    update({ sessionUpdate: "usage_update", used: 1, size: 2, cost: { amount, currency: "USD" } }),
  flood: (count: number) => {
    for (let index = 0; index < count; index += 1) {
      update({ sessionUpdate: "plan", entries: [{ content: `step ${index}`, priority: "low", status: "pending" }] });
    }
  },
  chatter: (count: number) => {
    for (let index = 0; index < count; index += 1) say("x".repeat(1_000));
  },
  longLine: (bytes: number) => process.stdout.write("x".repeat(bytes)),
  raw: (line: string) => process.stdout.write(`${line}\n`),
  stderr: (text: string) => process.stderr.write(text),
  sleep: (ms: number) => pause(ms),
  hang: () => pause(600_000),
  exit: (code: number) => process.exit(code),
  die: () => process.kill(process.pid, "SIGKILL"),
  fork: () => {
    const child = spawn("/bin/sh", ["-c", `sleep 600; : child of ${folder}`], { detached: true, stdio: "ignore" });
    child.unref();
  },
  write: (path: string, { text = "written" }: Json) => {
    try {
      writeFileSync(path, String(text));
      ledger("wrote", [path, "ok"]);
    } catch (thrown) {
      ledger("wrote", [path, Object(thrown).code]);
    }
  },
  shell: (command: string) => {
    const { status, stderr } = spawnSync("/bin/sh", ["-c", command], { encoding: "utf8" });
    ledger("ran", [command, status, stderr.slice(0, 500)]);
  },
  see: (path: string) => {
    try {
      ledger("saw", [
        path,
        existsSync(path) ? (path.endsWith("/") ? readdirSync(path) : readFileSync(path, "utf8")) : null,
      ]);
    } catch (thrown) {
      ledger("saw", [path, Object(thrown).code]);
    }
  },
  environment: () => ledger("environment", process.env),
  rpc: async (method: string, { params }: Json) => ledger("answers", await request(method, params)),
  permit: async (toolCall: Json, { then, options: offered = options }: Json) => {
    const answer = await request("session/request_permission", { sessionId: session, toolCall, options: offered });
    ledger("permissions", answer["result"] ?? answer["error"]);
    const { outcome } = Object(answer["result"]);
    if (behaviour["givesUp"] === true && outcome?.optionId !== "yes") canceled = true;
    if (outcome?.optionId === "yes" && Array.isArray(then)) for (const action of then) await act(action);
  },
  /** Two requests that are open at the same time. */
  permitTwice: async (toolCall: Json, action: Json) => {
    const again = { ...toolCall, toolCallId: `${String(toolCall["toolCallId"])}b` };
    await Promise.all([toolCall, again].map((call) => actions["permit"]?.(call as never, action)));
  },
};

async function act(action: Json): Promise<void> {
  for (const [name, value] of Object.entries(action)) {
    const run = actions[name];
    if (run !== undefined) await run(value as never, action);
  }
}

async function prompt(id: unknown, { prompt: blocks }: Json): Promise<void> {
  const text = String(Object(Array.isArray(blocks) ? blocks[0] : {}).text);
  ledger("prompts", text);
  canceled = false;
  const start = text.indexOf("[{");
  const list: Json[] = start === -1 ? [{ say: `went on` }] : JSON.parse(text.slice(start).split("\n", 1)[0] ?? "");
  let answer: Json = { stopReason: "end_turn" };
  for (const action of list) {
    if (canceled) break;
    if (action["fail"] !== undefined) return send({ id, error: action["fail"] });
    if (action["answer"] !== undefined) answer = Object(action["answer"]);
    await act(action);
  }
  send({ id, result: canceled ? { ...answer, stopReason: "cancelled" } : answer });
}

const modes = {
  currentModeId: "free",
  availableModes: [
    { id: "free", name: "Free" },
    { id: "asking", name: "Asking" },
  ],
};

const methods: Readonly<Record<string, (params: Json, id: unknown) => unknown>> = {
  initialize: async () => {
    if (behaviour["silent"] === true) await pause(600_000);
    if (behaviour["dies"] === true) process.exit(7);
    return {
      protocolVersion: 1,
      agentCapabilities: { loadSession: behaviour["load"] === true },
      agentInfo: { name: "scripted", version: "1.0" },
      authMethods: [],
    };
  },
  "session/new": () => {
    if (behaviour["login"] === true) throw { code: -32_000, message: "Authentication required" };
    return { sessionId: session, modes };
  },
  "session/load": ({ sessionId }) => {
    session = String(sessionId);
    ledger("loaded", session);
    for (const text of ["an old prompt", "more"]) {
      update({ sessionUpdate: "user_message_chunk", content: { type: "text", text } });
    }
    say("an old reply");
    return { modes };
  },
  "session/set_mode": ({ modeId }) => {
    ledger("modes", modeId);
    return {};
  },
};

async function receive(line: string): Promise<void> {
  const { id, method, params, ...rest }: Record<string, unknown> = JSON.parse(line);
  if (typeof method !== "string") {
    waiting.get(Number(id))?.(rest);
    waiting.delete(Number(id));
    return;
  }
  if (method === "session/cancel") {
    ledger("canceled", true);
    if (behaviour["ignoresCancel"] === true) return;
    canceled = true;
    return wake?.();
  }
  if (method === "session/prompt") return prompt(id, Object(params));
  try {
    const result = await methods[method]?.(Object(params), id);
    send(result === undefined ? { id, error: { code: -32_601, message: "unknown" } } : { id, result });
  } catch (thrown) {
    send({ id, error: thrown });
  }
}

if (behaviour["ignoresTerm"] === true) process.on("SIGTERM", () => undefined);
ledger("started", process.pid);
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => void receive(line));
if (behaviour["ignoresTerm"] !== true) lines.on("close", () => process.exit(0));
else setInterval(() => undefined, 60_000);
