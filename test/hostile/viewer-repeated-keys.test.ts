// A key that stands twice in one JSON object: no body, file or answer with one is taken, since readers disagree about it.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import type { RouteSpec } from "../../src/protocol/api/route-shape.ts";
import { routes } from "../../src/protocol/api/routes.ts";
import { parseAnswer } from "../../src/cli/terminal/question-text.ts";
import { daemonFor } from "../e2e/daemon-process.ts";
import { asking, handed } from "../e2e/scenario-invocations.ts";
import { scenarioOf } from "../e2e/scenario.ts";
import { type Reply, send } from "../e2e/send-json.ts";
import { joinAs } from "../e2e/wire-operator.ts";
import { bench } from "../support/cli-process.ts";
import { trustProject } from "../support/trusted-project.ts";

test("every route that takes JSON refuses a body with a repeated key, and nothing of it is carried out", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const task = await scenario.start(asking());
  const ask = await scenario.asked(task);
  const post = (path: string, body: string): Promise<Reply> => {
    const headers = { "content-type": "application/json" };
    return send(daemon.url, { method: "POST", path, bearer: daemon.key, body, headers });
  };
  const refused = await post(`/v1/asks/${ask.id}`, '{"kind":"question","value":"no","value":"yes"}');
  assert.equal(refused.status, 422, refused.text);
  assert.match(refused.text, /names the key \\"value\\" twice/);

  const twice = '{"approved":false,"deep":[{"ok":false,"\\u006fk":true}]}';
  let tried = 0;
  for (const [name, route] of Object.entries<RouteSpec>(routes)) {
    if (route.body?.type !== "json" || route.access === "worker") continue;
    tried += 1;
    const path = route.path
      .replace(/\{(task|conversation)\}/, task)
      .replace("{goal}", task.replace("tsk_", "gol_"))
      .replace("{thread}", task.replace("tsk_", "thr_"))
      .replace(/\{(ask|wait)\}/, ask.id);
    const reply = await post(path, twice);
    assert.deepEqual([reply.status, /twice in one object/.test(reply.text)], [422, true], `${name}: ${reply.text}`);
  }
  assert.ok(tried > 5);
  assert.equal((await scenario.client.asks(task)).length, 1, "the question is still open");
});

test("a worker's body with a repeated key is refused on every route, and nothing of it is recorded", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const operator = await joinAs(daemon, ["builder"]);
  t.after(() => operator.close());
  const socket = await operator.connect();
  const task = await scenario.start(handed({ operator: "builder", ack_ms: 0 }));
  const { worker_handle: bearer = "" } = await socket.next("spawn");
  const headers = { "content-type": "application/json" };
  const post = (path: string, body: string): Promise<Reply> =>
    send(daemon.url, { method: "POST", path, bearer, body, headers });
  let tried = 0;
  for (const [name, route] of Object.entries<RouteSpec>(routes)) {
    if (route.body?.type !== "json" || route.access !== "worker") continue;
    tried += 1;
    const reply = await post(route.path, '{"result":"no","result":"yes","events":[],"key":"a","question":"b"}');
    assert.deepEqual([reply.status, /twice in one object/.test(reply.text)], [422, true], `${name}: ${reply.text}`);
  }
  assert.equal(tried, 3);
  assert.equal((await post("/v1/worker/submit", "mine")).status, 200);
  assert.equal(await scenario.outcome(task), "completed: mine");
});

test("an invocation file, a config and an answer with a repeated key are refused", (t) => {
  const b = bench(t);
  const { folder, state } = b;
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write("work.json", asking().replace('{"invocation"', '{"roots":["/"],"roots":[],"invocation"'));
  const invoked = b.run("invoke", "work.json");
  assert.deepEqual([invoked.status, /names the key "roots" twice/.test(invoked.err)], [3, true], invoked.err);

  write("tutti.config.json", '{"approvals":{"run":"ask"},"approvals":{"run":"run"}}');
  const trusted = b.run("trust", "--show");
  assert.match(`${trusted.out}${trusted.err}`, /names the key \\?"approvals\\?" twice/);
  trustProject(state, folder);
  write("work.json", asking());
  const configured = b.run("invoke", "work.json");
  assert.deepEqual(
    [configured.status, /names the key "approvals" twice/.test(configured.err)],
    [3, true],
    configured.err,
  );

  const wait = { id: "ask_1", task: "tsk_1", root: "tsk_1", label: "a tool", raised_at: 0, deadline: 1 };
  assert.equal(parseAnswer(wait, '{"ok":false,"ok":true}').ok, false, "a typed answer");
});
