// The same programs in process and over HTTP: what an agent's run streams, gives back, asks, and how it is stopped.
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";

import { z } from "zod";

import { failsWith } from "../../test/support/try-tool.ts";
import { openKit } from "../../test/support/http-kit.ts";
import { until } from "../../test/support/wait-until.ts";
import { httpClient } from "../client/http-client.ts";
import { agent, openTutti, type OpenTutti, type AnyAgent, target, tool, type OnAsk } from "../index.ts";
import { assertCalled, call, fails, final, say, script, transcriptOf } from "./testing.ts";

const made: string[] = [];
const weather = tool({
  name: "weather",
  description: "Tells the weather.",
  input: z.object({ city: z.string() }),
  effects: ["network"],
  repeatable: true,
  run: ({ city }, { key }) => {
    made.push(key);
    if (city === "Atlantis") throw new Error("there is no such city");
    return { city, degrees: -3 };
  },
});
const guide = agent({
  name: "guide",
  instructions: "Say what to wear.",
  description: "knows clothes",
  tools: [weather],
  model: script([say("Let me look."), call("weather", { city: "Oslo" })], final({ advice: "a coat" })),
  output: z.object({ advice: z.string() }),
});
const poet = agent({ name: "poet", instructions: "Write.", model: script("Snow falls.") });
const asker = agent({
  name: "asker",
  instructions: "Ask.",
  tools: ["ask"],
  model: script({ ask: { question: "Which?", choices: ["x", "y"] } }, { final: "{{last}}" }),
});
const sleeper = agent({ name: "sleeper", instructions: "Wait.", model: script({ say: "late", delay_ms: 60_000 }) });
const broken = agent({ name: "broken", instructions: "Fail.", model: script(fails("refused", "the key is wrong")) });
const lost = agent({
  name: "lost",
  instructions: "Look.",
  tools: [weather],
  model: script([call("weather", { city: "Atlantis" }), call("weather", { town: 1 })], "I do not know."),
});
const lead = agent({
  name: "lead",
  instructions: "Have it done.",
  subAgents: [guide, poet],
  model: script({ delegate: [{ agent: "guide", prompt: "what to wear" }] }, "{{last}}"),
});
const clerk = agent({
  name: "clerk",
  instructions: "Hand over.",
  handovers: [guide],
  model: script(call("handover", { agent: "guide", prompt: "you do it" })),
});
const agents: readonly AnyAgent[] = [guide, poet, asker, sleeper, broken, lost, lead, clerk];

type Open = (t: TestContext, options?: { readonly onAsk?: OnAsk }) => Promise<OpenTutti>;

const sides: Record<string, Open> = {
  async "in process"(t, options) {
    const tutti = await openTutti({ memory: true, agents, ...options });
    t.after(() => tutti.close());
    return tutti;
  },
  async "over HTTP"(t, options) {
    const kit = await openKit();
    t.after(() => kit.close());
    const tutti = await openTutti({ url: kit.http.url, key: kit.key, ...options });
    t.after(() => tutti.close());
    return tutti;
  },
};

