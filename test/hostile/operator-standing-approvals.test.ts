// Only a person at a terminal or with an admin key allows something for good: no operator, and nothing that an answer says.
import assert from "node:assert/strict";
import { test } from "node:test";

import { named, single } from "../../src/protocol/invocation/invocation-builders.ts";
import { daemonFor } from "../e2e/daemon-process.ts";
import { scenarioOf } from "../e2e/scenario.ts";
import { type Reply, send } from "../e2e/send-json.ts";

test("a key of an operator can answer an approval and cannot allow it for good; an admin key can, and revokes it", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const { client } = scenario;
  const { key } = await client.addKey({ name: "operator", role: "operator" });
  const file = {
    invocation: single(named("dev", "go")),
    roots: ["."],
    agents: { dev: { instructions: "d", tools: ["run"], approvals: { execute: "ask" } } },
    script: { rules: [{ turn: 0, call: [{ tool: "run", args: { argv: ["echo", "a", "b"] } }] }, { say: "done" }] },
  };
  const first = await scenario.start(JSON.stringify(file));
  const ask = await scenario.asked(first);
  const post = (path: string, bearer: string, body: unknown): Promise<Reply> =>
    send(daemon.url, { method: "POST", path, bearer, body });

  assert.equal((await post("/v1/approvals", key, { ask: ask.id })).status, 403);
  const smuggled = { kind: "approval", approved: true, always: { tool: "run", unconfined: true, network: true } };
  assert.equal((await post(`/v1/asks/${ask.id}`, key, smuggled)).status, 422);
  assert.equal((await send(daemon.url, { path: "/v1/approvals", bearer: key })).status, 403);
  const unfit = await post("/v1/approvals", daemon.key, { ask: ask.id, argv: ["echo", "a"] });
  assert.equal(unfit.status, 422, unfit.text);
  assert.equal((await post("/v1/approvals", daemon.key, { ask: ask.id, argv: ["*"] })).status, 422);
  assert.deepEqual(await client.approvals(), []);

  const made = await client.addApproval({ ask: ask.id, argv: ["echo", "*"] }, { kind: "person", name: "me" });
  assert.deepEqual(made.calls.argv, ["echo", "*"]);
  const yes = await client.answer(ask.id, { kind: "approval", approved: true }, { kind: "person", name: "me" });
  assert.equal(yes.accepted, true);
  assert.match(await scenario.outcome(first), /^completed/);
  const second = await scenario.start(JSON.stringify(file));
  assert.match(await scenario.outcome(second), /^completed/, "nobody is asked any more");
  const { data } = await scenario.happened(second, "call.allowed");
  assert.deepEqual([data.tool, data.rule], ["run", made.id]);

  await client.revokeApproval(made.id);
  const third = await scenario.start(JSON.stringify(file));
  const again = await scenario.asked(third);
  assert.equal(again.kind, "approval");

  // What a colleague allowed for good with an admin key of their own ends with the key.
  const colleague = await client.addKey({ name: "colleague", role: "admin", person: true });
  assert.equal((await post("/v1/approvals", colleague.key, { ask: again.id })).status, 201);
  assert.deepEqual(
    (await client.approvals()).map(({ by, key: from }) => [by, from]),
    [["colleague", colleague.id]],
  );
  await client.revokeKey(colleague.id);
  assert.deepEqual(await client.approvals(), []);
});
