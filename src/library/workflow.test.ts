// Own durable functions: each step runs once, over a crash too, and the rules of the port are told by errors.
import assert from "node:assert/strict";
import { test } from "node:test";

import { z } from "zod";

import { tempFolder } from "../../test/support/temp-folder.ts";
import { failsWith } from "../../test/support/try-tool.ts";
import { until } from "../../test/support/wait-until.ts";
import { agent, openTutti, target, workflow } from "../index.ts";
import { crashAt, fails, fakeClock, final, script } from "./testing.ts";

const poet = agent({ name: "poet", instructions: "Write.", model: script("Snow falls.") });
const judge = agent({
  name: "judge",
  instructions: "Judge.",
  model: script(final({ good: true })),
  output: z.object({ good: z.boolean() }),
});
const broken = agent({ name: "broken", instructions: "Fail.", model: script(fails("refused")) });

test("a workflow goes on after a crash at any of its steps, and what was recorded is not done again", async (t) => {
  for (const step of ["fetch", "charge", "note"]) {
    for (const when of ["before", "during", "after"] as const) {
      const done: string[] = [];
      const nightly = workflow("nightly", z.object({ day: z.string() }), async (durable, { day }) => {
        const { at } = await durable.step(
          "fetch",
          () => {
            done.push("fetch");
            return { at: new Date(0) };
          },
          { repeatable: true },
        );
        const poem = await durable.run("poem", poet, `about ${day}`);
        const charged = await durable
          .step("charge", () => done.push("charge") > 0)
          .catch((error: Error) => ("code" in error ? String(error.code) : "other"));
        await durable.step("note", () => void done.push("note"), { repeatable: true });
        return { at, poem, charged };
      });
      const state = tempFolder(t);
      const first = await openTutti({
        state,
        agents: [poet],
        workflows: [nightly],
        testing: { crash: crashAt(step, { when }) },
      });
      await first.start(nightly, { day: "Monday" }, { key: "monday" });
      await first.crashed;
      await using second = await openTutti({ state, agents: [poet], workflows: [nightly] });
      const run = await second.start(nightly, { day: "Monday" }, { key: "monday" });
      const result = await run.result();
      assert.equal(run.existed, true);
      const { charged, ...rest } = result;
      assert.deepEqual(rest, { at: new Date(0).toISOString(), poem: "Snow falls." });
      // A step that may be repeated does not wait until the outcome before it is on disk, so the crash can take that with it.
      const mayBeUnknown = step === "note" && when !== "after";
      const isUnknown = step === "charge" && when !== "after";
      if (!mayBeUnknown) assert.equal(charged, isUnknown ? "outcome_unknown" : true);
      const count = (name: string): number => done.filter((each) => each === name).length;
      const twice = when === "during" ? 2 : 1;
      assert.equal(count("fetch"), step === "fetch" ? twice : 1);
      assert.equal(count("note"), step === "note" ? twice : 1);
      assert.equal(count("charge"), step === "charge" && when === "before" ? 0 : 1);
    }
  }
});

test("children have the types of their agents, and every outcome of a fan-out is there", async () => {
  const child = workflow("child", z.object({ n: z.number() }), async (_, { n }) => ({ twice: n * 2 }));
  const parent = workflow("parent", z.string(), async (durable, name) => {
    const { good } = await durable.run("judge", judge, name);
    const { twice } = await durable.start("child", child, { n: 4 });
    const [poem, bad] = await durable.fanOut("both", [target(poet, name), target(broken, name)]);
    const failed = await durable.run("broken", broken, name).catch((error: Error) => error.message);
    return { good, twice, poem: poem.status, bad: bad.status, failed };
  });
  await using tutti = await openTutti({ memory: true, agents: [poet, judge, broken], workflows: [child, parent] });
  const result = await (await tutti.start(parent, "x")).result();
  assert.deepEqual({ ...result, failed: "" }, { good: true, twice: 8, poem: "completed", bad: "failed", failed: "" });
  assert.match(result.failed, /refused|script/);
});

test("a workflow asks people, takes messages, and sleeps for a day that takes no time", async () => {
  const clock = fakeClock();
  const patient = workflow("patient", z.object({}), async (durable) => {
    const name = await durable.ask("name", { question: "Who?", choices: ["Ann", "Bob"] });
    const may = await durable.approve("may", `May ${name ?? "nobody"} go on?`);
    const said = await durable.receive("said");
    const from = await durable.now("from");
    await durable.sleep("night", 24 * 60 * 60_000);
    const until = await durable.now("until");
    return { name, may, said, slept: until - from };
  });
  await using tutti = await openTutti({ memory: true, workflows: [patient], testing: { clock } });
  const run = await tutti.start(patient, {}, { onAsk: ({ kind }) => (kind === "question" ? "Bob" : true) });
  await run.send("hello");
  let isOver = false;
  const ended = run.result().finally(() => (isOver = true));
  const hour = 60 * 60_000;
  await until(async () => {
    if ((await run.asks()).length === 0) clock.advance(hour);
    return isOver;
  });
  const { slept, ...rest } = await ended;
  assert.deepEqual(rest, { name: "Bob", may: true, said: "hello" });
  assert.ok(slept >= 24 * hour && slept <= 26 * hour, String(slept));
});

test("a key that is used twice, a key that cannot be one, and an outcome that JSON loses are errors that say what to do", async () => {
  const attempt = async (name: string, run: Parameters<typeof workflow<object, unknown>>[2]): Promise<unknown> => {
    const wrong = workflow(name, z.object({}), run);
    await using tutti = await openTutti({ memory: true, agents: [], workflows: [wrong] });
    const started = await tutti.start(wrong, {});
    return await started.result();
  };
  const twice = attempt("twice", async (durable) => {
    await durable.step("a", () => 1);
    await durable.step("a", () => 2);
  });
  await assert.rejects(twice, failsWith("invalid_input", /the key a was used twice/));
  await assert.rejects(
    attempt("odd", (durable) => durable.sleep("a!b", 1)),
    failsWith("invalid_input", /must not/),
  );
  const lost = attempt("lost", (durable) => durable.step("f", () => () => 1));
  await assert.rejects(lost, failsWith("step_failed", /cannot be written as JSON/));
  const unknown = attempt("unknown", (durable) => durable.run("poem", poet, "x"));
  await assert.rejects(unknown, failsWith("invalid_input", /list it in `agents`/));
});

test("an input that does not fit starts nothing, and an agent can call a workflow", async () => {
  const double = workflow("double", z.object({ n: z.number() }), async (_, { n }) => ({ twice: n * 2 }), {
    description: "doubles a number",
  });
  const lead = agent({
    name: "lead",
    instructions: "Have it doubled.",
    subAgents: [double],
    model: script({ delegate: [{ agent: "double", prompt: '{"n": 21}' }] }, "{{last}}"),
  });
  await using tutti = await openTutti({ memory: true, agents: [lead], workflows: [double] });
  assert.match(await (await tutti.run(lead, "go")).result(), /"twice":42/);
  const wrong: unknown = { n: "four" };
  await assert.rejects(tutti.start(double, wrong as { n: number }), failsWith("invalid_input", /the input of double/));
  assert.equal((await tutti.runs()).length, 1);
});
