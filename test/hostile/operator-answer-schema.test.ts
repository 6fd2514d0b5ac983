// An answer that does not fit the schema of a worker's question: it is refused on every way, and the question stays open.
import assert from "node:assert/strict";
import { test } from "node:test";

import { daemonFor } from "../e2e/daemon-process.ts";
import { handed } from "../e2e/scenario-invocations.ts";
import { scenarioOf } from "../e2e/scenario.ts";
import { type Reply, send } from "../e2e/send-json.ts";
import { joinAs } from "../e2e/wire-operator.ts";

test("a person and an operator are told what does not fit, and the worker gets the first answer that does", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const operator = await joinAs(daemon, ["builder"]);
  t.after(() => operator.close());
  const socket = await operator.connect();
  const task = await scenario.start(handed({ operator: "builder", ack_ms: 0 }, { operators: { senior: "builder" } }));
  const { worker_handle: bearer } = await socket.next("spawn");
  const ask = (key: string, answer_schema: unknown): Promise<Reply> => {
    const body = { key, question: { question: "How many?", answer_schema } };
    return send(daemon.url, { method: "POST", path: "/v1/worker/ask", bearer, body });
  };
  const schema = {
    type: "object",
    properties: { count: { type: "integer", minimum: 1 }, note: { type: "string", pattern: "^(a+)+$" } },
    required: ["count"],
    additionalProperties: false,
  };
  assert.partialDeepStrictEqual((await ask("q", schema)).json, { state: "waiting" });
  const open = await scenario.asked(task);
  const frame = await socket.next("ask");

  const answered = (value: unknown): Promise<Reply> => {
    const body = { kind: "question", value };
    return send(daemon.url, { method: "POST", path: `/v1/asks/${open.id}`, bearer: daemon.key, body });
  };
  for (const value of ["three", {}, { count: 0 }, { count: 2, more: 1 }, { count: 2, note: `${"a".repeat(40)}!` }]) {
    const reply = await answered(value);
    assert.deepEqual([reply.status, /does not fit/.test(reply.text)], [422, true], reply.text);
  }
  assert.match((await answered({ count: 0 })).text, /value\.count/, "it says what is wrong");
  socket.send({ type: "answer", req_id: frame.req_id, value: { count: "3" } });
  assert.equal((await socket.next("error")).code, "invalid_answer");
  await daemon.restartKilled();
  assert.equal((await answered({ count: -1 })).status, 422, "after a restart too");
  assert.partialDeepStrictEqual((await ask("q", schema)).json, { state: "waiting" }, "the question is still open");
  assert.equal((await answered({ count: 3 })).status, 200);
  assert.partialDeepStrictEqual((await ask("q", schema)).json, { state: "answered", value: { count: 3 } });

  const unusable = await ask("other", { type: "string", pattern: "(?=a)b" });
  assert.deepEqual([unusable.status, (unusable.json as { error?: unknown }).error], [422, "bad_answer_schema"]);
});
