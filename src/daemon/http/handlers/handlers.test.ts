import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { z } from "zod";

import { httpClient } from "../../../client/http-client.ts";
import { TuttiError } from "../../../protocol/error.ts";
import type { RouteSpec } from "../../../protocol/api/route-shape.ts";
import { type RouteName, routes } from "../../../protocol/api/routes.ts";
import { Answer } from "../../../protocol/task/ask.ts";
import { TaskEvent } from "../../../protocol/task/event.ts";
import { named, single } from "../../../protocol/invocation/invocation-builders.ts";
import { workerRefusals } from "../../../protocol/operator/worker.ts";
import { TaskSummary } from "../../../protocol/task/task-view.ts";
import { type CallInit, type Kit, openKit, type Replied } from "../../../../test/support/http-kit.ts";
import { NodeList } from "../../../protocol/api/node-shapes.ts";

let kit: Kit;
const shutdowns: (number | undefined)[] = [];
const agents = [{ name: "scout", file: "/p/scout.md", of: "project" as const, definition: { instructions: "Look." } }];
const projects: string[] = [];

before(async () => {
  kit = await openKit({
    runners: {
      loop: async (durable) => {
        if (durable.agent === "asks") {
          const ask = { kind: "approval" as const, question: "May I?" };
          const asked = await durable.wait("ask", { ask, schema: Answer });
          return "value" in asked ? asked.value : "no answer";
        }
        if (durable.agent === "waits") {
          const call = { tool_call_id: "c1", tool_name: "weather", input: { city: "Graz" } };
          const waited = await durable.wait("w", {
            label: "a tool",
            details: { external_tool: call },
            schema: z.object({ n: z.number() }),
          });
          return "value" in waited ? waited.value : "nothing";
        }
        if (durable.agent === "keeps much") {
          for (let count = 0; count < 20; count += 1) {
            const text = "x".repeat(900_000);
            await durable.step(`s${count}`, { repeatable: true, schema: z.string() }, () => text);
            durable.say(`m${count}`, { name: null, role: "assistant", parts: [{ part_type: "text", data: text }] });
          }
          return "done";
        }
        if (durable.agent === "says much") return "x".repeat(2_000_000);
        if (durable.agent === "hears") {
          const heard = await durable.receive("h", { block: true });
          return heard?.parts;
        }
        await durable.step("s", { repeatable: true, schema: z.string() }, () => "step");
        durable.say("said", { name: null, role: "assistant", parts: [{ part_type: "text", data: "hello" }] });
        return "done";
      },
    },
    http: {
      onShutdown: (graceMs) => shutdowns.push(graceMs),
      runners: [
        { kind: "local", runtime: "local", description: "here".repeat(1_000), of: "builtin" },
        { kind: "command", runtime: "command", description: "there", of: "builtin" },
      ],
      policy: async (folder) => {
        projects.push(folder);
        return { source: "default", file: null, hash: "h", usable: true, text: "policy", problems: [] };
      },
      project: async (folder) => {
        projects.push(folder);
        return {
          agents: async () => ({ agents, problems: [] }),
          models: async () => ({ models: [], prices_as_of: "2026-01-01" }),
          runners: async () => ({ runners: [] }),
        };
      },
    },
  });
});
after(() => kit.close());

/** Calls a route and expects a successful reply in the shape of the route table. */
async function good(name: RouteName, path: string, init?: CallInit): Promise<Replied> {
  const spec: RouteSpec = routes[name];
  const reply = await kit.call(path, { method: spec.method, ...init });
  const { reply: wanted } = spec;
  const statuses = [wanted.status, ...("also" in wanted ? (wanted.also ?? []) : [])];
  assert.ok(statuses.includes(reply.status), `${name}: ${reply.status} ${reply.text}`);
  if ("schema" in wanted && wanted.type !== "lines") wanted.schema.parse(reply.body);
  return reply;
}

async function done(agent: string): Promise<string> {
  const task = await kit.start({ agent });
  await kit.state.engine.result(task);
  return task;
}

