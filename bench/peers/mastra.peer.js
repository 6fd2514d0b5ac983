// Mastra: an agent with a tool. It keeps nothing without a storage.
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

import { answer, description, instructions, look, modelObject } from "./work.js";

export async function open({ delayMs }) {
  const looking = createTool({
    id: "look",
    description,
    inputSchema: z.object({ turn: z.number() }),
    execute: async () => look(),
  });
  const agent = new Agent({
    id: "worker",
    name: "worker",
    instructions,
    model: modelObject("v3"),
    tools: { look: looking },
  });
  const model = modelObject("v3", { delayMs });
  const child = new Agent({ id: "child", name: "child", instructions, model });
  return {
    child: () => child.generate("go"),
    async run() {
      const { text } = await agent.generate("go", { maxSteps: 20 });
      if (text !== answer) throw new Error(text);
    },
    close: async () => undefined,
  };
}
