// A program that uses Tutti over HTTP, as a process of its own: it notes in a file what its code does, and waits there for a file before it goes on.

import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

import { agent, openTutti, type Run, TuttiError, tool, workflow } from "../../src/index.ts";
import { call, script } from "../../src/library/testing.ts";
import { weather, weatherModel } from "../support/weather-model.ts";

const [url = "", key = "", scenario = "", folder = ""] = process.argv.slice(2);

function note(text: string): void {
  appendFileSync(join(folder, "notes"), `${text}\n`);
}

async function go(): Promise<void> {
  for (let looks = 0; looks < 10_000 && !existsSync(join(folder, "go")); looks += 1) await sleep(10);
}

const charge = tool({
  name: "charge",
  description: "Charges somebody.",
  input: z.object({ who: z.string() }),
  effects: ["network"],
  repeatable: scenario === "repeatable",
  async run({ who }) {
    note(`charge ${who}`);
    await go();
    return `charged ${who}`;
  },
});
const payer = agent({
  name: "payer",
  instructions: "Pay.",
  model: script(call("charge", { who: "Ann" }), "{{last}}"),
  tools: [charge],
});
const guide = agent({
  name: "guide",
  instructions: "Look first.",
  tools: [weather],
  model: weatherModel({
    async before() {
      note("model");
      await go();
    },
  }),
});
const nightly = workflow("nightly", z.object({ day: z.string() }), async (durable, { day }) => {
  note("begin");
  const first = await durable.step("first", async () => {
    note("first");
    return day;
  });
  const second = await durable
    .step("second", async () => {
      note("second");
      await go();
      return "done";
    })
    .catch((thrown: unknown) => (thrown instanceof TuttiError ? thrown.code : "?"));
  await durable.sleep("pause", 10);
  const third = await durable.step("third", async () => {
    note("third");
    return "end";
  });
  return [first, second, third].join(" ");
});

await using tutti = await openTutti({ url, key, agents: [payer, guide], workflows: [nightly] });

function begin(): Promise<Pick<Run<string>, "task" | "result">> {
  const options = { key: "once" };
  if (scenario === "workflow") return tutti.start(nightly, { day: "Monday" }, options);
  return scenario === "model" ? tutti.run(guide, "go", options) : tutti.run(payer, "go", options);
}

const run = await begin();
process.stdout.write(`task ${run.task}\n`);
process.stdout.write(`result ${await run.result()}\n`);