test("the routes of a task answer in the shapes of the route table", async () => {
  const task = await done("works");
  const at = `/v1/tasks/${task}`;
  assert.equal((await good("task", at)).body?.["status"], "completed");
  await good("tree", `${at}/tree`);
  const messages = await good("messages", `${at}/messages`);
  assert.match(messages.text, /hello/);
  assert.match((await good("steps", `${at}/steps`)).text, /"value":"step"/);
  await good("taskEvents", `${at}/events`);
  await good("events", "/v1/events?limit=5");
  await good("listTasks", "/v1/tasks?limit=1&status=completed");
  for (const route of ["", "/tree", "/messages", "/steps", "/events", "/result", "/export"]) {
    assert.equal((await kit.call(`/v1/tasks/tsk_none${route}`)).status, 404, route);
  }
});

test("an export has one line for every task and every event of the subtree", async () => {
  const task = await done("works");
  const reply = await kit.call(`/v1/tasks/${task}/export`);
  assert.equal(reply.headers.get("content-type"), "application/x-ndjson");
  const lines = reply.text
    .trimEnd()
    .split("\n")
    .map((line): { record: string } => JSON.parse(line));
  const rest = (line: object): unknown =>
    Object.fromEntries(Object.entries(line).filter(([name]) => name !== "record"));
  const tasks = lines.filter(({ record }) => record === "task").map((line) => TaskSummary.parse(rest(line)));
  const events = lines.filter(({ record }) => record === "event").map((line) => TaskEvent.parse(rest(line)));
  assert.deepEqual(
    tasks.map(({ id }) => id),
    [task],
  );
  assert.deepEqual(
    events,
    (await kit.state.feed.read({ after: 0, limit: 1_000, task })).events.map(({ event }) => event),
  );
});

test("a page of long events ends before its limit and says where the next one begins", async () => {
  const first = kit.state.feed.position;
  for (let count = 0; count < 4; count += 1) await done("says much");
  const seen: number[] = [];
  let pages = 0;
  for (let after: number | null = first; after !== null && pages < 10; pages += 1) {
    const { body, text } = await good("events", `/v1/events?limit=1000&after=${after}`);
    assert.ok(text.length < 7_000_000, `${text.length} characters`);
    const page = z.object({ events: z.array(z.object({ seq: z.int() })), next: z.int().nullable() }).parse(body);
    seen.push(...page.events.map(({ seq }) => seq));
    after = page.next;
  }
  assert.ok(pages > 1);
  const all = (await kit.state.feed.read({ after: first, limit: 1_000 })).events.map(({ event }) => event.seq);
  assert.deepEqual(seen, all);
  const client = httpClient({ url: kit.http.url, key: kit.key });
  const events = await client.events({ after: first, limit: 1_000 });
  assert.deepEqual(
    events.map(({ seq }) => seq),
    all,
    "the client reads pages until it has as many as it asked for",
  );
  assert.equal((await client.events({ after: first, limit: 3 })).length, 3);
});

test("pages of long messages and steps end before their limit too, and miss nothing", async () => {
  const task = await done("keeps much");
  for (const route of ["messages", "steps"] as const) {
    const seen: number[] = [];
    let pages = 0;
    for (let after: number | null = 0; after !== null && pages < 10; pages += 1) {
      const { body, text } = await good(route, `/v1/tasks/${task}/${route}?limit=1000&after=${after}`);
      assert.ok(text.length < 9_000_000, `${route}: ${text.length} characters`);
      seen.push(
        ...z
          .array(z.object({ seq: z.int() }))
          .parse(body?.[route])
          .map(({ seq }) => seq),
      );
      after = z.int().nullable().parse(body?.["next"]);
    }
    assert.ok(pages > 1, route);
    assert.deepEqual([seen.length, new Set(seen).size], [20, 20], route);
  }
});

