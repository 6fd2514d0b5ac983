// The interface of a front behaves the same in process and over HTTP.
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";

import type { EventOrDelta, Tutti } from "./client.ts";
import { httpClient } from "./http-client.ts";
import { type Kit, openKit } from "../../test/support/http-kit.ts";
import { TuttiError } from "../protocol/error.ts";
import { until } from "../../test/support/wait-until.ts";

const by = { kind: "person", name: "me" } as const;
const ask = {
  invocation: {
    targets: [
      {
        agent: { type: "named", agent_id: "a" },
        message: { role: "user", parts: [{ part_type: "text", data: "go" }] },
      },
    ],
  },
  agents: { a: { instructions: "a", tools: ["ask"] } },
  script: { rules: [{ turn: 0, ask: { question: "Which?", choices: ["x", "y"] } }, { final: "{{last}}" }] },
};

async function both(t: TestContext): Promise<{ kit: Kit; sides: Record<string, Tutti> }> {
  const kit = await openKit();
  t.after(() => kit.close());
  const remote = httpClient({ url: kit.http.url, key: kit.key });
  t.after(() => remote.close());
  return { kit, sides: { here: kit.state.client, there: remote } };
}

/** What a call gives, or how it fails. */
async function outcome(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return { given: await call() };
  } catch (thrown) {
    if (!(thrown instanceof TuttiError)) throw thrown;
    const { code, message, retry } = thrown;
    return { code, message, retry };
  }
}

async function openAsk(tutti: Tutti, task: string): Promise<string> {
  for (const end = Date.now() + 10_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 5))) {
    const [found] = await tutti.asks(task);
    if (found !== undefined) return found.id;
  }
  throw new Error("nothing was asked");
}

const review = "from: a\nto: b\nreview:\n  task: t\n  conf: 0.2\n  gate: approve\n";

