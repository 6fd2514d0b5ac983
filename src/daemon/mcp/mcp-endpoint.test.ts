import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { z } from "zod";

import { type UpProcess, type UpScene, upScene } from "../../../test/support/up-process.ts";
import { until } from "../../../test/support/wait-until.ts";
import { httpClient } from "../../client/http-client.ts";
import type { Tutti } from "../../client/client.ts";
import type { KeyGrant } from "../../protocol/invocation/by-program.ts";
import type { KeyRole } from "../../protocol/api/service.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const Text = z.object({ content: z.array(z.object({ text: z.string() })), isError: z.boolean().optional() });
const Request = z.object({
  type: z.string(),
  req_id: z.string(),
  task_id: z.string(),
  worker_handle: z.string().optional(),
});
const Pending = z.object({ requests: z.array(Request), news: z.array(z.object({ type: z.string() })) });
const Started = z.object({ task: z.string() });

let scene: UpScene;
let daemon: UpProcess;
let tutti: Tutti;
const ends: (() => Promise<unknown>)[] = [];

before(async () => {
  scene = upScene({
    after: (end) => void ends.push(async () => Reflect.apply(end ?? (() => undefined), undefined, [])),
  });
  daemon = await scene.up();
  const { url } = daemon.found.daemon;
  tutti = httpClient({ url, key: daemon.found.key });
});

after(async () => {
  for (const end of ends.toReversed()) await end();
});

const addKey = async (role: KeyRole, may: readonly KeyGrant[] = []): Promise<string> =>
  (await tutti.addKey({ name: `a ${role}`, role, may: [...may] })).key;

interface Session {
  readonly client: Client;
  names(): Promise<string[]>;
  /** The result, or the error when the tool failed. */
  call(name: string, input?: Record<string, unknown>): Promise<unknown>;
}

async function connect(key: string, { mode = "auto", headers = {} }: ConnectOptions = {}): Promise<Session> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(`${daemon.found.daemon.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}`, ...headers } },
  });
  await client.connect(transport);
  ends.push(() => client.close());
  return session(client);
}

interface ConnectOptions {
  readonly mode?: "auto" | "legacy";
  readonly headers?: Record<string, string>;
}

function session(client: Client): Session {
  return {
    client,
    names: async () => (await client.listTools()).tools.map(({ name }) => name).toSorted(),
    async call(name, input = {}) {
      const { content } = Text.parse(await client.callTool({ name, arguments: input }));
      return JSON.parse(content[0]?.text ?? "null");
    },
  };
}

const looking = [
  "ask_list",
  "ask_show",
  "goal_list",
  "goal_report",
  "goal_show",
  "task_list",
  "task_messages",
  "task_show",
  "task_wait",
];
const working = ["worker_ask", "worker_fetch", "worker_progress", "worker_submit"];