test("a result is 200 when the task has ended, 202 before, and can be waited for", async () => {
  const task = await kit.start({ agent: "hears" });
  const at = `/v1/tasks/${task}/result`;
  const early = await good("result", at);
  assert.equal(early.status, 202);
  assert.equal(early.body?.["ended"], false);
  assert.equal((await good("result", `${at}?wait_ms=20`)).status, 202);
  const waiting = good("result", `${at}?wait_ms=30000`);
  assert.equal((await good("tell", `/v1/tasks/${task}/message`, { json: { text: "go" } })).status, 202);
  const late = await waiting;
  assert.equal(late.status, 200);
  assert.equal(late.body?.["settled"], true);
  assert.equal((await kit.call(`/v1/tasks/${task}/message`, { json: { text: "again" } })).status, 409);
});

test("a caller that stops waiting for a result leaves no wait behind", async (t) => {
  const task = await kit.start({ agent: "hears" });
  const gone = Promise.withResolvers<void>();
  const { client } = kit.state;
  const result = client.result.bind(client);
  t.mock.method(client, "result", (of: string, signal?: AbortSignal) => {
    signal?.addEventListener("abort", () => gone.resolve());
    began.resolve();
    return result(of, signal);
  });
  const began = Promise.withResolvers<void>();
  const controller = new AbortController();
  const call = kit.call(`/v1/tasks/${task}/result?wait_ms=60000`, { signal: controller.signal });
  await began.promise;
  controller.abort();
  await assert.rejects(call);
  await gone.promise;
  await good("cancel", `/v1/tasks/${task}/cancel`, { json: { reason: "enough" } });
});

test("canceling takes an optional reason and lists only tasks that had not ended", async () => {
  const task = await kit.start({ agent: "hears" });
  assert.deepEqual((await good("cancel", `/v1/tasks/${task}/cancel`)).body, { canceled: [task] });
  assert.deepEqual((await good("cancel", `/v1/tasks/${task}/cancel`, { json: {} })).body, { canceled: [] });
  assert.equal((await kit.call("/v1/tasks/tsk_none/cancel", { method: "POST" })).status, 404);
});

test("an ask is listed and answered in the name of the key; the first answer wins", async () => {
  const task = await kit.start({ agent: "asks" });
  const stream = await fetch(`${kit.http.url}/v1/tasks/${task}/events`, {
    headers: { authorization: `Bearer ${kit.key}`, accept: "text/event-stream" },
  });
  for await (const chunk of stream.body ?? []) if (Buffer.from(chunk).includes("ask.raised")) break;
  const asks = z
    .object({ asks: z.array(z.object({ id: z.string() })) })
    .parse((await good("asks", `/v1/asks?task=${task}`)).body).asks;
  const at = `/v1/asks/${asks[0]?.id}`;
  await good("ask", at);
  assert.equal((await kit.call(at, { json: { kind: "question", value: "?" } })).status, 422);
  const { key } = await kit.keys.add({ name: "ana", role: "operator", person: true });
  const headers = { authorization: `Bearer ${key}` };
  await good("answer", at, { json: { kind: "approval", approved: true }, headers });
  assert.equal((await kit.call(at, { json: { kind: "approval", approved: false } })).status, 409);
  assert.equal((await kit.call("/v1/asks/ask_none_1", { json: { kind: "approval", approved: false } })).status, 404);
  await kit.state.engine.result(task);
  const events = (await kit.state.feed.read({ after: 0, limit: 1_000, task })).events.map(({ event }) => event);
  const answered = events.find((event) => event.type === "ask.answered");
  assert.deepEqual(answered?.data.by, { kind: "person", name: "ana" });
  assert.equal((await kit.call("/v1/asks?task=tsk_none")).status, 404);
});