describe("in process and over HTTP", () => {
  test("every read gives the same, and every mistake gives the same error", async (t) => {
    const { kit, sides } = await both(t);
    const { here, there } = sides as { here: Tutti; there: Tutti };
    const { task } = await here.invoke(JSON.stringify(ask), { folder: kit.folder });
    const id = await openAsk(there, task);
    const looks: Record<string, (tutti: Tutti) => Promise<unknown>> = {
      tasks: (tutti) => tutti.tasks({ limit: 1 }),
      below: (tutti) => tutti.tasks({ limit: 10, roots: false, status: "input_required" }),
      task: (tutti) => tutti.task(task),
      "no task": (tutti) => tutti.task("tsk_0_1"),
      tree: (tutti) => tutti.tree(task),
      "no tree": (tutti) => tutti.tree("tsk_0_1"),
      events: (tutti) => tutti.events({ after: 0, limit: 100 }),
      "a page of events": (tutti) => tutti.events({ task, after: 1, limit: 2 }),
      history: async (tutti) => tutti.history((await tutti.tree(task))[1]?.id ?? "", { limit: 2 }),
      "history of a type": (tutti) => tutti.history(task, { types: "task.created,task.started" }),
      "history of no type": (tutti) => tutti.history(task, { types: "task.none" }),
      "no history": (tutti) => tutti.history("tsk_0_1"),
      "what pays": async (tutti) => (await tutti.budget(task)).pays,
      "no budget": (tutti) => tutti.budget("tsk_0_1"),
      messages: async (tutti) => tutti.messages((await tutti.tree(task))[1]?.id ?? "", { limit: 10 }),
      steps: async (tutti) => tutti.steps((await tutti.tree(task))[1]?.id ?? "", { limit: 10 }),
      asks: (tutti) => tutti.asks(),
      "asks of it": (tutti) => tutti.asks(task),
      "asks of none": (tutti) => tutti.asks("tsk_0_1"),
      waits: (tutti) => tutti.waits(),
      keys: (tutti) => tutti.keys(),
      operators: (tutti) => tutti.operators(),
      status: (tutti) => tutti.status(),
      "cancel of none": (tutti) => tutti.cancel("tsk_0_1", "x"),
      "a message to none": (tutti) => tutti.sendMessage("tsk_0_1", "x"),
      "an answer to none": (tutti) => tutti.answer("ask_0_1", { kind: "question", value: "x" }, by),
      "an answer of another kind": (tutti) => tutti.answer(id, { kind: "approval", approved: true }, by),
      "an answer that is no choice": (tutti) => tutti.answer(id, { kind: "question", value: "z" }, by),
      "a result for a question": (tutti) => tutti.settle(id, "x", by),
      "no invocation": (tutti) => tutti.invoke('{"invocation":{"targets":[]}}', { folder: kit.folder }),
      "no JSON": (tutti) => tutti.invoke("{", { folder: kit.folder }),
      "the same again": (tutti) => tutti.invoke(JSON.stringify(ask), { folder: kit.folder }),
      "a revoked key that is none": (tutti) => tutti.revokeKey("key_none"),
      route: (tutti) => tutti.route({ handoff: "nothing" }),
      review: (tutti) => tutti.review({ review }),
      "no review": (tutti) => tutti.review({ review: "nothing" }),
    };
    assert.equal((await there.review({ review })).verdict, "escalate", "its author is not sure enough");
    for (const [name, look] of Object.entries(looks)) {
      assert.deepEqual(await outcome(() => look(there)), await outcome(() => look(here)), name);
    }
  });

  test("following gives the same events and ends with the tree; results and late answers are the same", async (t) => {
    const { kit, sides } = await both(t);
    const told: Record<string, unknown> = {};
    for (const [name, tutti] of Object.entries(sides)) {
      const { task } = await tutti.invoke(JSON.stringify(ask), { folder: kit.folder, anew: true });
      const following = Array.fromAsync(tutti.follow({ task, live: true }), (item: EventOrDelta) => item);
      const id = await openAsk(tutti, task);
      const ended = Promise.all([tutti.result(task), tutti.settled(task)]);
      assert.deepEqual(await tutti.answer(id, { kind: "question", value: "x" }, by), { accepted: true });
      const [result] = await ended;
      const events = (await following).flatMap((item) => ("event" in item ? [item.event] : []));
      assert.deepEqual(
        events,
        await kit.state.client.events({ task, after: 0, limit: 1_000 }),
        "what was followed is what is kept",
      );
      const late = await tutti.answer(id, { kind: "question", value: "y" }, by);
      told[name] = {
        types: events.map(({ type }) => type),
        status: result.status,
        late: late.accepted ? late : late.code,
        canceled: await tutti.cancel(task, "too late"),
        told: await outcome(() => tutti.sendMessage(task, "x")).then((each) => (each as { code?: string }).code),
      };
    }
    assert.deepEqual(told["there"], told["here"]);
  });

  test("an idempotency key gives the same task, finished or not; with another body it is a conflict", async (t) => {
    const { kit, sides } = await both(t);
    for (const [name, tutti] of Object.entries(sides)) {
      const options = { folder: kit.folder, key: `once-${name}` };
      const first = await tutti.invoke(JSON.stringify(ask), options);
      const again = await tutti.invoke(JSON.stringify(ask), options);
      assert.deepEqual([again.task, again.existed], [first.task, true]);
      await assert.rejects(
        tutti.invoke(JSON.stringify({ ...ask, roots: [kit.folder] }), options),
        (thrown) => thrown instanceof TuttiError && thrown.code === "conflict",
      );
      await tutti.cancel(first.task, "done with it");
      assert.equal((await tutti.invoke(JSON.stringify(ask), options)).task, first.task);
    }
  });

  test("a pause made through one is seen through the other", async (t) => {
    const { kit, sides } = await both(t);
    const { here, there } = sides as { here: Tutti; there: Tutti };
    await there.pause();
    assert.equal((await here.status()).paused, true);
    const { task } = await there.invoke(JSON.stringify(ask), { folder: kit.folder });
    assert.equal((await there.task(task)).status, "pending");
    await here.resume();
    assert.equal((await there.status()).paused, false);
    await openAsk(there, task);
    await until(() => kit.state.engine.counts().input_required === 1);
  });
});
