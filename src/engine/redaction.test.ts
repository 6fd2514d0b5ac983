import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import {
  anything,
  ask,
  codeOf,
  killed,
  type Loops,
  openWaits,
  person,
  started,
  task,
  text,
  world,
  type World,
} from "../../test/support/engine-kit.ts";
import { settle } from "../../test/support/settle.ts";
import { isOnPostgres } from "../../test/support/stores.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { TuttiError } from "../protocol/error.ts";
import { messageText, userMessage } from "../protocol/task/message.ts";
import { databaseFile } from "../store/sqlite/database.ts";

const secret = "sk-very-secret-0123456789";
const redact = (given: string): string => given.replaceAll(secret, "[removed]");
const repeatable = { repeatable: true, schema: text } as const;
const said = `the key is "${secret}", keep it`;

/** Everything in the database as bytes: no row of any table, and no page of the journal, may hold it. */
function holdsSecret({ folder }: World): boolean {
  return ["", "-wal"].some((suffix) => readFileSync(`${databaseFile(folder)}${suffix}`).includes(secret));
}

const loops = (heard: unknown[]): Loops => ({
  root: async (d) => {
    heard.push(d.input, d.rootInput);
    heard.push(await d.step("plain", repeatable, () => said));
    heard.push(
      await d.step("deep", { repeatable: false, schema: anything }, () => ({ a: [{ b: said }], [secret]: 1 })),
    );
    heard.push(await d.step("bad", repeatable, () => Promise.reject(new Error(said))).catch(String));
    const leak = new TuttiError("io", "failed", { details: { tried: said } });
    const failed: unknown = await d
      .step("worse", repeatable, () => Promise.reject(leak))
      .catch((thrown: unknown) => thrown);
    heard.push(failed instanceof TuttiError ? failed.details : failed);
    heard.push(messageText(d.say("said", userMessage(said))));
    const ids = await d.spawn("kids", [task("kid", { input: { prompt: said } })], { history: said });
    await d.send("to kid", ids[0] ?? "", userMessage(said));
    heard.push((await d.join(ids)).map((result) => result.content));
    const mail = await d.receive("mail", { block: true });
    heard.push(mail === undefined ? undefined : messageText(mail));
    heard.push(await d.wait("ask", { ask: { ...ask, question: said, details: { said } }, schema: anything }));
    const tool = await d.open("tool", { label: "tool", details: { said }, schema: anything });
    heard.push(await d.select("first", [{ wait: tool }]));
    heard.push((await d.messages()).map(messageText));
    heard.push(await codeOf(d.spawn("none", [task("kid", { rights: { tools: [secret], roots: [`/${secret}`] } })])));
    if (d.run === 1) return d.handover("to", { agent: "root", input: { passed: said }, reason: said });
    await d.wait("end", { label: "end", schema: anything });
    return { result: said };
  },
  kid: async (d) => [d.input, d.shared, messageText((await d.receive("mail", { block: true })) ?? userMessage(""))],
});

/** Answers and writes to the task until it is at its last wait. */
async function play(w: World, name: string): Promise<void> {
  for (let run = 0; run < 2; run += 1) {
    await settle();
    await w.engine.message(name, userMessage(said));
    await settle();
    const [question = ""] = openWaits(w);
    assert.equal((await w.engine.deliver(question, { kind: "question", value: said }, person)).outcome, "accepted");
    await settle();
    const [tool = ""] = openWaits(w);
    assert.equal((await w.engine.deliver(tool, { out: said }, person)).outcome, "accepted");
    const late = await w.engine.deliver(tool, { out: said }, person);
    assert.deepEqual(late.outcome === "late" && late.settled, {
      kind: "answered",
      value: { out: redact(said) },
      by: person,
    });
    await settle();
  }
}

test("a secret is recorded nowhere, wherever it comes in, and live listeners hear what a resume would give", async (t) => {
  const [live, resumed]: [unknown[], unknown[]] = [[], []];
  const first = world(tempFolder(t), loops(live), { redact });
  const name = await started(first, "root", { input: { said } });
  await play(first, name);
  assert.equal(openWaits(first).length, 1, "it has come to its end");
  const second = await killed(first, t, loops(resumed), { redact });
  await settle();
  // A run that was handed over is not run again.
  assert.deepEqual(resumed, live.slice(live.length / 2));
  assert.deepEqual([JSON.stringify(live).includes(secret), JSON.stringify(live).includes("[removed]")], [false, true]);
  await second.engine.deliver(openWaits(second)[0] ?? "", {}, person);
  assert.deepEqual((await second.engine.result(name)).content, { result: redact(said) });
  assert.equal(holdsSecret(second), false);
});

test("a canceled task's reason and a plain result are redacted for whoever waits as in the store", async (t) => {
  const w = world(
    tempFolder(t),
    { plain: async () => said, endless: (d) => d.wait("x", { label: "x", schema: anything }) },
    { redact },
  );
  t.after(() => w.stop());
  assert.equal((await w.engine.result(await started(w, "plain"))).content, redact(said));
  const endless = await started(w, "endless");
  await settle();
  await w.engine.cancel(endless, said);
  assert.equal((await w.engine.result(endless)).content, redact(said));
  assert.equal(holdsSecret(w), false);
});

test("what a runner is configured with is not touched: it could not work without", async (t) => {
  const w = world(tempFolder(t), { root: async () => "done" }, { redact });
  t.after(() => w.stop());
  const made = await w.engine.start({ ...task("root"), runner: { kind: "loop", config: { env: secret } } });
  await w.engine.result(made.task);
  assert.equal(holdsSecret(w), true);
});

test("without a redactor any value comes back as JSON keeps it; with one that finds nothing it is the same", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      const outcomes = await Promise.all(
        [{}, { redact: (given: string) => given }].map(async (options) => {
          const w = world(
            tempFolder(t),
            { root: (d) => d.step("s", { repeatable: true, schema: anything }, () => value) },
            options,
          );
          const result = await w.engine.result(await started(w, "root"));
          await w.stop();
          return result.content;
        }),
      );
      assert.deepEqual(outcomes[1], outcomes[0]);
    }),
    { numRuns: isOnPostgres() ? 5 : 20 },
  );
});

test("the test of the bytes finds a secret that was recorded", async (t) => {
  const w = world(tempFolder(t), { plain: async () => said });
  t.after(() => w.stop());
  await w.engine.result(await started(w, "plain"));
  assert.equal(holdsSecret(w), true);
});
