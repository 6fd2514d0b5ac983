// A durable function that is killed in the middle: the second process goes on where the first one was.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { agent, openTutti, workflow } from "tutti";
import { script } from "tutti/testing";
import { z } from "zod";

const writer = agent({ name: "writer", instructions: "Write the letter.", model: script("Dear customer …") });

const [state = mkdtempSync(join(tmpdir(), "tutti-example-"))] = process.argv.slice(2);
const isChild = process.argv.length > 2;

const billing = workflow("billing", z.object({ customer: z.string() }), async (durable, { customer }) => {
  const amount = await durable.step("look up", () => {
    console.log("looks up what is owed");
    return 120;
  });
  const letter = await durable.run("letter", writer, `${customer} owes ${amount} EUR`);
  await durable.step("send", () => console.log(`sends: ${letter}`));
  await durable.sleep("a moment", 50);
  // Only the first process dies here: everything before is recorded.
  if (isChild) process.kill(process.pid, "SIGKILL");
  return durable.step("book", () => {
    console.log(`books ${amount} EUR`);
    return `${customer} was billed ${amount} EUR`;
  });
});

if (!isChild) {
  const child = spawnSync(process.execPath, [...process.execArgv, import.meta.filename, state], { stdio: "inherit" });
  console.log(`the first process ended with ${child.signal}`);
}

await using tutti = await openTutti({ state, agents: [writer], workflows: [billing] });
// The same key finds the run that was begun; it has gone on since openTutti.
const run = await tutti.start(billing, { customer: "Ann" }, { key: "ann-november" });
console.log(await run.result());
await tutti.close();
rmSync(state, { recursive: true, force: true });