for (const [side, open] of Object.entries(sides)) {
  describe(side, () => {
    test("a run streams text, its tools' calls with their types, events and its end, and gives the typed result", async (t) => {
      const tutti = await open(t);
      const run = await tutti.run(guide, "What to wear in Oslo?", { key: "oslo-1" });
      const seen: string[] = [];
      let text = "";
      for await (const part of run.stream()) {
        if (part.type === "text") text += part.text;
        if (part.type === "tool-call") seen.push(`call ${part.tool} ${part.input.city}`);
        if (part.type === "tool-result") seen.push(part.ok ? `got ${part.output.degrees}` : part.error);
        if (part.type === "end") seen.push(part.outcome.status === "completed" ? part.outcome.output.advice : "no");
      }
      assert.deepEqual(seen, ["call weather Oslo", "got -3", "a coat"]);
      assert.equal(text, "Let me look.");
      const { advice } = await run.result();
      assert.equal(advice, "a coat");
      const before = made.length;
      const again = await tutti.run(guide, "What to wear in Oslo?", { key: "oslo-1" });
      assert.equal(again.existed, true);
      assert.deepEqual(await again.result(), { advice: "a coat" });
      assert.equal(made.length, before, "the same key does nothing again");
      await assert.rejects(tutti.run(guide, "And in Rome?", { key: "oslo-1" }), failsWith("conflict"));
    });

    test("the failure of a run is a TuttiError with the code of what failed, or a value for whoever wants one", async (t) => {
      const tutti = await open(t);
      const run = await tutti.run(broken, "go");
      await assert.rejects(run.result(), failsWith("step_failed", /the key is wrong/));
      const outcome = await run.outcome();
      assert.equal(outcome.status, "failed");
      assert.equal(outcome.status === "failed" && outcome.error.code, "step_failed");
    });

    test("a call that fails and one whose arguments do not fit are told to the model", async (t) => {
      const tutti = await open(t);
      const run = await tutti.run(lost, "go");
      assert.equal(await run.result(), "I do not know.");
      const transcript = await transcriptOf(run);
      const [first, second] = transcript.callsOf("weather");
      assert.match(String(first?.output), /there is no such city/);
      assert.match(String(second?.output), /city/);
      assertCalled(transcript, "weather", { city: "Atlantis" });
      assert.throws(() => assertCalled(transcript, "weather", { city: "Rome" }), /was not called/);
      const typed: string[] = [];
      for await (const part of run.stream()) if (part.type === "tool-call") typed.push(part.input.city);
      assert.deepEqual(typed, ["Atlantis"], "only a call that fits the schema has its type");
    });

    test("a question is answered by the run's own function, by that of openTutti, or later", async (t) => {
      const tutti = await open(t, { onAsk: ({ choices }) => choices[1] });
      const own = await tutti.run(asker, "go", { onAsk: ({ choices }) => choices[0] });
      assert.match(await own.result(), /"answer":"x"|x/);
      const byAll = await tutti.run(asker, "go again");
      assert.match(await byAll.result(), /y/);
      const later = await tutti.run(asker, "and later", { onAsk: () => undefined });
      const ask = await until(async () => (await later.asks())[0]);
      assert.equal(ask.question, "Which?");
      await assert.rejects(ask.answer("z"), failsWith("invalid_input", /x, y/));
      assert.equal(await ask.answer("x"), true);
      assert.equal(await ask.answer("y"), false, "the first answer counts");
      assert.match(await later.result(), /x/);
    });

    test("the signal cancels the run with everything below it", async (t) => {
      const tutti = await open(t);
      const stop = new AbortController();
      const run = await tutti.run(sleeper, "go", { signal: stop.signal });
      const ended = run.outcome();
      stop.abort(new Error("enough"));
      const outcome = await ended;
      assert.equal(outcome.status, "canceled");
      await assert.rejects(run.result(), failsWith("canceled", /enough/));
      await assert.rejects(tutti.run(sleeper, "again", { signal: stop.signal }), /enough/);
    });

    test("an agent calls others and hands its task over; the one who ends it gives the result", async (t) => {
      const tutti = await open(t);
      const called = await tutti.run(lead, "go");
      assert.match(await called.result(), /a coat/);
      const handed = await tutti.run(clerk, "go");
      assert.equal(await handed.result(), JSON.stringify({ advice: "a coat" }));
    });

    test("a fan-out gives a tuple of results, and the outcome of every target when one fails", async (t) => {
      const tutti = await open(t);
      const run = await tutti.fanOut([target(guide, "a"), target(poet, "b")]);
      const [{ advice }, poem] = await run.results();
      assert.deepEqual([advice, poem.toUpperCase()], ["a coat", "SNOW FALLS."]);
      const mixed = await tutti.fanOut([target(broken, "a"), target(poet, "b")]);
      const [bad, good] = await mixed.outcomes();
      assert.deepEqual([bad.status, good.status], ["failed", "completed"]);
      await assert.rejects(mixed.results(), failsWith("step_failed"));
    });

    test("a budget stops the run and asks; a no ends it", async (t) => {
      const tutti = await open(t);
      const kinds: string[] = [];
      const run = await tutti.run(guide, "go", {
        budget: { tokens: 20 },
        onAsk: ({ kind }) => {
          kinds.push(kind);
          return false;
        },
      });
      await assert.rejects(run.result(), failsWith("over_budget"));
      assert.deepEqual(kinds, ["budget"]);
    });
  });
}

test("approvals: a tool of the program runs at once, unless it or the program's rules say that a person is asked", async () => {
  const paid: string[] = [];
  const pay = tool({
    name: "pay",
    description: "Pays.",
    input: z.object({ to: z.string() }),
    effects: ["network"],
    approval: "ask",
    run: ({ to }) => paid.push(to),
  });
  const buyer = agent({
    name: "buyer",
    instructions: "Buy.",
    tools: [pay],
    model: script(call("pay", { to: "Ann" }), call("pay", { to: "Bob" }), "done"),
  });
  await using tutti = await openTutti({ memory: true, agents: [buyer] });
  const asked: string[] = [];
  const run = await tutti.run(buyer, "go", {
    onAsk: (ask) => {
      asked.push(ask.kind);
      return asked.length === 1 ? true : { kind: "approval", approved: false, reason: "too much" };
    },
  });
  const transcript = await transcriptOf(run);
  assert.deepEqual(paid, ["Ann"]);
  assert.deepEqual(asked, ["approval", "approval"]);
  assert.match(String(transcript.callsOf("pay")[1]?.output), /too much/);

  const { length } = made;
  await using strict = await openTutti({ memory: true, agents: [guide], approvals: { network: "refuse" } });
  const refused = await transcriptOf(await strict.run(guide, "go"));
  assert.match(String(refused.callsOf("weather")[0]?.output), /refuses/);
  assert.equal(made.length, length);
});

