// The same programs in process and over HTTP, with code that only their own process has: tools that ask, models, workflows.
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";

import { z } from "zod";

import { openKit } from "../../test/support/http-kit.ts";
import { weather, weatherModel } from "../../test/support/weather-model.ts";
import { failsWith } from "../../test/support/try-tool.ts";
import { until } from "../../test/support/wait-until.ts";
import {
  agent,
  type AnyAgent,
  type CodeWorkflow,
  type OnAsk,
  openTutti,
  type OpenTutti,
  target,
  tool,
  workflow,
} from "../index.ts";
import { call, script } from "./testing.ts";

interface Program {
  readonly agents?: readonly AnyAgent[];
  readonly workflows?: readonly CodeWorkflow[];
  readonly approvals?: { readonly network: "ask" };
  readonly onAsk?: OnAsk;
}

type Open = (t: TestContext, program: Program) => Promise<OpenTutti>;

const sides: Record<string, Open> = {
  async "in process"(t, program) {
    const tutti = await openTutti({ memory: true, ...program });
    t.after(() => tutti.close());
    return tutti;
  },
  async "over HTTP"(t, program) {
    const kit = await openKit();
    t.after(() => kit.close());
    const tutti = await openTutti({ url: kit.http.url, key: kit.key, ...program });
    t.after(() => tutti.close());
    return tutti;
  },
};

function payment() {
  const charged: string[] = [];
  const charge = tool({
    name: "charge",
    description: "Charges somebody.",
    input: z.object({ who: z.string() }),
    effects: ["network"],
    approval: "ask",
    run({ who }) {
      charged.push(who);
      return `charged ${who}`;
    },
  });
  const payer = agent({
    name: "payer",
    instructions: "Pay.",
    model: script(call("charge", { who: "Ann" }), "{{last}}"),
    tools: [charge],
  });
  return { charged, charge, payer };
}

