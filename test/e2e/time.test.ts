// Deadlines and leases of a real daemon, whose time runs faster than ours: silence is never taken for a yes or for work done.
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";

import type { TaskId } from "../../src/protocol/ids.ts";
import type { SpawnFrame } from "../../src/protocol/operator/frames.ts";
import { DaemonProcess } from "./daemon-process.ts";
import { handed, talking } from "./scenario-invocations.ts";
import { type Scenario, scenarioOf } from "./scenario.ts";
import { type Reply, send } from "./send-json.ts";
import { joinAs, type WireOperator } from "./wire-operator.ts";

const factor = 20;

async function fastDaemon(t: TestContext): Promise<DaemonProcess> {
  const daemon = new DaemonProcess({
    env: {
      NODE_OPTIONS: `--import=${pathToFileURL(`${import.meta.dirname}/fast-time.ts`).href}`,
      TEST_TIME_FACTOR: String(factor),
      TEST_TIME_SINCE: String(Date.now()),
    },
  });
  t.after(() => daemon.close());
  return daemon.up();
}

/** A connection of its own for every look: one that was silent for long in fast time may have been dropped. */
async function spawnOf(operator: WireOperator, attempt: number): Promise<{ frame: SpawnFrame; acked: () => void }> {
  const socket = await operator.connect();
  const frame = await socket.next("spawn", (each) => each.attempt === attempt);
  return { frame, acked: () => socket.send({ type: "spawn_ack", req_id: frame.req_id, value: {}, ok: true }) };
}

interface Silent {
  readonly daemon: DaemonProcess;
  readonly scenario: Scenario;
  readonly operator: WireOperator;
  readonly task: TaskId;
  readonly first: SpawnFrame;
}

/** A worker has told of its progress, and is not heard of any more. */
async function silentWorker(t: TestContext, config: Record<string, unknown>): Promise<Silent> {
  const daemon = await fastDaemon(t);
  const scenario = scenarioOf(daemon);
  const operator = await joinAs(daemon, ["builder"]);
  t.after(() => operator.close());
  const task = await scenario.start(handed({ operator: "builder", ack_ms: 0, ...config }));
  const { frame: first } = await spawnOf(operator, 1);
  const body = { events: [{ type: "progress", text: "sawing" }] };
  const reply = await post(daemon, first, "events", body);
  assert.equal(reply.status, 200, reply.text);
  return { daemon, scenario, operator, task, first };
}

const post = (daemon: DaemonProcess, { worker_handle }: SpawnFrame, what: string, body: unknown): Promise<Reply> =>
  send(daemon.url, { method: "POST", path: `/v1/worker/${what}`, bearer: worker_handle, body });

describe("a daemon whose time runs faster", { concurrency: 2 }, () => {
  test("a gate that never answers fails closed at its deadline, and says who did not agree", async (t) => {
    const daemon = await fastDaemon(t);
    const scenario = scenarioOf(daemon);
    const operator = await joinAs(daemon, ["keeper"]);
    t.after(() => operator.close());
    const task = await scenario.start(talking(1, { operators: { gate: "keeper" } }));
    await (await operator.connect()).next("hook_before");
    assert.match(await scenario.outcome(task), /^failed: .*keeper did not agree within 600 s/);
    const ran = (await scenario.log(task)).filter(({ type }) => type === "message.added" || type === "step.finished");
    assert.deepEqual(ran, []);
  });

  test("a repeatable task whose worker is silent past its lease is offered again, and the old rights are dead", async (t) => {
    const { daemon, scenario, operator, task, first } = await silentWorker(t, { repeatable: true });
    const ended = await scenario.happened(task, "attempt.ended");
    assert.equal(ended.data.outcome, "unknown");
    const { frame: second, acked } = await spawnOf(operator, 2);
    assert.notEqual(second.req_id, first.req_id);
    const late = await post(daemon, first, "submit", "built by the first");
    assert.deepEqual([late.status, (late.json as { error?: unknown }).error], [409, "wrong_attempt"]);
    const good = await post(daemon, second, "submit", "built by the second");
    assert.equal(good.status, 200, good.text);
    acked();
    assert.equal(await scenario.outcome(task), "completed: built by the second");
  });

  test("one that may not be repeated is asked about first, and is offered again when a person says so (invariant 1)", async (t) => {
    const { scenario, daemon, operator, task } = await silentWorker(t, {});
    const ask = await scenario.asked(task);
    assert.deepEqual(ask.choices, ["offer it again", "give up"]);
    const offered = (await scenario.log(task)).filter(
      (event) => event.type === "wait.opened" && event.data.label === "operator.spawn",
    );
    assert.equal(offered.length, 1, "nobody was offered it meanwhile");
    assert.deepEqual(await scenario.answer(ask, "offer it again"), { accepted: true });
    const { frame: second } = await spawnOf(operator, 2);
    const good = await post(daemon, second, "submit", "built by the second");
    assert.equal(good.status, 200, good.text);
    assert.equal(await scenario.outcome(task), "completed: built by the second");
  });

  test("a result that comes while a person is asked about the silence still counts, and the question is withdrawn", async (t) => {
    const { scenario, daemon, task, first } = await silentWorker(t, {});
    const ask = await scenario.asked(task);
    const late = await post(daemon, first, "submit", "built after all");
    assert.equal(late.status, 200, late.text);
    assert.equal(await scenario.outcome(task), "completed: built after all");
    assert.deepEqual(await scenario.client.asks(task), []);
    const answered = await scenario.answer(ask, "give up");
    assert.ok(!answered.accepted && answered.code === "late", JSON.stringify(answered));
  });

  test("given up, the task fails as one of which nobody knows what became of it", async (t) => {
    const { scenario, task } = await silentWorker(t, {});
    assert.deepEqual(await scenario.answer(await scenario.asked(task), "give up"), { accepted: true });
    assert.match(await scenario.outcome(task), /^failed: .*has not reported/);
    const failed = await scenario.happened(task, "task.failed", (event) => event.task !== task);
    assert.equal(failed.data.error.code, "outcome_unknown");
  });
});