test("a result that does not fit the schema is told to the model, also where only the program's own check knows", async () => {
  const even = agent({
    name: "even",
    instructions: "An even number.",
    model: script(final({ n: "two" }), final({ n: 3 }), final({ n: 4 })),
    output: z.object({ n: z.number().refine((n) => n % 2 === 0, "must be even") }).transform(({ n }) => n),
  });
  await using tutti = await openTutti({ memory: true, agents: [even] });
  const run = await tutti.run(even, "go");
  const n: number = await run.result();
  assert.equal(n, 4);
  const told = (await transcriptOf(run)).callsOf("final").map(({ output }) => String(output));
  assert.match(told[0] ?? "", /must be number/);
  assert.match(told[1] ?? "", /must be even/);
});

test("what is wrong with a program is told at once, all of it", async () => {
  const other = tool({ ...weather, name: "weather", effects: [], run: () => "" });
  const bad = agent({ name: "bad name!", instructions: "", tools: [weather, other] });
  const opening = openTutti({ memory: true, agents: [bad] });
  await assert.rejects(opening, (thrown: Error) => {
    failsWith("invalid_input")(thrown);
    for (const part of [/two tools weather/, /plain name/, /has no model/, /instructions/])
      assert.match(thrown.message, part);
    return true;
  });
  const servers = openTutti({ memory: true, mcpServers: { clock: { command: "clock" } } });
  await assert.rejects(servers, failsWith("invalid_input", /mcpServers need a state folder/));
  await assert.rejects(openTutti({}), failsWith("invalid_input", /`state`, a folder, or `memory: true`/));
  await using tutti = await openTutti({ memory: true, agents: [poet] });
  await assert.rejects(tutti.run(guide, "go"), failsWith("invalid_input", /list it in `agents`/));
});

test("over HTTP, a program answers the questions of its own runs and none of anybody else", async (t) => {
  const kit = await openKit();
  t.after(() => kit.close());
  const others = await openTutti({ url: kit.http.url, key: kit.key });
  t.after(() => others.close());
  const theirs = await others.run(asker, "go");
  await until(async () => (await theirs.asks())[0]);
  const asked: string[] = [];
  const eager = await openTutti({
    url: kit.http.url,
    key: kit.key,
    onAsk({ task, choices }) {
      asked.push(task);
      return choices[1];
    },
  });
  t.after(() => eager.close());
  const later = await others.run(asker, "go later");
  await until(async () => (await later.asks())[0]);
  const mine = await eager.run(asker, "go, too");
  assert.match(await mine.result(), /y/);
  assert.equal(asked.length, 1);
  for (const run of [theirs, later]) {
    const [ask] = await run.asks();
    assert.equal(await ask?.answer("x"), true, "nobody has answered it");
    assert.match(await run.result(), /x/);
  }
});

test("over HTTP, a call that is open before the program looks is carried out, and by one run object only", async (t) => {
  const kit = await openKit();
  t.after(() => kit.close());
  const done: string[] = [];
  const going = Promise.withResolvers<void>();
  const charge = tool({
    name: "charge",
    description: "Charges.",
    input: z.object({ who: z.string() }),
    effects: ["network"],
    async run({ who }) {
      done.push(who);
      await going.promise;
      return `charged ${who}`;
    },
  });
  const payer = agent({
    name: "payer",
    instructions: "x",
    model: script(call("charge", { who: "Ann" }), "{{last}}"),
    tools: [charge],
  });
  const watcher = httpClient({ url: kit.http.url, key: kit.key });
  /** The answer to the start comes when the run waits for the call already, as over a slow network. */
  const slow: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (response.status === 201 && response.url.endsWith("/v1/invocations")) {
      const { task } = z.object({ task: z.string() }).parse(await response.clone().json());
      await until(async () => (await watcher.waits(task)).length > 0);
    }
    return response;
  };
  const tutti = await openTutti({ url: kit.http.url, key: kit.key, fetch: slow });
  t.after(() => tutti.close());
  const run = await tutti.run(payer, "go", { key: "once" });
  await until(() => done.length > 0);
  const same = await tutti.run(payer, "go", { key: "once" });
  assert.equal(same.existed, true);
  const found = await tutti.find(payer, run.task);
  going.resolve();
  for (const each of [run, same, found]) assert.match(await each.result(), /charged Ann/);
  assert.deepEqual(done, ["Ann"]);
});