describe("the path /mcp", () => {
  test("offers each key the tools of its role, in both ways of speaking, and a role can be narrowed and never widened", async () => {
    const viewer = await addKey("viewer");
    const operator = await addKey("operator");
    for (const mode of ["auto", "legacy"] as const) {
      assert.deepEqual(await (await connect(viewer, { mode })).names(), looking);
    }
    const all = await (await connect(operator)).names();
    assert.ok([...looking, ...working, "operator_join", "goal_start", "invoke"].every((name) => all.includes(name)));
    assert.deepEqual(await (await connect(operator, { headers: { "tutti-role": "viewer" } })).names(), looking);
    assert.deepEqual(await (await connect(viewer, { headers: { "tutti-role": "admin" } })).names(), looking);
    const refused = await (await connect(viewer)).call("goal_start", { text: "x", folder: "/tmp" }).catch(String);
    assert.match(String(JSON.stringify(refused)), /not found|goal_start/);
  });

  test("answers nobody without a key, with a wrong key or from another page, and no many calls in one request", async () => {
    const { url } = daemon.found.daemon;
    const post = (headers: Record<string, string>): Promise<number> =>
      fetch(`${url}/mcp`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
      }).then(({ status }) => status);
    const authorization = `Bearer ${daemon.found.key}`;
    assert.equal(await post({}), 401);
    assert.equal(await post({ authorization: "Bearer tk_wrong" }), 401);
    assert.equal(await post({ authorization: `Bearer wh-${"0".repeat(32)}` }), 401);
    assert.equal(await post({ authorization, origin: "https://evil.example" }), 403);
    assert.equal(await post({ authorization }), 200);
    const deep = `${'{"a":'.repeat(3000)}1${"}".repeat(3000)}`;
    const response = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: deep,
    });
    assert.equal(response.status, 422);
    const batch = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify([1, 2].map((id) => ({ jsonrpc: "2.0", id, method: "tools/list" }))),
    });
    assert.deepEqual([batch.status, /batch of messages/.test(await batch.text())], [422, true]);
  });

  test("lets a model be the operator and the worker of a task, and a worker's handle opens the tools of workers only", async () => {
    const operator = await connect(await addKey("operator", ["force-runners"]));
    const { sid } = z.object({ sid: z.string() }).parse(await operator.call("operator_join", { roles: ["builder"] }));
    const invocation = JSON.parse(readFileSync(join(root, "examples/operator/invocation.json"), "utf8"));
    const { task } = Started.parse(await operator.call("invoke", { invocation, folder: scene.folder }));
    const next = async (type: string): Promise<z.infer<typeof Request>> => {
      const { requests } = Pending.parse(await operator.call("operator_pending", { sid, wait_ms: 20_000 }));
      const found = requests.find((request) => request.type === type);
      assert.ok(found, `there is no ${type} among ${JSON.stringify(requests)}`);
      return found;
    };
    const gate = await next("hook_before");
    const unusable = await operator.call("operator_answer", { sid, req_id: gate.req_id, value: "yes" });
    assert.partialDeepStrictEqual(unusable, { code: "invalid_input" });
    assert.deepEqual(await operator.call("operator_answer", { sid, req_id: gate.req_id, ok: true }), {
      accepted: true,
    });
    assert.partialDeepStrictEqual(await operator.call("operator_answer", { sid, req_id: gate.req_id, ok: true }), {
      code: "conflict",
    });
    const spawn = await next("spawn");
    const { worker_handle = "", task_id } = spawn;

    const worker = await connect(worker_handle);
    assert.deepEqual(await worker.names(), working);
    assert.partialDeepStrictEqual(await worker.call("worker_fetch", { task_id }), { agent: "counter", attempt: 1 });
    assert.partialDeepStrictEqual(await worker.call("worker_progress", { text: "counting" }), { accepted: true });
    const wrong = await worker.call("worker_submit", { handle: `wh-${"1".repeat(32)}`, task_id, value: 0 });
    assert.partialDeepStrictEqual(wrong, { code: "refused" });
    assert.partialDeepStrictEqual(await worker.call("worker_submit", { task_id, value: "6 words" }), {
      recorded: true,
    });
    assert.deepEqual(await operator.call("operator_answer", { sid, req_id: spawn.req_id, ok: true }), {
      accepted: true,
    });

    const other = await connect(await addKey("operator"));
    assert.partialDeepStrictEqual(await other.call("operator_pending", { sid, wait_ms: 0 }), { code: "refused" });
    const ended = await operator.call("task_wait", { task, wait_ms: 20_000 });
    assert.match(JSON.stringify(ended), /"ended":true.*6 words/);
    assert.deepEqual(await operator.call("operator_leave", { sid }), { left: true });
  });

  test("a long wait tells of progress, ends after its time and names open questions; approvals stay a person's", async () => {
    const operator = await connect(await addKey("operator"));
    const asking = JSON.parse(readFileSync(join(root, "examples/invocations/ask.json"), "utf8"));
    const invocation = { ...asking, approvals: { read: "ask" } };
    const { task } = Started.parse(await operator.call("invoke", { invocation, folder: scene.folder }));
    const Waiting = z.object({
      ended: z.literal(false),
      asks: z.array(z.object({ id: z.string(), kind: z.string() })),
    });
    const [ask] = await until(async () => {
      const { asks } = Waiting.parse(await operator.call("task_wait", { task, wait_ms: 200 }));
      return asks.length > 0 ? asks : undefined;
    });
    assert.ok(ask);
    let progress = 0;
    const waiting = await operator.client.callTool(
      { name: "task_wait", arguments: { task, wait_ms: 1_500 } },
      { onprogress: () => (progress += 1) },
    );
    assert.match(Text.parse(waiting).content[0]?.text ?? "", /"ended":false/);
    assert.ok(progress > 0);
    assert.equal(ask.kind, "approval");
    const answer = { kind: "approval", approved: true };
    const refused = await operator.call("ask_answer", { ask: ask.id, answer });
    assert.partialDeepStrictEqual(refused, { code: "refused" });
    const admin = await connect(daemon.found.key);
    const own = await admin.call("ask_answer", { ask: ask.id, answer });
    assert.partialDeepStrictEqual(own, { code: "refused" }, "a program started it, so a person agrees");
    assert.deepEqual(await tutti.answer(ask.id, answer, { kind: "person", name: "me" }), { accepted: true });
    const question = await until(async () => (await tutti.asks(task)).find(({ kind }) => kind === "question"));
    const said = { kind: "question", value: "blue" };
    assert.deepEqual(await operator.call("ask_answer", { ask: question.id, answer: said }), { accepted: true });
    await operator.call("task_cancel", { task });
  });

  test("`tutti mcp` speaks it on standard input and output with the rights of an operator, and gives up a call that is taken back", async () => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
    const bin = join(root, "bin", "tutti.js");
    const args = [bin, "mcp", "--state", scene.state, "--cwd", scene.folder];
    const transport = new StdioClientTransport({
      command: process.execPath,
      args,
      env: { PATH: process.env["PATH"] ?? "", HOME: scene.folder },
      cwd: scene.folder,
    });
    await client.connect(transport);
    ends.push(() => client.close());
    const stdio = session(client);
    const names = await stdio.names();
    assert.ok(names.includes("goal_start") && names.includes("operator_join"));
    writeFileSync(join(scene.folder, "empty.txt"), "");
    assert.deepEqual(await stdio.call("goal_list"), { goals: [], next: null });
    const asking = JSON.parse(readFileSync(join(root, "examples/invocations/ask.json"), "utf8"));
    const { task } = Started.parse(await stdio.call("invoke", { invocation: asking }));
    const stop = new AbortController();
    const waiting = client.callTool(
      { name: "task_wait", arguments: { task, wait_ms: 60_000 } },
      { signal: stop.signal },
    );
    setTimeout(() => stop.abort(), 300);
    await assert.rejects(waiting);
    assert.partialDeepStrictEqual(await stdio.call("task_cancel", { task }), { canceled: [] });
  });
});