test("a call of a client's tool is listed and settled; a result that does not fit leaves it open", async () => {
  const task = await kit.start({ agent: "waits" });
  const open = async () =>
    z
      .object({ waits: z.array(z.object({ id: z.string(), call: z.unknown() })) })
      .parse((await good("waits", "/v1/waits")).body).waits;
  let waits = await open();
  for (let turn = 0; turn < 100 && waits.length === 0; turn += 1) waits = await open();
  assert.deepEqual(waits[0]?.call, { tool_name: "weather", input_preview: '{"city":"Graz"}' });
  const at = `/v1/waits/${waits[0]?.id}`;
  const whole = z.object({ call: z.unknown() }).parse((await good("wait", at)).body);
  assert.deepEqual(whole.call, { tool_name: "weather", input: { city: "Graz" } });
  assert.equal((await kit.call(at, { json: { value: "no" } })).status, 422);
  assert.equal(
    (await kit.call(`/v1/asks/${waits[0]?.id}`, { json: { kind: "approval", approved: true } })).status,
    404,
  );
  await good("settleWait", at, { json: { value: { n: 7 } } });
  assert.equal((await kit.call(at, { json: { value: { n: 8 } } })).status, 409);
  assert.equal((await kit.call(at)).status, 404, "it is not open any more");
  assert.deepEqual((await kit.state.engine.result(task)).content, { n: 7 });
});

const invocation = (more: object = {}): object => ({
  invocation: single(named("lead", "go")),
  agents: { lead: { instructions: "You lead." } },
  script: { rules: [{ agent: "lead", say: "led" }] },
  ...more,
});

test("an invocation is 201 when created, 200 when it existed; another body with its key is a conflict", async () => {
  const init = { json: invocation(), headers: { "idempotency-key": "k-1" } };
  const first = await good("invoke", `/v1/invocations?folder=${kit.folder}`, init);
  assert.equal(first.status, 201);
  const again = await good("invoke", `/v1/invocations?folder=${kit.folder}`, init);
  assert.equal(again.status, 200);
  assert.equal(again.body?.["task"], first.body?.["task"]);
  const other = { ...init, json: invocation({ budget: { tokens: 5 } }) };
  assert.equal((await kit.call(`/v1/invocations?folder=${kit.folder}`, other)).status, 409);
  assert.equal(
    (await kit.call("/v1/invocations", { json: invocation(), headers: { "idempotency-key": "a b" } })).status,
    422,
  );
  assert.equal((await kit.call("/v1/invocations", { json: {} })).status, 422);
  await kit.state.client.settled(String(first.body?.["task"]));
});

test("relative roots without a folder are refused", async () => {
  const refused = await kit.call("/v1/invocations", { json: invocation({ roots: ["src"] }) });
  assert.equal(refused.status, 422, refused.text);
  assert.match(String(refused.body?.["detail"]), /src is relative/);
  for (const root of [kit.folder, `${kit.folder}/`]) {
    const reply = await kit.call("/v1/invocations?anew=true", { json: invocation({ roots: [root] }) });
    assert.equal(reply.status, 201, root);
  }
  const accepted = await kit.call(`/v1/invocations?folder=${kit.folder}`, { json: invocation({ roots: ["src"] }) });
  assert.equal(accepted.status, 201, accepted.text);
  assert.equal((await kit.call("/v1/invocations?folder=src", { json: invocation() })).status, 422);
});

test("the service reports its status, pauses, resumes, and is asked to stop only after the reply", async () => {
  assert.deepEqual((await good("health", "/healthz", { headers: { authorization: "" } })).body, { ok: true });
  assert.deepEqual((await good("ready", "/readyz", { headers: { authorization: "" } })).body, { ready: true });
  await good("openapi", "/openapi.json", { headers: { authorization: "" } });
  assert.equal((await good("status", "/v1/status")).body?.["url"], kit.http.url);
  const { nodes } = NodeList.parse((await good("nodes", "/v1/nodes")).body);
  assert.deepEqual(
    nodes.map(({ state, here, url, lease_left_ms: left }) => [state, here, url, left]),
    [["alive", true, kit.http.url, null]],
  );
  assert.deepEqual((await good("pause", "/v1/pause")).body, { paused: true });
  assert.equal((await good("status", "/v1/status")).body?.["paused"], true);
  assert.deepEqual((await good("resume", "/v1/resume")).body, { paused: false });
  assert.equal((await good("shutdown", "/v1/shutdown", { json: { grace_ms: 5 } })).status, 202);
  await good("shutdown", "/v1/shutdown");
  for (let turn = 0; turn < 100 && shutdowns.length < 2; turn += 1) await new Promise(setImmediate);
  assert.deepEqual(shutdowns, [5, undefined]);
  assert.equal((await kit.call("/v1/shutdown", { json: { grace_ms: -1 } })).status, 422);
});