for (const [side, open] of Object.entries(sides)) {
  describe(side, () => {
    test("a tool that asks runs only after the function of the program has agreed", async (t) => {
      const { charged, payer } = payment();
      const asked: string[] = [];
      const tutti = await open(t, {
        agents: [payer],
        onAsk({ kind, question }) {
          asked.push(question);
          assert.equal(kind, "approval");
          assert.deepEqual(charged, [], "nobody has agreed yet");
          return true;
        },
      });
      const run = await tutti.run(payer, "pay Ann");
      assert.match(await run.result(), /charged Ann/);
      assert.deepEqual(charged, ["Ann"]);
      assert.equal(asked.length, 1);
      assert.match(asked[0] ?? "", /May payer call charge\? It reaches the network, and is not confined/);
    });

    test("an approval can be answered later, and a call that is denied does not run", async (t) => {
      const { charged, payer } = payment();
      const tutti = await open(t, { agents: [payer] });
      const run = await tutti.run(payer, "pay Ann");
      const ask = await until(async () => (await tutti.asks())[0]);
      assert.equal(await ask.deny("not today"), true);
      assert.match(await run.result(), /not today/);
      assert.deepEqual(charged, []);
    });

    test("rules about effects ask about the program's own tools, those of an agent too", async (t) => {
      const { charged, charge } = payment();
      const free = tool({ ...charge, approval: undefined });
      const model = script(call("charge", { who: "Ann" }), "{{last}}");
      const payer = agent({ name: "payer", instructions: "Pay.", model, tools: [free] });
      const careful = agent({
        name: "careful",
        instructions: "Pay.",
        model: script(call("charge", { who: "Bob" }), "{{last}}"),
        tools: [free],
        approvals: { network: "refuse" },
      });
      const asked: string[] = [];
      const tutti = await open(t, {
        agents: [payer, careful],
        approvals: { network: "ask" },
        onAsk({ question }) {
          asked.push(question);
          return true;
        },
      });
      assert.match(await (await tutti.run(payer, "pay")).result(), /charged Ann/);
      assert.match(await (await tutti.run(careful, "pay")).result(), /refuses calls of charge|refuses a call/);
      assert.equal(asked.length, 1);
      assert.deepEqual(charged, ["Ann"]);
    });

    test("a model that is an object of the program answers and streams", async (t) => {
      const model = weatherModel();
      const { charge } = payment();
      const guide = agent({ name: "guide", instructions: "Look first.", model, tools: [weather, charge] });
      const tutti = await open(t, { agents: [guide] });
      const run = await tutti.run(guide, "Oslo?");
      let text = "";
      for await (const part of run.stream()) if (part.type === "text") text += part.text;
      assert.equal(text, "It is cold.");
      assert.equal(await run.result(), "It is cold.");
      assert.equal(model.asked.length, 2);
      const told = JSON.stringify(model.asked[1]);
      assert.match(told, /-3/, "the model is told the result of the call");
    });

    test("a budget is asked about before a model of the program is called", async (t) => {
      const model = weatherModel();
      const guide = agent({ name: "guide", instructions: "Look first.", model });
      const tutti = await open(t, { agents: [guide] });
      const run = await tutti.run(guide, "Oslo?", { budget: { tokens: 10 } });
      const ask = await until(async () => (await run.asks())[0]);
      assert.equal(ask.kind, "budget");
      assert.equal(model.asked.length, 0);
      await ask.deny();
      await assert.rejects(run.result(), failsWith("over_budget"));
      assert.equal(model.asked.length, 0);
    });

    test("a model that fails fails the run with its code", async (t) => {
      const model = {
        specificationVersion: "v4",
        provider: "mine",
        modelId: "broken",
        doStream: () =>
          Promise.reject(Object.assign(new Error("no such key"), { statusCode: 401, isRetryable: false })),
      };
      const owned = agent({ name: "owned", instructions: "x", model });
      const tutti = await open(t, { agents: [owned] });
      await assert.rejects((await tutti.run(owned, "go")).result(), failsWith("step_failed"));
    });

    test("a workflow of the program runs steps, agents and other workflows, asks, sleeps and gets messages", async (t) => {
      const writer = agent({ name: "writer", instructions: "Summarise.", model: script("All quiet.") });
      const { charged, payer } = payment();
      const twice = workflow("twice", z.number(), async (durable, input) =>
        durable.step("double", async () => input * 2, { repeatable: true }),
      );
      const done: string[] = [];
      const nightly = workflow("nightly", z.object({ day: z.string() }), async (durable, { day }) => {
        const fetched = await durable.step("fetch", async (step) => {
          done.push(step.key);
          step.progress("fetching");
          return { at: new Date(0), day };
        });
        const words = await durable.run("words", writer, day);
        const [named, paid] = await durable.fanOut("both", [target("writer", day), target(payer, "pay")]);
        await durable.sleep("pause", 5);
        const four = await durable.start("four", twice, 2);
        const colour = await durable.ask("colour", { question: "Which colour?", choices: ["red", "blue"] });
        const heard = await durable.receive("mail");
        await assert.rejects(
          durable.step("wrong", () => Promise.reject(new Error("no luck"))),
          failsWith("step_failed", /no luck/),
        );
        const [now, id] = [await durable.now("now"), await durable.id("id")];
        return { at: fetched.at, words, named: named.status, paid: paid.status, four, colour, heard, now, id };
      });
      const tutti = await open(t, {
        agents: [writer, payer],
        workflows: [nightly, twice],
        onAsk: ({ kind, choices }) => (kind === "approval" ? true : choices[1]),
      });
      await assert.rejects(
        // @ts-expect-error -- told at once, also to a program without types
        tutti.start(nightly, { day: 7 }),
        failsWith("invalid_input", /the input of nightly/),
      );
      const run = await tutti.start(nightly, { day: "Monday" }, { key: "monday" });
      await run.send("go on");
      const { now, id, ...result } = await run.result();
      assert.deepEqual(result, {
        at: "1970-01-01T00:00:00.000Z",
        words: "All quiet.",
        named: "completed",
        paid: "completed",
        four: 4,
        colour: "blue",
        heard: "go on",
      });
      assert.ok(Math.abs(now - Date.now()) < 60_000 && id !== "");
      assert.equal(done.length, 1);
      assert.deepEqual(charged, ["Ann"]);
      const again = await tutti.start(nightly, { day: "Monday" }, { key: "monday" });
      assert.deepEqual([again.existed, (await again.result()).four], [true, 4]);
      assert.equal((await (await tutti.find(nightly, run.task)).result()).four, 4);
      assert.equal(done.length, 1);
    });

    test("a workflow that uses a key twice, or fails, says so", async (t) => {
      const wrong = workflow("wrong", z.null(), async (durable) => {
        await durable.now("a");
        await durable.now("a");
      });
      const failing = workflow("failing", z.null(), async () => {
        throw new Error("out of paper");
      });
      const tutti = await open(t, { workflows: [wrong, failing] });
      await assert.rejects((await tutti.start(wrong, null)).result(), failsWith("invalid_input", /used twice/));
      await assert.rejects((await tutti.start(failing, null)).result(), /out of paper/);
    });

    test("an agent can call a workflow of the program", async (t) => {
      const twice = workflow("twice", z.number(), async (_, input) => input * 2);
      const lead = agent({
        name: "lead",
        instructions: "Have it done.",
        subAgents: [twice],
        model: script({ delegate: [{ agent: "twice", prompt: "21" }] }, "{{last}}"),
      });
      const tutti = await open(t, { agents: [lead], workflows: [twice] });
      assert.match(await (await tutti.run(lead, "go")).result(), /42/);
    });

    test("canceling a run aborts the code that runs for it", async (t) => {
      const began = Promise.withResolvers<void>();
      const aborted = Promise.withResolvers<void>();
      const slow = tool({
        name: "slow",
        description: "Takes long.",
        input: z.object({}),
        effects: ["read"],
        run: (_, { signal }) =>
          new Promise((_resolve, reject) => {
            began.resolve();
            signal.addEventListener("abort", () => {
              aborted.resolve();
              reject(new Error("aborted"));
            });
          }),
      });
      const waiter = agent({ name: "waiter", instructions: "x", model: script(call("slow"), "x"), tools: [slow] });
      const tutti = await open(t, { agents: [waiter] });
      const run = await tutti.run(waiter, "go");
      await began.promise;
      await run.cancel("enough");
      await aborted.promise;
      assert.equal((await run.outcome()).status, "canceled");
    });
  });
}
