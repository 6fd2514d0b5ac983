// A process that says one message after the other into a thread, each with its own key, and goes on where a kill stopped it.
import { join } from "node:path";

import { openState } from "../../src/daemon/state/open-state.ts";
import { named, single } from "../../src/protocol/invocation/invocation-builders.ts";

const [folder = "", count = ""] = process.argv.slice(2);
const messages = Number(count);

/** The number of a reply is that of all replies in the conversation, so a message that was lost or repeated would show. */
const rules = Array.from({ length: messages }, (_, turn) => ({
  turn,
  say: `reply ${turn + 1} to {{user}}`,
  delay_ms: 20,
}));

const state = await openState(join(folder, "state"));
for (let number = 1; number <= messages; number += 1) {
  const file = {
    thread: "talk",
    invocation: single(named("guide", `message ${number}`)),
    agents: { guide: { instructions: "Guide." } },
    script: { rules },
  };
  const { task } = await state.client.invoke(JSON.stringify(file), { folder, key: `say-${number}` });
  await state.client.result(task);
  process.stdout.write(`${number}\n`);
}
await state.close();