test("a service whose store has failed is alive but not ready", async (t) => {
  t.mock.getter(kit.state.store, "failure", () => new TuttiError("disk_full", "the disk is full"));
  assert.equal((await kit.call("/healthz")).status, 200);
  const reply = await kit.call("/readyz");
  assert.equal(reply.status, 503);
  assert.equal(reply.headers.get("retry-after"), "1");
});

test("keys are created, listed without their secret, and revoked; the last admin key stays", async () => {
  const made = await good("addKey", "/v1/keys", { json: { name: "ci", role: "viewer" } });
  const { id, key } = z.object({ id: z.string(), key: z.string() }).parse(made.body);
  const headers = { authorization: `Bearer ${key}` };
  assert.equal((await kit.call("/v1/tasks", { headers })).status, 200);
  const list = await good("keys", "/v1/keys");
  assert.ok(list.text.includes(id) && !list.text.includes(key) && !list.text.includes("digest"));
  await good("revokeKey", `/v1/keys/${id}`);
  assert.equal((await kit.call("/v1/tasks", { headers })).status, 401);
  assert.equal((await kit.call("/v1/keys/key_none", { method: "DELETE" })).status, 404);
  const admin = kit.keys.list().find(({ role, revoked_at }) => role === "admin" && revoked_at === null);
  assert.equal((await kit.call(`/v1/keys/${admin?.id}`, { method: "DELETE" })).status, 409);
  assert.equal((await kit.call("/v1/keys", { json: { name: " ", role: "viewer" } })).status, 422);
});

test("agents are those of the folder's project or of the default folder, models without a folder those of the user", async () => {
  await good("agents", "/v1/agents");
  await good("agent", "/v1/agents/scout?folder=/p");
  await good("models", "/v1/models?probe=false");
  await good("runners", "/v1/runners");
  const page = await kit.call("/v1/runners?limit=1");
  assert.partialDeepStrictEqual(page.body, { next: "local", runners: [{ kind: "local" }] });
  assert.ok(JSON.stringify(page.body).length < 1_000, "a long description is cut");
  const rest = await kit.call("/v1/runners?limit=1&cursor=local");
  assert.partialDeepStrictEqual(rest.body, { next: null, runners: [{ kind: "command" }] });
  assert.deepEqual(projects, [kit.folder, "/p"]);
  assert.equal((await kit.call("/v1/agents/nobody")).status, 404);
  assert.equal((await kit.call("/v1/agents?folder=relative")).status, 422);
});

test("a viewer cannot choose the project, because its config is code that would run", async () => {
  const { key } = await kit.keys.add({ name: "looks", role: "viewer" });
  const headers = { authorization: `Bearer ${key}` };
  const before = projects.length;
  for (const path of [
    "/v1/models?folder=/tmp/evil",
    "/v1/runners?folder=/tmp/evil",
    "/v1/agents?folder=/tmp/evil",
    "/v1/agents/scout?folder=/p",
  ]) {
    assert.equal((await kit.call(path, { headers })).status, 403, path);
  }
  assert.deepEqual(projects.slice(before), []);
  assert.equal((await kit.call("/v1/models?probe=true", { headers })).status, 403);
  await good("models", "/v1/models", { headers });
  await good("agents", "/v1/agents", { headers });
  const operator = await kit.keys.add({ name: "works", role: "operator" });
  await good("models", "/v1/models?folder=/p", { headers: { authorization: `Bearer ${operator.key}` } });
});

