// Tutti through its public library.
import { agent, openTutti, target, tool } from "tutti";
import { z } from "zod";

import { answer, description, instructions, look, modelObject } from "./work.js";

export async function open({ folder, durable, delayMs, repeatable = true }) {
  const looking = tool({
    name: "look",
    description,
    input: z.object({ turn: z.number() }),
    effects: ["read"],
    repeatable,
    run: look,
  });
  const worker = agent({ name: "worker", instructions, model: modelObject("v4"), tools: [looking] });
  const child = agent({ name: "child", instructions, model: modelObject("v4", { delayMs }) });
  const where = durable ? { state: folder } : { memory: true };
  const tutti = await openTutti({ ...where, agents: [worker, child], concurrency: 1_024 });
  return {
    async run() {
      const result = await (await tutti.run(worker, "go")).result();
      if (result !== answer) throw new Error(result);
    },
    async children(count) {
      const run = await tutti.fanOut(
        Array.from({ length: count }, () => target(child, "go")),
        { budget: { tokens: 1e12 } },
      );
      if ((await run.results()).length !== count) throw new Error("some are missing");
    },
    close: () => tutti.close(),
  };
}