test("a worker's error has the reason and its status in the problem document", async (t) => {
  t.mock.method(kit.state.workers, "whyUnknown", async () => undefined);
  for (const [reason, { status, message }] of Object.entries(workerRefusals)) {
    t.mock.method(kit.state.workers, "prompt", async () => ({ ok: false, reason, message }));
    const reply = await kit.call("/v1/worker/prompt?task_id=t", { headers: { authorization: "Bearer wh-1" } });
    // Unknown secrets are delayed. One at a time is never too many, so none of these is a 429.
    assert.equal(reply.status, status, reason);
    assert.equal(reply.body?.["error"], reason);
    assert.equal(reply.body?.["message"], message);
  }
});

test("a worker's secret is passed on unchanged; an API key or no secret at all is a 401", async (t) => {
  const none = await kit.call("/v1/worker/result", { json: { task_id: "t" }, headers: { authorization: "" } });
  assert.equal(none.status, 401);
  assert.equal(none.body?.["error"], "no_bearer");
  const asKey = await kit.call("/v1/worker/events", { json: { events: [{ type: "progress", text: "x" }] } });
  assert.equal(asKey.status, 401);
  assert.equal(asKey.body?.["error"], "malformed");
  const seen: unknown[] = [];
  t.mock.method(kit.state.workers, "whyUnknown", async () => undefined);
  t.mock.method(kit.state.workers, "submit", async (...args: unknown[]) => {
    seen.push(args);
    return { ok: true, value: { recorded: true, already: false } };
  });
  const headers = { authorization: "Bearer tt1.a.b", "content-type": "text/plain" };
  await good("workerSubmit", "/v1/worker/submit?ok=false", { body: "raw {text}\n", headers });
  assert.deepEqual(seen, [["tt1.a.b", "raw {text}\n", { ok: false }]]);
  const both = await kit.call("/v1/worker/submit?ok=true&verdict=blocked", { method: "POST", body: "x", headers });
  assert.equal(both.status, 422);
});

test("everybody with a key reads the policy where the service was started, and only operators choose a folder", async () => {
  const { key } = await kit.keys.add({ name: "looks", role: "viewer" });
  const asViewer = { headers: { authorization: `Bearer ${key}` } };
  projects.length = 0;
  await good("policy", "/v1/policy", asViewer);
  await good("policy", "/v1/policy?folder=/p");
  assert.equal((await kit.call("/v1/policy?folder=/p", asViewer)).status, 403);
  assert.equal((await kit.call("/v1/policy?folder=p")).status, 422);
  assert.deepEqual(projects, [kit.folder, "/p"]);
});

test("no route answers an arbitrary request with a server error", async () => {
  for (const [name, { method, path }] of Object.entries(routes)) {
    const filled = path
      .replaceAll("{task}", "tsk_x_1")
      .replaceAll("{sid}", "op-00000000-0000-4000-8000-000000000000")
      .replaceAll(/\{\w+\}/g, "ask_x_1");
    const reply = await kit.call(filled, { method, ...(method === "POST" ? { json: {} } : {}) });
    assert.ok(reply.status < 500, `${name}: ${reply.text}`);
  }
});

test("while the service starts it says so, and all that is work is put off with 503 and Retry-After", async (t) => {
  let starting: TuttiError | undefined = new TuttiError("busy", "the service is starting; ask again soon");
  const kit = await openKit({ http: { starting: () => starting } });
  t.after(() => kit.close());
  for (const path of ["/healthz", "/openapi.json", "/v1/status", "/v1/keys"]) {
    assert.equal((await kit.call(path)).status, 200, path);
  }
  for (const [path, method] of [
    ["/readyz", "GET"],
    ["/v1/tasks", "GET"],
    ["/v1/asks", "GET"],
    ["/v1/invocations", "POST"],
    ["/v1/pause", "POST"],
  ] as const) {
    assert.equal((await kit.call(path, { method })).status, 503, path);
  }
  assert.equal((await kit.call("/v1/tasks")).headers.get("retry-after"), "1");
  starting = undefined;
  for (const path of ["/readyz", "/v1/tasks"]) assert.equal((await kit.call(path)).status, 200, path);
});
